"""What a memory is asked, whether the one that is written to or one of the past: recall, search, the graph.

One log reader, one graph and one recall answer everything here; none of it writes.
"""

import sqlite3
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from datetime import datetime, tzinfo
from typing import Any, Protocol

from graph import contents
from graph.console import console
from graph.console.catalogue import Catalogue
from graph.console.console import Answer, Query
from graph.console.workers import QueryWorkers
from graph.events import MAIN_WORLD
from graph.reader import LogReader
from graph.readings.about import Entities
from graph.readings.observations import Remembered
from graph.readings.statistics import Counted
from graph.readings.worlds import InWorld
from graph.recall.search import Recall
from graph.values import Both, Community, Filters, Hit, NearObservation, SupposedState, Vector
from graph.visibility import Viewer
from graph.walk.neighbours import Egos

ALL = Filters()


class Graph(Protocol):
    """A graph that can be asked."""

    @property
    def ready(self) -> bool: ...

    def query(self, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float) -> list[dict[str, Any]]: ...


class MemoryReadings(Remembered, Entities, Egos, Catalogue, Counted):
    """All that is asked of a memory. Thread-safe; every method blocks."""

    _reader: LogReader
    _recall: Recall
    _apart: QueryWorkers

    @property
    @abstractmethod
    def _asked_graph(self) -> Graph:
        """The graph that answers."""

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """Read the graph with a trusted query, a row a dictionary. Raises GraphFailure, QueryFailed or QueryTimeout."""
        return self._asked_graph.query(cypher, parameters, timeout_s=timeout_s)

    def console(
        self,
        cypher: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        timeout_s: float = console.TIMEOUT_S,
        limit: int = console.ROWS,
        world: str = MAIN_WORLD,
        live_only: bool = False,
        project: str | None = None,
        first: Callable[[Answer], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> Answer:
        """Read the graph with a person's own query: one statement that only reads, and its first rows.

        `$world` in it is `world`; it sees the whole graph, whichever that is, or, `live_only`, nothing but what is live
        in main, and there what a chat of a `project`, or of none, sees. `first` is called with the first rows, on the
        caller's thread, before they are counted; setting `cancelled` ends the query, which then raises QueryTimeout.

        Raises Refused for anything else, before it runs; QueryFailed, QueryTimeout, or GraphFailure.
        """
        query = Query.read(cypher, parameters, timeout_s=timeout_s, limit=limit, world=world)
        live_in = _live_in(live_only, project)
        with closing(self._apart.ask(query.request, live_in=live_in, cancelled=cancelled)) as said:
            return query.answer(said, first)

    def validate(self, cypher: str, *, parameters: Mapping[str, Any] | None = None) -> None:
        """Look whether a query would run, without running it. Raises Refused, QueryFailed or GraphFailure."""
        console.validate(self._apart, cypher, parameters)

    def prepare_console(self, *, live_only: bool = False, project: str | None = None) -> None:
        """Make ready what answers people's own queries, ahead of the first. Raises GraphFailure."""
        self._apart.prepare(live_in=_live_in(live_only, project))

    def recall(
        self,
        query: str,
        *,
        vector: Vector | None = None,
        filters: Filters = ALL,
        now: datetime,
        timezone: tzinfo,
        limit: int = 10,
    ) -> list[Hit]:
        """What was said that matters for `query`, the best first, each with why; calls no model.

        `vector` is the query's embedding, if there is one; `now` is aware. Raises GraphFailure while the graph is
        closed or behind: the chat goes on without.
        """
        return self._recall.recall(query, vector=vector, filters=filters, now=now, timezone=timezone, limit=limit)

    def in_world(self, world: str) -> InWorld:
        """How everything stands in a world. Raises GraphFailure while the graph is behind."""
        return self._recall.in_world(world)

    def supposing(self, worlds: Iterable[str], supposed: SupposedState, *, also: Iterable[str]) -> dict[str, Both]:
        """How observations stand in what-ifs, and would if things were as supposed: what changes, and `also` some.

        Raises GraphFailure while the graph is behind.
        """
        return self._recall.supposing(worlds, supposed, also=also)

    def near(
        self,
        text: str,
        *,
        vector: Vector | None,
        world: str,
        project: Viewer,
        limit: int = 15,
        status: Sequence[str] = ("candidate", "active"),
    ) -> list[NearObservation]:
        """The observations nearest to some words, in use or under review, that a chat of a project, or of none, sees.

        Costs what observations there are, however much was said. Raises GraphFailure while the graph is behind.
        """
        found = self._recall.near(text, vector=vector, world=world, project=project, limit=limit, status=status)
        there = self.observations((id for id, _, _ in found), world=world)
        return [NearObservation(there[id], cosine, words) for id, cosine, words in found if id in there]

    def communities(
        self, model: str | None, *, filters: Filters = ALL, limit: int = 8, per: int = 6
    ) -> list[Community]:
        """Turns that belong together in the memory graph, with the words that set them apart, the largest first.

        `model` is the key of the embedder whose vectors tell likeness; None: words do. Raises GraphFailure.
        """
        return self._recall.communities(model, filters=filters, limit=limit, per=per)

    def warm_recall(self) -> None:
        """Read the turns and vectors that recall keeps in memory, ahead of the first one. Raises GraphFailure."""
        self._recall.warm()

    def spoken(self, query: str, *, now: datetime, timezone: tzinfo) -> str:
        """What to embed for a query to `recall`: speakers' names and times in it mislead. Raises GraphFailure."""
        return self._recall.spoken(query, now=now, timezone=timezone)

    def embedded(self, model: str) -> tuple[int, int]:
        """How many different texts have a vector of `model`, and how many there are."""
        with self.snapshot() as db:
            return contents.embedded(db, model)

    def embedders(self) -> list[tuple[str, int, int]]:
        """Key, dimension and number of vectors of the embedders in use so far, the newest last."""
        with self.snapshot() as db:
            return contents.embedders(db)

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._reader.snapshot()


def _live_in(live_only: bool, project: str | None) -> str | None:
    """Of what is live, whose: a project's, "" for that of none; None for all of the graph."""
    return (project or "") if live_only else None
