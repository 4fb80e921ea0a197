"""The graph as plain tables in memory: what a fold of the log makes, and what two graphs are compared as."""

from collections.abc import Callable, Iterable
from typing import Any

from graph.changes import Change, DropRel, PutNode, PutRel, SetNode
from graph.codec import Stored
from graph.events import Event
from graph.projection import apply
from graph.schema import NODES, RELS

Row = dict[str, Any]


class Tables:
    """All nodes by table and id, all relationships by table; a sink for projections."""

    def __init__(self, event: Callable[[int], Event]) -> None:
        self.nodes: dict[str, dict[str, Row]] = {table.name: {} for table in NODES}
        self.rels: dict[str, dict[tuple[str, str], None]] = {rel.name: {} for rel in RELS}
        self.event = event
        self._empty = {table.name: dict.fromkeys(table.names) for table in NODES}

    def node(self, table: str, id: str) -> Row | None:
        return self.nodes[table].get(id)

    def apply(self, change: Change) -> None:
        match change:
            case PutNode(table, id, properties):
                self.nodes[table][id] = {**self._empty[table], "id": id, **properties}
            case SetNode(table, id, properties):
                self.nodes[table][id].update(properties)
            case PutRel(rel, start, end):
                self.rels[rel][start, end] = None
            case DropRel(rel, start, end):
                del self.rels[rel][start, end]

    def sizes(self) -> dict[str, int]:
        """How many rows each table has."""
        tables: dict[str, Any] = {**self.nodes, **self.rels}
        return {name: len(rows) for name, rows in tables.items()}


def fold(events: Iterable[Stored], event: Callable[[int], Event]) -> Tables:
    """The graph that a log makes. `event` reads one event by number, for what erasures name."""
    tables = Tables(event)
    for stored in events:
        apply(stored, tables)
    return tables
