"""The neighbours of a node by one relationship, the most telling first, and the way down to a memory's proof.

A hub is first put in order by numbers alone, and only what is shown is read with its words: what it costs grows with
the neighbours of that relationship, not with the memory.

Each node stands there once, however the relationships lead in circles; a tool's turn leads on to what it quotes.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import Any

from graph.errors import NotFound
from graph.events import MAIN_WORLD
from graph.projection.schema import RELS
from graph.relations import kinds
from graph.values import Edge, Ego, Node, ProofStep, Ref, Side, Subgraph
from graph.walk.nodes import HIDDEN, TABLES, NodeWording, Query, Row, node_of, veiled
from graph.walk.standings import Key, Neighbour, Readings, Standings

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
        """The relationships that lead away from a node: few, however many lead to it. RELATES is no part of it."""
        if not any(outgoing for _, outgoing, _ in sides_of(ref.table)):
            return []
        pattern = _pattern(ref.table, "", True, "")
        rows = self._query(f"MATCH {pattern} RETURN label(r) AS name, label(m) AS `table`, m.id AS id", {"id": ref.id})
        return [Edge(ref, Ref(row["table"], row["id"]), row["name"]) for row in rows if row["name"] != "RELATES"]

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

    def standing(self, key: Key, total: int, page: list[Neighbour]) -> Side:
        """A page of those who stand to an entity in one way, who are so many in all."""
        rows = self._rows("Entity", list(dict.fromkeys(each.id for each in page)))
        nodes = {node.ref.id: node for node in veiled(self._query, [node_of("Entity", row) for row in rows])}
        return Side(
            *key, total, tuple(replace(nodes[each.id], stands=each.stands) for each in page if each.id in nodes)
        )

    def called(self, words: list[str]) -> set[str]:
        """The ids of the entities whose names have all these words, in any case."""
        told, values = TABLES["Entity"], {f"word{place}": word.lower() for place, word in enumerate(words)}
        having = "".join(f" AND contains(lower({told.words}), ${name})" for name in values)
        rows = self._query(f"MATCH (m:Entity) WHERE {told.there} AND {told.open}{having} RETURN m.id AS id", values)
        return {row["id"] for row in rows}

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
    """Every side that a node of the table may have; what a title was worded from only from the title itself.

    RELATES has sides by its kinds instead (standings.py).
    """
    found: list[Key] = []
    for rel in RELS:
        if rel.name == "RELATES" or (rel.name == "WORDED_FROM" and table != rel.start):
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
    *("DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY", "SUPERSEDES", "INSTEAD_OF"),
    *("SYNTHESIZED_FROM", "ABOUT"),
    *("REPLIES_TO", "IN_SESSION", "SAID_BY", "PART_OF", "MENTIONS", "RECALLED", "WORDED_FROM", "SET_FROM", "SCOPED_TO"),
    *("REFERS_TO", "WRITTEN_BY", "WITNESSED", "HEAD", "IN_WORLD", "SPLIT_FROM"),
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
    "StageLine": "line of a stage",
    "Reference": "reference",
}


class Walk:
    """The questions about one node and its neighbours. Each raises GraphFailure while the graph is closed."""

    def __init__(self, query: Query, readings: Readings) -> None:
        """`query` is a trusted one of the graph; `readings` tell who stands how to whom in a world."""
        self._query, self._readings = query, readings
        self._standings = Standings(readings)

    def node(self, ref: Ref) -> Node:
        """A node with its particulars and, in `details["text"]`, its whole text; an entity by its name too.

        Raises NotFound for what is not there, or was deleted.
        """
        near = Neighbours(self._query)
        found = near.node(ref)
        if found is None and ref.table == "Entity" and (id := self._readings.meant([ref.id]).get(ref.id)) is not None:
            found = near.node(Ref("Entity", id))
        if found is None:
            kind = KINDS.get(ref.table, "node")
            raise NotFound(f"This {kind} is not in the memory. It may have been deleted.")
        return found

    def ego(self, ref: Ref, *, per: int = PER, world: str = MAIN_WORLD) -> Ego:
        """A node and the first `per` neighbours of each relationship, the most telling first. Raises NotFound.

        Who stands how to whom is as a world has it, and comes before all else.
        """
        node, near = self.node(ref), Neighbours(self._query)
        most = max(0, per)
        stands = [self._side(near, key, found, 0, most, world) for key, found in self._stands(node.ref, world).items()]
        counted = sorted(near.counted(node.ref).items(), key=lambda side: TELLING.index(side[0][0]))
        with ThreadPoolExecutor(AT_ONCE) as pool:  # most of it is waiting for the engine, which lets others run
            sides = list(pool.map(lambda side: near.side(node.ref, side[0], limit=most, about=side[1]), counted))
        return Ego(node, tuple(side for side in (*stands, *sides) if side.total))

    def neighbours(
        self,
        ref: Ref,
        key: Key,
        *,
        text: str = "",
        offset: int = 0,
        limit: int = 50,
        world: str = MAIN_WORLD,
    ) -> Side:
        """More neighbours of a side, or those whose words have all the words of `text`, in any case.

        `total` counts all of these. Raises NotFound.
        """
        here, near = self.node(ref).ref, Neighbours(self._query)
        skip, most = max(0, offset), max(0, limit)
        if key[0] in kinds():
            found = self._stands(here, world).get(key, [])
            if words := text.split():
                called = near.called(words)
                found = [each for each in found if each.id in called]
            return self._side(near, key, found, skip, most, world)
        if key not in sides_of(here.table):
            return Side(*key, 0, ())
        if words := text.split():
            return near.worded(here, key, words, skip=skip, limit=most)
        return near.side(here, key, skip=skip, limit=most)

    def provenance(self, observation: str) -> tuple[ProofStep, ...]:
        """The way from a memory down to the words that prove it, through the revisions before it. Raises NotFound."""
        return provenance(self._query, self.node(Ref("Observation", observation)))

    def _stands(self, ref: Ref, world: str) -> dict[Key, list[Neighbour]]:
        return self._standings.of(ref.id, world) if ref.table == "Entity" else {}

    def _side(self, near: Neighbours, key: Key, found: list[Neighbour], skip: int, most: int, world: str) -> Side:
        return near.standing(key, len(found), self._standings.proven(found[skip : skip + most], world))

    def around(self, ref: Ref, *, limit: int = 40, world: str = MAIN_WORLD) -> Subgraph:
        """A node, its neighbours, some of theirs where there is room, and the edges among them. Raises NotFound.

        A memory that says no more than an edge that is drawn is not drawn beside it. `more_nodes` are its neighbours
        that are left out.
        """
        ego, near = self.ego(ref, per=limit, world=world), Neighbours(self._query)
        shown = {ego.node.ref: ego.node}
        edges = sum(_is_edge(node) for side in ego.sides for node in side.nodes)
        for rank in zip_longest(*(side.nodes for side in ego.sides)):
            _add(shown, [node for node in rank if node is not None], limit)
        left_out = max(0, sum(side.total for side in ego.sides) - edges - (len(shown) - 1))
        for each in list(shown)[1:]:
            if len(shown) < limit:
                _add(shown, self._few(near, each, world), limit)
        return self._joined(near, list(shown.values()), left_out, world)

    def subgraph(self, refs: Iterable[Ref], *, world: str = MAIN_WORLD) -> Subgraph:
        """The given nodes, without those that are not there, in their order, and the edges among them in a world."""
        near = Neighbours(self._query)
        found = (near.node(ref) for ref in dict.fromkeys(refs))
        return self._joined(near, [node for node in found if node is not None], 0, world)

    def _joined(self, near: Neighbours, nodes: list[Node], left_out: int, world: str) -> Subgraph:
        """Nodes with the edges among them."""
        there = {node.ref for node in nodes}
        edges = dict.fromkeys(edge for node in nodes for edge in near.edges(node.ref) if edge.end in there)
        edges |= dict.fromkeys(self._standings.edges([ref.id for ref in there if ref.table == "Entity"], world))
        return Subgraph(tuple(nodes), tuple(edges), more_nodes=left_out, more_edges=left_out)

    def _few(self, near: Neighbours, ref: Ref, world: str) -> list[Node]:
        """Some neighbours of a neighbour, of those sides that are no crowd."""
        stands = [(key, found) for key, found in self._stands(ref, world).items() if len(found) < CROWD]
        sides = [near.standing(key, len(found), found[:FAR]) for key, found in stands]
        small = [(key, about) for key, about in near.counted(ref).items() if about < CROWD]
        sides += [near.side(ref, key, limit=FAR, about=about) for key, about in small]
        return [node for side in sides for node in side.nodes]


def _is_edge(node: Node) -> bool:
    """Whether it is a memory of how two stand to each other, which is in force."""
    return node.ref.table == "Observation" and "relation" in node.details and not node.mark


def _add(shown: dict[Ref, Node], nodes: Iterable[Node], limit: int) -> None:
    for node in nodes:
        if len(shown) < limit and not _is_edge(node):
            shown.setdefault(node.ref, replace(node, stands=None))
