"""The query console: people's own Cypher, read only, with its first rows, how many there are, and its time.

Two walls: what a query may say is a list (`graph.console.grammar`), and it runs in a process of its own that has
nothing but a copy of the graph (`graph.console.workers`). The face under the screen and `clew query` is this one.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graph.console.grammar import checked
from graph.console.lexing import Sort, parameters_of, tokens_of
from graph.console.paging import Paged, headings, paged
from graph.console.parameters import given
from graph.console.regexes import regexes_of
from graph.console.transport import packed
from graph.console.transport import plain as plain
from graph.console.workers import QueryWorkers

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


def validate(apart: QueryWorkers, cypher: str, parameters: Mapping[str, Any] | None) -> None:
    """Have the engine plan a statement and not run it; a name without a value is taken for null.

    Raises Refused, QueryFailed, QueryTimeout or GraphFailure.
    """
    statement = checked(cypher)
    asked = given(cypher, parameters, needed=parameters is not None)
    values = dict.fromkeys(parameters_of(statement)) | asked
    request = _request(cypher, statement, f"EXPLAIN\n{statement}", values, TIMEOUT_S)
    for _ in apart.ask(request | {"limit": 0, "lines_before": 1}, live_in=None):
        pass


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
