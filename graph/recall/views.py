"""Which turns a world holds, as masks over the columns: what a what-if inherits is worked out once for each.

Nothing that happens after a what-if began changes what it inherits, and rows keep their number: so a mask of that holds
for as long as the columns do. That a turn is hidden, deleted or withheld is looked up anew each time. A question of the
main world asks nothing of this.
"""

import sqlite3
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from graph.events import MAIN_WORLD
from graph.projection.paths import Lineage, below, lineage_of, path_to
from graph.projection.sources import was_between
from graph.recall.columns import Columns
from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_HELD = """
SELECT seq, on_path_since, past_on_path FROM turns
WHERE world = ? AND seq <= ? AND (on_path_since <= ? OR past_on_path IS NOT NULL)
"""


class Inheritance:
    """What the what-ifs inherit, over the columns of one log."""

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
        above = _of_ids(columns, path_to(db, origin.fork))
        found[above[~after[above]]] = True
        after[_of_ids(columns, below(db, [origin.fork], until=origin.seq) - {origin.fork})] = True
        held = _held(db, columns, parent.world, origin.seq)
        found[held[~after[held]]] = True
    return found


def _held(db: sqlite3.Connection, columns: Columns, world: str, seq: int) -> "NDArray[np.intp]":
    """The turns of a world that were on the path of a head of it right after event `seq`."""
    import numpy as np

    turns = db.execute(_HELD, (world, seq, seq)).fetchall()
    seqs = [each for each, since, past in turns if was_between(since, past, seq)]
    rows: NDArray[np.intp] = columns.rows(np.array(seqs, np.int64))
    held: NDArray[np.intp] = rows[rows != NONE]
    return held


def _of_ids(columns: Columns, ids: Iterable[str]) -> "NDArray[np.intp]":
    import numpy as np

    return np.array([row for id in ids if (row := columns.row_of(id)) != NONE], np.intp)
