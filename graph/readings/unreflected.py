"""Which turns were not reflected on: questions to the table that has them all (projection/sqlite_tables.py).

Invariants:
- What a crash or a quit left is found by a query, whatever the log's length, and nothing is queued in memory.
- A row is only a candidate: whether its turn is live, and its exchange not withheld, is asked when it is looked for.
- What was found to be out is skipped until something is appended that can bring a turn back.
- What was said first comes first: what is said later then revises it, also where all of it is caught up with at once.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice

from graph.events import Role
from graph.values import Unreflected

RUN = 6  # imported turns that are reflected on together
LONGEST_RUN = 2 * RUN  # with the replies to the last of them
SHORTEST_PAGE, LONGEST_PAGE = 16, 512

# Those of the turns that a world sees and that are not withheld.
Living = Callable[[sqlite3.Connection, Collection[str], str], set[str]]
Seen = set[tuple[str, str]]  # turns, each with a world that sees it

# What is played in a story teaches nothing about the user.
_PLAYED = """
SELECT 1 FROM sessions AS own JOIN worlds ON worlds.id = own.world
WHERE own.id = unreflected.session AND worlds.story IS NOT NULL
"""
# Oldest first: of this program's own replies, then of imported turns.
_ROWS = f"""
SELECT seq, turn, session, imported, told FROM unreflected WHERE imported = :imported
AND (told, seq) > (:told, :seq) AND NOT EXISTS ({_PLAYED}) ORDER BY told, seq LIMIT :page
"""
# What can bring a turn back to a path or into memory.
_REVIVALS = """
SELECT max(seq) FROM events WHERE kind <> 'turn.said'
AND kind IN ('turn.unhidden', 'turn.released', 'head.moved', 'session.forked', 'turn.taken')
"""
_PLACED = "SELECT parent, role FROM turns WHERE id = ?"
# Whether a turn was said where the turn before it left the head of the session.
_FOLLOWS = """
SELECT before.id = :parent AND NOT EXISTS (
    SELECT 1 FROM subjects WHERE id = said.session AND kind = 'head.moved' AND seq BETWEEN before.seq AND said.seq
)
FROM turns AS said JOIN turns AS before ON before.seq = (
    SELECT max(seq) FROM turns AS other WHERE other.session = said.session AND other.seq < said.seq
) WHERE said.id = :turn
"""
_BELOW = """
SELECT said.id, said.role FROM turns AS said JOIN unreflected AS left_over ON left_over.seq = said.seq
WHERE said.above = ? AND left_over.imported = 1 ORDER BY said.seq
"""


class UnreflectedTurns:
    """What is left to reflect on. Keeps which candidates are out for now, so as not to look at them each time."""

    def __init__(self) -> None:
        self._out: set[str] = set()
        self._revived = 0
        self._branching: set[str] = set()  # replies to what was not said below the turn before it
        self._worlds: dict[str, str] = {}  # of sessions

    def find(self, db: sqlite3.Connection, living: Living, limit: int) -> list[Unreflected]:
        """Exchanges that ended, the oldest first; then imported turns in runs, the oldest first."""
        revived = db.execute(_REVIVALS).fetchone()[0] or 0
        if revived != self._revived:
            self._out.clear()
            self._revived = revived
        known = -1
        while known < len(self._branching):  # one that follows a path that was left brings back what is on it
            known = len(self._branching)
            fresh = list(islice(self._exchanges(db, living), max(limit, 0)))
        return fresh + list(islice(self._runs(db, living), max(limit - len(fresh), 0)))

    def open(self, db: sqlite3.Connection) -> tuple[int, int]:
        """How many replies and how many runs there are at most."""
        counted = f"""
        SELECT turns.session, imported, turns.id, role FROM unreflected JOIN turns USING (seq)
        WHERE NOT EXISTS ({_PLAYED})
        """
        replies, imported, answered = 0, Counter[str](), Counter[str]()
        for session, is_imported, turn, role in db.execute(counted):
            if turn not in self._out:
                replies += not is_imported
                imported[session] += is_imported
                answered[session] += is_imported and role == Role.ASSISTANT
        return replies, sum(max(-(-count // RUN), answered[session]) for session, count in imported.items())

    def _exchanges(self, db: sqlite3.Connection, living: Living) -> Iterator[Unreflected]:
        for page in self._pages(db, imported=0):
            asking = {turn: above(db, turn) for turn, _ in page}
            turns = ((each, session) for turn, session in page for each in (*asking[turn], turn))
            live = self._living(db, living, turns)
            for turn, session in page:
                world = self._world(db, session)
                asked = [each for each in asking[turn] if (each, world) in live or not is_gone(db, each)]
                if asked and live.issuperset((each, world) for each in (*asked, turn)):
                    self._look_back(db, turn, asked[0])
                    yield unit(db, (*asked, turn), session)
                else:
                    self._out.add(turn)

    def _look_back(self, db: sqlite3.Connection, reply: str, first: str) -> None:
        """Look at everything again where an exchange came as a branch, once: it may follow what was off the path."""
        if self._out and reply not in self._branching:
            parent, _ = db.execute(_PLACED, (first,)).fetchone()
            row = db.execute(_FOLLOWS, {"turn": first, "parent": parent}).fetchone()
            if row is not None and not row[0]:
                self._branching.add(reply)
                self._out.clear()

    def _runs(self, db: sqlite3.Connection, living: Living) -> Iterator[Unreflected]:
        taken: set[str] = set()
        for page in self._pages(db, imported=1):
            asked = {turn for turn, _ in page}
            live = self._living(db, living, page)
            for turn, session in page:
                if turn in taken:
                    continue
                world = self._world(db, session)

                def alive(each: str, world: str = world, asked: set[str] = asked, live: Seen = live) -> bool:
                    unasked = each not in asked and each not in self._out
                    return (each, world) in live or (unasked and each in living(db, [each], world))

                begins = (turn, world) in live and _role(db, turn) != Role.ASSISTANT
                run = _run(db, turn, taken, alive) if begins else ()
                taken.update(run)
                if run:
                    yield unit(db, run, session)
                else:
                    self._out.add(turn)

    def _living(self, db: sqlite3.Connection, living: Living, turns: Iterable[tuple[str, str]]) -> Seen:
        """Those of the turns, each given with a session, that the world of that session sees; with the world."""
        of_worlds: dict[str, set[str]] = {}
        for turn, session in turns:
            of_worlds.setdefault(self._world(db, session), set()).add(turn)
        return {(turn, world) for world, each in of_worlds.items() for turn in living(db, each, world)}

    def _world(self, db: sqlite3.Connection, session: str) -> str:
        """The world of a session, read once: it never changes."""
        if session not in self._worlds:
            self._worlds[session] = place_of(db, session)[0]
        return self._worlds[session]

    def _pages(self, db: sqlite3.Connection, *, imported: int) -> Iterator[list[tuple[str, str]]]:
        """Turn and session of the candidates, without those that are out, some at a time."""
        told, seq, page = -1 << 62, 0, SHORTEST_PAGE
        while rows := db.execute(_ROWS, {"imported": imported, "told": told, "seq": seq, "page": page}).fetchall():
            yield [(turn, session) for _, turn, session, _, _ in rows if turn not in self._out]
            seq, told, page = rows[-1][0], rows[-1][4], min(2 * page, LONGEST_PAGE)


def above(db: sqlite3.Connection, reply: str) -> list[str]:
    """The user's turns above a reply, up to the reply before it, the oldest first; turns of tools are passed over."""
    found: list[str] = []
    at, role = db.execute(_PLACED, (reply,)).fetchone()
    while at is not None:
        parent, role = db.execute(_PLACED, (at,)).fetchone()
        if role == Role.ASSISTANT:
            break
        if role in (Role.USER, Role.NOTE):
            found.insert(0, at)
        at = parent
    return found


def _run(db: sqlite3.Connection, first: str, taken: Collection[str], alive: Callable[[str], bool]) -> tuple[str, ...]:
    """Up to RUN turns of people in a row and the replies to them, all live and none reflected on or taken.

    What is said after a reply is another run, as it is another exchange: it may revise what was said before.
    """
    found, said = [first], ""
    while len(found) < LONGEST_RUN:
        below = [(turn, role) for turn, role in db.execute(_BELOW, (found[-1],)) if turn not in taken]
        turn, role = next((each for each in below if alive(each[0])), (None, None))
        if turn is None or (role != Role.ASSISTANT and (len(found) >= RUN or said == Role.ASSISTANT)):
            break
        found.append(turn)
        said = role or ""
    return tuple(found)


def _role(db: sqlite3.Connection, turn: str) -> str:
    role: str = db.execute("SELECT role FROM turns WHERE id = ?", (turn,)).fetchone()[0]
    return role


def unit(db: sqlite3.Connection, turns: tuple[str, ...], session: str) -> Unreflected:
    """Turns to be reflected on together, in the world and project of a session."""
    world, project = place_of(db, session)
    return Unreflected(turns, session, world, project)


def place_of(db: sqlite3.Connection, session: str) -> tuple[str, str | None]:
    """The world and the project of a session."""
    world, project = db.execute("SELECT world, project FROM sessions WHERE id = ?", (session,)).fetchone()
    return world, project or None


def is_gone(db: sqlite3.Connection, turn: str) -> bool:
    """Whether a turn was deleted."""
    return db.execute("SELECT 1 FROM turns WHERE id = ? AND deleted", (turn,)).fetchone() is not None
