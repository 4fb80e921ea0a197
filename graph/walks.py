"""Where turns stand: the heads of sessions, and the paths above them, walked no further than what is asked for.

For the newest turns that is a step or two, whatever the log's length. What is not on its own session's path may be on
another's, of any: their paths are walked together, each turn once.
"""

import sqlite3
from collections import defaultdict

BEGUN = "begun.kind <> 'turn.said' AND begun.kind IN ('session.started', 'session.forked')"
# The head is what the last event left that moves it, up to some event or at all.
_HEAD = """
(SELECT CASE head.kind WHEN 'session.forked' THEN head.structure ->> '$.at' ELSE head.turn END
 FROM events AS head WHERE head.seq = max(
     coalesce((SELECT said.seq FROM events AS said WHERE said.session = begun.session
         AND said.kind = 'turn.said' AND said.queued = 0 {said} ORDER BY said.seq DESC LIMIT 1), 0),
     coalesce((SELECT max(moved.seq) FROM events AS moved WHERE moved.session = begun.session
         AND moved.kind IN ('turn.taken', 'head.moved', 'session.forked') {moved}), 0)
 ))
"""
HEAD = _HEAD.format(said="", moved="")

_PAGE, _LONGEST_PAGE = 4, 4_096

# Where a turn stands is said by its last placing: its saying, or its taking if it was queued.
PATH = """
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
# Every placing from one event on, up to another.
_PLACINGS = """
SELECT turn, parent, seq FROM events
WHERE seq >= ? AND seq < ? AND kind IN ('turn.said', 'turn.taken') ORDER BY seq
"""
_IS_DELETED = """
EXISTS (SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted' {gone})
"""
_HEADS = f"""
SELECT begun.session, begun.structure ->> '$.world', {_HEAD} FROM events AS begun
WHERE {BEGUN} {{begun}} AND NOT {_IS_DELETED}
"""
_HOME = f"""
SELECT begun.structure ->> '$.world', {_HEAD}, {_IS_DELETED} FROM events AS begun
WHERE begun.session = :session AND {BEGUN}
"""
_BOUNDED = ("begun", "said", "moved", "gone")
_NOW = {name: "" for name in _BOUNDED}
_THEN = {name: f"AND {name}.seq <= :until" for name in _BOUNDED}


class Walks:
    """The paths of one snapshot, or as they were right after event `until`. Keep it no longer than the snapshot."""

    def __init__(self, db: sqlite3.Connection, *, until: int | None = None) -> None:
        self._db = db
        self._until = until
        self._bounds = _NOW if until is None else _THEN
        self._walks: dict[str, Walk] = {}
        self._homes: dict[str, tuple[str, str | None]] = {}
        self._together: Together | None = None

    def on_a_path(self, turn: str, session: str) -> bool:
        """Whether a turn said in a session is at or above a head of a session of its world; one that waits is not."""
        place = place_of(self._db, turn)
        world, head = self._home(session)
        if session not in self._walks:
            self._walks[session] = Walk(self._db, head)
        return self._walks[session].holds(turn, place) or self._others().holds(turn, place, world)

    def world_of(self, session: str) -> str:
        """The world a session is of."""
        return self._home(session)[0]

    def _home(self, session: str) -> tuple[str, str | None]:
        """The world of a session and its head; a deleted one has none."""
        if session not in self._homes:
            query, values = _HOME.format(**self._bounds), {"session": session, "until": self._until}
            world, head, deleted = self._db.execute(query, values).fetchone()
            self._homes[session] = world, None if deleted else head
        return self._homes[session]

    def _others(self) -> "Together":
        """The paths of all sessions: a fork keeps alive what its origin rewound."""
        if self._together is None:
            query = _HEADS.format(**self._bounds)
            self._together = Together(self._db, self._db.execute(query, {"until": self._until}).fetchall())
        return self._together


class Together:
    """The paths from the heads of all sessions up, as far as they were walked: each turn of a world once."""

    def __init__(self, db: sqlite3.Connection, heads: list[tuple[str, str, str | None]]) -> None:
        self._db = db
        self._next: dict[str, set[str]] = defaultdict(set)  # by world, where the walks go on
        for _, world, head in heads:
            if head is not None:
                self._next[world].add(head)
        self._passed: dict[str, set[str]] = defaultdict(set)
        self._known = 1 << 62  # placings from this event on were read
        self._newest = 0  # of those placings

    def holds(self, turn: str, place: int, world: str) -> bool:
        """Whether a turn that was placed by event `place` is on a path of a world."""
        if place < self._known:
            self._walk_to(place)
        return turn in self._passed[world]

    def _walk_to(self, place: int) -> None:
        """Walk on, past every turn that was placed by an event from `place` on: its parent was placed before it."""
        place = min(place, 2 * self._known - self._newest)  # twice as far each time: many may be asked for
        rows = self._db.execute(_PLACINGS, (place, self._known)).fetchall()
        self._known, self._newest = place, self._newest or max((seq for _, _, seq in rows), default=0)
        above = {turn: parent for turn, parent, _ in rows}  # of several placings the last counts
        for world, starts in self._next.items():
            passed, left = self._passed[world], set()
            for start in starts:
                here: str | None = start
                while here is not None and here in above and here not in passed:
                    passed.add(here)
                    here = above[here]
                if here is not None and here not in above and here not in passed:
                    left.add(here)
            self._next[world] = left


class Walk:
    """The path from a turn up, as far as it was walked."""

    def __init__(self, db: sqlite3.Connection, head: str | None) -> None:
        self._db = db
        self._next = head
        self._passed: set[str] = set()
        self._place: int | None = None  # of the last turn passed; each turn's parent was placed before it
        self._page = _PAGE

    def holds(self, turn: str, place: int) -> bool:
        while self._next is not None and (self._place is None or self._place > place):
            for passed, parent, at in self._db.execute(PATH, {"start": self._next, "limit": self._page}).fetchall():
                self._passed.add(passed)
                self._next, self._place = parent, at
            self._page = min(2 * self._page, _LONGEST_PAGE)
        return turn in self._passed


def place_of(db: sqlite3.Connection, turn: str) -> int:
    """The event that gave a turn its place."""
    placed = "SELECT max(seq) FROM events WHERE turn = ? AND kind IN ('turn.said', 'turn.taken')"
    place: int = db.execute(placed, (turn,)).fetchone()[0]
    return place
