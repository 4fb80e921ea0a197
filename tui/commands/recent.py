"""`clew recent`: what was talked about lately, or the newest of any kind of node; newest first.

Reads the log without a lock. How observations stand only the graph knows: they need the memory for a moment.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, cast

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import PROJECT, outside, project_in
from tui.commands.learned import one_of, with_agent
from tui.commands.log import MOST, put_exchanges
from tui.commands.place import home_of
from tui.commands.sessions import MAIN
from tui.commands.worlds import WORLD, world_in
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.since import moment

if TYPE_CHECKING:
    from graph.newest import NewestItem, NodeKind
    from graph.recent import Within
    from graph.values import Exchange

KINDS = ("turn", "session", "observation", "entity", "document", "chunk", "project", "block", "world")

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
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
