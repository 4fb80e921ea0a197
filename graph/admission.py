"""What may follow what: the rules an event has to meet before it enters the log.

Invariant: whatever is in the log can be projected. A turn's id is new, a what-if begins with a fork, every id an event
names exists, and a turn that waits in the queue is on no path: so `parent` always points at an older place, and the
tree has no cycle.
"""

import sqlite3
from datetime import UTC, datetime, timedelta

from graph.admission_of_learned import admit_learned, require_pinnable
from graph.events import (
    Event,
    HeadMoved,
    MarkCleared,
    MarkRestored,
    MarkSet,
    PinCleared,
    PinSet,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    SessionUnarchived,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
    TurnWithheld,
    Undone,
)
from graph.ids import as_ms
from graph.rules import (
    found,
    require,
    require_session,
    require_sources,
    require_turn,
    require_world,
    session_exists,
    turn_exists,
    world_exists,
)

# A day from the ends of what a datetime can be, so that every time zone can show it.
EARLIEST = as_ms(datetime.min.replace(tzinfo=UTC) + timedelta(days=1))
LATEST = as_ms(datetime.max.replace(tzinfo=UTC) - timedelta(days=1))


def admit(db: sqlite3.Connection, event: Event) -> None:
    """Raise InvalidEvent if `event` cannot follow what is in the log. Runs inside the append's transaction."""
    match event:
        case SessionStarted():
            require(not session_exists(db, event.session), f"session {event.session} exists already")
            require_world(db, event.world)
            _require_import(db, event)
        case SessionForked():
            require(not session_exists(db, event.session), f"session {event.session} exists already")
            require(session_exists(db, event.origin), f"there is no session {event.origin}")
            _require_place(db, event.at)
            of_origin = event.world == _world_of(db, event.origin)
            require(of_origin or not world_exists(db, event.world), f"the world {event.world} is another's")
        case TurnSaid():
            require_session(db, event.session)
            require(not turn_exists(db, event.turn), f"turn {event.turn} exists already")
            _require_place(db, event.parent)
            _require_import(db, event)
        case TurnTaken():
            require(_can_be_taken(db, event.turn, event.session), f"turn {event.turn} waits not in {event.session}")
            _require_place(db, event.parent)
        case HeadMoved():
            require_session(db, event.session)
            _require_place(db, event.turn)
        case TurnHidden() | TurnUnhidden() | TurnDeleted() | TurnRated() | TurnWithheld() | TurnReleased():
            require_turn(db, event.turn)
        case PinSet() | PinCleared():
            _require_pinnable(db, event)
        case SessionTitled():
            require_session(db, event.session)
            require_sources(db, event.sources)
        case MarkSet():
            require(not _is_marked(db, event.mark), f"mark {event.mark} exists already")
        case MarkCleared() | MarkRestored():
            require(_is_marked(db, event.mark), f"there is no mark {event.mark}")
        case Undone():
            last = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            require(all(1 <= seq <= last for seq in event.events), "an event to undo does not exist")
        case TextErased():
            last = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            require(all(1 <= seq <= last for seq in event.events), "an event to erase does not exist")
        case SessionRenamed() | SessionArchived() | SessionUnarchived() | SessionDeleted() | SessionConfigured():
            require_session(db, event.session)
        case _:
            require(admit_learned(db, event), f"nobody knows when a {event.kind} may be stored")


def _is_marked(db: sqlite3.Connection, mark: str) -> bool:
    marked = "SELECT 1 FROM events WHERE kind <> 'turn.said' AND kind = 'mark.set' AND structure ->> '$.mark' = ?"
    return found(db, marked, mark)


def _world_of(db: sqlite3.Connection, session: str) -> str:
    begun = """
    SELECT structure ->> '$.world' FROM events
    WHERE session = ? AND kind IN ('session.started', 'session.forked')
    """
    world: str = db.execute(begun, (session,)).fetchone()[0]
    return world


def _require_pinnable(db: sqlite3.Connection, event: PinSet | PinCleared) -> None:
    require((event.turn is None) != (event.observation is None), "a pin is of one turn or one observation")
    if event.world is not None:
        require_world(db, event.world)
    if event.turn is not None:
        require_turn(db, event.turn)
    if event.observation is not None:
        require_pinnable(db, event.observation)


def _require_place(db: sqlite3.Connection, turn: str | None) -> None:
    """`turn` is None or stands in the tree."""
    if turn is not None:
        require(turn_exists(db, turn), f"there is no turn {turn}")
        require(not _waits(db, turn), f"turn {turn} still waits in the queue")


def _require_import(db: sqlite3.Connection, event: SessionStarted | TurnSaid) -> None:
    """A source is imported once, also where it is erased since, and its time is one that can be shown."""
    if event.source is not None:
        known = found(db, "SELECT 1 FROM events WHERE source = ?", event.source)
        require(not known, f"it was imported before, from {event.source}")
    if event.said_at is not None:
        require(EARLIEST <= event.said_at <= LATEST, f"{event.said_at} is no time between the years 1 and 9999")


def _waits(db: sqlite3.Connection, turn: str) -> bool:
    """Said as queued, and not taken up since."""
    queued = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.said' AND queued = 1"
    taken = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.taken'"
    return found(db, queued, turn) and not found(db, taken, turn)


def _can_be_taken(db: sqlite3.Connection, turn: str, session: str) -> bool:
    here = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.said' AND session = ?"
    deleted = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.deleted'"
    return _waits(db, turn) and found(db, here, turn, session) and not found(db, deleted, turn)
