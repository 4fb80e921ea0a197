"""What is left to reflect on, in every world, as log and graph have it."""

import json
import sqlite3
import threading
from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from graph.beliefs import Unreflected
from graph.events import MAIN_WORLD
from graph.paths import Paths
from graph.readings import Readings
from graph.rows import SAID, TURN, turn_of
from graph.survivors import survivors
from graph.unreflected import Pending

_LIVING = "MATCH (t:Turn) WHERE t.id IN $ids AND t.live AND t.world = 'main' AND NOT t.withheld RETURN t.id AS id"

COUNTED = 200  # so much is counted one by one


class Unlearned(Readings):
    """The questions about what was not reflected on. Each raises GraphFailure while the graph is closed."""

    def __init__(self) -> None:
        self._left = Pending()
        self._looking = threading.Lock()  # guards what is left, which remembers

    @property
    @abstractmethod
    def graph_ready(self) -> bool:
        """Whether the graph has everything the log has, and follows it."""

    @abstractmethod
    def graph_has(self, seq: int) -> bool:
        """Whether the graph follows, and has event `seq`."""

    @abstractmethod
    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """Read the graph with a trusted query, a row a dictionary."""

    def unreflected(self, limit: int) -> list[Unreflected]:
        """What was not reflected on: exchanges that ended, oldest first; then imported turns, in runs, oldest first.

        Last, for each observation that died because a source was taken away, its turns that are left. Raises
        GraphFailure where the graph does not answer.
        """
        with self._looking, self.snapshot() as db:
            found = self._left.find(db, self._living, limit)
            if len(found) < limit and self.graph_ready:
                found += survivors(db, self.query, self._living, limit - len(found))
        return found

    def unreflected_count(self) -> int:
        """About how much there is to reflect on; exactly while it is little."""
        found = self.unreflected(COUNTED)
        if len(found) < COUNTED:
            return len(found)
        with self._looking, self.snapshot() as db:
            return max(COUNTED, sum(self._left.open(db)))

    def _living(self, db: sqlite3.Connection, turns: Collection[str], world: str) -> set[str]:
        """Those of the turns that a world sees and that are not kept out of memory.

        A graph that lags behind this very snapshot is not asked: what it does not have yet would be out until something
        brings it back.
        """
        head = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
        if world == MAIN_WORLD and self.graph_has(head):
            return {row["id"] for row in self.query(_LIVING, {"ids": list(turns)})} if turns else set()
        paths, listed = Paths(db), json.dumps(list(turns))
        rows = db.execute(
            f"{TURN} WHERE {SAID} AND said.turn IN (SELECT value FROM json_each(?))", (listed,)
        ).fetchall()
        said = [turn_of(row, 0) for row in rows]
        return {turn.id for turn in said if not turn.withheld and paths.sees(turn, world)}
