"""The neighbours of a node by one relationship, the most telling first, and the way down to a memory's proof.

A hub is first put in order by numbers alone, and only what is shown is read with its words: what it costs grows with
the neighbours of that relationship, not with the memory.

Each node stands there once, however the relationships lead in circles; a tool's turn leads on to what it quotes.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import zip_longest
from typing import Any

from graph.errors import NotFound
from graph.projection.schema import RELS
from graph.values import Edge, Ego, Node, ProofStep, Ref, Side, Subgraph
from graph.walk.nodes import HIDDEN, TABLES, NodeWording, Query, Row, node_of, veiled

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


def _order(key: Key, told: NodeWording) -> str:
    relation, outgoing, _ = key
    return f"ORDER BY {_ORDERS.get((relation, outgoing), told.order)}"


DEEPEST = 40  # revisions of revisions
MOST = 500  # steps in all
_LEADS = {
    "Observation": (
        ("DERIVED_FROM", "Turn"),
        ("DERIVED_FROM", "Chunk"),
        ("SUPPORTED_BY", "Turn"),
        ("SUPPORTED_BY", "Chunk"),
        ("REINFORCED_BY", "Turn"),
        ("RETIRED_BY", "Turn"),
        ("SUPERSEDES", "Observation"),
        ("INSTEAD_OF", "Observation"),
        ("SYNTHESIZED_FROM", "Observation"),
    ),
    "Chunk": (("PART_OF", "Document"),),
    "Turn": (("RECALLED", "Turn"), ("RECALLED", "Observation"), ("RECALLED", "Chunk")),  # of a tool's turn
}


def provenance(query: Query, observation: Node) -> tuple[ProofStep, ...]:
    """The steps in the order in which they are read, each below what it proves."""
    steps: list[ProofStep] = []
    seen: set[Ref] = set()
    ahead = [ProofStep(0, "", observation, _words(observation))]
    while ahead and len(steps) < MOST:
        step = ahead.pop()
        if step.node.ref in seen:
            continue
        seen.add(step.node.ref)
        steps.append(step)
        if step.depth < DEEPEST and _leads_on(step.node):
            ahead += reversed(_below(query, step))
    return tuple(steps)


def _leads_on(node: Node) -> bool:
    return node.ref.table != "Turn" or node.details.get("role") == "tool"


def _below(query: Query, step: ProofStep) -> list[ProofStep]:
    found: list[ProofStep] = []
    ref = step.node.ref
    there = Neighbours(query).counted(ref, directions=(True,))
    for relation, table in _LEADS.get(ref.table, ()):
        if (relation, True, table) not in there:
            continue
        told = TABLES[table]
        leads = (
            f"MATCH (:`{ref.table}` {{id: $id}})-[r:`{relation}`]->(m:`{table}`) WHERE {told.there}"
            f" RETURN {told.row(whole=True)}, m.id AS `id` ORDER BY `_at`, `id` LIMIT {MOST}"
        )
        rows: list[dict[str, Any]] = query(leads, {"id": ref.id})
        nodes = veiled(query, [node_of(table, row) for row in rows])
        found += [ProofStep(step.depth + 1, relation, node, _words(node)) for node in nodes]
    return found


def _words(node: Node) -> str | None:
    return node.details.get("text") if node.mark != HIDDEN and node.ref.table in ("Turn", "Chunk") else None


AT_ONCE = 2  # sides that are read at a time
PER = 20  # neighbours of a side at first
FAR = 3  # neighbours of a neighbour's side that are drawn too
CROWD = 20  # neighbours from which a neighbour's side says nothing of the node in the middle

# What tells most about a node, first.
TELLING = (
    "RELATES",
    *("DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY", "SUPERSEDES", "INSTEAD_OF"),
    *("SYNTHESIZED_FROM", "ABOUT"),
    *("REPLIES_TO", "IN_SESSION", "SAID_BY", "PART_OF", "MENTIONS", "RECALLED", "WORDED_FROM", "SCOPED_TO"),
    *("HEAD", "IN_WORLD", "SPLIT_FROM"),
)
KINDS = {
    "Turn": "message",
    "Observation": "memory",
    "Entity": "person, place or thing",
    "Session": "chat",
    "Document": "document",
    "Chunk": "passage of a document",
    "Project": "project",
    "World": "world",
    "CoreBlock": "core block",
    "Wording": "wording",
}


class Walk:
    """The questions about one node and its neighbours. Each raises GraphFailure while the graph is closed."""

    def __init__(self, query: Query, entities: Callable[[Iterable[str]], dict[str, str]]) -> None:
        """`query` is a trusted one of the graph, `entities` the ids of those names that an entity has."""
        self._query, self._entities = query, entities

    def node(self, ref: Ref) -> Node:
        """A node with its particulars and, in `details["text"]`, its whole text; an entity by its name too.

        Raises NotFound for what is not there, or was deleted.
        """
        near = Neighbours(self._query)
        found = near.node(ref)
        if found is None and ref.table == "Entity" and (id := self._entities([ref.id]).get(ref.id)) is not None:
            found = near.node(Ref("Entity", id))
        if found is None:
            kind = KINDS.get(ref.table, "node")
            raise NotFound(f"This {kind} is not in the memory. It may have been deleted.")
        return found

    def ego(self, ref: Ref, *, per: int = PER) -> Ego:
        """A node and the first `per` neighbours of each relationship, the most telling first. Raises NotFound."""
        node, near = self.node(ref), Neighbours(self._query)
        counted = sorted(near.counted(node.ref).items(), key=lambda side: TELLING.index(side[0][0]))
        with ThreadPoolExecutor(AT_ONCE) as pool:  # most of it is waiting for the engine, which lets others run
            sides = list(pool.map(lambda side: near.side(node.ref, side[0], limit=max(0, per), about=side[1]), counted))
        return Ego(node, tuple(side for side in sides if side.total))

    def neighbours(self, ref: Ref, key: Key, *, text: str = "", offset: int = 0, limit: int = 50) -> Side:
        """More neighbours of a side, or those whose words have all the words of `text`, in any case.

        `total` counts all of these. Raises NotFound.
        """
        here, near = self.node(ref).ref, Neighbours(self._query)
        skip, most = max(0, offset), max(0, limit)
        if key not in sides_of(here.table):
            return Side(*key, 0, ())
        if words := text.split():
            return near.worded(here, key, words, skip=skip, limit=most)
        return near.side(here, key, skip=skip, limit=most)

    def provenance(self, observation: str) -> tuple[ProofStep, ...]:
        """The way from a memory down to the words that prove it, through the revisions before it. Raises NotFound."""
        return provenance(self._query, self.node(Ref("Observation", observation)))

    def around(self, ref: Ref, *, limit: int = 40) -> Subgraph:
        """A node, its neighbours, some of theirs where there is room, and the edges among them. Raises NotFound.

        `more_nodes` are its neighbours that are left out.
        """
        ego, near = self.ego(ref, per=limit), Neighbours(self._query)
        shown = {ego.node.ref: ego.node}
        for rank in zip_longest(*(side.nodes for side in ego.sides)):
            _add(shown, [node for node in rank if node is not None], limit)
        left_out = max(0, sum(side.total for side in ego.sides) - (len(shown) - 1))
        for each in list(shown)[1:]:
            if len(shown) < limit:
                _add(shown, self._few(near, each), limit)
        return _joined(near, list(shown.values()), left_out)

    def subgraph(self, refs: Iterable[Ref]) -> Subgraph:
        """The given nodes, without those that are not there, in their order, and the edges among them."""
        near = Neighbours(self._query)
        found = (near.node(ref) for ref in dict.fromkeys(refs))
        return _joined(near, [node for node in found if node is not None], 0)

    def _few(self, near: Neighbours, ref: Ref) -> list[Node]:
        """Some neighbours of a neighbour, of those sides that are no crowd."""
        small = [(key, about) for key, about in near.counted(ref).items() if about < CROWD]
        return [node for key, about in small for node in near.side(ref, key, limit=FAR, about=about).nodes]


def _add(shown: dict[Ref, Node], nodes: Iterable[Node], limit: int) -> None:
    for node in nodes:
        if len(shown) < limit:
            shown.setdefault(node.ref, node)


def _joined(near: Neighbours, nodes: list[Node], left_out: int) -> Subgraph:
    """Nodes with the edges among them."""
    there = {node.ref for node in nodes}
    edges = dict.fromkeys(edge for node in nodes for edge in near.edges(node.ref) if edge.end in there)
    return Subgraph(tuple(nodes), tuple(edges), more_nodes=left_out, more_edges=left_out)
