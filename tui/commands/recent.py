"""`clew recent`: what was talked about lately, newest first by when it was said. Reads the log without a lock."""

from typing import Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import PROJECT, project_in
from tui.commands.log import MOST, put_exchanges
from tui.commands.place import home_of
from tui.commands.sessions import MAIN
from tui.commands.since import moment
from tui.commands.worlds import WORLD, world_in

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def recent(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=0, help=f"How many at most, up to {MOST}.")
    ] = 20,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="From this time on: 2025-03-01, 2h, 3d.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before this time.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A list for programs.")] = False,
) -> None:
    """List the newest exchanges of all chats; unlike `log`, only what recall may find, and imported chats by their own
    time.
    """
    from graph.reading import LogReader

    from_then, before = moment(since), moment(until)
    of = MAIN
    try:
        reader = LogReader.open(home_of(ctx, writing=False).memory)
        of = world_in(reader, world)
        of_project = project_in(reader, project)
        found = reader.recent("exchange", min(limit, MOST), since=from_then, until=before, world=of, project=of_project)
    except MemoryMissing:
        found = []
    put_exchanges(found, as_json=as_json, world=of)
