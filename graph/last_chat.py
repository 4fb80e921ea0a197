"""The last chat of a log whose tables are still to be made: read within a second, however long the log is.

Only the events that say how that chat stands are folded: those that name it or one that it was forked from, what became
of single messages of these, and where it is a story's who plays. Nothing but its messages may be asked of that.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Set
from contextlib import closing
from functools import partial
from pathlib import Path

from graph.errors import SURPRISES
from graph.events import (
    MAIN_WORLD,
    CastSet,
    Event,
    HeadMoved,
    ObservationMade,
    PinCleared,
    PinSet,
    Role,
    SessionArchived,
    SessionDeleted,
    SessionForked,
    SessionStarted,
    SessionUnarchived,
    TextErased,
    TurnSaid,
    TurnTaken,
)
from graph.events.codec import SELECT_EVENT, Stored, event_of
from graph.projection.sqlite_tables import TablesInMemory, event_at
from graph.reader import LogReader
from graph.sqlite import LOG
from graph.values import Turn

_LATEST = f"{SELECT_EVENT} WHERE kind = 'turn.said' ORDER BY seq DESC"
# An id is found however an event is written.
_NAMING = f"{SELECT_EVENT} WHERE structure LIKE ?"
_OF_TURNS = f"""
{SELECT_EVENT} WHERE kind <> 'turn.said' AND kind IN (
    'turn.hidden', 'turn.unhidden', 'turn.deleted', 'turn.withheld', 'turn.released', 'turn.witnessed', 'pin.set',
    'pin.cleared', 'text.erased'
)
"""
_CASTS = f"{SELECT_EVENT} WHERE kind <> 'turn.said' AND kind IN ('story.begun', 'cast.set')"
_SHELF = f"""
{SELECT_EVENT} WHERE kind <> 'turn.said' AND kind IN ('session.archived', 'session.unarchived', 'session.deleted')
ORDER BY seq
"""
TRIED = 2_000  # messages, the latest first


def last_chat(folder: Path, limit: int) -> list[Turn]:
    """The last `limit` messages of the chat that a person spoke in last, oldest first; none where that is not told."""
    with closing(LogReader(folder / LOG)) as plain, plain.events_only() as db:
        session = _last_session(db)
        if session is None:
            return []
        try:
            events = _events_of(db, session)
            tables = TablesInMemory(events, partial(event_at, db), events[-1].seq)
        except (LookupError, *SURPRISES):  # it hangs on something that was not read: the whole log will tell
            return []
    with closing(LogReader(folder / LOG, tables=tables)) as reader:
        return reader.thread(session, limit=limit)


def _last_session(db: sqlite3.Connection) -> str | None:
    """The session that a person spoke in last, neither on the shelf nor gone; where nobody did, one brought along."""
    away, gone = dict[str, bool](), set[str]()
    brought: tuple[int, str] | None = None
    for event in (event_of(row).event for row in db.execute(_SHELF)):
        match event:
            case SessionDeleted(session=session):
                gone.add(session)
            case SessionArchived(session=session):
                away[session] = True
            case SessionUnarchived(session=session):
                away[session] = False
    for row in db.execute(f"{_LATEST} LIMIT {TRIED}"):
        said = event_of(row).event
        if (
            not isinstance(said, TurnSaid)
            or not (said.role is Role.USER or (said.parent is None and said.witnesses is not None))
            or away.get(said.session, False)
            or said.session in gone
        ):
            continue
        if said.said_at is None:
            return said.session
        if brought is None or said.said_at > brought[0]:
            brought = said.said_at, said.session
    return brought[1] if brought is not None else None


def _events_of(db: sqlite3.Connection, session: str) -> list[Stored]:
    """The events of a session, of those that its messages follow ones of, and of single messages of them, in order."""
    found: dict[int, Stored] = {}
    turns: dict[str, int] = {}  # with the events that said them
    left, known = {session}, set[str]()
    while left:
        known |= left
        for each in left:
            found |= {stored.seq: stored for stored in _naming(db, each)}
        turns = {each.event.turn: seq for seq, each in found.items() if isinstance(each.event, TurnSaid)}
        missing = {turn for each in found.values() for turn in _followed(each.event)} - turns.keys()
        left = {home for turn in missing for home in _homes(db, turn)}
        left |= {each.event.origin for each in found.values() if isinstance(each.event, SessionForked)}
        left -= known
    if any(isinstance(each.event, TurnSaid) and each.event.witnesses is not None for each in found.values()):
        found |= {stored.seq: stored for stored in map(event_of, db.execute(_CASTS))}
    said = {seq for seq, each in found.items() if isinstance(each.event, TurnSaid | CastSet)}
    begun = (each.event for each in found.values())
    worlds = {MAIN_WORLD, None, *(each.world for each in begun if isinstance(each, SessionStarted | SessionForked))}
    for stored in map(event_of, db.execute(_OF_TURNS)):
        match stored.event:
            case TextErased(events=events):
                if mine := said.intersection(events):
                    found[stored.seq] = Stored(stored.seq, stored.id, stored.at, TextErased(events=tuple(mine)))
            case PinSet(world=world) | PinCleared(world=world) if world not in worlds:
                pass  # in a what-if that nothing else here is of
            case event if getattr(event, "turn", None) in turns:
                found[stored.seq] = stored
    return [found[seq] for seq in sorted(found) if _stands(found[seq].event, known, turns.keys())]


def _followed(event: Event) -> Iterator[str]:
    """The messages that an event puts another, or a head, behind."""
    match event:
        case TurnSaid(parent=str() as turn) | TurnTaken(parent=str() as turn) | HeadMoved(turn=str() as turn):
            yield turn
        case SessionForked(at=turn):
            yield turn


def _homes(db: sqlite3.Connection, turn: str) -> Iterator[str]:
    """The session that a message was said in."""
    for stored in _naming(db, turn):
        if isinstance(stored.event, TurnSaid) and stored.event.turn == turn:
            yield stored.event.session


def _naming(db: sqlite3.Connection, id: str) -> Iterable[Stored]:
    """The events that name a session or a message."""
    return map(event_of, db.execute(_NAMING, (f"%{json.dumps(id)}%",)).fetchall())


def _stands(event: Event, sessions: Set[str], turns: Set[str]) -> bool:
    """Whether an event is of these sessions' conversation, and not of what was learned from it, or called after it."""
    session, turn = getattr(event, "session", None), getattr(event, "turn", None)
    if isinstance(event, ObservationMade) or (turn is not None and turn not in turns):
        return False
    return session is None or (session in sessions and event.kind not in ("session.titled", "approval.asked"))
