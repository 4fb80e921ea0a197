"""The tree of a session, read from the log: what stands in a turn's place, where a branch ends, and its shape.

A session's own turns are those said in it and, in a fork, those on the path to where it left: nothing else is its to go
to. A reply stands in the place of other replies to the same message, whatever tools were asked in between; a message in
that of others after the same reply. Deleted turns keep their places and are passed by, hidden ones stand.
"""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from graph.ids import as_datetime
from graph.projection.paths import Paths, path_to, tip_of
from graph.readings.rows import AMONG, members, session_by_id
from graph.values import Alternatives, Branch

_ABOVE = "SELECT turns.id, turns.above, over.role FROM turns LEFT JOIN turns AS over ON over.id = turns.above"
# What follows each of some turns, or begins a session; a queued turn is placed when it is taken.
_BELOW = f"SELECT above, id, role, session, placed FROM turns WHERE above {AMONG} AND NOT deleted"
_ROOTS = """
SELECT NULL, id, role, session, placed FROM turns
WHERE (session = :session AND above IS NULL AND placed IS NOT NULL OR id = :root) AND NOT deleted
"""
_PLACES = f"SELECT id, session, placed FROM turns WHERE id {AMONG} AND placed IS NOT NULL"
# A session's own turns, in the order in which they came to their places; those that wait for one are left out.
_TURNS = """
SELECT own.id, own.parent, own.role, own.speaker, event.text, own.at, own.hidden, own.deleted
FROM turns AS own JOIN events AS event ON event.seq = own.seq
WHERE (own.session = :session OR own.id IN (SELECT value FROM json_each(:shared))) AND own.placed IS NOT NULL
ORDER BY own.placed
"""
_FORKS = "SELECT id, fork FROM sessions WHERE fork IS NOT NULL AND id <> ? AND NOT deleted ORDER BY seq"


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


class TreeReadings(ABC):
    """The questions about a session's tree."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

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
            return turn in path_to(db, other, least=_least(db, [turn]))

    def tip(self, session: str, turn: str) -> str:
        """The newest end below a turn among a session's own turns; the turn itself where nothing follows it."""
        with self.snapshot() as db:
            return tip_of(db, session, turn, _above_fork(db, session, [turn]))

    def tree(self, session: str) -> tuple[Branch, ...]:
        """A session's own turns as they branch, but for tools' and deleted ones. Raises NotFound."""
        with self.snapshot() as db:
            return _tree(db, session)


def alternatives(db: sqlite3.Connection, session: str, turns: Sequence[str]) -> dict[str, Alternatives]:
    """What stands in the place of each of some turns, in few queries however many turns there are."""
    anchors = _anchors(db, turns)
    above = {anchor for anchor in anchors.values() if anchor is not None}
    below = _following(db, db.execute(_BELOW, (json.dumps(list(above)),)).fetchall()) if above else []
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
    return said | set(path_to(db, at[0], least=min(foreign.values()))).intersection(foreign)


def shared(db: sqlite3.Connection, turns: Collection[str]) -> set[str]:
    """Those of the turns that a fork which is not deleted has on the path to where it left."""
    found, least = set[str](), _least(db, turns)
    for _, at in db.execute(_FORKS, ("",)).fetchall():
        found |= set(path_to(db, at, least=least)).intersection(turns)
    return found


def _least(db: sqlite3.Connection, turns: Collection[str]) -> int:
    """The oldest place that one of some turns has."""
    places = db.execute(_PLACES, (json.dumps(list(turns)),))
    return min((place for _, _, place in places), default=0)


def _anchors(db: sqlite3.Connection, turns: Sequence[str]) -> dict[str, str | None]:
    """What each of some turns follows, turns of tools passed by."""
    found: dict[str, str | None] = {}
    climbing = {turn: [turn] for turn in turns}
    while climbing:
        on: dict[str, list[str]] = defaultdict(list)
        for at, above, role in db.execute(f"{_ABOVE} WHERE turns.id {AMONG}", (json.dumps(list(climbing)),)).fetchall():
            if role == "tool":
                on[above] += climbing[at]
            else:
                found |= dict.fromkeys(climbing[at], above)
        climbing = on
    paths = Paths(db)
    return {turn: paths.kept(above) for turn, above in found.items()}


_Following = tuple[str | None, str, str, str, int]  # what it follows, the turn, its role, its session, its place


def _following(db: sqlite3.Connection, rows: list[_Following]) -> list[_Following]:
    """Turns that follow some, with those that follow turns of tools among them in their place; in order of places."""
    found: list[_Following] = []
    while rows:
        tools = {turn: anchor for anchor, turn, role, _, _ in rows if role == "tool"}
        found += [row for row in rows if row[2] != "tool"]
        below = db.execute(_BELOW, (json.dumps(list(tools)),)).fetchall() if tools else []
        rows = [(tools[above], *rest) for above, *rest in below]
    return sorted(found, key=lambda row: row[4])


def _forked(db: sqlite3.Connection, session: str) -> tuple[str, str] | None:
    """Where a fork left, and which session it left."""
    query = "SELECT fork, origin FROM sessions WHERE id = ? AND fork IS NOT NULL"
    row: tuple[str, str] | None = db.execute(query, (session,)).fetchone()
    return row


def _above_fork(db: sqlite3.Connection, session: str, turns: Sequence[str]) -> list[str]:
    """The path to where a fork left, no further up than the oldest of some turns (none: all of it)."""
    at = _forked(db, session)
    return path_to(db, at[0], least=_least(db, turns)) if at is not None else []


def _roots(db: sqlite3.Connection, session: str) -> list[_Following]:
    """What begins a session: said in it, and, if anything was, the turn that a fork's path begins with."""
    found = db.execute(_ROOTS, {"session": session, "root": None}).fetchall()
    path = _above_fork(db, session, []) if found else []
    if path:
        found = db.execute(_ROOTS, {"session": session, "root": path[-1]}).fetchall()
    return _following(db, found)


def _tree(db: sqlite3.Connection, session: str) -> tuple[Branch, ...]:
    about = session_by_id(db, session)
    all_own = {"session": session, "shared": json.dumps(_above_fork(db, session, []))}
    turns = {turn.id: turn for turn in map(_Placed._make, db.execute(_TURNS, all_own))}
    if about.story is not None:
        names = members(db, {turn.speaker for turn in turns.values()})
        turns = {id: turn._replace(speaker=names.get(turn.speaker, turn.speaker)) for id, turn in turns.items()}
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
