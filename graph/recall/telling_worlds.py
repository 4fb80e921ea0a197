"""The masks of a world, told by ids: for whoever reads the graph and not the columns."""

import sqlite3
from collections.abc import Iterable

from graph.impacts import Standing
from graph.recall.columns import Columns
from graph.recall.learned import STATUSES, Learned
from graph.recall.mask import seen, sources
from graph.recall.standing import Standings
from graph.recall.table import NONE


def observations_of(
    db: sqlite3.Connection, columns: Columns, learned: Learned, standings: Standings, world: str
) -> dict[str, Standing]:
    """The observations that a world may see, and how they stand there."""
    import numpy as np

    stood = standings.of(db, columns, learned, world)
    rows = np.flatnonzero(stood.seen)
    facts = zip(*(column[rows].tolist() for column in (stood.live, stood.current, stood.status)), strict=True)
    found = (Standing(live, current, STATUSES[status]) for live, current, status in facts)
    return dict(zip(learned.beliefs.ids(rows.tolist()), found, strict=True))


def turns_of(
    db: sqlite3.Connection, columns: Columns, standings: Standings, world: str, ids: Iterable[str]
) -> dict[str, bool]:
    """Those of the turns that a world sees, and whether what is made of each may be believed."""
    inherited = standings.inherited(db, columns, world)
    sees, stands = seen(columns, world, inherited), sources(columns, world, inherited)
    rows = ((id, columns.row_of(id)) for id in ids)
    return {id: bool(stands[row]) for id, row in rows if row != NONE and sees[row]}
