"""What walking the graph needs of the agent; see agent/graphing.py for what each promises."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph.branches import World
    from graph.neighbours import Key
    from graph.subgraphs import Ego, Node, ProofStep, Ref, Side, Subgraph
    from graph.values import Session


class WalksGraph(Protocol):
    """The part of Agent that shows a node and its neighbours."""

    async def node(self, ref: "Ref") -> "Node": ...

    async def ego(self, ref: "Ref", *, per: int = ...) -> "Ego": ...

    async def neighbours(
        self, ref: "Ref", key: "Key", *, text: str = "", offset: int = 0, limit: int = 50
    ) -> "Side": ...

    async def provenance(self, observation: str) -> "tuple[ProofStep, ...]": ...

    async def around(self, ref: "Ref", *, limit: int = 40) -> "Subgraph": ...

    async def subgraph(self, refs: "Sequence[Ref]") -> "Subgraph": ...

    async def worlds(self) -> "list[World]": ...

    async def session(self, session: str) -> "Session": ...
