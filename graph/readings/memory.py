"""All that the tables of a memory answer, whether it is the one that is written to or one of the past."""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager

from graph import contents
from graph.readings.about import Entities
from graph.readings.observations import Remembered
from graph.readings.statistics import Counted
from graph.readings.worlds import InWorld


class MemoryReadings(Remembered, Entities, Counted):
    """What was said, learned and kept, and how much. Thread-safe; every method blocks, and none needs the graph."""

    def __init__(
        self,
        snapshot: Callable[[], AbstractContextManager[sqlite3.Connection]],
        in_world: Callable[[str], InWorld],
    ) -> None:
        """`snapshot` opens the log and its tables, `in_world` tells how everything stands in a what-if."""
        super().__init__()
        self._snapshot, self._in_world = snapshot, in_world

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._snapshot()

    def in_world(self, world: str) -> InWorld:
        return self._in_world(world)

    def embedded(self, model: str) -> tuple[int, int]:
        """How many different texts have a vector of `model`, and how many there are."""
        with self.snapshot() as db:
            return contents.embedded(db, model)

    def embedders(self) -> list[tuple[str, int, int]]:
        """Key, dimension and number of vectors of the embedders in use so far, the newest last."""
        with self.snapshot() as db:
            return contents.embedders(db)
