"""`clew log`: what was said, newest first, as summaries. Reads the log without a lock, beside a running clew."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import complete_session, project_in, session_of
from tui.commands.place import home_of
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.since import moment
from tui.text import clean

if TYPE_CHECKING:
    from graph.reading import LogReader
    from graph.values import Exchange, Turn

MOST = 500
SUMMARY = 500  # characters of a message; `clew show` has all of it

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def text_of(word: str | None) -> str | None:
    """A word of the command line, whose bytes need not be UTF-8, as text that can be compared."""
    return None if word is None else clean(word)


@app.command()
def log(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only this session (or `last`).", autocompletion=complete_session),
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only this project.")] = None,
    client: Annotated[str | None, typer.Option(metavar="NAME", help="Only from this client: `chat` or `ask`.")] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="From this time on: 2025-03-01, 2025-03-01T14:30 (your clock), 2h, 3d."),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before this time.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=0, help=f"Maximum number, up to {MOST}.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List exchanges, newest first."""
    from graph.reading import LogReader

    from_then, before = moment(since), moment(until)
    try:
        reader = LogReader.open(home_of(ctx, writing=False).memory)
        of = session_of(reader, session).id if session is not None else None
        told = reader.exchanges(
            session=of,
            project=project_in(reader, project),
            client=text_of(client),
            since=from_then,
            until=before,
            limit=min(limit, MOST),
        )
        found = _in_view(reader, told)
    except MemoryMissing:
        found = []
    put_exchanges(found, as_json=as_json)


def put_exchanges(found: "list[Exchange]", *, as_json: bool, world: str | None = None) -> None:
    """Print exchanges as summaries, or say that there are none; for programs each with the `world` that is shown."""
    if as_json:
        put_json([summary_of(exchange) | ({"world": world} if world is not None else {}) for exchange in found])
        return
    for exchange in found:
        put(lines_of(exchange))
    if not found:
        say("No matching messages.")


def _in_view(reader: "LogReader", exchanges: "list[Exchange]") -> "list[Exchange]":
    """The exchanges without the words of hidden turns."""
    said = [turn for each in exchanges for turn in (each.turn, each.reply) if turn is not None]
    seen = {turn.id: turn for turn in reader.in_view(said)}
    return [
        replace(each, turn=seen[each.turn.id], reply=seen[each.reply.id] if each.reply else None) for each in exchanges
    ]


def summary_of(exchange: "Exchange") -> dict[str, str | bool | None]:
    """An exchange as JSON has it, long messages cut: then `cut` is there, and true.

    So is `hidden`, where the words of one of its turns are left out.
    """
    hidden = exchange.turn.hidden or (exchange.reply is not None and exchange.reply.hidden)
    told: dict[str, str | bool | None] = {
        "turn": exchange.turn.id,
        "reply_turn": exchange.reply.id if exchange.reply else None,
        "session": exchange.turn.session,
        "at": instant(exchange.turn.at),
        "said": _summary(exchange.turn.text),
        "reply": _summary(exchange.reply.text) if exchange.reply else None,
    }
    cut = exchange.turn.text != told["said"] or (exchange.reply is not None and exchange.reply.text != told["reply"])
    return told | {name: True for name, holds in (("hidden", hidden), ("cut", cut)) if holds}


def _summary(text: str | None) -> str | None:
    return text if text is None or len(text) <= SUMMARY else text[: SUMMARY - 1] + "…"


def lines_of(exchange: "Exchange") -> str:
    """An exchange on three lines."""
    columns = width()
    head = fit(f"{exchange.turn.id}  {local(exchange.turn.at)}  {exchange.turn.client}", columns)
    said = fit(words_of(exchange.turn), columns - 2)
    return f"{paint(head, '2')}\n{paint('>', '36')} {said}\n  {fit(_answer(exchange), columns - 2)}"


def words_of(turn: "Turn") -> str:
    """What a turn says, or why it does not."""
    return "(hidden)" if turn.hidden else turn.text if turn.text is not None else "(erased)"


def _answer(exchange: "Exchange") -> str:
    reply = exchange.reply
    if reply is None:
        return "(no reply yet)"
    if reply.hidden or reply.text is None:
        return words_of(reply)
    cut = f" ({reply.stop_reason})" if reply.truncated else ""
    return (reply.text or f"({reply.error or 'empty'})") + cut
