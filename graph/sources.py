"""What derived things hang on: turns and chunks, and whether those stand in the world of what hangs on them.

In its own world a turn stands while it is live and not withheld: what the user keeps out of memory stays in its chat,
but nothing that was made of it is believed. A what-if sees turns of other worlds (inheritance.py), whatever their heads
do since; there a turn stands while it is open: not hidden, not deleted, not withheld. Chunks are of all worlds.
Every relationship to a source counts in its `evidence`, so that a turn on which nothing hangs costs nothing when it
comes or goes.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from graph.inheritance import inherits
from graph.sink import NOTHING, Properties, Sink, node


def find(sink: Sink, source: str) -> tuple[str, Properties]:
    """The table and properties of a source."""
    turn = sink.node("Turn", source)
    return ("Turn", turn) if turn is not None else ("Chunk", node(sink, "Chunk", source))


def stands(table: str, source: Properties) -> bool:
    """Whether what is made from a source in its own world may be believed."""
    return bool(source["live"]) and not (table == "Turn" and source["withheld"])


def is_open(turn: Properties) -> bool:
    """Whether what is made from a turn may be believed in the worlds that inherit it."""
    return not (turn["hidden"] or turn["deleted"] or turn["withheld"])


def stands_in(sink: Sink, world: str, source: str) -> bool:
    """Whether what is made from a source may be believed in a world."""
    table, found = find(sink, source)
    if table == "Chunk" or found["world"] == world:
        return stands(table, found)
    return is_open(found) and inherits(sink, world, source)


def fallen(sink: Sink, world: str, sources: Iterable[str]) -> int:
    """How many of some sources do not stand in a world."""
    return sum(not stands_in(sink, world, source) for source in sources)


def told(sink: Sink, sources: tuple[str, ...]) -> list[int]:
    """When each was said, in UTC milliseconds."""
    return [int(find(sink, source)[1]["at"]) for source in sources]


def hang(sink: Sink, rel: str, start: str, source: str, properties: Mapping[str, Any] = NOTHING) -> bool:
    """Put a relationship to a source, if it is not there; True if it is new."""
    table, found = find(sink, source)
    if sink.has_rel(rel, start, source, to=table):
        return False
    sink.put_rel(rel, start, source, properties, to=table)
    sink.set_node(table, source, {"evidence": found["evidence"] + 1})
    return True


def unhang(sink: Sink, rel: str, start: str, source: str) -> None:
    """Drop a relationship to a source."""
    table, found = find(sink, source)
    sink.drop_rel(rel, start, source, to=table)
    sink.set_node(table, source, {"evidence": found["evidence"] - 1})
