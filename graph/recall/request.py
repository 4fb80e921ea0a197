"""One question, and what may be seen and answered with for it."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.ids import as_ms
from graph.readings.rows import members
from graph.recall.columns import Columns
from graph.recall.intent import Intent
from graph.recall.learned import LearnedIndex
from graph.recall.mask import NOBODY, allowed, learned_for, proposed, read_to, said_to, viewer_of, visible
from graph.recall.standing import Pins, StandingColumns, Standings
from graph.recall.table import NONE, Table
from graph.recall.witness import Witnessed
from graph.values import CalledBy, Filters, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A question with what was read in it, whom it means without a name, and which kinds of relationship it asks for.

    `now` is in UTC milliseconds.
    """

    query: str
    intent: Intent
    vector: Vector | None
    filters: Filters
    now: int
    kin: tuple[CalledBy, ...] = ()
    asks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class VisibleRows:
    """What carries evidence, what may be answered with, and of that, what the prompt does not hold yet.

    `here` are the turns of chats that may be looked into, `anywhere` those of all chats that carry evidence, and
    `asked_for` those that the filters but the project let pass: what was learned of turns that are not seen may be
    seen. `learned` are the observations that are. `stood` is how observations stand in the world asked about, and
    `pins` what is pinned there. `known` are the observations that there are at all for whoever asks.

    With a `view` all of it is only of what a member of a cast saw.
    """

    here: "Mask"
    anywhere: "Mask"
    asked_for: "Mask"
    turns: "Mask"
    turns_allowed: "Mask"
    turns_free: "Mask"
    chunks: "Mask"
    chunks_asked_for: "Mask"
    chunks_free: "Mask"
    learned: "Mask"
    stood: StandingColumns
    pins: Pins
    known: "Mask"
    view: Witnessed | None = None


def see(
    db: sqlite3.Connection, columns: Columns, learned: LearnedIndex, standings: Standings, filters: Filters
) -> VisibleRows:
    """The masks of the filters over turns, chunks and observations. Raises GraphFailure."""
    import numpy as np

    inherited = standings.inherited(db, columns, filters.world)
    viewer, member = viewer_of(columns, filters), filters.witness
    anywhere, here = visible(columns, filters, inherited), said_to(columns, viewer)
    calls = proposed(columns, filters, inherited)
    view = standings.witnessed(db, columns, filters.world, member) if member is not None else None
    if view is not None:
        anywhere, here, calls = view.turns, here & view.sources, calls & view.sources
    # Only where there are stories is anybody called otherwise than the speaker of a turn.
    called = members(db, columns.speakers.names) if filters.person is not None and len(columns.crowds) else NOBODY
    asked_for = allowed(columns, filters, anywhere, called)
    turns_allowed = asked_for & here
    chunks: Mask = learned.pieces["live"] & (view is None)
    chunks_asked_for, chunks_allowed = chunks, chunks
    if learned.pieces.size:
        chunks_asked_for = chunks & _chunks_asked_for(learned, filters)
        chunks_allowed = chunks_asked_for & read_to(learned, viewer)
    return VisibleRows(
        here,
        anywhere,
        asked_for | calls,
        anywhere & here,
        turns_allowed,
        _without(turns_allowed, columns, filters.exclude) & ("turn" in filters.kinds),
        chunks,
        chunks_asked_for,
        _without(chunks_allowed, learned.pieces, filters.exclude) & ("chunk" in filters.kinds),
        learned_for(columns, learned, viewer),
        stood := standings.of(db, columns, learned, filters.world, member),
        standings.pins(db, columns, learned, filters.world, member),
        np.ones(learned.beliefs.size, np.bool_) if view is None else stood.live,
        view,
    )


def rows_of(table: Table, ids: Iterable[str]) -> "NDArray[np.intp]":
    """The rows of those of the ids that have one."""
    import numpy as np

    return np.array([row for id in ids if (row := table.row_of(id)) != NONE], np.intp) if table.size else _none()


def tells(intent: Intent) -> bool:
    """Whether there is anything to go by besides words and meaning."""
    return bool(intent.route in ("recent", "thread") or intent.names or intent.since or intent.until)


def _chunks_asked_for(learned: LearnedIndex, filters: Filters) -> "Mask":
    """Chunks that all filters but the project let pass: live ones, where nobody's words are asked for, nor a chat's."""
    table = learned.pieces
    may: Mask = table["live"].copy()
    if filters.session is not None or filters.person is not None or "assistant" not in filters.roles:
        may[:] = False
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
