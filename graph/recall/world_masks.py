"""The masks of a world, told by ids: for whoever reads the graph and not the columns."""

import sqlite3
from collections.abc import Iterable

from graph.recall.columns import Columns
from graph.recall.learned import STATUSES, LearnedIndex
from graph.recall.mask import seen, sources
from graph.recall.standing import StandingColumns, Standings
from graph.recall.table import NONE
from graph.values import Both, RevisionStanding, SupposedState


def observations_of(
    db: sqlite3.Connection,
    columns: Columns,
    learned: LearnedIndex,
    standings: Standings,
    world: str,
    member: str | None = None,
) -> dict[str, RevisionStanding]:
    """The observations that a world may see, and how they stand there; for a member of its cast those it knows of."""
    import numpy as np

    stood = standings.of(db, columns, learned, world, member)
    rows = np.flatnonzero(stood.seen if member is None else stood.live)
    facts = zip(*(column[rows].tolist() for column in (stood.live, stood.current, stood.status)), strict=True)
    found = (RevisionStanding(live, current, STATUSES[status]) for live, current, status in facts)
    return dict(zip(learned.beliefs.ids(rows.tolist()), found, strict=True))


def changes_of(
    db: sqlite3.Connection,
    columns: Columns,
    learned: LearnedIndex,
    standings: Standings,
    world: str,
    supposed: SupposedState,
    also: Iterable[str],
) -> Both:
    """The observations that would stand otherwise in a what-if if things were as supposed, and some others it sees."""
    import numpy as np

    if not learned.beliefs.size:
        return {}
    was = standings.of(db, columns, learned, world)
    becomes = standings.supposing(db, columns, learned, world, supposed)
    differ = (was.live != becomes.live) | (was.current != becomes.current) | (was.status != becomes.status)
    differ[[row for id in also if (row := learned.beliefs.row_of(id)) != NONE]] = True
    rows = np.flatnonzero(differ & was.seen).tolist()

    def standing(stood: StandingColumns, row: int) -> RevisionStanding:
        return RevisionStanding(bool(stood.live[row]), bool(stood.current[row]), STATUSES[stood.status[row]])

    return {
        id: (standing(was, row), standing(becomes, row))
        for id, row in zip(learned.beliefs.ids(rows), rows, strict=True)
    }


def turns_of(
    db: sqlite3.Connection,
    columns: Columns,
    standings: Standings,
    world: str,
    ids: Iterable[str],
    member: str | None = None,
) -> dict[str, bool]:
    """Those of the turns that a world sees, or a member of its cast saw, and whether what is made of each may be
    believed."""
    inherited = standings.inherited(db, columns, world)
    sees, stands = seen(columns, world, inherited), sources(columns, world, inherited)
    if member is not None:
        stands = standings.witnessed(db, columns, world, member).sources
        sees = stands
    rows = ((id, columns.row_of(id)) for id in ids)
    return {id: bool(stands[row]) for id, row in rows if row != NONE and sees[row]}
