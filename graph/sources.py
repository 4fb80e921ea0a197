"""What derived things hang on: turns and chunks, and whether those stand.

A source stands while it is live and not withheld: what the user keeps out of memory stays in its chat, but nothing
that was made of it is believed. Every relationship to a source counts in its `evidence`, so that a turn on which
nothing hangs costs nothing when it comes or goes.
"""

from collections.abc import Mapping
from typing import Any

from graph.sink import NOTHING, Properties, Sink, node


def find(sink: Sink, source: str) -> tuple[str, Properties]:
    """The table and properties of a source."""
    turn = sink.node("Turn", source)
    return ("Turn", turn) if turn is not None else ("Chunk", node(sink, "Chunk", source))


def stands(table: str, source: Properties) -> bool:
    """Whether what is made from a source may be believed."""
    return bool(source["live"]) and not (table == "Turn" and source["withheld"])


def told(sink: Sink, sources: tuple[str, ...]) -> list[int]:
    """When each was said, in UTC milliseconds."""
    return [int(find(sink, source)[1]["at"]) for source in sources]


def hang(sink: Sink, rel: str, start: str, source: str, properties: Mapping[str, Any] = NOTHING) -> bool:
    """Put a relationship to a source, if it is not there; True if it is new and the source stands."""
    table, found = find(sink, source)
    if sink.has_rel(rel, start, source, to=table):
        return False
    sink.put_rel(rel, start, source, properties, to=table)
    sink.set_node(table, source, {"evidence": found["evidence"] + 1})
    return stands(table, found)


def unhang(sink: Sink, rel: str, start: str, source: str) -> None:
    """Drop a relationship to a source."""
    table, found = find(sink, source)
    sink.drop_rel(rel, start, source, to=table)
    sink.set_node(table, source, {"evidence": found["evidence"] - 1})
