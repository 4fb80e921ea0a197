"""Worlds, read from the log: which world a what-if left, and which turns it sees.

A what-if is read as its own turns, the path to the turn it left at, and what its parent world held right after it
began, without what followed that turn. That a turn is hidden or deleted is asked elsewhere: it holds in every world.
Nothing was copied at the fork, so all of this is asked of the paths, as they are and as they were; what is asked of
the newest turns costs a step or two.
"""

import json
import sqlite3
from dataclasses import dataclass
from itertools import pairwise

from graph.branches import World
from graph.errors import Ambiguous, NotFound
from graph.events import MAIN_WORLD
from graph.ids import as_datetime
from graph.walks import BEGUN, PATH, Walk, Walks, place_of

SHORTEST_PREFIX = 6
_PAGE = 64
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
            rows = self._db.execute(PATH, {"start": here, "limit": _PAGE}).fetchall()
            for each, above, at in rows:
                if here is None or here in known or place <= lowest:
                    break
                passed.append(each)
                here, place = above, at  # what is above was placed before this
        follows = here is not None and known.get(here, False)
        known.update(dict.fromkeys(passed, follows))
        return follows
