"""A node of the graph and what is next to it: walked through from node to node, and drawn.

The queries are fixed and trusted; their cost grows with the neighbours of one relationship, not with the memory: a hub
is first put in order by numbers alone, and only what is shown is read with its words.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from graph.errors import NotFound
from graph.nodes import TABLES, Told, node_of, veiled
from graph.provenance import provenance
from graph.schema import RELS
from graph.subgraphs import Edge, Ego, Node, ProofStep, Ref, Side, Subgraph

Key = tuple[str, bool, str]

PER = 20  # neighbours of a side at first
MANY = 500  # neighbours from which they are put in order before their words are read
FAR = 3  # neighbours of a neighbour that are drawn too

KINDS = {
    "Turn": "message",
    "Observation": "memory",
    "Entity": "person, place or thing",
    "Session": "chat",
    "Document": "document",
    "Chunk": "piece of a document",
    "Project": "project",
    "World": "world",
    "CoreBlock": "core block",
    "Wording": "wording",
}
_ORDERS: Mapping[tuple[str, bool], str] = {("RECALLED", True): "r.rank, m.id"}  # else as the table's nodes come


class Egos:
    """The questions about one node and its neighbours. Each raises GraphFailure while the graph is closed."""

    @abstractmethod
    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """Read the graph with a trusted query."""

    @abstractmethod
    def entities(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of those names that an entity has."""

    def node(self, ref: Ref) -> Node:
        """A node with its particulars and, in `details["text"]`, its whole text; an entity by its name too.

        Raises NotFound for what is not there, or was deleted.
        """
        found = self._node(ref)
        if found is None and ref.table == "Entity" and (id := self.entities([ref.id]).get(ref.id)) is not None:
            found = self._node(Ref("Entity", id))
        if found is None:
            kind = KINDS.get(ref.table, "node")
            raise NotFound(f"This {kind} is not in the memory: it was deleted, or never was there.")
        return found

    def ego(self, ref: Ref, *, per: int = PER) -> Ego:
        """A node and the first `per` neighbours of each relationship, the most telling first. Raises NotFound."""
        node = self.node(ref)
        sides = (self._side(node.ref, key, per=per) for key in self._keys(node.ref))
        return Ego(node, tuple(side for side in sides if side.total))

    def neighbours(self, ref: Ref, key: Key, *, text: str = "", offset: int = 0, limit: int = 50) -> Side:
        """More neighbours of a side, or those whose words have all the words of `text`, in any case.

        `total` counts all of these. Raises NotFound.
        """
        return self._side(self.node(ref).ref, key, text=text, skip=offset, per=limit)

    def provenance(self, observation: str) -> tuple[ProofStep, ...]:
        """The way from a memory down to the words that prove it, through the revisions before it. Raises NotFound."""
        return provenance(self.query, self.node(Ref("Observation", observation)))

    def around(self, ref: Ref, *, limit: int = 40) -> Subgraph:
        """A node, its neighbours, some of theirs where there is room, and the edges among them. Raises NotFound."""
        ego = self.ego(ref, per=limit)
        shown = {ego.node.ref: ego.node}
        for rank in zip_longest(*(side.nodes for side in ego.sides)):
            for node in rank:
                if node is not None and len(shown) < limit:
                    shown.setdefault(node.ref, node)
        near = len(shown)
        for node in list(shown.values())[1:]:
            if len(shown) >= limit:
                break
            for each in self._all_near(node.ref):
                if len(shown) < limit:
                    shown.setdefault(each.ref, each)
        found = sum(side.total for side in ego.sides)
        return self._drawn(list(shown.values()), more=max(0, found - (near - 1)))

    def subgraph(self, refs: Iterable[Ref]) -> Subgraph:
        """The given nodes, without those that are not there, in their order, and the edges among them."""
        nodes = [node for ref in dict.fromkeys(refs) if (node := self._node(ref)) is not None]
        return self._drawn(nodes)

    def _drawn(self, nodes: list[Node], more: int = 0) -> Subgraph:
        """Nodes lead to few others, however many lead to them."""
        there = {node.ref for node in nodes}
        edges = (edge for node in nodes if _leads_on(node.ref.table) for edge in self._edges(node.ref))
        joined = tuple(dict.fromkeys(edge for edge in edges if edge.end in there))
        return Subgraph(tuple(nodes), joined, more_nodes=more, more_edges=more)

    def _edges(self, ref: Ref) -> list[Edge]:
        pattern = _pattern(ref.table, "", True, "")
        rows = self.query(f"MATCH {pattern} RETURN label(r) AS name, label(m) AS `table`, m.id AS id", {"id": ref.id})
        return [Edge(ref, Ref(row["table"], row["id"]), row["name"]) for row in rows]

    def _all_near(self, ref: Ref) -> list[Node]:
        """Some neighbours of a neighbour."""
        return [node for side in self.ego(ref, per=FAR).sides for node in side.nodes]

    def _node(self, ref: Ref) -> Node | None:
        if ref.table not in TABLES:
            return None
        told = TABLES[ref.table]
        one = f"MATCH (m:`{ref.table}` {{id: $id}}) WHERE {told.there} RETURN {told.row(whole=True)}"
        rows = self.query(one, {"id": ref.id})
        return veiled(self.query, [node_of(ref.table, rows[0])])[0] if rows else None

    def _keys(self, ref: Ref) -> list[Key]:
        """The sides that have neighbours, in the schema's order."""
        found: set[Key] = set()
        for outgoing in (True, False):
            pattern = _pattern(ref.table, "", outgoing, "")
            if all(side[1] != outgoing for side in _all_keys(ref.table)):
                continue
            counted = self.query(
                f"MATCH {pattern} RETURN DISTINCT label(r) AS name, label(m) AS `table`", {"id": ref.id}
            )
            found |= {(row["name"], outgoing, row["table"]) for row in counted}
        return [key for key in _all_keys(ref.table) if key in found]

    def _side(self, ref: Ref, key: Key, *, text: str = "", skip: int = 0, per: int) -> Side:
        relation, outgoing, table = key
        if key not in _all_keys(ref.table):
            return Side(relation, outgoing, table, 0, ())
        told, values = TABLES[table], {"id": ref.id}
        pattern = f"MATCH {_pattern(ref.table, relation, outgoing, table)} WHERE {told.there}"
        for place, word in enumerate(text.lower().split()):
            values[f"word{place}"] = word
            pattern += f" AND contains(lower({told.words}), $word{place})"
        if text.split():
            pattern += f" AND {told.open}"
        total: int = self.query(f"{pattern} RETURN count(*) AS total", values)[0]["total"]
        page = f"ORDER BY {_ORDERS.get((relation, outgoing), told.order)} SKIP {max(0, skip)} LIMIT {max(0, per)}"
        rows = self._page(pattern, told, page, values, total) if total and per > 0 else []
        nodes = veiled(self.query, [node_of(table, row) for row in rows])
        return Side(relation, outgoing, table, total, tuple({node.ref: node for node in nodes}.values()))

    def _page(self, pattern: str, told: Told, page: str, values: dict[str, Any], total: int) -> list[dict[str, Any]]:
        if total <= MANY:
            return self.query(f"{pattern} {told.counting} RETURN {told.row()} {page}", values)
        ids = [row["_id"] for row in self.query(f"{pattern} {told.counting} RETURN m.id AS `_id` {page}", values)]
        found = self.query(f"{pattern} AND m.id IN $ids RETURN {told.row()}", values | {"ids": ids})
        rows = {row["_id"]: row for row in found}
        return [rows[id] for id in ids if id in rows]


def _pattern(start: str, relation: str, outgoing: bool, end: str) -> str:
    """From a node by its id to `m`, by `r`; an empty name is any."""
    by = f"[r:`{relation}`]" if relation else "[r]"
    to = f"(m:`{end}`)" if end else "(m)"
    return f"(:`{start}` {{id: $id}}){'' if outgoing else '<'}-{by}-{'>' if outgoing else ''}{to}"


def _leads_on(table: str) -> bool:
    return any(rel.start == table for rel in RELS)


def _all_keys(table: str) -> list[Key]:
    """Every side that a node of the table may have."""
    found: list[Key] = []
    for rel in RELS:
        if rel.start == table:
            found += [(rel.name, True, end) for end in rel.ends]
        if table in rel.ends:
            found.append((rel.name, False, rel.start))
    return found
