"""The graph as people walk through it, for the faces: a node, its neighbours, the way to the words that prove it."""

import asyncio
from collections.abc import Iterable

from graph.asked import Asked
from graph.egos import PER
from graph.neighbours import Key
from graph.querying.catalogue import Schema
from graph.subgraphs import Ego, Node, ProofStep, Ref, Side, Subgraph


class Graphing:
    """What the Agent and its views of the past answer about the graph; each raises GraphFailure while that is closed.

    See graph/egos.py for what each promises.
    """

    @property
    def _graphed(self) -> Asked:
        """The memory that is asked, or the one of the past."""
        raise NotImplementedError

    async def node(self, ref: Ref) -> Node:
        """A node with its particulars; an entity by its name too. Raises NotFound."""
        return await asyncio.to_thread(self._graphed.node, ref)

    async def ego(self, ref: Ref, *, per: int = PER) -> Ego:
        """A node and the first of its neighbours by each relationship. Raises NotFound."""
        return await asyncio.to_thread(self._graphed.ego, ref, per=per)

    async def neighbours(self, ref: Ref, key: Key, *, text: str = "", offset: int = 0, limit: int = 50) -> Side:
        """More neighbours of one side of an Ego (`Side.key`), or those with these words. Raises NotFound."""
        return await asyncio.to_thread(self._graphed.neighbours, ref, key, text=text, offset=offset, limit=limit)

    async def provenance(self, observation: str) -> tuple[ProofStep, ...]:
        """The way from a memory down to the words that prove it. Raises NotFound."""
        return await asyncio.to_thread(self._graphed.provenance, observation)

    async def around(self, ref: Ref, *, limit: int = 40) -> Subgraph:
        """A node with what is around it, to be drawn. Raises NotFound."""
        return await asyncio.to_thread(self._graphed.around, ref, limit=limit)

    async def subgraph(self, refs: Iterable[Ref]) -> Subgraph:
        """The given nodes that are there, and the edges among them."""
        return await asyncio.to_thread(self._graphed.subgraph, list(refs))

    async def schema(self) -> Schema:
        """The tables of the graph, each with how much is in it now."""
        return await asyncio.to_thread(self._graphed.schema)
