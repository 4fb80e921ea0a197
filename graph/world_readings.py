"""The questions about worlds, for whoever can take a snapshot of the log."""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace

from graph import worlds
from graph.branches import World
from graph.events import MAIN_WORLD
from graph.paths import Paths
from graph.rows import SAID, TURN, session_by_id, turn_of


class WorldReadings(ABC):
    """Main and the what-ifs, and which turns they see, as the log has it."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def worlds(self) -> list[World]:
        """Main, then the what-ifs, the oldest first; those whose sessions were all deleted are left out."""
        with self.snapshot() as db:
            return [_named(db, world) for world in worlds.worlds(db)]

    def world(self, id: str) -> World:
        """A world by its id, the first 6 or more characters of it, or a session in it. Raises NotFound or Ambiguous."""
        with self.snapshot() as db:
            return _named(db, worlds.world_by(db, id))

    def world_of(self, session: str) -> str:
        """The id of the world a session is in; main's where there is no such session."""
        with self.snapshot() as db:
            return worlds.world_of(db, session) or MAIN_WORLD

    def sees(self, world: str, turns: Iterable[str]) -> set[str]:
        """Those of the turns that a world sees: on its paths or inherited, and neither hidden nor deleted."""
        query = f"{TURN} WHERE {SAID} AND said.turn IN (SELECT value FROM json_each(?))"
        with self.snapshot() as db:
            paths = Paths(db)
            said = [turn_of(row, 0) for row in db.execute(query, (json.dumps(list(turns)),)).fetchall()]
            return {turn.id for turn in said if paths.sees(turn, world)}


def _named(db: sqlite3.Connection, world: World) -> World:
    return replace(world, name=session_by_id(db, world.session).name) if world.session is not None else world
