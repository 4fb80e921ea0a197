"""Which turns a world holds, as masks over the columns: what a what-if inherits is worked out once for each.

Nothing that happens after a what-if began changes what it inherits, and rows keep their number: so a mask of that holds
for as long as the columns do. That a turn is hidden, deleted or withheld is looked up anew each time. A question of the
main world asks nothing of this.
"""

import sqlite3
from itertools import pairwise
from typing import TYPE_CHECKING

from graph.events import MAIN_WORLD
from graph.readings.worlds import PATH, Lineage, lineage_of
from graph.recall.columns import Columns
from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_ABOVE = f"""
SELECT said.seq FROM ({PATH}) AS above JOIN events AS said ON said.turn = above.turn AND said.kind = 'turn.said'
"""
# What was placed below a turn up to some event, by its saying, or by its taking if it was queued.
_BELOW = """
WITH RECURSIVE below (turn) AS (
    SELECT :fork
    UNION
    SELECT placed.turn FROM below JOIN events AS placed ON placed.parent = below.turn AND placed.seq <= :until
    WHERE placed.kind = 'turn.taken' OR placed.kind = 'turn.said' AND placed.queued = 0
)
SELECT said.seq FROM below JOIN events AS said ON said.turn = below.turn AND said.kind = 'turn.said'
WHERE below.turn <> :fork
"""
_HELD = """
MATCH (t:Turn) WHERE t.world = $world AND t.seq <= $seq AND (t.on_path_since <= $seq OR t.past_on_path IS NOT NULL)
RETURN t.seq AS seq, t.on_path_since AS since, t.past_on_path AS past
"""


class Inheritance:
    """What the what-ifs inherit, over the columns of one open graph."""

    def __init__(self) -> None:
        self._lineages: dict[str, Lineage] = {}
        self._inherited: dict[str, Mask] = {}

    def lineage(self, db: sqlite3.Connection, world: str) -> Lineage:
        """Where a world comes from; read once, as soon as it has begun."""
        found = self._lineages.get(world) or lineage_of(db, world)
        if world == MAIN_WORLD or found.links[0].origin is not None:
            self._lineages[world] = found
        return found

    def inherited(self, db: sqlite3.Connection, columns: Columns, world: str) -> "Mask":
        """The turns of other worlds that a world holds, hidden ones too."""
        import numpy as np

        lineage = self.lineage(db, world)
        origin = lineage.links[0].origin
        if origin is None:
            return np.zeros(columns.size, np.bool_)
        known = self._inherited.get(world)
        if known is None:
            known = _inherited(db, columns, lineage)
            if origin.seq <= columns.at_event:  # else the columns have not come as far
                self._inherited[world] = known
        mask = np.zeros(columns.size, np.bool_)  # what came since is none of it
        mask[: len(known)] = known
        return mask


def _inherited(db: sqlite3.Connection, columns: Columns, lineage: Lineage) -> "Mask":
    import numpy as np

    found, after = np.zeros(columns.size, np.bool_), np.zeros(columns.size, np.bool_)
    for link, parent in pairwise(lineage.links):
        origin = link.origin
        assert origin is not None  # since it has a parent
        above = _rows(columns, db.execute(_ABOVE, {"start": origin.fork, "limit": -1}).fetchall())
        found[above[~after[above]]] = True
        after[_rows(columns, db.execute(_BELOW, {"fork": origin.fork, "until": origin.seq}).fetchall())] = True
        held = _held(columns, parent.world, origin.seq)
        found[held[~after[held]]] = True
    return found


def _held(columns: Columns, world: str, seq: int) -> "NDArray[np.intp]":
    """The turns of a world that were on the path of a head of it right after event `seq`."""
    rows = columns.store.columns(_HELD, {"world": world, "seq": seq}).to_pylist()
    return _rows(columns, [(row["seq"],) for row in rows if _was_on_a_path(row["since"], row["past"], seq)])


def _was_on_a_path(since: int | None, past: str | None, seq: int) -> bool:
    if since is not None and since <= seq:
        return True
    stretches = [stretch.split("-") for stretch in (past or "").split(",") if stretch]
    return any(int(first) <= seq < int(end) for first, end in stretches)


def _rows(columns: Columns, seqs: "list[tuple[int]]") -> "NDArray[np.intp]":
    import numpy as np

    rows: NDArray[np.intp] = columns.rows(np.array([seq for (seq,) in seqs], np.int64))
    found: NDArray[np.intp] = rows[rows != NONE]
    return found
