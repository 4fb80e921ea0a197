"""What the rules of admission ask of the log: whether what an event names is there. Else it is refused, saying why."""

import json
import sqlite3
from collections.abc import Iterable

from graph.errors import InvalidEvent
from graph.events import MAIN_WORLD

LONGEST_NAME = 200


def require(holds: bool, otherwise: str) -> None:
    """Raise InvalidEvent, saying why, unless it holds."""
    if not holds:
        raise InvalidEvent(f"The event was not stored: {otherwise}.")


def found(db: sqlite3.Connection, query: str, *parameters: str) -> bool:
    return db.execute(query, parameters).fetchone() is not None


def session_exists(db: sqlite3.Connection, session: str) -> bool:
    return found(db, "SELECT 1 FROM sessions WHERE id = ?", session)


def turn_exists(db: sqlite3.Connection, turn: str) -> bool:
    return found(db, "SELECT 1 FROM turns WHERE id = ?", turn)


def item_exists(db: sqlite3.Connection, kind: str, item: str) -> bool:
    """Whether an event of this kind is of this thing: an observation, a chunk, a document, an entity, an approval."""
    return found(db, "SELECT 1 FROM subjects WHERE id = ? AND kind = ?", item, kind)


def require_session(db: sqlite3.Connection, session: str) -> None:
    require(session_exists(db, session), f"there is no session {session}")


def require_turn(db: sqlite3.Connection, turn: str) -> None:
    require(turn_exists(db, turn), f"there is no turn {turn}")


def world_exists(db: sqlite3.Connection, world: str) -> bool:
    """Main always is; a what-if is from the fork that began it on."""
    return world == MAIN_WORLD or found(db, "SELECT 1 FROM worlds WHERE id = ?", world)


def require_world(db: sqlite3.Connection, world: str) -> None:
    require(world_exists(db, world), f"there is no world {world}")


def require_sources(db: sqlite3.Connection, sources: Iterable[str]) -> None:
    """All of them are turns or chunks, each named once."""
    named = list(sources)
    require(len(set(named)) == len(named), "it names a source twice")
    unknown = """
    SELECT source.value FROM json_each(?) AS source
    WHERE NOT EXISTS (SELECT 1 FROM turns WHERE id = source.value)
    AND NOT EXISTS (SELECT 1 FROM chunks WHERE id = source.value)
    """
    row = db.execute(unknown, (json.dumps(named),)).fetchone()
    require(row is None, f"there is no turn or chunk {row and row[0]}")


def require_name(name: str | None, of: str) -> None:
    """A name has something to read in it, and is no longer than a line."""
    fit = name is None or (name.strip() and len(name) <= LONGEST_NAME and name.isprintable())
    require(bool(fit), f"{of} has no fit name")
