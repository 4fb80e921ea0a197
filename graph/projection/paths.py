"""Walks along the tables beside the log, and what each world holds: the one place where a path is followed in SQL.

A what-if is read as its own turns, the path to the turn it left at, and what its parent world held right after it
began, without what followed that turn (sources.py). That a turn is hidden or deleted holds in every world.
"""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from graph.events import MAIN_WORLD
from graph.projection.sources import inherits, kept, stands_in
from graph.projection.sqlite_tables import SqliteSink

# From a turn up over what is kept, at most so many (-1: all), as a table `path` of ids and how far up each is.
PATH = """
WITH RECURSIVE path (id, above, depth) AS (
    SELECT id, above, 0 FROM turns WHERE id = :start
    UNION ALL
    SELECT turns.id, turns.above, path.depth + 1 FROM path JOIN turns ON turns.id = path.above
    LIMIT :limit
)
"""
# Over deleted ones too, no further up than to the place of the oldest that is looked for.
_PLACES = """
WITH RECURSIVE up (id, parent, placed) AS (
    SELECT id, parent, placed FROM turns WHERE id = :start
    UNION ALL
    SELECT turns.id, turns.parent, turns.placed FROM up JOIN turns ON turns.id = up.parent WHERE up.placed > :least
)
SELECT id FROM up
"""
# All that was placed below some turns up to an event, and they themselves.
_BELOW = """
WITH RECURSIVE below (id) AS (
    SELECT value FROM json_each(:turns)
    UNION
    SELECT turns.id FROM below JOIN turns ON turns.parent = below.id AND turns.placed <= :until
)
SELECT id FROM below
"""
_ABOVE = """
WITH RECURSIVE above (id) AS (
    SELECT value FROM json_each(?)
    UNION
    SELECT turns.parent FROM above JOIN turns ON turns.id = above.id WHERE turns.parent IS NOT NULL
)
SELECT id FROM above
"""
_TIP = """
WITH RECURSIVE below (id, placed, deleted) AS (
    SELECT :turn, 0, 0
    UNION ALL
    SELECT turns.id, turns.placed, turns.deleted FROM below JOIN turns ON turns.parent = below.id
    WHERE turns.session = :session OR turns.id IN (SELECT value FROM json_each(:shared))
)
SELECT id FROM below WHERE NOT deleted OR id = :turn ORDER BY placed DESC LIMIT 1
"""
# What a memory was made again for, or again as, and what was made from it and another, by series: all that has to go
# with it.
_FAMILY = """
WITH RECURSIVE family (series) AS (
    SELECT :series
    UNION
    SELECT died.series FROM family JOIN observations AS own ON own.series = family.series
    JOIN observations AS died ON died.id = own.instead_of
    UNION
    SELECT again.series FROM family JOIN observations AS own ON own.series = family.series
    JOIN observations AS again ON again.instead_of = own.id
    UNION
    SELECT made.series FROM family JOIN observations AS own ON own.series = family.series
    JOIN links ON links.target = own.id AND links.rel = 'SYNTHESIZED_FROM'
    JOIN observations AS made ON made.id = links.start
)
SELECT series FROM family
"""
# A series, and those that were made from one of its revisions and another memory, and so on.
_DESCENDANTS = """
WITH RECURSIVE descended (series) AS (
    SELECT :series
    UNION
    SELECT made.series FROM descended JOIN observations AS own ON own.series = descended.series
    JOIN links ON links.target = own.id AND links.rel = 'SYNTHESIZED_FROM'
    JOIN observations AS made ON made.id = links.start
)
SELECT series FROM descended
"""
EVER = 1 << 62  # after every event


def path_to(db: sqlite3.Connection, turn: str, *, least: int = 0) -> list[str]:
    """The path up from a turn, deleted ones too, no further than to where that of place `least` could be."""
    return [id for (id,) in db.execute(_PLACES, {"start": turn, "least": least})]


def below(db: sqlite3.Connection, turns: Collection[str], *, until: int = EVER) -> set[str]:
    """Some turns and all that follows them, placed by event `until`."""
    return {id for (id,) in db.execute(_BELOW, {"turns": json.dumps(list(turns)), "until": until})}


def above(db: sqlite3.Connection, turns: Collection[str]) -> set[str]:
    """Some turns and all that they follow."""
    return {id for (id,) in db.execute(_ABOVE, (json.dumps(list(turns)),))}


def tip_of(db: sqlite3.Connection, session: str, turn: str, shared: Collection[str]) -> str:
    """The newest end below a turn among those said in a session and the shared ones; the turn where nothing follows."""
    values = {"turn": turn, "session": session, "shared": json.dumps(list(shared))}
    found: str = db.execute(_TIP, values).fetchone()[0]
    return found


def family_of(db: sqlite3.Connection, series: str) -> list[str]:
    """A series, those that were made again because one of it died, those it was made again for, and so on."""
    return [each for (each,) in db.execute(_FAMILY, {"series": series})]


def descendants_of(db: sqlite3.Connection, series: str) -> list[str]:
    """A series, and those of the syntheses that are gone when it is."""
    return [each for (each,) in db.execute(_DESCENDANTS, {"series": series})]


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
        row = db.execute("SELECT parent, fork, seq FROM worlds WHERE id = ?", (here,)).fetchone()
        origin = Origin(*row) if row is not None and row[0] is not None else None
        links.append(Link(here, until, origin))
        here, until = (origin.parent, origin.seq) if origin is not None else (None, None)
    return Lineage(tuple(links))


class Paths:
    """What the worlds of one snapshot hold and see. Keep it no longer than that."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._tables = SqliteSink(db)
        self._lineages: dict[str, Lineage] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def lineage(self, world: str) -> Lineage:
        """The lineage of a world, read once."""
        if world not in self._lineages:
            self._lineages[world] = lineage_of(self._db, world)
        return self._lineages[world]

    def sees(self, turn: str, world: str) -> bool:
        """Whether a world sees a turn: it holds it, and it is neither hidden nor deleted."""
        now = self._turn(turn)
        if now is None or now["hidden"] or now["deleted"]:
            return False
        return now["heads"] > 0 if now["world"] == world else self.inherits(world, turn)

    def is_on_one(self, turn: str) -> bool:
        """Whether a turn is at or above a head of its own world, hidden and deleted ones too."""
        now = self._turn(turn)
        return now is not None and bool(now["heads"] > 0)

    def inherits(self, world: str, turn: str) -> bool:
        """Whether a what-if holds a turn of another world."""
        return world != MAIN_WORLD and inherits(self._tables, world, turn)

    def stand(self, sources: Collection[str], world: str) -> bool:
        """Whether what is made from all of some turns and chunks may be believed in a world."""
        return all(self._stands(source, world) for source in sources)

    def kept(self, turn: str | None) -> str | None:
        """The turn, or the nearest one above it, that is not deleted."""
        return kept(self._tables, turn)

    def _stands(self, source: str, world: str) -> bool:
        if (source, world) not in self._known:
            self._known[source, world] = stands_in(self._tables, world, source)
        return self._known[source, world]

    def _turn(self, id: str) -> dict[str, Any] | None:
        return self._tables.node("Turn", id)
