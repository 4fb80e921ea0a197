"""`clew remember TEXT`: state something to be remembered. Needs the memory for itself."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import lines, one_of, read_text, with_agent
from tui.commands.log import text_of
from tui.commands.place import home_of
from tui.output import put, put_json

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.beliefs import Observation

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def remember(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="A sentence; `-` reads it from stdin.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Its kind: identity, preference, fact, state, plan …")
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only for this project.")] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag for a separate scope; can be repeated.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the memory.")] = False,
) -> None:
    """Add a memory. If it is already known, it gains proof instead."""
    from graph.events import ObservationKind

    of = one_of(kind, tuple(ObservationKind), "kind")
    text = read_text(words or [], "clew remember I moved to Lyon")

    async def ask(agent: "Agent") -> "Observation":
        named = text_of(project)
        where = await agent.projects.name(named) if named is not None else None
        return await agent.memories.remember(text, kind=of, project=where, tags=tags or [])

    made = with_agent(home_of(ctx), ask, client="remember")
    if as_json:
        put_json(one_as_json(made))
    else:
        put(lines(made))
