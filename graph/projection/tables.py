"""The graph as plain tables in memory: what a fold of the log makes, and what two graphs are compared as."""

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from graph.events import Event
from graph.events.codec import Stored
from graph.projection.projection import project
from graph.projection.schema import NODES, RELS
from graph.projection.sink import NOTHING

_Columns = dict[str, tuple[str, ...]]
_Start = str | tuple[str, str]  # with the key, where the table has one
_Starts = _Start | set[_Start]
GRAPH: _Columns = {table.name: table.names for table in NODES}
BESIDE: _Columns = {table.name: tuple(name for name, _ in table.stored) for table in NODES}
_OF_REL = {rel.name: rel.names for rel in RELS}
_FIRST_END = {rel.name: rel.ends[0] for rel in RELS}


class Tables:
    """All nodes by table and id, all relationships by table and ends; a sink for projections.

    `nodes[table][id]` and `rels[name, table it leads to][start, end]` (or with the key behind them, where a table has
    one) are the values in the order of the `columns`, those of the graph or those beside the log: a list takes a
    quarter of a dictionary's memory, and a rebuild holds every turn. Only of the relationships that are looked at
    backwards is it kept where those that lead to a node start.
    """

    def __init__(self, event: Callable[[int], Event], columns: _Columns = GRAPH) -> None:
        self._places = {table: {name: place for place, name in enumerate(names)} for table, names in columns.items()}
        self._after_id = {table: names[1:] for table, names in columns.items()}
        self.nodes: dict[str, dict[str, list[Any]]] = {table.name: {} for table in NODES}
        self.rels: dict[tuple[str, str], dict[tuple[str, ...], tuple[Any, ...]]] = {
            (rel.name, end): {} for rel in RELS for end in rel.ends
        }
        self._back: dict[tuple[str, str], dict[str, _Starts]] = {
            (rel.name, end): {} for rel in RELS if rel.backwards for end in rel.ends
        }
        self._forth: dict[tuple[str, str], dict[str, set[str]]] = {}
        # Beside the log, what a column says too is no row of its own; the projection asks for none of these.
        self._left_out = {rel.name for rel in RELS if columns is BESIDE and not (rel.links or rel.backwards)}
        self.event = event

    def node(self, table: str, id: str) -> "_Row | None":
        values = self.nodes[table].get(id)
        return None if values is None else _Row(values, self._places[table])

    def foresee(self, rel: str, start: str, steps: int) -> None:
        pass  # everything is at hand

    def put_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        self.nodes[table][id] = [id, *map(properties.get, self._after_id[table])]

    def set_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        values, places = self.nodes[table][id], self._places[table]
        for name, value in properties.items():
            if name in places:
                values[places[name]] = value

    def put_rel(
        self,
        rel: str,
        start: str,
        end: str,
        properties: Mapping[str, Any] = NOTHING,
        *,
        to: str | None = None,
        key: str = "",
    ) -> None:
        if rel in self._left_out:
            return
        table = rel, to or _FIRST_END[rel]
        self.rels[table][_ends(start, end, key)] = tuple(map(properties.get, _OF_REL[rel]))
        if table in self._back:
            _add(self._back[table], end, _from(start, key))
        if table in self._forth:
            self._forth[table].setdefault(start, set()).add(end)

    def drop_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> None:
        if rel in self._left_out:
            return
        table = rel, to or _FIRST_END[rel]
        del self.rels[table][_ends(start, end, key)]
        if table in self._back:
            _discard(self._back[table], end, _from(start, key))
        if table in self._forth:
            self._forth[table][start].discard(end)

    def has_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> bool:
        return _ends(start, end, key) in self.rels[rel, to or _FIRST_END[rel]]

    def starts(self, rels: tuple[str, ...], end: str, *, to: str) -> list[tuple[str, str]]:
        return sorted((rel, str(start)) for rel in rels for start in _all(self._back[rel, to].get(end)))

    def edges(self, rel: str, end: str, *, to: str) -> list[tuple[str, Mapping[str, Any]]]:
        names, rows = _OF_REL[rel], self.rels[rel, to]
        starts = [each for each in _all(self._back[rel, to].get(end)) if isinstance(each, tuple)]
        return [(start, dict(zip(names, rows[start, end, key], strict=True))) for start, key in starts]

    def ends(self, rel: str, start: str, *, to: str) -> list[str]:
        table = rel, to
        if table not in self._forth:  # few are ever asked for
            self._forth[table] = {}
            for begin, end, *_ in self.rels[table]:
                self._forth[table].setdefault(begin, set()).add(end)
        return sorted(self._forth[table].get(start, ()))


def _ends(start: str, end: str, key: str) -> tuple[str, ...]:
    return (start, end, key) if key else (start, end)


def _from(start: str, key: str) -> _Start:
    return (start, key) if key else start


def _add(starts: dict[str, _Starts], end: str, start: _Start) -> None:
    """Most turns have one reply, and a set takes four times the memory of all else that is kept of it."""
    there = starts.get(end)
    if there is None:
        starts[end] = start
    elif isinstance(there, set):
        there.add(start)
    else:
        starts[end] = {there, start}


def _discard(starts: dict[str, _Starts], end: str, start: _Start) -> None:
    there = starts[end]
    if isinstance(there, set):
        there.discard(start)
    else:
        del starts[end]


def _all(starts: _Starts | None) -> Collection[_Start]:
    return () if starts is None else starts if isinstance(starts, set) else (starts,)


class _Row:
    """A node's values, by the names of their columns."""

    __slots__ = ("_places", "_values")

    def __init__(self, values: list[Any], places: dict[str, int]) -> None:
        self._values = values
        self._places = places

    def __getitem__(self, column: str) -> Any:
        return self._values[self._places[column]]


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the cycle collector from walking the growing tables again and again: a quarter of the fold, for nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def fold(events: Iterable[Stored], event: Callable[[int], Event], columns: _Columns = GRAPH) -> Tables:
    """The graph that a log makes, or the tables beside it. `event` reads one by number, for what erasures name."""
    tables = Tables(event, columns)
    for stored in events:
        project(stored, tables)
    return tables
