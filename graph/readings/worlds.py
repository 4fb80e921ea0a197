"""Where turns stand, which of them a world sees, and how things and pins stand in one.

For the newest turns that is a step or two, whatever the log's length. What is not on its own session's path may be on
another's, of any: their paths are walked together, each turn once.

A what-if is read as its own turns, the path to the turn it left at, and what its parent world held right after it
began, without what followed that turn. That a turn is hidden or deleted is asked elsewhere: it holds in every world.
Nothing was copied at the fork, so all of this is asked of the paths, as they are and as they were; what is asked of
the newest turns costs a step or two.

A pin is of a world: that in which it was set or cleared, or else that of what is pinned. The last one counts. A pin of
an observation is of its whole series.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from graph.errors import Ambiguous, NotFound
from graph.events import MAIN_WORLD
from graph.ids import as_datetime
from graph.values import RevisionStanding, Wanted, World

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

_walks_PAGE, _LONGEST_PAGE = 4, 4_096

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
        self._together: JoinedPaths | None = None

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

    def _others(self) -> "JoinedPaths":
        """The paths of all sessions: a fork keeps alive what its origin rewound."""
        if self._together is None:
            query = _HEADS.format(**self._bounds)
            self._together = JoinedPaths(self._db, self._db.execute(query, {"until": self._until}).fetchall())
        return self._together


class JoinedPaths:
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
        self._page = _walks_PAGE

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


SHORTEST_PREFIX = 6
_worlds_PAGE = 64
_FORK = "begun.kind = 'session.forked' AND begun.kind <> 'turn.said'"
# The first session of a world begins it, and is a fork of another's unless the world has no other.
_OF_ITS_NAME = f"SELECT begun.seq, begun.structure FROM events AS begun WHERE begun.session = ? AND {_FORK}"
_FOUNDER = f"""
SELECT begun.seq, begun.structure FROM events AS begun
WHERE {BEGUN} AND begun.structure ->> '$.world' = ? ORDER BY begun.seq LIMIT 1
"""
_WORLD_OF = f"SELECT begun.structure ->> '$.world' FROM events AS begun WHERE begun.session = ? AND {BEGUN}"
_FORKS = f"""
SELECT begun.seq, begun.at, begun.structure FROM events AS begun
WHERE {_FORK} AND begun.structure ->> '$.world' <> '{MAIN_WORLD}' ORDER BY begun.seq
"""
_ENDED = "SELECT 1 FROM events WHERE session = ? AND kind = 'session.deleted'"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a what-if comes from: the world it left, at which turn, and the event it began with."""

    parent: str
    fork: str
    seq: int


@dataclass(frozen=True, slots=True)
class Link:
    """One world of a lineage: it counts up to event `until` (None: as it is), and came from `origin`, if it did."""

    world: str
    until: int | None
    origin: Origin | None

    def counts(self, seq: int) -> bool:
        """Whether an event of this world is one that the lineage knows."""
        return self.until is None or seq <= self.until


@dataclass(frozen=True, slots=True)
class Lineage:
    """A world, the world it left, and so on: each up to the event at which it was left."""

    links: tuple[Link, ...]

    @property
    def world(self) -> str:
        return self.links[0].world

    @property
    def worlds(self) -> list[str]:
        """The world itself first."""
        return [link.world for link in self.links]

    def knows(self, world: str, seq: int) -> bool:
        """Whether an event of a world, a revision, a pin or a block, is one that may count here."""
        return any(link.world == world and link.counts(seq) for link in self.links)


def lineage_of(db: sqlite3.Connection, world: str) -> Lineage:
    """The lineage of a world. One that no fork began has nothing but its own."""
    links: list[Link] = []
    until: int | None = None
    here: str | None = world
    while here is not None:
        origin = _origin(db, here)
        links.append(Link(here, until, origin))
        here, until = (origin.parent, origin.seq) if origin is not None else (None, None)
    return Lineage(tuple(links))


def worlds(db: sqlite3.Connection) -> list[World]:
    """Main, then the what-ifs, the oldest first; without their names, and without those that have no session left."""
    found, sessions = [World(MAIN_WORLD, None)], dict[str, list[str]]()
    homes = {MAIN_WORLD}
    for seq, at, structure in db.execute(_FORKS).fetchall():
        fork = json.loads(structure)
        sessions.setdefault(fork["world"], []).append(fork["session"])
        if fork["world"] not in homes and (parent := world_of(db, fork["origin"])) != fork["world"]:
            homes.add(fork["world"])
            began = as_datetime(at)
            found.append(World(fork["world"], None, parent, fork["at"], fork["session"], seq, began, fork["origin"]))
    ended = {world for world, of in sessions.items() if all(db.execute(_ENDED, (each,)).fetchone() for each in of)}
    return [world for world in found if world.id not in ended]


def world_by(db: sqlite3.Connection, id: str) -> World:
    """A world by its id, the first characters of it, or a session that is in it. Raises NotFound or Ambiguous."""
    there = worlds(db)
    row = db.execute(_WORLD_OF, (id,)).fetchone()
    exact = [world for world in there if world.id in (id, row and row[0])]
    first = id.casefold()
    found = exact or [w for w in there if len(id) >= SHORTEST_PREFIX and w.id.casefold().startswith(first)]
    if not found:
        raise NotFound(f"There is no world {id}. `clew tree` shows where what-ifs start; the main world is `main`.")
    if len(found) > 1:
        raise Ambiguous(f"Several worlds have ids starting with {id}. Give more characters.")
    return found[0]


def world_of(db: sqlite3.Connection, session: str) -> str | None:
    """The world a session is of, None if there is no such session."""
    row = db.execute(_WORLD_OF, (session,)).fetchone()
    return row[0] if row is not None else None


def _origin(db: sqlite3.Connection, world: str) -> Origin | None:
    if world == MAIN_WORLD:
        return None
    for query in (_OF_ITS_NAME, _FOUNDER):  # mostly a world has the name of the session that began it
        row = db.execute(query, (world,)).fetchone()
        fork = json.loads(row[1]) if row is not None else {}
        if fork.get("world") == world and "origin" in fork:
            parent = world_of(db, fork["origin"])
            if parent is not None and parent != world:
                return Origin(parent, fork["at"], row[0])
    return None


class Views(Walks):
    """Which turns the worlds of one snapshot hold, whether hidden or not. Keep it no longer than that."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db)
        self._lineages: dict[str, Lineage] = {}
        self._then: dict[int, Walks] = {}
        self._above: dict[str, Walk] = {}  # by fork turn
        self._after: dict[str, dict[str, bool]] = {}  # by fork turn: which turns follow it, as far as was asked
        self._places: dict[str, int] = {}  # of fork turns

    def lineage(self, world: str) -> Lineage:
        """The lineage of a world, read once."""
        if world not in self._lineages:
            self._lineages[world] = lineage_of(self._db, world)
        return self._lineages[world]

    def in_view(self, turn: str, session: str, world: str) -> bool:
        """Whether a world holds a turn that was said in a session."""
        home = self.world_of(session)
        if home == world:
            return self.on_a_path(turn, session)
        if world == MAIN_WORLD:
            return False
        links = self.lineage(world).links
        for link, parent in pairwise(links):
            assert link.origin is not None  # since it has a parent
            if self._leads_to(turn, link.origin.fork):
                return True
            if self._follows(turn, link.origin.fork):
                return False
            if parent.world == home:
                return self._held(turn, session, link.origin.seq)
        return False

    def _held(self, turn: str, session: str, seq: int) -> bool:
        """Whether a turn was on a path of its own world right after event `seq`."""
        if place_of(self._db, turn) > seq:
            return False
        if seq not in self._then:
            self._then[seq] = Walks(self._db, until=seq)
        return self._then[seq].on_a_path(turn, session)

    def _leads_to(self, turn: str, fork: str) -> bool:
        """Whether a turn is at or above the fork."""
        if fork not in self._above:
            self._above[fork] = Walk(self._db, fork)
        return self._above[fork].holds(turn, place_of(self._db, turn))

    def _follows(self, turn: str, fork: str) -> bool:
        """Whether a turn is somewhere below the fork."""
        known = self._after.setdefault(fork, {fork: True})
        lowest = self._places.setdefault(fork, place_of(self._db, fork))
        passed: list[str] = []
        here: str | None = turn
        place = place_of(self._db, turn)
        while here is not None and here not in known and place > lowest:
            rows = self._db.execute(PATH, {"start": here, "limit": _worlds_PAGE}).fetchall()
            for each, above, at in rows:
                if here is None or here in known or place <= lowest:
                    break
                passed.append(each)
                here, place = above, at  # what is above was placed before this
        follows = here is not None and known.get(here, False)
        known.update(dict.fromkeys(passed, follows))
        return follows


_OF_TURNS = """
SELECT pin.seq, pin.turn, pin.kind, coalesce(pin.structure ->> '$.world', begun.structure ->> '$.world')
FROM events AS pin
JOIN events AS said ON said.turn = pin.turn AND said.kind = 'turn.said'
JOIN events AS begun ON begun.session = said.session AND begun.kind IN ('session.started', 'session.forked')
WHERE pin.kind <> 'turn.said' AND pin.kind IN ('pin.set', 'pin.cleared') AND pin.turn IS NOT NULL ORDER BY pin.seq
"""
_OF_SERIES = """
SELECT pin.seq, made.series, pin.kind, coalesce(pin.structure ->> '$.world', made.structure ->> '$.world')
FROM events AS pin JOIN events AS made ON made.item = pin.item AND made.kind = 'observation.made'
WHERE pin.kind <> 'turn.said' AND pin.kind IN ('pin.set', 'pin.cleared') AND pin.item IS NOT NULL ORDER BY pin.seq
"""
_REVISIONS = """
SELECT made.item FROM events AS made
WHERE made.series IN (SELECT value FROM json_each(?)) AND made.kind = 'observation.made'
"""


def turns_by_hand(db: sqlite3.Connection, lineage: Lineage) -> dict[str, bool]:
    """The turns that were ever pinned or unpinned by hand, and whether they are pinned."""
    return _last(db, _OF_TURNS, lineage)


def pinned_series(db: sqlite3.Connection, lineage: Lineage) -> set[str]:
    """The series of observations that are pinned."""
    return {series for series, on in _last(db, _OF_SERIES, lineage).items() if on}


def revisions_of(db: sqlite3.Connection, series: str) -> list[str]:
    """All revisions of some series, given as a JSON list."""
    return [item for (item,) in db.execute(_REVISIONS, (series,))]


def _last(db: sqlite3.Connection, query: str, lineage: Lineage) -> dict[str, bool]:
    rows = db.execute(query).fetchall()
    return {item: kind == "pin.set" for seq, item, kind, world in rows if lineage.knows(world, seq)}


@dataclass(frozen=True, slots=True)
class InWorld:
    """What a world may see, and how it stands there.

    `observations` by id, those that are not live too. `seen` gives those of some turns that the world sees, and whether
    what is made of each may be believed: it may not be of what is withheld.
    """

    lineage: Lineage
    observations: dict[str, RevisionStanding]
    seen: Callable[[Iterable[str]], dict[str, bool]]

    def standing(self, turns: Iterable[str]) -> set[str]:
        """Those of some turns that stand in the world."""
        return {turn for turn, stands in self.seen(turns).items() if stands}


def standing_rows(rows: Iterable[Mapping[str, Any]], view: InWorld) -> list[dict[str, Any]]:
    """Rows of observations as they stand in a world; without those it may not see."""
    return [{**row, **asdict(view.observations[row["id"]])} for row in rows if row["id"] in view.observations]


def is_wanted(wanted: Wanted, row: Mapping[str, Any]) -> bool:
    """Whether an observation stands as it is asked for."""
    if wanted.status not in (None, row["status"]):
        return False
    if wanted.everything or wanted.status in ("superseded", "invalid"):
        return bool(wanted.dead or row["live"])
    return bool(row["current"] or (wanted.dead and not row["live"] and row["status"] in ("candidate", "active")))
