"""Which turns are live, read from the log: for what has to be right also while there is no graph.

The graph knows this of all turns (projection/liveness.py says what it means); here the paths are walked (worlds.py).
"""

import sqlite3

from graph.readings.rows import session_by_id
from graph.readings.worlds import Views
from graph.values import Session, Turn


class Paths(Views):
    """Which turns are live in one snapshot, and the sessions they are of. Keep it no longer than that."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db)
        self._sessions: dict[str, Session] = {}

    def session(self, id: str) -> Session:
        """A session, read once. Raises NotFound."""
        if id not in self._sessions:
            self._sessions[id] = session_by_id(self._db, id, self)
        return self._sessions[id]

    def live(self, turn: Turn) -> bool:
        """Whether a turn is live in its own world."""
        return self.sees(turn, self.world_of(turn.session))

    def sees(self, turn: Turn, world: str) -> bool:
        """Whether a world sees a turn: it holds it, and it is neither hidden nor deleted, which is so everywhere."""
        return (
            not turn.hidden
            and not turn.queued
            and not self._deleted(turn.id)
            and self.in_view(turn.id, turn.session, world)
        )

    def _deleted(self, turn: str) -> bool:
        query = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.deleted'"
        return self._db.execute(query, (turn,)).fetchone() is not None
