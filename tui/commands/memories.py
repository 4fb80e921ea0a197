"""`clew memories`: what was learned, the newest first, each with how sure it is. Needs the memory for itself."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import has_memory, lines, one_of, with_agent
from tui.commands.log import text_of
from tui.commands.output import put, put_json, say
from tui.commands.place import home_of
from tui.commands.waiting import tell_waiting
from tui.text import clean

if TYPE_CHECKING:
    from agent.service import Agent
    from graph.beliefs import Observation, Wanted

MOST = 1000
STATUSES = ("candidate", "active", "superseded", "invalid")
TRENDS = ("new", "strengthening", "stable", "weakening", "stale")

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def memories(
    ctx: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(metavar="WORDS", help="Only those with these words.")] = None,
    status: Annotated[str | None, typer.Option(metavar="STATUS", help=f"Only these: {', '.join(STATUSES)}.")] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only this kind: identity, preference, fact, state, plan …")
    ] = None,
    about: Annotated[str | None, typer.Option(metavar="NAME", help="Only about this person, place or thing.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only this project.")] = None,
    trend: Annotated[str | None, typer.Option(metavar="TREND", help=f"Only these: {', '.join(TRENDS)}.")] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only the pinned ones.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Whatever their status, also those whose proof is gone.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, max=MOST, help="How many at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="A list for programs.")] = False,
) -> None:
    """List what was learned: what is in use and what waits for review."""
    from graph.beliefs import Status, Trend, Wanted
    from graph.events import ObservationKind

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
    found = _found(ctx, wanted, limit) if has_memory(home) and limit else []
    if as_json:
        put_json([one_as_json(each) for each in found])
        return
    for each in found:
        put(lines(each))
    if not found and limit:
        say("Nothing like that was learned yet. `clew remember TEXT` states something.")


def _found(ctx: typer.Context, wanted: "Wanted", limit: int) -> "list[Observation]":
    async def ask(agent: "Agent") -> "list[Observation]":
        named = wanted if wanted.project is None else replace(wanted, project=await agent.project_name(wanted.project))
        await tell_waiting(agent)
        return await agent.memories(named, limit=limit)

    return with_agent(home_of(ctx), ask, client="memories")
