"""Which turns are live, read from the log: for what has to be right also while there is no graph.

The graph knows this of all turns (liveness.py says what it means); here the paths are walked, from the heads up and
no further than the turns that are asked for. For the newest turns that is a step or two, whatever the log's length.
"""

import sqlite3

from graph.rows import BEGUN, HEAD, session_by_id
from graph.values import Session, Turn

_PAGE, _LONGEST_PAGE = 4, 4_096

# Where a turn stands is said by its last placing: its saying, or its taking if it was queued.
_PATH = """
WITH RECURSIVE path (turn, parent, place) AS (
    SELECT placed.turn, placed.parent, placed.seq FROM events AS placed WHERE placed.seq = (
        SELECT max(seq) FROM events WHERE turn = :start AND kind IN ('turn.said', 'turn.taken')
    )
    UNION ALL
    SELECT placed.turn, placed.parent, placed.seq FROM path JOIN events AS placed ON placed.seq = (
        SELECT max(seq) FROM events WHERE turn = path.parent AND kind IN ('turn.said', 'turn.taken')
    )
    LIMIT :limit
)
SELECT turn, parent, place FROM path
"""
_HEADS = f"""
SELECT begun.session, begun.structure ->> '$.world', {HEAD} FROM events AS begun WHERE {BEGUN} AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'
)
"""


class Paths:
    """The paths of one snapshot. Keep it no longer than that."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._sessions: dict[str, Session] = {}
        self._walks: dict[str, _Walk] = {}
        self._heads: dict[str, list[str]] | None = None  # sessions that are not deleted, by world

    def session(self, id: str) -> Session:
        """A session, read once. Raises NotFound."""
        if id not in self._sessions:
            self._sessions[id] = session_by_id(self._db, id)
        return self._sessions[id]

    def live(self, turn: Turn) -> bool:
        """Whether a turn is live in its own world."""
        return (
            not turn.hidden and not turn.queued and not self._deleted(turn.id) and self.on_a_path(turn.id, turn.session)
        )

    def on_a_path(self, turn: str, session: str) -> bool:
        """Whether a turn said in a session is at or above a head of a session of its world; one that waits is not."""
        placed = "SELECT max(seq) FROM events WHERE turn = ? AND kind IN ('turn.said', 'turn.taken')"
        place = self._db.execute(placed, (turn,)).fetchone()[0]
        home = self.session(session)
        if self._walk(home.id, home.head).holds(turn, place):
            return True
        return any(self._walks[other].holds(turn, place) for other in self._sessions_of(home.world))

    def _deleted(self, turn: str) -> bool:
        query = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.deleted'"
        return self._db.execute(query, (turn,)).fetchone() is not None

    def _sessions_of(self, world: str) -> list[str]:
        """The sessions of a world: a fork keeps alive what its origin rewound."""
        if self._heads is None:
            self._heads = {}
            for session, its_world, head in self._db.execute(_HEADS).fetchall():
                self._heads.setdefault(its_world, []).append(session)
                self._walk(session, head)
        return self._heads.get(world, [])

    def _walk(self, session: str, head: str | None) -> "_Walk":
        if session not in self._walks:
            self._walks[session] = _Walk(self._db, head)
        return self._walks[session]


class _Walk:
    """One session's path, from its head up, as far as it was walked."""

    def __init__(self, db: sqlite3.Connection, head: str | None) -> None:
        self._db = db
        self._next = head
        self._passed: set[str] = set()
        self._place: int | None = None  # of the last turn passed; each turn's parent was placed before it
        self._page = _PAGE

    def holds(self, turn: str, place: int) -> bool:
        while self._next is not None and (self._place is None or self._place > place):
            for passed, parent, at in self._db.execute(_PATH, {"start": self._next, "limit": self._page}).fetchall():
                self._passed.add(passed)
                self._next, self._place = parent, at
            self._page = min(2 * self._page, _LONGEST_PAGE)
        return turn in self._passed
