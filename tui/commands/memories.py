"""`clew memories`: what was learned, or was known then, the newest first. Needs the memory for itself."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import has_memory, lines, one_of
from tui.commands.log import text_of
from tui.commands.place import home_of
from tui.commands.then import AS_OF, looking_back, stamped, when
from tui.commands.waiting import tell_waiting
from tui.commands.worlds import WORLD, world_of
from tui.output import put, put_json, say
from tui.text import clean

if TYPE_CHECKING:
    from datetime import datetime

    from agent.agent import Agent
    from graph.beliefs import Observation, Wanted
    from tui.output import Narration

MOST = 1000
STATUSES = ("candidate", "active", "superseded", "invalid")
TRENDS = ("new", "strengthening", "stable", "weakening", "stale")

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def memories(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="Only memories containing these words.")
    ] = None,
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help=f"Only this status: {', '.join(STATUSES)}.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only this kind: identity, preference, fact, state, plan …")
    ] = None,
    about: Annotated[str | None, typer.Option(metavar="NAME", help="Only about this person, place or thing.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only this project.")] = None,
    trend: Annotated[str | None, typer.Option(metavar="TREND", help=f"Only this trend: {', '.join(TRENDS)}.")] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only pinned memories.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Any status, including memories whose proof is gone.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-k", metavar="N", min=0, max=MOST, help="Maximum number.")] = 50,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=AS_OF)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List the memories in use and those waiting for review."""
    from graph.beliefs import Status, Trend, Wanted
    from graph.events import ObservationKind
    from graph.reading import LogReader

    at = when(as_of)
    wanted = Wanted(
        status=one_of(status, get_args(Status), "status"),
        kind=one_of(kind, tuple(ObservationKind), "kind"),
        about=text_of(about),
        project=text_of(project),
        trend=one_of(trend, get_args(Trend), "trend"),
        pinned=pinned or None,
        text=clean(" ".join(words or [])).strip() or None,
        dead=everything,
        everything=everything,
    )
    home = home_of(ctx, writing=False)
    wanted = replace(wanted, world=world_of(home, world))
    if at is not None:
        LogReader.open(home.memory).close()  # of nothing there is no past
    found = _found(ctx, wanted, limit, at) if has_memory(home) and limit else []
    if as_json:
        put_json(stamped([one_as_json(each) | {"shown_in": wanted.world} for each in found], at))
        return
    for each in found:
        put(lines(each))
    if not found and limit:
        then = "" if at is None else " by then"
        say(f"No matching memories{then or ' yet'}. `clew remember TEXT` adds one.")


def _found(ctx: typer.Context, wanted: "Wanted", limit: int, at: "datetime | int | None") -> "list[Observation]":
    async def ask_then(agent: "Agent", narration: "Narration", at: "datetime | int") -> "list[Observation]":
        async with looking_back(agent, narration, at) as past:
            named = wanted
            if wanted.project is not None:
                named = replace(wanted, project=await past.project_name(wanted.project))
            return await past.memories.find(named, limit=limit)

    async def ask(agent: "Agent", narration: "Narration") -> "list[Observation]":
        if at is not None:
            return await ask_then(agent, narration, at)
        named = wanted if wanted.project is None else replace(wanted, project=await agent.projects.name(wanted.project))
        await tell_waiting(agent)
        return await agent.memories.find(named, limit=limit)

    from tui.commands.opened import with_memory

    return with_memory(home_of(ctx), ask, client="memories", open_graph=at is None)
