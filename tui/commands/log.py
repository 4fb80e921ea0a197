"""`clew log`, `recent` and `show`: what was said, as summaries or whole, with what a reply was given and why.

What was said is read from the log without a lock. How observations stand only the graph knows: they need the memory for
a moment. What may be shown no more stands there without its words.
"""

import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, cast

import typer

from graph.errors import MemoryMissing, NotFound
from tui.commands.chats import summary
from tui.commands.choosing import (
    PROJECT,
    WORLD,
    complete_session,
    complete_shown,
    home_of,
    moment,
    outside,
    project_in,
    reader_of,
    session_of,
    world_in,
)
from tui.commands.learned import one_of, page, put_story_json, with_agent
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.reasons import shared_stored, who, why_stored
from tui.text import clean, counted, one_line, shown
from tui.toolwords import line_of, read_call
from tui.worlds import MAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graph.events import Recalled
    from graph.reader import LogReader
    from graph.readings.newest import NewestFilter, NewestItem, NodeKind
    from graph.readings.quoted import Believed
    from graph.values import Alternatives, Chunk, CoreBlock, Exchange, Reference, Session, Turn
    from tui.reasons import Shared

    Quoted = Turn | Believed | Chunk | CoreBlock | Reference


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
    from_then, before = moment(since), moment(until)
    try:
        reader = reader_of(ctx)
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
    kinds = [cast("NodeKind", one_of(each, KINDS, "kind")) for each in kind or []]
    within: NewestFilter = {"since": moment(since), "until": moment(until), "world": MAIN}
    home, limit, elsewhere = home_of(ctx, writing=False), min(limit, MOST), ""
    exchanges: list[Exchange] = []
    nodes: list[NewestItem] = []
    try:
        reader = reader_of(ctx, home)
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


MAYBE_ID = re.compile(r"[0-9A-Za-z]{6,26}")


def show(
    ctx: typer.Context,
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="A message, a chat (or `last`), or a memory.", autocompletion=complete_shown),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show an exchange, a chat or a memory in full."""
    reader = reader_of(ctx)
    try:
        _show_exchange(reader, reader.exchange(clean(id)), as_json=as_json)
    except NotFound as missing:
        try:
            session = session_of(reader, id)
        except NotFound:
            reader.close()
            _show_memory(ctx, id, missing, as_json=as_json)
            return
        _show_session(reader, session, as_json=as_json)


def _show_memory(ctx: typer.Context, id: str, missing: NotFound, *, as_json: bool) -> None:
    from agent.face import Face
    from graph.values import Story

    async def ask(agent: Face) -> Story:
        return await agent.memories.story(clean(id))

    try:
        if not MAYBE_ID.fullmatch(clean(id).strip()):
            raise missing
        story = with_agent(home_of(ctx), ask, client="show")
    except NotFound:
        raise NotFound(
            f"There is no message, chat or memory {id}. `clew log`, `clew sessions` and `clew memories` list them."
        ) from missing
    if as_json:
        put_story_json(story)
    else:
        put(page(story))


def _show_exchange(reader: "LogReader", exchange: "Exchange", *, as_json: bool) -> None:
    told = [exchange.turn, *exchange.tools, *([exchange.reply] if exchange.reply else [])]
    turns = reader.in_view(told)
    packs = [turn for turn in (exchange.reply, *exchange.tools) if turn is not None]
    places = reader.alternatives(exchange.turn.session, [turn.id for turn in turns])
    there = quoted(reader, [item.id for turn in packs for item in turn.recalled])
    if as_json:
        tools = zip(turns[1:], exchange.tools, strict=False)
        put_json(
            {
                "turn": whole(turns[0], places),
                "reply": whole(turns[-1], places) if exchange.reply else None,
                "project": exchange.project,
                "tools": [_called(tool, as_told) for tool, as_told in tools],
                "context": [
                    given_json(item, there.get(item.id), by=turn.id) for turn in packs for item in turn.recalled
                ],
            }
        )
        return
    about = [f"session {exchange.turn.session}", *([f"project {exchange.project}"] if exchange.project else [])]
    put(paint(one_line(" · ".join(about)), "2"))
    for turn, as_told in zip(turns, told, strict=True):
        put("\n" + _block(turn, as_told, places.get(turn.id)))
    recalled = exchange.reply.recalled if exchange.reply else ()
    found = {item.id: item for tool in exchange.tools for item in tool.recalled}
    for head, pack in (("recalled for the reply", recalled), ("found by tools for the reply", found.values())):
        if pack:
            put(f"\n{paint(f'{head}: {len(pack)}', '1')}")
        tied = shared_stored(pack)
        for item in pack:
            put(given_lines(item, there.get(item.id), exchange.turn.text or "", tied))


def _called(tool: "Turn", as_told: "Turn") -> dict[str, object]:
    """A tool's turn with its call read out; what it found is null where that is left out."""
    call = read_call(tool if as_told.hidden else as_told)
    result = call.result if tool.text is not None else None
    return whole(tool) | {"tool": call.tool, "arguments": dict(call.arguments), "result": result}


def _show_session(reader: "LogReader", session: "Session", *, as_json: bool) -> None:
    told = reader.thread(session.id)
    thread = reader.in_view(told)
    places = reader.alternatives(session.id, [turn.id for turn in thread])
    if as_json:
        put_json({"session": summary(session), "thread": [whole(turn, places) for turn in thread]})
        return
    put(paint(one_line(session.name or "(no title yet)"), "1"))
    world = "" if session.world in (MAIN, session.story) else f" · what-if {session.world}"
    about = f"session {session.id} · {counted(session.turns, 'turn')} · since {local(session.started_at)}{world}"
    put(paint(one_line(about), "2"))
    for turn, as_told in zip(thread, told, strict=True):
        put("\n" + _block(turn, as_told, places.get(turn.id)))


def whole(turn: "Turn", places: "Mapping[str, Alternatives] | None" = None) -> dict[str, object]:
    """A turn with everything that is known of it; `alternatives` are those that stand in its place, if others do."""
    known = asdict(turn) | {"recalled": [item.model_dump() for item in turn.recalled], "truncated": turn.truncated}
    beside = (places or {}).get(turn.id)
    return known | {"alternatives": list(beside.turns) if beside is not None else []}


def _block(turn: "Turn", as_told: "Turn", beside: "Alternatives | None" = None) -> str:
    """A turn for people; of a tool whose answer is left out there is still the call."""
    speaker = {"user": "you", "assistant": "clew"}.get(turn.role, turn.role)
    if turn.witnesses is not None:
        speaker = f"{turn.speaker}{', out of character' if turn.role == 'note' else ''}"
    head = f"{speaker} · {local(turn.at)} · turn {turn.id} · {turn.index}. of its session · {turn.client}"
    head += f" · ‹{beside.label}›" if beside is not None else ""
    text = shown(words_of(turn))
    if turn.role == "tool" and turn.hidden and not as_told.hidden:
        text = f"{line_of(replace(read_call(as_told), result='', found=None))}\n{text}"
    figures = _figures(turn)
    return "\n".join(
        [
            paint(one_line(head), "36"),
            text,
            *([paint(one_line(figures), "2")] if figures else []),
            *([paint(one_line(f"error: {turn.error}"), "31")] if turn.error else []),
        ]
    )


def _figures(turn: "Turn") -> str:
    """What a reply cost and how it ended, on one line."""
    parts = [
        turn.model,
        f"⇅ {turn.host}" if turn.host else None,
        f"prompt {counted(turn.prompt_tokens, 'token')}" if turn.prompt_tokens is not None else None,
        f"{turn.evaluated_tokens} evaluated" if turn.evaluated_tokens is not None else None,
        f"reply {counted(turn.completion_tokens, 'token')}" if turn.completion_tokens is not None else None,
        f"first after {turn.first_token_ms:.0f} ms" if turn.first_token_ms is not None else None,
        f"{turn.total_ms / 1000:.2f} s in all" if turn.total_ms is not None else None,
        f"drawn again {turn.redrawn}×" if turn.redrawn else None,
        f"prompt {turn.prompt_hash[:12]}" if turn.prompt_hash else None,
        ", ".join(f"{name} {value:g}" for name, value in (turn.sampling or {}).items() if value is not None) or None,
        f"cut off: {turn.stop_reason}" if turn.truncated else None,
        "queued" if turn.queued else None,
    ]
    return " · ".join(part for part in parts if part)


STRETCH = 300  # characters of long words, also where there is room for all of them
LABELS = {
    "turn": "turn",
    "observation": "memory",
    "chunk": "document passage",
    "block": "core block",
    "reference": "reference",
}


def quoted(reader: "LogReader", ids: list[str]) -> "dict[str, Quoted]":
    """What of a context pack may still be shown, by id."""
    if not ids:
        return {}
    kept: dict[str, Quoted] = {**reader.quotable(ids), **reader.believed(ids), **reader.chunks(ids)}
    return {**kept, **_blocks(reader, ids), **_references(reader, ids)}


def given_json(item: "Recalled", found: "Quoted | None", *, by: str) -> dict[str, object]:
    """One thing that the reply was given, `by` its own context pack or a tool; no words where they are gone."""
    from graph.values import Reference

    if isinstance(found, Reference) or item.kind == "reference":  # its words are kept nowhere
        address = found.address if isinstance(found, Reference) else None
        return {"id": item.id, "by": by, "address": address or None} | item.model_dump(exclude={"id"})
    words = {"text": found.text if found else None, "hidden": found is None}
    return {"id": item.id, "by": by} | _source(found) | words | item.model_dump(exclude={"id"})


def given_lines(item: "Recalled", found: "Quoted | None", asked: str, tied: "Shared") -> str:
    """One item of a reply's context pack: where it stands, its words, and why it was put before the model.

    Of long words the stretch that answers best what was asked, as the model was given it.
    """
    from agent.quoting import excerpt
    from graph.readings.quoted import Believed
    from graph.values import Reference, Turn

    if isinstance(found, Reference) or item.kind == "reference":
        return _read_lines(item, found.address if isinstance(found, Reference) else "")
    said = found if isinstance(found, Turn | Believed) else None
    head = "  " + fit(" · ".join([*_place(found), f"{LABELS[item.kind]} {item.id}"]), width() - 2)
    words = found.text if found is not None and found.text is not None else "(now hidden or deleted)"
    reasons = why_stored(item, said, tied)
    words = excerpt(one_line(words), asked, min(width() - 6, STRETCH))
    lines = [paint(head, "2"), f"    {fit(words, width() - 4)}", f"    {paint(fit(reasons, width() - 4), '36')}"]
    return "\n".join(lines if reasons else lines[:2])


def _read_lines(item: "Recalled", address: str) -> str:
    """What was read at a reference: its address, when that was, and the hash of what it said, which is kept nowhere."""
    from graph.ids import as_datetime

    what = "a passage of " if "#" in item.id else ""
    head = f"read {local(as_datetime(item.read_at or 0))} · reference {item.id} · sha256 {(item.hash or '')[:12]}"
    words = f"{what}{address or '(its address was erased)'}"
    return "\n".join([paint("  " + fit(one_line(head), width() - 2), "2"), f"    {fit(one_line(words), width() - 4)}"])


def _references(reader: "LogReader", ids: list[str]) -> "dict[str, Reference]":
    """What of a context pack was read elsewhere, by the ids it has there."""
    from graph.events.references import PREFIX, referred

    read = {id: referred(id) for id in ids if id.startswith(PREFIX)}
    there = reader.references(read.values()) if read else {}
    return {id: there[of] for id, of in read.items() if of in there}


def _blocks(reader: "LogReader", ids: list[str]) -> "dict[str, CoreBlock]":
    """The versions of core blocks among a context pack that may still be shown."""
    from agent.prompt import PREFIX, block_id, version_of
    from graph.events import CoreWritten
    from graph.values import CoreBlock

    found = {}
    for seq in reader.block_versions(version_of(id) for id in ids if id.startswith(PREFIX)):
        event = reader.event(seq)
        if isinstance(event, CoreWritten) and event.text is not None:
            block = CoreBlock(event.block, event.world, event.text, event.by, seq)
            found[block_id(block)] = block
    return found


def _place(found: "Quoted | None") -> list[str]:
    """When and by whom it was said; of a piece of a document, the title and the headings, which is how it is cited."""
    from graph.values import Chunk, CoreBlock, Reference

    match found:
        case None:
            return []
        case Chunk():
            return [one_line(found.place)]
        case CoreBlock():
            return [found.name]
        case Reference():
            return [found.address]
        case _:
            return [local(found.at), who(found.role, found.speaker)]


def _source(found: "Quoted | None") -> dict[str, object]:
    """Where it is from, for programs."""
    from graph.values import Chunk, CoreBlock, Reference

    match found:
        case None:
            return {}
        case Chunk():
            names: tuple[str, ...] = ("document", "title", "headings", "path", "at")
        case CoreBlock():
            return {"block": found.name, "written_by": found.by}
        case Reference():
            return {"address": found.address}
        case _:
            names = ("session", "at", "role", "speaker")
    return {name: getattr(found, name) for name in names if hasattr(found, name)}
