"""What may follow what: the rules an event has to meet before it enters the log.

Invariant: whatever is in the log can be projected. A turn's id is new, every id an event names exists, and a turn that
waits in the queue is on no path: so `parent` always points at an older place, and the tree has no cycle.
"""

import sqlite3
from datetime import UTC, datetime, timedelta

from graph.errors import InvalidEvent
from graph.events import (
    Event,
    HeadMoved,
    PinCleared,
    PinSet,
    SessionForked,
    SessionStarted,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
)
from graph.ids import as_ms

# A day from the ends of what a datetime can be, so that every time zone can show it.
EARLIEST = as_ms(datetime.min.replace(tzinfo=UTC) + timedelta(days=1))
LATEST = as_ms(datetime.max.replace(tzinfo=UTC) - timedelta(days=1))


def admit(db: sqlite3.Connection, event: Event) -> None:
    """Raise InvalidEvent if `event` cannot follow what is in the log. Runs inside the append's transaction."""
    match event:
        case SessionStarted():
            _require(not _session_exists(db, event.session), f"session {event.session} exists already")
            _require_import(db, event)
        case SessionForked():
            _require(not _session_exists(db, event.session), f"session {event.session} exists already")
            _require(_session_exists(db, event.origin), f"there is no session {event.origin}")
            _require_place(db, event.at)
        case TurnSaid():
            _require(_session_exists(db, event.session), f"there is no session {event.session}")
            _require(not _turn_exists(db, event.turn), f"turn {event.turn} exists already")
            _require_place(db, event.parent)
            _require_import(db, event)
        case TurnTaken():
            _require(_can_be_taken(db, event.turn, event.session), f"turn {event.turn} waits not in {event.session}")
            _require_place(db, event.parent)
        case HeadMoved():
            _require(_session_exists(db, event.session), f"there is no session {event.session}")
            _require_place(db, event.turn)
        case TurnHidden() | TurnUnhidden() | TurnDeleted() | PinSet() | PinCleared():
            _require(_turn_exists(db, event.turn), f"there is no turn {event.turn}")
        case TextErased():
            last = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            _require(all(1 <= seq <= last for seq in event.events), "an event to erase does not exist")
        case _:
            _require(_session_exists(db, event.session), f"there is no session {event.session}")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidEvent(f"The event was not stored: {otherwise}.")


def _require_place(db: sqlite3.Connection, turn: str | None) -> None:
    """`turn` is None or stands in the tree."""
    if turn is not None:
        _require(_turn_exists(db, turn), f"there is no turn {turn}")
        _require(not _waits(db, turn), f"turn {turn} still waits in the queue")


def _require_import(db: sqlite3.Connection, event: SessionStarted | TurnSaid) -> None:
    """A source is imported once, also where it is erased since, and its time is one that can be shown."""
    if event.source is not None:
        known = _any(db, "SELECT 1 FROM events WHERE source = ?", event.source)
        _require(not known, f"it was imported before, from {event.source}")
    if event.said_at is not None:
        _require(EARLIEST <= event.said_at <= LATEST, f"{event.said_at} is no time between the years 1 and 9999")


def _session_exists(db: sqlite3.Connection, session: str) -> bool:
    kinds = "('session.started', 'session.forked')"
    return _any(db, f"SELECT 1 FROM events WHERE session = ? AND kind IN {kinds}", session)


def _turn_exists(db: sqlite3.Connection, turn: str) -> bool:
    return _any(db, "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.said'", turn)


def _waits(db: sqlite3.Connection, turn: str) -> bool:
    """Said as queued, and not taken up since."""
    queued = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.said' AND queued = 1"
    taken = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.taken'"
    return _any(db, queued, turn) and not _any(db, taken, turn)


def _can_be_taken(db: sqlite3.Connection, turn: str, session: str) -> bool:
    here = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.said' AND session = ?"
    deleted = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.deleted'"
    return _waits(db, turn) and _any(db, here, turn, session) and not _any(db, deleted, turn)


def _any(db: sqlite3.Connection, query: str, *parameters: str) -> bool:
    return db.execute(query, parameters).fetchone() is not None
