"""The neighbours of a node by one relationship: how many, the most telling first, and those that have some words.

A hub is first put in order by numbers alone, and only what is shown is read with its words: what it costs grows with
the neighbours of that relationship, not with the memory.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from graph.nodes import TABLES, Query, Row, Told, node_of, veiled
from graph.schema import RELS
from graph.subgraphs import Edge, Node, Ref, Side

Key = tuple[str, bool, str]  # as of a Side: the relationship, whether it leads away, and to which table

TOGETHER = 20  # nodes that are looked up in one query
MANY = 500  # neighbours from which they are put in order before their words are read
_ORDERS: Mapping[tuple[str, bool], str] = {("RECALLED", True): "r.rank, m.id"}  # else as the table's nodes come


class Neighbours:
    """What is next to nodes, asked of one graph; fixed and trusted queries."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def node(self, ref: Ref) -> Node | None:
        """A node with its particulars; None if it is not there, or was deleted."""
        if ref.table not in TABLES:
            return None
        told = TABLES[ref.table]
        one = f"MATCH (m:`{ref.table}` {{id: $id}}) WHERE {told.there} RETURN {told.row(whole=True)}"
        rows = self._query(one, {"id": ref.id})
        return veiled(self._query, [node_of(ref.table, rows[0])])[0] if rows else None

    def counted(self, ref: Ref, directions: Iterable[bool] = (True, False)) -> dict[Key, int]:
        """The sides that have neighbours, in the schema's order, and about how many: what is deleted counts too."""
        found: dict[Key, int] = {}
        for outgoing in directions:
            if all(side[1] != outgoing for side in sides_of(ref.table)):
                continue
            names = "label(r) AS name, label(m) AS `table`"
            counted = f"MATCH {_pattern(ref.table, '', outgoing, '')} RETURN {names}, count(*) AS total"
            rows = self._query(counted, {"id": ref.id})
            found |= {(row["name"], outgoing, row["table"]): row["total"] for row in rows}
        return {key: found[key] for key in sides_of(ref.table) if key in found}

    def edges(self, ref: Ref) -> list[Edge]:
        """The relationships that lead away from a node: few, however many lead to it."""
        if not any(outgoing for _, outgoing, _ in sides_of(ref.table)):
            return []
        pattern = _pattern(ref.table, "", True, "")
        rows = self._query(f"MATCH {pattern} RETURN label(r) AS name, label(m) AS `table`, m.id AS id", {"id": ref.id})
        return [Edge(ref, Ref(row["table"], row["id"]), row["name"]) for row in rows]

    def side(self, ref: Ref, key: Key, *, skip: int = 0, limit: int, about: int | None = None) -> Side:
        """A page of a side, which has `about` so many neighbours."""
        told, values = TABLES[key[2]], {"id": ref.id}
        if about is None:
            about = self._query(f"MATCH {_pattern(ref.table, *key)} RETURN count(*) AS total", values)[0]["total"]
        pattern = f"MATCH {_pattern(ref.table, *key)} WHERE {told.there}"
        page = f"{_order(key, told)} SKIP {skip} LIMIT {limit + 1}"
        if about <= MANY:
            rows = self._query(f"{pattern} {told.counting} RETURN {told.row()} {page}", values)
        else:
            ids = self._query(f"{pattern} {told.counting} RETURN m.id AS id {page}", values)
            rows = self._rows(key[2], [row["id"] for row in ids[:limit]]) + ids[limit:]  # the last one only counts
        total = skip + len(rows)
        if len(rows) > limit or (skip and not rows):
            total = self._query(f"{pattern} RETURN count(*) AS total", values)[0]["total"]
        return self._filled(key, total, rows[:limit])

    def worded(self, ref: Ref, key: Key, words: list[str], *, skip: int = 0, limit: int) -> Side:
        """Those of a side that have all these words, in any case."""
        told, values = TABLES[key[2]], {"id": ref.id}
        pattern = f"MATCH {_pattern(ref.table, *key)} WHERE {told.there} AND {told.open}"
        for place, word in enumerate(words):
            values[f"word{place}"] = word.lower()
            pattern += f" AND contains(lower({told.words}), $word{place})"
        found = self._query(f"{pattern} {told.counting} RETURN m.id AS id {_order(key, told)}", values)
        ids = [row["id"] for row in found[skip : skip + limit]]
        return self._filled(key, len(found), self._rows(key[2], ids))

    def _rows(self, table: str, ids: list[str]) -> list[Row]:
        """What is told of some nodes, in the order of their ids: each is looked up, where a filter would read all."""
        found: dict[str, Row] = {}
        for start in range(0, len(ids), TOGETHER):
            values = {f"id{place}": id for place, id in enumerate(ids[start : start + TOGETHER])}
            found |= {row["_id"]: row for row in self._query(_looked_up(table, len(values)), values)}
        return [found[id] for id in ids if id in found]

    def _filled(self, key: Key, total: int, rows: list[Row]) -> Side:
        nodes = veiled(self._query, [node_of(key[2], row) for row in rows])
        return Side(*key, total, tuple({node.ref: node for node in nodes}.values()))


@cache
def sides_of(table: str) -> tuple[Key, ...]:
    """Every side that a node of the table may have; what a title was worded from only from the title itself."""
    found: list[Key] = []
    for rel in RELS:
        if rel.name == "WORDED_FROM" and table != rel.start:
            continue
        if rel.start == table:
            found += [(rel.name, True, end) for end in rel.ends]
        if table in rel.ends:
            found.append((rel.name, False, rel.start))
    return tuple(found)


@cache
def _looked_up(table: str, count: int) -> str:
    """So many nodes in one query, each by its id: half the time of a query is the reading of its words."""
    told = TABLES[table]
    each = (f"MATCH (m:`{table}` {{id: $id{place}}}) WHERE {told.there} RETURN {told.row()}" for place in range(count))
    return " UNION ALL ".join(each)


def _pattern(start: str, relation: str, outgoing: bool, end: str) -> str:
    """From a node by its id to `m`, by `r`; an empty name is any."""
    by = f"[r:`{relation}`]" if relation else "[r]"
    to = f"(m:`{end}`)" if end else "(m)"
    return f"(:`{start}` {{id: $id}}){'' if outgoing else '<'}-{by}-{'>' if outgoing else ''}{to}"


def _order(key: Key, told: Told) -> str:
    relation, outgoing, _ = key
    return f"ORDER BY {_ORDERS.get((relation, outgoing), told.order)}"
