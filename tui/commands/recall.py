"""`clew recall`, `about` and `themes`: what the memory brings up for words, a name, or everything, and why.

They need the memory for themselves; `about` reads beside a running clew. The themes are communities of the memory's
graph; the chat model gives them names. Without it they have their own words.
"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import (
    AS_OF,
    PROJECT,
    TICK,
    TRUE_AT,
    WORLD,
    complete_session,
    home_of,
    looking_back,
    moment,
    outside,
    project_in,
    reader_of,
    said_by,
    session_of,
    stamped,
    when,
    world_in,
)
from tui.commands.learned import ERASED, later_json, later_lines, relationship_json
from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import words as memory_words
from tui.commands.log import text_of
from tui.commands.relations import line as relation_line
from tui.exit_codes import ExitCode
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.reasons import shared, who, why
from tui.text import clean, counted, one_line, shown
from tui.worlds import MAIN

if TYPE_CHECKING:
    from datetime import datetime

    from agent.dossier import Dossier, Moment
    from agent.face import Face
    from agent.home import Home
    from agent.themes import Overview
    from graph.values import About, Filters, Hit, Observation, Turn
    from tui.output import Narration
    from tui.reasons import Shared


MOST = 100
MOST_BYTES = 1 << 20
ROLES = ("user", "assistant", "note", "tool")
NOTHING = "Nothing in the memory matches{}."


def recall(
    ctx: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(metavar="WORDS", help="What to recall; `-` reads it.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-k", metavar="N", min=1, max=MOST, help="Maximum number.")] = 10,
    session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only this session (or `last`).", autocompletion=complete_session),
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    person: Annotated[str | None, typer.Option(metavar="NAME", help="Only what this person said.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="From this time on: 2025-03-01, 2h, 3d.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before this time.")] = None,
    role: Annotated[
        list[str] | None, typer.Option(metavar="ROLE", help=f"Only these roles: {', '.join(ROLES)}.")
    ] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=AS_OF)] = None,
    true_at: Annotated[str | None, typer.Option("--true-at", metavar="TIME", help=TRUE_AT)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list, with all scores.")] = False,
) -> None:
    """Show what would be recalled for some words, and why."""
    query = read_query(words or [])
    from_then, before = moment(since), moment(until)
    at, by = when(as_of), said_by(true_at)
    if by is not None:
        before = min(before, by + TICK) if before is not None else by + TICK
    roles = _roles(role or [])
    from graph.values import Filters
    from graph.visibility import EVERYONE

    try:
        reader = reader_of(ctx)
    except MemoryMissing:
        if at is not None:
            raise
        _put([], as_json=as_json, nothing=NOTHING.format(""))
        return
    of = session_of(reader, session) if session is not None else None
    empty = at is None and reader.counts()["turns"] == 0 and not reader.documents()
    of_world = world_in(reader, world if world is not None or of is None else of.world)
    of_project = project_in(reader, project)
    nothing = NOTHING.format(outside(reader, of_project) if of is None else "")
    reader.close()
    filters = Filters(
        session=of.id if of is not None else None,
        project=EVERYONE if of is not None and project is None else of_project,  # of a session, what that one sees
        person=text_of(person),
        since=from_then,
        until=before,
        roles=roles or Filters().roles,
        world=of_world,
    )
    hits = [] if empty else _recall(home_of(ctx), query, limit, filters, at)
    if by is not None:  # an observation may have grown since
        hits = [hit for hit in hits if hit.at <= by]
    _put(hits, as_json=as_json, as_of=at, world=of_world, nothing=nothing)


def _recall(home: "Home", query: str, limit: int, filters: "Filters", at: "datetime | int | None") -> "list[Hit]":
    from agent.face import Face
    from tui.commands.opened import with_memory
    from tui.output import Narration

    async def ask(agent: Face, narration: Narration) -> "list[Hit]":
        if at is not None:
            async with looking_back(agent, narration, at) as past:
                return await past.recall(query, limit=limit, filters=filters)
        return await agent.search.recall(query, limit=limit, filters=filters)

    return with_memory(home, ask, client="recall", open_graph=at is None, by_meaning=True)


def read_query(words: list[str]) -> str:
    """The words of the command line, or what is piped in for `-`. Raises BadParameter if there are none."""
    piped = words == ["-"] or (not words and sys.stdin is not None and not sys.stdin.isatty())
    if piped:
        raw = sys.stdin.buffer.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            say(f"clew: What was piped is longer than {MOST_BYTES >> 20} MiB. Shorten it.")
            raise typer.Exit(ExitCode.BAD_DATA)
        text = raw.decode("utf-8", "replace")
    else:
        text = " ".join(words)
    from graph.recall.lexical import says_anything

    query = clean(text).strip()
    if not says_anything(query):
        raise typer.BadParameter('There is nothing to search for. Give some words: clew recall "the tide pools"')
    return query


def _roles(given: list[str]) -> frozenset[str]:
    wanted = frozenset(part.strip().lower() for word in given for part in word.split(",") if part.strip())
    if unknown := sorted(wanted - set(ROLES)):
        raise typer.BadParameter(f"{unknown[0]!r} is not a role. Roles: {', '.join(ROLES)}.")
    return wanted


def _put(
    hits: "list[Hit]", *, as_json: bool, nothing: str, as_of: "datetime | int | None" = None, world: str = MAIN
) -> None:
    if as_json:
        rows = [explained(hit, rank, shared(hits)) | {"world": world} for rank, hit in enumerate(hits, start=1)]
        put_json(stamped(rows, as_of))
        return
    for rank, hit in enumerate(hits, start=1):
        put(_lines(hit, rank, shared(hits)))
    if not hits:
        say(nothing)


def explained(hit: "Hit", rank: int, tied: "Shared") -> dict[str, object]:
    """A hit as JSON has it: what it is, and everything that put it at its rank."""
    return {
        "rank": rank,
        "kind": hit.kind,
        "id": hit.id,
        "session": hit.session,
        "session_name": hit.session_name,
        "role": hit.role,
        "speaker": hit.speaker,
        "at": instant(hit.at),
        "text": hit.text,
        "score": hit.score,
        "reasons": [{"strategy": each.strategy, "rank": each.rank, "score": each.score} for each in hit.reasons],
        "boosts": [{"name": each.name, "amount": each.amount} for each in hit.boosts],
        "path": [{"relation": each.relation, "node": each.node} for each in hit.path],
        "why": why(hit, tied),
        "later": [later_json(each) for each in hit.later],
    }


def _lines(hit: "Hit", rank: int, tied: "Shared") -> str:
    columns = width()
    parts = (hit.id, local(hit.at), who(hit.role, hit.speaker), hit.session_name or "")
    head = fit(f"{rank:>2}  {'  '.join(part for part in parts if part)}", columns)
    body = f"    {fit(hit.text, columns - 4)}"
    reasons = why(hit, tied)
    later = later_lines(hit.later, columns, 4)
    return "\n".join(
        [paint(head, "2"), *later, body, *([paint(f"    {fit(reasons, columns - 4)}", "36")] if reasons else [])]
    )


MOST_MESSAGES = 200


def about(
    ctx: typer.Context,
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="A person, place or project.")],
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=0, max=MOST_MESSAGES, help="Maximum number of messages.")
    ] = 20,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show everything about a person, place or project."""
    wanted = clean(" ".join(name)).strip()
    if not wanted:
        raise typer.BadParameter("Give a name: clew about Ada")
    from agent.dossier import Dossier, dossier
    from graph.beside import readings_beside
    from graph.values import About

    of, elsewhere = MAIN, ""
    try:
        reader = reader_of(ctx)
        of = world_in(reader, world)
        of_project = project_in(reader, project)
        elsewhere = outside(reader, of_project)
        with readings_beside(reader, home_of(ctx, writing=False).memory) as readings:
            found = dossier(readings, wanted, limit=limit, world=of, project=of_project)
    except MemoryMissing:
        found = Dossier(About(wanted, "word", 0, 0, None, None))
    if as_json:
        put_json(_whole(found.words) | {"world": of} | _believed_json(found))
    elif found.empty:
        say(f"Nothing in the memory mentions {one_line(found.words.name)}{elsewhere}.")
    else:
        put(_page(found))


def _believed_json(found: "Dossier") -> dict[str, object]:
    """What is known of it: relationships, what is believed and what was, and when it all was."""
    return {
        "relationships": [
            (relationship_json(each.relationship) or {})
            | {"memory": each.id, "proofs": [*each.sources, *each.supports]}
            for each in found.relationships
        ],
        "believed": [one_as_json(each) for each in found.believed],
        "was": [
            one_as_json(each) | {"instead": instead.id if instead is not None else None} for each, instead in found.was
        ],
        "timeline": [
            {"when": each.when, "what": each.what, "over": each.over, "memory": each.memory} for each in found.timeline
        ],
        "wrote": [
            {"reference": each.id, "address": each.address, "session": each.session, "at": instant(each.at)}
            for each in found.wrote
        ],
    }


def _whole(found: "About") -> dict[str, object]:
    return {
        "name": found.name,
        "kind": found.kind,
        "said": found.said,
        "mentioned": found.mentioned,
        "first_at": instant(found.first_at) if found.first_at else None,
        "last_at": instant(found.last_at) if found.last_at else None,
        "sessions": [{"id": id, "name": name, "turns": turns} for id, name, turns in found.sessions],
        "turns": [turn_summary(turn) for turn in found.turns],
    }


def turn_summary(turn: "Turn") -> dict[str, object]:
    """A turn that is cited, as JSON has it."""
    return {
        "id": turn.id,
        "session": turn.session,
        "role": turn.role,
        "speaker": turn.speaker,
        "at": instant(turn.at),
        "text": turn.text,
    }


def _page(found: "Dossier") -> str:
    words = found.words
    counts = f"{words.kind} · said {counted(words.said, 'message')} · named in {counted(words.mentioned, 'other')}"
    span = f" · {local(words.first_at)} to {local(words.last_at)}" if words.first_at and words.last_at else ""
    lines = [paint(one_line(words.name), "1"), paint(fit(counts + span, width()), "2")]
    lines += [fit(f"  {id}  {turns:>5}  {name or '(no title yet)'}", width()) for id, name, turns in words.sessions]
    lines += _section("Relationships", [relation_line(each) for each in found.relationships])
    lines += _section("Believed now", [line for each in found.believed for line in _believed(each)])
    lines += _section("Believed before", [_was(*each) for each in found.was])
    lines += _section("Timeline", [_moment(each) for each in found.timeline])
    lines += _section(
        "Wrote in", [fit(f"  {local(each.at)} · {one_line(each.address)}", width()) for each in found.wrote]
    )
    return "\n".join([*lines, *(f"\n{turn_lines(turn)}" for turn in words.turns)])


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", paint(title, "36"), *lines] if lines else []


def _believed(memory: "Observation") -> list[str]:
    """What is believed since a day, and what was said since on its topic."""
    when = paint(local(memory.said_at), "2")
    return [fit(f"{when}  {memory_words(memory)}", width()), *later_lines(memory.later[:1], width(), 4)]


def _moment(moment: "Moment") -> str:
    told = fit(f"{moment.when:<10}  {moment.what or ERASED}", width())
    return paint(told, "2") if moment.over else told


def _was(memory: "Observation", instead: "Observation | None") -> str:
    """What is believed no more, with what came instead."""
    after = f" → {instead.text}" if instead is not None and instead.text else f" ({memory.status})"
    return paint(fit(f"{memory.text or ERASED}{after}", width()), "2")


def turn_lines(turn: "Turn") -> str:
    """A turn that is cited, on two lines."""
    head = fit(f"{turn.id}  {local(turn.at)}  {who(turn.role, turn.speaker)}", width())
    return f"{paint(head, '2')}\n  {fit(turn.text if turn.text is not None else '(erased)', width() - 2)}"


MOST_THEMES = 20
NONE = "There are too few messages to find themes yet."


def themes(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=1, max=MOST_THEMES, help="Maximum number.")
    ] = 6,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the themes across all chats. Each comes with the messages it is based on."""
    try:
        reader = reader_of(ctx)
    except MemoryMissing:
        _about_put(None, as_json=as_json)
        return
    of, of_project = world_in(reader, world), project_in(reader, project)
    empty = reader.counts()["turns"] == 0
    reader.close()
    if empty:
        _about_put(None, as_json=as_json)
        return
    from tui.commands.opened import with_memory

    async def ask(agent: "Face", narration: "Narration") -> "Overview":
        def progress(done: int, total: int) -> None:
            narration.tell(f"naming themes: {done} of {total}")

        narration.tell("finding themes …")
        return await agent.search.overview(limit=limit, progress=progress, world=of, project=of_project)

    _about_put(with_memory(home_of(ctx), ask, client="themes", by_meaning=True), as_json=as_json, world=of)


def _about_put(found: "Overview | None", *, as_json: bool, world: str = MAIN) -> None:
    if as_json:
        listed = [
            {
                "title": theme.title,
                "summary": theme.summary,
                "people": list(theme.people),
                "turns": [turn_summary(turn) for turn in theme.turns],
            }
            for theme in (found.themes if found is not None else ())
        ]
        put_json({"overview": found.text if found is not None else "", "themes": listed, "world": world})
    elif found is None or not found.themes:
        say(NONE)
    else:
        put(_themes_page(found))


def _themes_page(found: "Overview") -> str:
    blocks = [shown(found.text)] if found.text else []
    for theme in found.themes:
        people = [paint(fit(f"with {', '.join(theme.people)}", width()), "2")] if theme.people else []
        head = [paint(shown(theme.title), "1"), *people, shown(theme.summary)]
        blocks.append("\n".join([*head, *(turn_lines(turn) for turn in theme.turns)]))
    return "\n\n".join(blocks)
