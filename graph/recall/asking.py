"""One question, and what may be seen and answered with for it."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.hits import Filters, Vector
from graph.ids import as_ms
from graph.recall.columns import Columns
from graph.recall.intent import Intent
from graph.recall.learned import Learned
from graph.recall.mask import allowed, proposed, visible
from graph.recall.standing import Pins, Standings, Stood
from graph.recall.table import NONE, Table

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what was read in it; `now` is in UTC milliseconds."""

    query: str
    intent: Intent
    vector: Vector | None
    filters: Filters
    now: int


@dataclass(frozen=True, slots=True)
class Sight:
    """What carries evidence, what may be answered with, and of that, what the prompt does not hold yet.

    `stood` is how observations stand in the world asked about, and `pins` what is pinned there.
    """

    turns: "Mask"
    turns_allowed: "Mask"
    turns_free: "Mask"
    proposals: "Mask"  # of other programs: no hits themselves, but what was taken into use of them may be
    chunks: "Mask"
    chunks_allowed: "Mask"
    chunks_free: "Mask"
    stood: Stood
    pins: Pins


def see(db: sqlite3.Connection, columns: Columns, learned: Learned, standings: Standings, filters: Filters) -> Sight:
    """The masks of the filters over turns, chunks and observations. Raises GraphFailure."""
    inherited = standings.inherited(db, columns, filters.world)
    turns = visible(columns, filters, inherited)
    turns_allowed = allowed(columns, filters, turns)
    chunks: Mask = learned.pieces["live"].copy()
    chunks_allowed = _chunks_allowed(learned, filters) if learned.pieces.size else chunks
    return Sight(
        turns,
        turns_allowed,
        _without(turns_allowed, columns, filters.exclude) & ("turn" in filters.kinds),
        proposed(columns, filters, inherited),
        chunks,
        chunks_allowed,
        _without(chunks_allowed, learned.pieces, filters.exclude) & ("chunk" in filters.kinds),
        standings.of(db, columns, learned, filters.world),
        standings.pins(db, columns, learned, filters.world),
    )


def rows_of(table: Table, ids: Iterable[str]) -> "NDArray[np.intp]":
    """The rows of those of the ids that have one."""
    import numpy as np

    return np.array([row for id in ids if (row := table.row_of(id)) != NONE], np.intp) if table.size else _none()


def tells(intent: Intent) -> bool:
    """Whether there is anything to go by besides words and meaning."""
    return bool(intent.route in ("recent", "thread") or intent.names or intent.since or intent.until)


def _chunks_allowed(learned: Learned, filters: Filters) -> "Mask":
    """Chunks that may be hits: live ones, where nobody's words are asked for, and no chat's."""
    import numpy as np

    table = learned.pieces
    may: Mask = table["live"].copy()
    if filters.session is not None or filters.person is not None or "assistant" not in filters.roles:
        may[:] = False
    if filters.project is not None:
        titles = [learned.titles.get(name, ("", None)) for name in learned.documents.names]
        may &= np.array([project == filters.project for _, project in titles], np.bool_)[table["document"]]
    if filters.since is not None:
        may &= table["at"] >= as_ms(filters.since)
    if filters.until is not None:
        may &= table["at"] < as_ms(filters.until)
    return may


def _without(mask: "Mask", table: Table, ids: Iterable[str]) -> "Mask":
    free = mask.copy()
    free[rows_of(table, ids)] = False
    return free


def _none() -> "NDArray[np.intp]":
    import numpy as np

    return np.zeros(0, np.intp)
