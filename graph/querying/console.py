"""The query console: people's own Cypher, read only, with its first rows, how many there are, and how long it took.

Two walls: what a query may say is a list (`graph.querying.grammar`), and it runs in a read-only transaction on a
connection of its own. The face under the screen and under `clew query` is this one.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, Protocol
from uuid import UUID

from graph.events import MAIN_WORLD
from graph.querying.grammar import checked
from graph.querying.parameters import given

MOST_ROWS = 100_000
MOST_BYTES = 64 << 20  # of the rows as JSON
ROWS = 500
TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """The first rows of an answer, of plain values as JSON has them, and how many rows there are in all.

    `total` is None where they are not counted (yet); `cut` says what kept rows out that there are: how many were
    asked for or can be had, or how many bytes.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int | None
    took_ms: float
    cut: Literal["", "rows", "bytes"] = ""


class Pages(Protocol):
    """A graph that gives the first rows of an answer."""

    def page(
        self, cypher: str, parameters: Mapping[str, Any] | None, *, limit: int, timeout_s: float
    ) -> tuple[list[str], list[list[Any]], int]: ...


def ask(
    graph: Pages,
    cypher: str,
    *,
    parameters: Mapping[str, Any] | None,
    timeout_s: float,
    limit: int,
    world: str = MAIN_WORLD,
    first: Callable[[Answer], None] | None = None,
    cancelled: threading.Event | None = None,
) -> Answer:
    """Run one reading statement; `$world` in it is the id of a world, which changes nothing else.

    Raises Refused before it runs, QueryFailed, QueryTimeout or GraphFailure.
    """
    statement = checked(cypher)
    asked = given(statement, parameters, world=world)
    began = time.perf_counter()
    names, rows, total = graph.page(statement, asked, limit=max(0, min(limit, MOST_ROWS)), timeout_s=timeout_s)
    took_ms = (time.perf_counter() - began) * 1000
    cut: Literal["", "rows"] = "rows" if total > len(rows) else ""
    answer = Answer(tuple(names), tuple(tuple(map(plain, row)) for row in rows), total, took_ms, cut)
    if first is not None:
        first(answer)
    return answer


def plain(value: Any) -> Any:
    """A value of the engine as JSON has it; an internal id is "table:offset"."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping():
            if value.keys() == {"offset", "table"}:
                return f"{value['table']}:{value['offset']}"
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() | set():
            return [plain(each) for each in value]
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case Decimal() if value.as_tuple().exponent == 0:
            return int(value)  # of a sum of whole numbers
        case timedelta() | Decimal() | UUID():
            return str(value)
        case _:
            return repr(value)
