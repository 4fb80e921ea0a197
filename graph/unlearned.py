"""What is left to reflect on, in every world, as log and graph have it; and what was, to be reflected on again."""

import json
import sqlite3
import threading
from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from graph import exchanges
from graph.beliefs import Unreflected
from graph.errors import NotFound
from graph.events import MAIN_WORLD
from graph.paths import Paths
from graph.readings import Readings
from graph.rows import SAID, TURN, turn_of
from graph.survivors import survivors
from graph.unreflected import UnreflectedTurns, above, is_gone, unit

_LIVING = "MATCH (t:Turn) WHERE t.id IN $ids AND t.live AND t.world = 'main' AND NOT t.withheld RETURN t.id AS id"
# What turns were reflected on together, the latest first; and what came of turns.
_DONE = """
SELECT done.structure -> '$.turns' FROM named JOIN events AS done USING (seq)
WHERE named.name = ? AND named.kind = 'reflection.done' AND done.structure ->> '$.instead_of' IS NULL ORDER BY seq DESC
"""
_TAUGHT = """
SELECT event.item, event.structure ->> '$.supersedes', named.name FROM named JOIN events AS event USING (seq)
WHERE named.name IN (SELECT value FROM json_each(?))
AND named.kind IN ('observation.made', 'observation.supported', 'observation.retired')
"""

COUNTED = 200  # so much is counted one by one


class Unlearned(Readings):
    """The questions about what was not reflected on. Each raises GraphFailure while the graph is closed."""

    def __init__(self) -> None:
        self._left = UnreflectedTurns()
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

    def reflected(self, turn: str) -> Unreflected:
        """The exchange a turn is of, or the turns it was reflected on with, to be reflected on again.

        By its id or the first 6 or more characters of it. Raises NotFound, also where something of it is hidden,
        deleted, withheld or not on a path, and Ambiguous.
        """
        with self.snapshot() as db:
            said = exchanges.turn_named(db, turn)
            together = [json.loads(turns) for (turns,) in db.execute(_DONE, (said.id,))]
            if not together and (reply := exchanges.exchange(db, said.id).reply) is not None:
                together = [[*above(db, reply.id), reply.id]]
            kept = [tuple(each for each in turns if not is_gone(db, each)) for turns in together]
            units = [unit(db, turns, said.session) for turns in kept if turns]
        for found in units:
            if len(self.quotable(found.turns, world=found.world)) == len(found.turns):
                return found
        why = "is hidden, deleted, kept out of memory, or not on the path" if together else "has no reply yet"
        raise NotFound(f"Nothing can be learned from {turn}: it, or something of its exchange, {why}.")

    def taught(self, turns: Collection[str]) -> dict[str, set[str]]:
        """The observations that any of the turns made, supported, revised or retired, and which of the turns.

        Whatever became of them since.
        """
        found: dict[str, set[str]] = {}
        with self.snapshot() as db:
            for observation, revised, turn in db.execute(_TAUGHT, (json.dumps(list(turns)),)):
                for each in filter(None, (observation, revised)):
                    found.setdefault(each, set()).add(turn)
        return found

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
