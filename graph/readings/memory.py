"""All that the tables of a memory answer, whether it is the one that is written to or one of the past."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from graph import contents
from graph.events import MAIN_WORLD
from graph.readings.about import Entities
from graph.readings.observations import Remembered
from graph.readings.statistics import Counted
from graph.readings.worlds import InWorld
from graph.values import Later, Observation
from graph.visibility import EVERYONE, Viewer


class SaidLater(Protocol):
    """What was said later on the topic of each of some ids, as a chat of a project, or of none, sees it in a world."""

    def __call__(self, ids: Sequence[str], *, world: str, project: Viewer) -> dict[str, tuple[Later, ...]]: ...


class MemoryReadings(Remembered, Entities, Counted):
    """What was said, learned and kept, and how much. Thread-safe; every method blocks, and none needs the graph."""

    def __init__(
        self,
        snapshot: Callable[[], AbstractContextManager[sqlite3.Connection]],
        in_world: Callable[[str], InWorld],
        later: SaidLater,
    ) -> None:
        """`snapshot` opens the log and its tables, `in_world` tells how everything stands in a what-if.

        `later` tells what was said later on the topic of something.
        """
        super().__init__()
        self._snapshot, self._in_world, self._later = snapshot, in_world, later

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._snapshot()

    def in_world(self, world: str) -> InWorld:
        return self._in_world(world)

    def with_later(
        self, found: Sequence[Observation], *, world: str = MAIN_WORLD, project: Viewer = EVERYONE
    ) -> list[Observation]:
        """Observations, those that are current with what was said later on their topic."""
        ids = [each.id for each in found if each.current]
        later = self._later(ids, world=world, project=project) if ids else {}
        return [replace(each, later=later.get(each.id, ())) for each in found]

    def embedded(self, model: str) -> tuple[int, int]:
        """How many different texts have a vector of `model`, and how many there are."""
        with self.snapshot() as db:
            return contents.embedded(db, model)

    def embedders(self) -> list[tuple[str, int, int]]:
        """Key, dimension and number of vectors of the embedders in use so far, the newest last."""
        with self.snapshot() as db:
            return contents.embedders(db)
