"""`clew themes`: what the conversations were about, each theme citing its turns. Needs the memory for itself.

The themes are communities of the memory's graph; the chat model gives them names. Without it they have their own words.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.about import turn_lines, turn_summary
from tui.commands.choosing import PROJECT, project_in
from tui.commands.place import home_of
from tui.commands.sessions import MAIN
from tui.commands.worlds import WORLD, world_in
from tui.output import paint, put, put_json, say
from tui.text import shown

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.themes import Overview
    from tui.output import Narration

MOST = 20
NONE = "There are too few messages to find themes yet."

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def themes(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", "-k", metavar="N", min=1, max=MOST, help="Maximum number.")] = 6,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the themes across all chats. Each comes with the messages it is based on."""
    from graph.reading import LogReader

    try:
        reader = LogReader.open(home_of(ctx, writing=False).memory)
    except MemoryMissing:
        _put(None, as_json=as_json)
        return
    of, of_project = world_in(reader, world), project_in(reader, project)
    empty = reader.counts()["turns"] == 0
    reader.close()
    if empty:
        _put(None, as_json=as_json)
        return
    from tui.commands.opened import with_memory

    async def ask(agent: "Agent", narration: "Narration") -> "Overview":
        def progress(done: int, total: int) -> None:
            narration.tell(f"naming themes: {done} of {total}")

        narration.tell("finding themes …")
        return await agent.search.overview(limit=limit, progress=progress, world=of, project=of_project)

    _put(with_memory(home_of(ctx), ask, client="themes", by_meaning=True), as_json=as_json, world=of)


def _put(found: "Overview | None", *, as_json: bool, world: str = MAIN) -> None:
    if as_json:
        listed = [
            {"title": theme.title, "summary": theme.summary, "turns": [turn_summary(turn) for turn in theme.turns]}
            for theme in (found.themes if found is not None else ())
        ]
        put_json({"overview": found.text if found is not None else "", "themes": listed, "world": world})
    elif found is None or not found.themes:
        say(NONE)
    else:
        put(_page(found))


def _page(found: "Overview") -> str:
    blocks = [shown(found.text)] if found.text else []
    for theme in found.themes:
        head = [paint(shown(theme.title), "1"), shown(theme.summary)]
        blocks.append("\n".join([*head, *(turn_lines(turn) for turn in theme.turns)]))
    return "\n\n".join(blocks)
