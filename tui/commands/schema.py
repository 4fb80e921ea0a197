"""`clew schema`: what there is in the memory graph to ask for, how much of it, and what it means."""

import sys
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.place import home_of
from tui.commands.then import AS_OF, looking_back, when
from tui.output import instant, paint, put, put_json, width

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from agent.agent import Agent
    from agent.home import Home
    from graph.querying.catalogue import NodeKind, RelationshipKind, Schema
    from tui.output import Narration


class SchemaFormat(StrEnum):
    """Output format."""

    TABLE = "table"
    JSON = "json"


app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def schema(
    ctx: typer.Context,
    format: Annotated[SchemaFormat, typer.Option("--format", "-f", help="Output format.")] = SchemaFormat.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=AS_OF)] = None,
) -> None:
    """List the tables of the memory graph. It shows their row counts and columns, for use with `clew query`.

    Exit codes: 0 done; 1 the graph cannot be asked now; 66 there is no memory or time like that; 75 another clew has
    the memory.
    """
    from graph.reading import LogReader

    at = when(as_of)
    LogReader.open(home_of(ctx, writing=False).memory).close()  # a question about nothing makes no memory
    found = _asked(home_of(ctx), at)
    if as_json or format is SchemaFormat.JSON:
        put_json(as_values(found, at))
        return
    for line in as_lines(found):
        put(line)


def _asked(home: "Home", at: "datetime | int | None") -> "Schema":
    from tui.commands.opened import with_memory

    async def ask(agent: "Agent", narration: "Narration") -> "Schema":
        if at is None:
            return await agent.graph.schema()
        async with looking_back(agent, narration, at) as past:
            return await past.graph.schema()

    return with_memory(home, ask, client="query", open_graph=at is None)


def as_values(found: "Schema", at: "datetime | int | None" = None) -> dict[str, object]:
    """As JSON: two lists of tables, each with its properties."""
    told: dict[str, object] = {
        "nodes": [_table(each) for each in found.nodes],
        "relationships": [_table(each) | {"from": each.start, "to": list(each.ends)} for each in found.relationships],
    }
    return told if at is None else told | {"as_of": at if isinstance(at, int) else instant(at)}


def _table(table: "NodeKind | RelationshipKind") -> dict[str, object]:
    properties = [{"name": each.name, "type": each.type, "meaning": each.meaning} for each in table.properties]
    return {"name": table.name, "count": table.count, "meaning": table.meaning, "properties": properties}


def as_lines(found: "Schema") -> "Iterator[str]":
    """A line for every table, and one for every property under it; all of it is our own words."""
    room = width() if sys.stdout.isatty() else None
    for node in found.nodes:
        yield paint(folded(f"(:{node.name})  {node.count:,}", room, under=2), "1")
        yield from _under(node, room)
    for each in found.relationships:
        ends = " or ".join(f":{end}" for end in each.ends)
        yield paint(folded(f"(:{each.start})-[:{each.name}]->({ends})  {each.count:,}", room, under=2), "1")
        yield from _under(each, room)


def _under(table: "NodeKind | RelationshipKind", room: int | None) -> "Iterator[str]":
    yield folded(f"  {table.meaning}", room, under=2)
    for each in table.properties:
        yield folded(f"    {each.name:<17}  {each.type:<6}  {each.meaning}", room, under=31)
    yield ""


def folded(line: str, room: int | None, *, under: int) -> str:
    """A line in as many as it needs, the others from the column `under` which it goes on."""
    if room is None or len(line) <= room:
        return line
    return "\n".join(wrap(line, room, subsequent_indent=" " * min(under, room // 3)))
