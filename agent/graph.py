"""The graph for the faces: people's own queries, walks from node to node, and the numbers of the charts.

A query runs in a thread; its first rows are told on the event loop, and it ends when its asker does.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent.outlets import Work, on_loop
from graph.console.catalogue import Schema
from graph.console.console import ROWS, TIMEOUT_S, Answer
from graph.events import MAIN_WORLD
from graph.memory_view import MemoryView
from graph.values import Ego, Node, ProofStep, Ref, Side, Subgraph
from graph.walk.neighbours import PER
from graph.walk.standings import Key

if TYPE_CHECKING:
    from graph.readings.statistics import Statistics


class GraphReader:
    """Answers about the graph of a memory, or of the past of one; each raises GraphFailure while that is closed.

    See graph/walk/neighbours.py for what the walks promise.
    """

    def __init__(self, asked: MemoryView) -> None:
        self._asked = asked

    def console(
        self,
        cypher: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        timeout_s: float = TIMEOUT_S,
        limit: int = ROWS,
        world: str = MAIN_WORLD,
        live_only: bool = False,
        project: str | None = None,
    ) -> Work[Answer, Answer]:
        """Ask the graph a query of one's own, which only reads; its one step has the rows before they are counted.

        Only what is live in main is there when it is `live_only`, and of that what a chat of a `project`, or of none,
        sees. Raises Refused before it runs, QueryFailed, QueryTimeout or GraphFailure.
        """

        async def ask(tell: Callable[[Answer], None]) -> Answer:
            cancelled = threading.Event()
            try:
                return await asyncio.to_thread(
                    self._asked.console.run,
                    cypher,
                    parameters=parameters,
                    timeout_s=timeout_s,
                    limit=limit,
                    world=world,
                    live_only=live_only,
                    project=project,
                    first=on_loop(tell),
                    cancelled=cancelled,
                )
            finally:
                cancelled.set()

        return Work(ask)

    async def validate(self, cypher: str, *, parameters: Mapping[str, Any] | None = None) -> None:
        """Look whether a query would run, without running it. Raises Refused, QueryFailed or GraphFailure."""
        await asyncio.to_thread(self._asked.console.validate, cypher, parameters=parameters)

    async def prepare(self, *, live_only: bool = False) -> None:
        """Make the engine of people's queries ready ahead of the first. Raises GraphFailure."""
        await asyncio.to_thread(self._asked.console.prepare, live_only=live_only)

    async def node(self, ref: Ref) -> Node:
        """A node with its particulars; an entity by its name too. Raises NotFound."""
        return await asyncio.to_thread(self._asked.walk.node, ref)

    async def ego(self, ref: Ref, *, per: int = PER, world: str = MAIN_WORLD) -> Ego:
        """A node and the first of its neighbours by each relationship. Raises NotFound."""
        return await asyncio.to_thread(self._asked.walk.ego, ref, per=per, world=world)

    async def neighbours(
        self, ref: Ref, key: Key, *, text: str = "", offset: int = 0, limit: int = 50, world: str = MAIN_WORLD
    ) -> Side:
        """More neighbours of one side of an Ego (`Side.key`), or those with these words. Raises NotFound."""
        return await asyncio.to_thread(
            self._asked.walk.neighbours, ref, key, text=text, offset=offset, limit=limit, world=world
        )

    async def provenance(self, observation: str) -> tuple[ProofStep, ...]:
        """The way from a memory down to the words that prove it. Raises NotFound."""
        return await asyncio.to_thread(self._asked.walk.provenance, observation)

    async def around(self, ref: Ref, *, limit: int = 40, world: str = MAIN_WORLD) -> Subgraph:
        """A node with what is around it, to be drawn. Raises NotFound."""
        return await asyncio.to_thread(self._asked.walk.around, ref, limit=limit, world=world)

    async def subgraph(self, refs: Iterable[Ref], *, world: str = MAIN_WORLD) -> Subgraph:
        """The given nodes that are there, and the edges among them."""
        return await asyncio.to_thread(self._asked.walk.subgraph, list(refs), world=world)

    async def schema(self) -> Schema:
        """The tables of the graph, each with how much is in it now."""
        return await asyncio.to_thread(self._asked.console.schema)

    async def statistics(self) -> "Statistics":
        """How much is in the memory since when, and how fast replies came. Raises GraphFailure."""
        return await asyncio.to_thread(self._asked.readings.statistics, now=datetime.now(UTC))
