"""The live sink: one transaction's view of the graph, with what it changed on top, written out at its end.

Changes to one node or relationship are gathered, so that a turn that is put, placed and counted is written once.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graph.events import Event
from graph.events.codec import Stored
from graph.kuzu.store import GraphStore
from graph.projection.projection import project
from graph.projection.schema import META, NODES, RELS, NodeTable
from graph.projection.sink import NOTHING
from graph.reader import LogReader

_TABLES: dict[str, NodeTable] = {table.name: table for table in NODES}
_RELS = {rel.name: rel for rel in RELS}
_Rel = tuple[str, str, str, str, str]  # name, table it leads to, start, end, key


class Overlay:
    """A sink over a store. Make one per transaction, inside it; `flush` writes."""

    def __init__(self, store: GraphStore, event: Callable[[int], Event]) -> None:
        self._store = store
        self.event = event
        self._nodes: dict[tuple[str, str], dict[str, Any] | None] = {}  # as they are with the changes
        self._new: dict[tuple[str, str], None] = {}
        self._set: dict[tuple[str, str], dict[str, None]] = {}  # the columns changed of nodes that were there before
        # Whether each was there before, and what it is now: its properties, or None where it is gone.
        self._rels: dict[_Rel, tuple[bool, Mapping[str, Any] | None]] = {}
        self._back: dict[tuple[str, str, str], dict[str, None]] = {}  # starts of those changed, by name, table and end

    def node(self, table: str, id: str) -> dict[str, Any] | None:
        key = table, id
        if key not in self._nodes:
            self._nodes[key] = self._load(_TABLES[table], id)
        return self._nodes[key]

    def foresee(self, rel: str, start: str, steps: int) -> None:
        table = _TABLES[_RELS[rel].start]
        columns = ("id", *table.read)
        pattern = f"(a:`{table.name}` {{id: $id}})-[:`{rel}`*1..{steps}]->(b:`{table.name}`)"
        listed = ", ".join(f"b.`{name}`" for name in columns)
        for values in self._store.execute(f"MATCH {pattern} RETURN {listed}", {"id": start}):
            self._nodes.setdefault((table.name, values[0]), dict(zip(columns, values, strict=True)))

    def put_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        self._nodes[table, id] = {**dict.fromkeys(_TABLES[table].names), "id": id, **properties}
        self._new[table, id] = None

    def set_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        node = self.node(table, id)
        if node is None:
            raise LookupError(f"the graph has no {table} {id}")
        node.update(properties)
        if (table, id) not in self._new:
            self._set.setdefault((table, id), {}).update(dict.fromkeys(properties))

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
        changed = rel, to or _RELS[rel].ends[0], start, end, key
        was_there, _ = self._rels.get(changed, (False, None))
        self._change(changed, was_there, {**dict.fromkeys(_RELS[rel].names), **properties})

    def drop_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> None:
        changed = rel, to or _RELS[rel].ends[0], start, end, key
        was_there, _ = self._rels.get(changed, (True, None))
        self._change(changed, was_there, None)

    def has_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> bool:
        sought = rel, to or _RELS[rel].ends[0], start, end, key
        if sought in self._rels:
            return self._rels[sought][1] is not None
        if (_RELS[rel].start, start) in self._new or (sought[1], end) in self._new:
            return False
        told = {"key": key} if key else {}
        of = f" {{`{_RELS[rel].key}`: $key}}" if key else ""
        pattern = f"(a:`{_RELS[rel].start}` {{id: $a}})-[:`{rel}`{of}]->(b:`{sought[1]}` {{id: $b}})"
        return bool(self._store.execute(f"MATCH {pattern} RETURN 1", {"a": start, "b": end, **told}))

    def starts(self, rels: tuple[str, ...], end: str, *, to: str) -> list[tuple[str, str]]:
        found = self._stored(rels, end, to) if (to, end) not in self._new else set()
        for rel in rels:
            for start in self._back.get((rel, to, end), ()):
                here = self._rels[rel, to, start, end, ""][1] is not None
                (found.add if here else found.discard)((rel, start))
        return sorted(found)

    def _stored(self, rels: tuple[str, ...], end: str, to: str) -> set[tuple[str, str]]:
        """What leads to a node in the store. Where it starts is loaded with it: mostly that is looked at next."""
        table = _TABLES[_RELS[rels[0]].start]
        columns = ("id", *table.read)
        pattern = f"(a:`{table.name}`)-[r:{'|'.join(f'`{rel}`' for rel in rels)}]->(b:`{to}` {{id: $id}})"
        listed = ", ".join(f"a.`{name}`" for name in columns)
        rows = self._store.execute(f"MATCH {pattern} RETURN label(r), {listed}", {"id": end})
        for _, id, *values in rows:
            self._nodes.setdefault((table.name, id), dict(zip(columns, (id, *values), strict=True)))
        return {(rel, id) for rel, id, *_ in rows}

    def edges(self, rel: str, end: str, *, to: str) -> list[tuple[str, Mapping[str, Any]]]:
        table = _RELS[rel]
        found: dict[tuple[str, str], Mapping[str, Any]] = {}
        if (to, end) not in self._new:
            pattern = f"(a:`{table.start}`)-[r:`{rel}`]->(b:`{to}` {{id: $id}})"
            listed = ", ".join(f"r.`{name}`" for name in table.names)
            for start, *values in self._store.execute(f"MATCH {pattern} RETURN a.id, {listed}", {"id": end}):
                told = dict(zip(table.names, values, strict=True))
                found[start, told[table.key]] = told
        for (name, leads_to, start, at, key), (_, now) in self._rels.items():
            if (name, leads_to, at) == (rel, to, end):
                found.pop((start, key), None)
                if now is not None:
                    found[start, key] = now
        return [(start, told) for (start, _), told in found.items()]

    def ends(self, rel: str, start: str, *, to: str) -> list[str]:
        pattern = f"(a:`{_RELS[rel].start}` {{id: $id}})-[:`{rel}`]->(b:`{to}`)"
        found = {end for (end,) in self._store.execute(f"MATCH {pattern} RETURN b.id", {"id": start})}
        for (name, table, begin, end, _), (_, now) in self._rels.items():
            if (name, table, begin) == (rel, to, start):
                (found.discard if now is None else found.add)(end)
        return sorted(found)

    def _change(self, key: _Rel, was_there: bool, now: Mapping[str, Any] | None) -> None:
        self._rels[key] = (was_there, now)
        rel, to, start, end, _ = key
        if _RELS[rel].backwards:
            self._back.setdefault((rel, to, end), {})[start] = None

    def flush(self, *, applied: int, link: str) -> None:
        """Write the changes and the number they bring the graph to. Raises GraphFailure."""
        for key, (before, now) in self._rels.items():
            if before and now != {}:  # gone, or put again with other properties
                self._write_rel(key, "MATCH {start}-[r:`{rel}`{key}]->{end} DELETE r")
        for table, id in self._new:
            columns, node = _TABLES[table].names, self._nodes[table, id] or {}
            values = ", ".join(f"`{name}`: ${name}" for name in columns)
            self._store.execute(f"CREATE (:`{table}` {{{values}}})", {name: node[name] for name in columns})
        for (table, id), changed in self._set.items():
            node, columns = (
                self._nodes[table, id] or {},
                tuple(name for name in changed if name in _TABLES[table].names),
            )
            if not columns:
                continue
            values = ", ".join(f"n.`{name}` = ${name}" for name in columns)
            parameters = {"id": id, **{name: node[name] for name in columns}}
            self._store.execute(f"MATCH (n:`{table}` {{id: $id}}) SET {values}", parameters)
        for key, (before, now) in self._rels.items():
            if now is not None and not (before and now == {}):
                self._write_rel(key, "MATCH {start}, {end} CREATE (a)-[:`{rel}` {{{columns}}}]->(b)", now)
        meta = f"MATCH (m:`{META.name}` {{id: 0}}) SET m.applied = $applied, m.link = $link"
        self._store.execute(meta, {"applied": applied, "link": link})

    def _write_rel(self, key: _Rel, cypher: str, properties: Mapping[str, Any] = NOTHING) -> None:
        rel, to, start, end, of = key
        ends = {"start": f"(a:`{_RELS[rel].start}` {{id: $a}})", "end": f"(b:`{to}` {{id: $b}})"}
        columns = ", ".join(f"`{name}`: ${name}" for name in properties)
        told = {"key": of} if of and not properties else {}
        statement = cypher.format(
            rel=rel, columns=columns, key=f" {{`{_RELS[rel].key}`: $key}}" if told else "", **ends
        )
        self._store.execute(statement, {"a": start, "b": end, **told, **properties})

    def _load(self, table: NodeTable, id: str) -> dict[str, Any] | None:
        columns = ("id", *table.read)
        listed = ", ".join(f"n.`{name}`" for name in columns)
        rows = self._store.execute(f"MATCH (n:`{table.name}` {{id: $id}}) RETURN {listed}", {"id": id})
        return dict(zip(columns, rows[0], strict=True)) if rows else None


def follow(store: GraphStore, events: Sequence[Stored], reader: LogReader) -> None:
    """Bring a graph on by the events that come next, at least one, in one transaction. Raises GraphFailure."""
    last = events[-1].seq
    with store.transaction():
        overlay = Overlay(store, reader.event)
        for stored in events:
            project(stored, overlay)
        overlay.flush(applied=last, link=reader.link(last).hex())
