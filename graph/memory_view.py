"""What a memory is asked, whether the one that is written to or one of the past: its parts, and its graph."""

from collections.abc import Mapping
from typing import Any, Protocol

from graph.console.console import Console
from graph.console.workers import QueryWorkers
from graph.readings.memory import MemoryReadings
from graph.recall.search import Recall
from graph.values import NearObservation, Vector
from graph.visibility import Viewer
from graph.walk.neighbours import Walk


class Graph(Protocol):
    """A graph that can be asked."""

    @property
    def ready(self) -> bool: ...

    def query(self, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float) -> list[dict[str, Any]]: ...


class MemoryView:
    """A memory to be asked. Thread-safe; every method blocks.

    Its parts: `readings` (what the tables tell), `recall` (what matters for a question), `console` (people's own
    queries) and `walk` (from node to node). The last two raise GraphFailure while the graph is closed or behind.
    """

    def __init__(self, readings: MemoryReadings, recall: Recall, graph: Graph, workers: QueryWorkers) -> None:
        self._asked_graph = graph
        self.readings, self.recall = readings, recall
        self.console = Console(workers, self.query)
        self.walk = Walk(self.query, self.readings)

    @property
    def graph_ready(self) -> bool:
        """Whether the graph has everything the log has, and follows it; that of a past always does."""
        return self._asked_graph.ready

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """Read the graph with a trusted query, a row a dictionary. Raises GraphFailure, QueryFailed or QueryTimeout."""
        return self._asked_graph.query(cypher, parameters, timeout_s=timeout_s)

    def near(
        self,
        text: str,
        *,
        vector: Vector | None,
        world: str,
        project: Viewer,
        limit: int = 15,
        under_review: bool = False,
    ) -> list[NearObservation]:
        """The observations in use that are nearest to some words, and that a chat of a project, or of none, sees.

        Also those `under_review`, for who is not to propose them again.

        Costs what observations there are, however much was said.
        """
        found = self.recall.near(
            text, vector=vector, world=world, project=project, limit=limit, under_review=under_review
        )
        there = self.readings.observations((id for id, _, _ in found), world=world)
        return [NearObservation(there[id], cosine, words) for id, cosine, words in found if id in there]
