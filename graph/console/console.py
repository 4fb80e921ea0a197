"""The query console: people's own Cypher, read only, with its first rows, how many there are, and its time.

Two walls: what a query may say is a list (`graph.console.grammar`), and it runs in a process of its own that has
nothing but a copy of the graph (`graph.console.workers`). The face under the screen and `clew query` is this one.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from graph.console.catalogue import Schema, TrustedQuery, schema
from graph.console.grammar import checked
from graph.console.lexing import Sort, parameters_of, tokens_of
from graph.console.paging import Paged, headings, paged
from graph.console.parameters import given
from graph.console.regexes import regexes_of
from graph.console.transport import packed
from graph.console.transport import plain as plain
from graph.console.workers import QueryWorkers
from graph.events import MAIN_WORLD

MOST_ROWS = 100_000
MOST_BYTES = 16 << 20  # of the rows as JSON: as values they take four times that
ROWS = 500
TIMEOUT_S = 10.0

Cut = Literal["", "rows", "bytes", "time"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The first rows of an answer, of plain values as JSON has them, and how many rows there are in all.

    `total` is None where they are not counted (yet); `cut` says what kept rows out that there are: how many were
    asked for or can be had, how many bytes, or that the time was up while they were read.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int | None
    took_ms: float
    cut: Cut = ""


@dataclass(frozen=True, slots=True)
class Query:
    """One checked statement, cut into pages: what an engine is asked, and how what it says is read."""

    cypher: str
    limit: int
    pages: Paged
    request: dict[str, Any]

    @classmethod
    def read(
        cls, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float, limit: int, world: str
    ) -> "Query":
        """Check a statement; `$world` in it is the id of a world, which changes nothing else. Raises Refused."""
        statement = checked(cypher)
        asked = given(cypher, parameters, world=world)
        limit = max(0, min(limit, MOST_ROWS))
        pages = paged(statement, limit + 1)  # one more tells whether there are more
        request = _request(cypher, statement, pages.first, asked, timeout_s)
        request |= {"regexes": [regex for regex, _ in regexes_of(cypher, asked)]}
        request |= {"limit": limit, "counted": pages.counted, "counting": _names(pages.counted or "")}
        return cls(cypher, limit, pages, request)

    def answer(self, said: Iterable[dict[str, Any]], first: Callable[[Answer], None] | None) -> Answer:
        """The answer that an engine gives, piece by piece; `first` is called with its rows before they are counted."""
        began, total = time.perf_counter(), None
        columns: tuple[str, ...] = ()
        rows: list[tuple[Any, ...]] = []
        why: Cut = ""

        def so_far() -> Answer:
            return Answer(columns, tuple(rows), total, (time.perf_counter() - began) * 1000, why)

        for told in said:
            match told:
                case {"columns": names, "took_s": took_s}:
                    columns = headings(self.cypher, tuple(names))
                    began = time.perf_counter() - took_s  # without the wait for an engine
                case {"rows": more}:
                    rows += map(tuple, more)
                case {"there": there, "cut": cut}:
                    why = cut
                    total = there if self.pages.counted is None or there <= self.limit else None
                    if first is not None:
                        first(so_far())
                case {"counted": counted} if counted is not None:
                    total = self.pages.total(counted)
        return so_far()


class Console:
    """People's own queries of one graph. Everything here raises GraphFailure while that is closed or behind."""

    def __init__(self, workers: QueryWorkers, query: TrustedQuery) -> None:
        self._workers, self._query = workers, query

    def run(
        self,
        cypher: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        timeout_s: float = TIMEOUT_S,
        limit: int = ROWS,
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
        with closing(self._workers.ask(query.request, live_in=live_in, cancelled=cancelled)) as said:
            return query.answer(said, first)

    def validate(self, cypher: str, *, parameters: Mapping[str, Any] | None = None) -> None:
        """Have the engine plan a statement and not run it; a name without a value is taken for null.

        Raises Refused, QueryFailed, QueryTimeout or GraphFailure.
        """
        statement = checked(cypher)
        asked = given(cypher, parameters, needed=parameters is not None)
        values = dict.fromkeys(parameters_of(statement)) | asked
        request = _request(cypher, statement, f"EXPLAIN\n{statement}", values, TIMEOUT_S)
        for _ in self._workers.ask(request | {"limit": 0, "lines_before": 1}, live_in=None):
            pass

    def prepare(self, *, live_only: bool = False, project: str | None = None) -> None:
        """Make ready what answers people's own queries, ahead of the first. Raises GraphFailure."""
        self._workers.prepare(live_in=_live_in(live_only, project))

    def schema(self) -> Schema:
        """The tables of the graph, each with how much is in it now. Raises GraphFailure."""
        return schema(self._query)


def _live_in(live_only: bool, project: str | None) -> str | None:
    """Of what is live, whose: a project's, "" for that of none; None for all of the graph."""
    return (project or "") if live_only else None


def _names(statement: str) -> list[str]:
    """The parameters that a statement asks for: the engine takes one that it does not ask for as an error."""
    return sorted({token.text[1:] for token in tokens_of(statement) if token.sort is Sort.PARAMETER})


def _request(query: str, statement: str, cypher: str, parameters: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """What an engine is told: `query` and `statement` are for places in what it says, `cypher` is what runs."""
    return {
        "query": query,
        "statement": statement,
        "lines_before": 0,
        "cypher": cypher,
        "counted": None,
        "counting": [],
        "regexes": [],
        "parameters": {name: packed(value) for name, value in parameters.items()},
        "timeout_s": timeout_s,
        "bytes": MOST_BYTES,
    }
