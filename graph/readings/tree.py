"""The tree of a session, read from the log: what stands in a turn's place, where a branch ends, and its shape.

A session's own turns are those said in it and, in a fork, those on the path to where it left: nothing else is its to go
to. A reply stands in the place of other replies to the same message, whatever tools were asked in between; a message in
that of others after the same reply. Deleted turns keep their places and are passed by, hidden ones stand.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from graph.ids import as_datetime
from graph.readings.rows import session_by_id
from graph.readings.worlds import BEGUN
from graph.values import Alternatives, Branch

_GONE = "EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = {} AND gone.kind = 'turn.deleted')"
_PASSED = f"(up.role = 'tool' OR {_GONE.format('up.at')})"

_FORKED = """
SELECT structure ->> '$.at', structure ->> '$.origin' FROM events WHERE session = ? AND kind = 'session.forked'
"""
# The turns that each of some turns follows, no further than to one that is kept and no tool's.
_ANCHORS = f"""
WITH RECURSIVE up (turn, at, role) AS (
    SELECT value, value, 'tool' FROM json_each(?)
    UNION ALL
    SELECT up.turn, placed.parent, (
        SELECT said.role FROM events AS said WHERE said.turn = placed.parent AND said.kind = 'turn.said'
    ) FROM up JOIN events AS placed ON placed.seq = (
        SELECT max(seq) FROM events WHERE turn = up.at AND kind IN ('turn.said', 'turn.taken')
    ) WHERE {_PASSED}
)
SELECT turn, at FROM up WHERE at IS NULL OR NOT {_PASSED}
"""
# What follows each of some turns, through turns of tools and deleted ones; a queued turn is placed when it is taken.
_BELOW = f"""
WITH RECURSIVE up (anchor, at, role, session, place) AS (
    {{roots}}
    UNION ALL
    SELECT up.anchor, said.turn, said.role, said.session, placed.seq FROM up
    JOIN events AS placed ON placed.parent = up.at AND placed.kind IN ('turn.said', 'turn.taken')
    JOIN events AS said ON said.turn = placed.turn AND said.kind = 'turn.said'
    WHERE up.place IS NULL OR {_PASSED}
)
SELECT anchor, at, role, session, place FROM up WHERE place IS NOT NULL AND NOT {_PASSED} ORDER BY place
"""
_BELOW_TURNS = _BELOW.format(roots="SELECT value, value, NULL, NULL, NULL FROM json_each(?)")
_ROOTS = """
SELECT NULL, said.turn, said.role, said.session, placed.seq FROM events AS placed
JOIN events AS said ON said.turn = placed.turn AND said.kind = 'turn.said'
WHERE placed.session = :session AND placed.parent IS NULL
AND (placed.kind = 'turn.said' AND placed.queued = 0 OR placed.kind = 'turn.taken')
UNION ALL
SELECT NULL, said.turn, said.role, said.session, said.seq FROM events AS said
WHERE said.turn = :root AND said.kind = 'turn.said' AND said.session <> :session
"""
_BELOW_NOTHING = _BELOW.format(roots=_ROOTS)
# From a turn up, no further than to the place of the oldest that is looked for.
_UP = """
WITH RECURSIVE up (turn, parent, place) AS (
    SELECT turn, parent, seq FROM events WHERE seq = (
        SELECT max(seq) FROM events WHERE turn = :start AND kind IN ('turn.said', 'turn.taken')
    )
    UNION ALL
    SELECT placed.turn, placed.parent, placed.seq FROM up JOIN events AS placed ON placed.seq = (
        SELECT max(seq) FROM events WHERE turn = up.parent AND kind IN ('turn.said', 'turn.taken')
    ) WHERE up.place > :least
)
SELECT turn, parent FROM up
"""
_PLACES = """
SELECT placed.turn, said.session, placed.seq FROM events AS placed
JOIN events AS said ON said.turn = placed.turn AND said.kind = 'turn.said'
WHERE placed.turn IN (SELECT value FROM json_each(?))
AND (placed.kind = 'turn.said' AND placed.queued = 0 OR placed.kind = 'turn.taken')
"""
_CHILDREN = """
WITH RECURSIVE below (turn, place) AS (
    SELECT :turn, 0
    UNION ALL
    SELECT said.turn, placed.seq FROM below
    JOIN events AS placed ON placed.parent = below.turn AND placed.kind IN ('turn.said', 'turn.taken')
    JOIN events AS said ON said.turn = placed.turn AND said.kind = 'turn.said'
    WHERE said.session = :session OR said.turn IN (SELECT value FROM json_each(:shared))
)
"""
_TIP = f"{_CHILDREN} SELECT turn FROM below WHERE turn = :turn OR NOT {_GONE.format('below.turn')}"
_OF_SESSION = """
SELECT said.turn FROM events AS said WHERE said.session = :session AND said.kind = 'turn.said'
UNION
SELECT value FROM json_each(:shared)
"""
# A session's own turns, in the order in which they came to their places; those that wait for one are left out.
_TURNS = f"""
SELECT said.turn, placed.parent, said.role, said.speaker, said.text, said.told,
    'turn.hidden' IS (SELECT seen.kind FROM events AS seen WHERE seen.turn = said.turn
        AND seen.kind IN ('turn.hidden', 'turn.unhidden') ORDER BY seen.seq DESC LIMIT 1),
    {_GONE.format("said.turn")}
FROM ({_OF_SESSION}) AS own JOIN events AS said ON said.turn = own.turn AND said.kind = 'turn.said'
JOIN events AS placed ON placed.turn = said.turn
    AND (placed.kind = 'turn.said' AND placed.queued = 0 OR placed.kind = 'turn.taken')
ORDER BY placed.seq
"""
_FORKS = f"""
SELECT begun.session, begun.structure ->> '$.at' FROM events AS begun
WHERE {BEGUN} AND begun.kind = 'session.forked' AND begun.session <> ? AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'
) ORDER BY begun.seq
"""


class _Placed(NamedTuple):
    """A turn as _TURNS has it."""

    id: str
    parent: str | None
    role: str
    speaker: str
    text: str | None
    told: int
    hidden: int
    deleted: int


class TreeReadings:
    """The questions about a session's tree."""

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        raise NotImplementedError

    def origin(self, session: str) -> tuple[str, str] | None:
        """The session that a fork left, and at which turn; None for one that is no fork."""
        with self.snapshot() as db:
            at = _forked(db, session)
            return (at[1], at[0]) if at is not None else None

    def alternatives(self, session: str, turns: Iterable[str]) -> dict[str, Alternatives]:
        """What stands in the place of each of some turns of a session, where that is more than the turn itself."""
        with self.snapshot() as db:
            return alternatives(db, session, list(turns))

    def belongs(self, session: str, turn: str) -> bool:
        """Whether a turn is one of a session's own: said in it, or on the path to where it left another."""
        with self.snapshot() as db:
            return bool(own(db, session, [turn]))

    def is_above(self, turn: str, other: str) -> bool:
        """Whether a turn is another, or stands on the path to it."""
        with self.snapshot() as db:
            places = db.execute(_PLACES, (json.dumps([turn]),)).fetchall()
            return any(turn in _path(db, other, place) for _, _, place in places)

    def tip(self, session: str, turn: str) -> str:
        """The newest end below a turn among a session's own turns; the turn itself where nothing follows it."""
        with self.snapshot() as db:
            shared = json.dumps(_above_fork(db, session, [turn]))
            values = {"turn": turn, "session": session, "shared": shared}
            row = db.execute(f"{_TIP} ORDER BY place DESC LIMIT 1", values).fetchone()
            found: str = row[0]
            return found

    def tree(self, session: str) -> tuple[Branch, ...]:
        """A session's own turns as they branch, but for tools' and deleted ones. Raises NotFound."""
        with self.snapshot() as db:
            return _tree(db, session)


def alternatives(db: sqlite3.Connection, session: str, turns: Sequence[str]) -> dict[str, Alternatives]:
    """What stands in the place of each of some turns, in few queries however many turns there are."""
    anchors: dict[str, str | None] = dict(db.execute(_ANCHORS, (json.dumps(turns),)).fetchall())
    above = [anchor for anchor in set(anchors.values()) if anchor is not None]
    below = db.execute(_BELOW_TURNS, (json.dumps(above),)).fetchall() if above else []
    if None in anchors.values():
        below += _roots(db, session)
    groups: dict[tuple[str | None, str], dict[str, bool]] = defaultdict(dict)  # turns, and whether they were said here
    roles: dict[str, str] = {}
    for anchor, turn, role, of, _ in below:
        groups[anchor, role][turn] = of == session
        roles[turn] = role
    # Of turns that were said elsewhere one is the session's at most: it has others only beside what was said here.
    branching = {key: group for key, group in groups.items() if len(group) > 1 and any(group.values())}
    here = own(db, session, [turn for group in branching.values() for turn in group])
    found = {key: tuple(turn for turn in group if turn in here) for key, group in branching.items()}
    places = {turn: found.get((anchors[turn], roles[turn]), ()) for turn in turns if turn in roles and turn in anchors}
    return {turn: Alternatives(of, of.index(turn)) for turn, of in places.items() if len(of) > 1 and turn in of}


def own(db: sqlite3.Connection, session: str, turns: Collection[str]) -> set[str]:
    """Those of the turns that are a session's own; one that waits in the queue is none."""
    placed = db.execute(_PLACES, (json.dumps(list(turns)),)).fetchall()
    said = {turn for turn, of, _ in placed if of == session}
    foreign = {turn: place for turn, of, place in placed if of != session}
    at = _forked(db, session) if foreign else None
    if at is None:
        return said
    return said | set(_path(db, at[0], min(foreign.values()))).intersection(foreign)


def shared(db: sqlite3.Connection, turns: Collection[str]) -> set[str]:
    """Those of the turns that a fork which is not deleted has on the path to where it left."""
    places = [place for _, _, place in db.execute(_PLACES, (json.dumps(list(turns)),))]
    if not places:
        return set()
    found: set[str] = set()
    for _, at in db.execute(_FORKS, ("",)).fetchall():
        found |= set(_path(db, at, min(places))).intersection(turns)
    return found


def _forked(db: sqlite3.Connection, session: str) -> tuple[str, str] | None:
    """Where a fork left, and which session it left."""
    row: tuple[str, str] | None = db.execute(_FORKED, (session,)).fetchone()
    return row


def _path(db: sqlite3.Connection, turn: str, least: int) -> list[str]:
    """The path up from a turn, no further than to where that of place `least` could be."""
    return [each for each, _ in db.execute(_UP, {"start": turn, "least": least})]


def _above_fork(db: sqlite3.Connection, session: str, turns: Sequence[str]) -> list[str]:
    """The path to where a fork left, no further up than the oldest of some turns (none: all of it)."""
    at = _forked(db, session)
    if at is None:
        return []
    places = [place for _, _, place in db.execute(_PLACES, (json.dumps(turns),))]
    return _path(db, at[0], min(places, default=0))


def _roots(db: sqlite3.Connection, session: str) -> list[tuple[None, str, str, str, int]]:
    """What begins a session: said in it, and, if anything was, the turn that a fork's path begins with."""
    found = db.execute(_BELOW_NOTHING, {"session": session, "root": None}).fetchall()
    path = _above_fork(db, session, []) if found else []
    return db.execute(_BELOW_NOTHING, {"session": session, "root": path[-1]}).fetchall() if path else found


def _tree(db: sqlite3.Connection, session: str) -> tuple[Branch, ...]:
    about = session_by_id(db, session)
    all_own = {"session": session, "shared": json.dumps(_above_fork(db, session, []))}
    turns = {turn.id: turn for turn in map(_Placed._make, db.execute(_TURNS, all_own))}
    near: dict[str | None, str | None] = {None: None}  # the turn, or the nearest one above it, that is shown
    above: dict[str, str | None] = {}
    for id, turn in turns.items():
        above[id] = near.get(turn.parent)
        near[id] = id if turn.role != "tool" and not turn.deleted else above[id]
    shown = {id: turns[id] for id in above if near[id] == id}
    head, path = near.get(about.head), set[str]()
    at = head
    while at is not None:
        path.add(at)
        at = above[at]
    forks: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for fork, leaves in db.execute(_FORKS, (session,)).fetchall():
        if (place := near.get(leaves)) is not None:
            forks[place] += (fork,)
    return _branches(shown, above, path, head, forks)


def _branches(
    shown: dict[str, _Placed],
    above: dict[str, str | None],
    path: Collection[str],
    head: str | None,
    forks: dict[str, tuple[str, ...]],
) -> tuple[Branch, ...]:
    """The branches, made from their ends up: however long a chat is, nothing calls itself. `shown` is oldest first."""
    below: dict[str | None, list[Branch]] = defaultdict(list)
    for id, turn in reversed(shown.items()):
        branch = Branch(
            turn=id,
            role=turn.role,
            speaker=turn.speaker,
            text=None if turn.hidden else turn.text,
            at=as_datetime(turn.told),
            on_path=id in path,
            head=id == head,
            hidden=bool(turn.hidden),
            children=tuple(reversed(below.pop(id, []))),
            forks=forks.get(id, ()),
        )
        below[above[id]].append(branch)
    return tuple(reversed(below[None]))
