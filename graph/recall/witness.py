"""What one member of a story's cast saw of a world: for it these are all the turns there are.

What it did not see may tell in nothing that is found for it, nor in its order. So whatever counts turns, or steps from
one to another, does so in these alone: a turn's neighbours are the nearest ones on its path that were seen too.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from graph.recall.columns import TOOL, Columns
from graph.recall.evidence import Tree
from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


class Witnessed:
    """The turns that a member saw and may remember, as long as the columns are where they were.

    `of` are the world and the member; `sources` are all that something may be made from for it, `turns` those that
    anybody said.
    """

    def __init__(self, columns: Columns, of: tuple[str, str], sources: "Mask") -> None:
        self.of = of
        self.sources = sources
        self.turns: Mask = sources & (columns["role"] != TOOL)
        self._columns = columns

    @cached_property
    def tree(self) -> Tree:
        """How they follow each other; whatever else has no place in it."""
        import numpy as np

        parent = self._columns["parent"]
        own = np.arange(len(parent), dtype=np.int32)
        nearest = np.append(np.where(self.turns, own, parent), np.int32(NONE))  # of NONE, NONE
        while not np.array_equal(further := nearest[nearest], nearest):
            nearest = further
        return Tree.of(np.where(self.turns, nearest[parent], np.int32(NONE)), self.turns)

    @cached_property
    def speakers(self) -> list[str]:
        """Who speaks in them, whoever spoke first first."""
        import numpy as np

        rows = np.flatnonzero(self.turns)[::-1]
        first = np.full(len(self._columns.speakers), NONE, np.intp)
        first[self._columns["speaker"][rows]] = rows  # of equal places numpy keeps the last
        codes = np.flatnonzero(first != NONE)
        return [self._columns.speakers.names[code] for code in codes[np.argsort(first[codes])].tolist()]
