"""A node of the graph and what is next to it: walked through from node to node, and drawn."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import Any

from graph.errors import NotFound
from graph.neighbours import Key, Neighbours, sides_of
from graph.provenance import provenance
from graph.subgraphs import Ego, Node, ProofStep, Ref, Side, Subgraph

AT_ONCE = 2  # sides that are read at a time
PER = 20  # neighbours of a side at first
FAR = 3  # neighbours of a neighbour's side that are drawn too
CROWD = 20  # neighbours from which a neighbour's side says nothing of the node in the middle

# What tells most about a node, first.
TELLING = (
    *("DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY", "SUPERSEDES", "INSTEAD_OF", "ABOUT"),
    *("REPLIES_TO", "IN_SESSION", "SAID_BY", "PART_OF", "MENTIONS", "RECALLED", "WORDED_FROM", "SCOPED_TO"),
    *("HEAD", "IN_WORLD"),
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
        near = Neighbours(self.query)
        found = near.node(ref)
        if found is None and ref.table == "Entity" and (id := self.entities([ref.id]).get(ref.id)) is not None:
            found = near.node(Ref("Entity", id))
        if found is None:
            kind = KINDS.get(ref.table, "node")
            raise NotFound(f"This {kind} is not in the memory. It may have been deleted.")
        return found

    def ego(self, ref: Ref, *, per: int = PER) -> Ego:
        """A node and the first `per` neighbours of each relationship, the most telling first. Raises NotFound."""
        node, near = self.node(ref), Neighbours(self.query)
        counted = sorted(near.counted(node.ref).items(), key=lambda side: TELLING.index(side[0][0]))
        with ThreadPoolExecutor(AT_ONCE) as pool:  # most of it is waiting for the engine, which lets others run
            sides = list(pool.map(lambda side: near.side(node.ref, side[0], limit=max(0, per), about=side[1]), counted))
        return Ego(node, tuple(side for side in sides if side.total))

    def neighbours(self, ref: Ref, key: Key, *, text: str = "", offset: int = 0, limit: int = 50) -> Side:
        """More neighbours of a side, or those whose words have all the words of `text`, in any case.

        `total` counts all of these. Raises NotFound.
        """
        here, near = self.node(ref).ref, Neighbours(self.query)
        skip, most = max(0, offset), max(0, limit)
        if key not in sides_of(here.table):
            return Side(*key, 0, ())
        if words := text.split():
            return near.worded(here, key, words, skip=skip, limit=most)
        return near.side(here, key, skip=skip, limit=most)

    def provenance(self, observation: str) -> tuple[ProofStep, ...]:
        """The way from a memory down to the words that prove it, through the revisions before it. Raises NotFound."""
        return provenance(self.query, self.node(Ref("Observation", observation)))

    def around(self, ref: Ref, *, limit: int = 40) -> Subgraph:
        """A node, its neighbours, some of theirs where there is room, and the edges among them. Raises NotFound.

        `more_nodes` are its neighbours that are left out.
        """
        ego, near = self.ego(ref, per=limit), Neighbours(self.query)
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
        near = Neighbours(self.query)
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
