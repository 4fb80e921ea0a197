"""`clew recall`: what the memory would bring up, or would have brought up then, for some words, and why.

Needs the memory for itself.
"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import (
    AS_OF,
    PROJECT,
    TRUE_AT,
    WORLD,
    complete_session,
    home_of,
    looking_back,
    outside,
    project_in,
    said_by,
    session_of,
    stamped,
    when,
    world_in,
)
from tui.commands.log import text_of
from tui.exit_codes import ExitCode
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.reasons import shared, who, why
from tui.since import TICK, moment
from tui.text import clean
from tui.worlds import MAIN

if TYPE_CHECKING:
    from datetime import datetime

    from agent.home import Home
    from graph.hits import Filters, Hit
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
    from graph.hits import Filters
    from graph.reading import LogReader
    from graph.visibility import EVERYONE

    try:
        reader = LogReader.open(home_of(ctx, writing=False).memory)
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
    from agent.agent import Agent
    from tui.commands.opened import with_memory
    from tui.output import Narration

    async def ask(agent: Agent, narration: Narration) -> "list[Hit]":
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
    }


def _lines(hit: "Hit", rank: int, tied: "Shared") -> str:
    columns = width()
    parts = (hit.id, local(hit.at), who(hit.role, hit.speaker), hit.session_name or "")
    head = fit(f"{rank:>2}  {'  '.join(part for part in parts if part)}", columns)
    body = f"    {fit(hit.text, columns - 4)}"
    reasons = why(hit, tied)
    return "\n".join([paint(head, "2"), body, *([paint(f"    {fit(reasons, columns - 4)}", "36")] if reasons else [])])
