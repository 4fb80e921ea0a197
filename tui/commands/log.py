"""`clew log` and `recent`: what was said, newest first, as summaries. Beside a running clew.

Both read the log without a lock. How observations stand only the graph knows: they need the memory for a moment.
"""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, cast

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import PROJECT, WORLD, complete_session, home_of, outside, project_in, session_of, world_in
from tui.commands.learned import one_of, with_agent
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.since import moment
from tui.text import clean
from tui.worlds import MAIN

if TYPE_CHECKING:
    from graph.newest import NewestItem, NodeKind
    from graph.reading import LogReader
    from graph.recent import Within
    from graph.values import Exchange, Turn


MOST = 500
SUMMARY = 500  # characters of a message; `clew show` has all of it


def text_of(word: str | None) -> str | None:
    """A word of the command line, whose bytes need not be UTF-8, as text that can be compared."""
    return None if word is None else clean(word)


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


KINDS = ("turn", "session", "observation", "entity", "document", "chunk", "project", "block", "world")


def recent(
    ctx: typer.Context,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"Nodes of this kind (repeatable): {', '.join(KINDS)}."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=0, help=f"Maximum number, up to {MOST}.")
    ] = 20,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="From this time on: 2025-03-01, 2h, 3d.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before this time.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List the newest exchanges that recall can find.

    Unlike `log`, imported chats come by their own time. With --kind, list other parts of the memory.
    """
    from graph.reading import LogReader

    kinds = [cast("NodeKind", one_of(each, KINDS, "kind")) for each in kind or []]
    within: Within = {"since": moment(since), "until": moment(until), "world": MAIN}
    home, limit, elsewhere = home_of(ctx, writing=False), min(limit, MOST), ""
    exchanges: list[Exchange] = []
    nodes: list[NewestItem] = []
    try:
        reader = LogReader.open(home.memory)
        within["world"] = world_in(reader, world)
        within["project"] = of_project = project_in(reader, project)
        if not kinds:
            exchanges = reader.recent("exchange", limit, **within)
        elif "observation" in kinds:
            nodes = with_agent(home, lambda agent: agent.search.newest(kinds, limit, **within), client="recent")
        else:
            nodes = reader.newest(kinds, limit, **within)
        elsewhere = outside(reader, of_project)
    except MemoryMissing:
        pass
    if kinds:
        _put_nodes(nodes, as_json=as_json, world=within["world"], elsewhere=elsewhere)
    else:
        put_exchanges(exchanges, as_json=as_json, world=within["world"])


def _put_nodes(found: "list[NewestItem]", *, as_json: bool, world: str, elsewhere: str) -> None:
    """Print nodes on two lines each, or say that there are none."""
    if as_json:
        put_json([asdict(each) | {"at": instant(each.at), "world": world} for each in found])
        return
    for each in found:
        of = f"  project {each.project}" if each.project and each.kind != "project" else ""
        put(paint(fit(f"{each.id}  {local(each.at)}  {each.kind}{of}", width()), "2"))
        put(f"  {fit(each.text, width() - 2)}")
    if not found:
        say(f"There is nothing of that kind in the memory{elsewhere}.")
