"""What the last run left undone: replies a crash cut off, heads that went back for one, and messages in the queue.

All are finished with ordinary events in one append per session, so a crash in here is met the same way again.

A reply that is made anew begins with a head that moves, alone in its append, to a message that has a reply. Where the
crash came before the first word of the new one, the head goes back to where it was: nothing is lost from the path. A
person's own moves set a mark, or say what they undo, in the same append, and stand.
"""

import sqlite3

from graph.events import Event, HeadMoved, Role, StopReason, TurnSaid, TurnTaken, TurnWithheld, Undone
from graph.exchanges import replies
from graph.log import Log, Stream
from graph.reading import LogReader
from graph.rows import passed_by
from graph.tree import own

ASSISTANT = "assistant"

# The last move of each session's head where nothing else happened with it, or followed but the answers of tools.
_LAST_MOVES = """
SELECT moved.seq, moved.session, moved.turn FROM events AS moved
WHERE moved.kind = 'head.moved' AND moved.kind <> 'turn.said' AND moved.turn IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM events AS beside WHERE beside.seq IN (moved.seq - 1, moved.seq + 1)
    AND beside.at = moved.at)
AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.session = moved.session AND later.seq > moved.seq
    AND later.kind IN ('head.moved', 'turn.taken', 'session.deleted'))
AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.session = moved.session AND later.seq > moved.seq
    AND later.kind = 'turn.said' AND later.role <> 'tool' AND later.queued = 0)
ORDER BY moved.seq
"""
_HEAD_BEFORE = """
SELECT CASE head.kind WHEN 'session.forked' THEN head.structure ->> '$.at' ELSE head.turn END
FROM events AS head WHERE head.session = :session AND head.seq < :move AND (
    head.kind = 'turn.said' AND head.queued = 0 OR head.kind IN ('turn.taken', 'head.moved')
    OR head.kind = 'session.forked'
) ORDER BY head.seq DESC LIMIT 1
"""


def recover(log: Log, reader: LogReader) -> int:
    """Make cut-off replies truncated turns, put queued messages on the path; returns how many replies there were."""
    streams = log.streams()
    recovered = sum(_recover_reply(log, reader, stream) for stream in streams)
    for move, session, head in _left_back(reader):
        log.append([Undone(events=(move,)), HeadMoved(session=session, turn=head)])
    for session in reader.waiting_sessions():
        _take_queued(log, reader, session)
    return recovered


def _recover_reply(log: Log, reader: LogReader, stream: Stream) -> bool:
    """A side row without a word, or of a reply that is stored, becomes no turn."""
    if not stream.text or reader.has_turn(stream.turn):
        log.drop_stream(stream.turn)
        return False
    asked = reader.turn(stream.parent) if stream.parent is not None else None
    reply = TurnSaid(
        turn=stream.turn,
        session=stream.session,
        parent=stream.parent,
        role=Role.ASSISTANT,
        speaker=ASSISTANT,
        client=asked.client if asked is not None else "clew",
        stop_reason=StopReason.CRASHED,
        model=stream.model,
        recalled=stream.recalled,
        text=stream.text,
    )
    kept_out = [TurnWithheld(turn=stream.turn)] if asked is not None and asked.withheld else []
    log.append([reply, *kept_out], ends_stream=stream.turn)
    return True


def _left_back(reader: LogReader) -> list[tuple[int, str, str | None]]:
    """Moves of a head back for a reply that never came: their events, their sessions, and where the heads were."""
    with reader.snapshot() as db:
        moves = db.execute(_LAST_MOVES).fetchall()
        return [
            (move, session, _was_at(db, move, session)) for move, session, at in moves if _is_answered(db, session, at)
        ]


def _is_answered(db: sqlite3.Connection, session: str, turn: str) -> bool:
    """Whether a turn is a message that has a reply among a session's own turns."""
    return bool(own(db, session, [reply.id for reply in replies(db, turn) if not reply.deleted]))


def _was_at(db: sqlite3.Connection, move: int, session: str) -> str | None:
    """Where the head was before a move."""
    (head,) = db.execute(_HEAD_BEFORE, {"session": session, "move": move}).fetchone() or (None,)
    return passed_by(db, [head]).get(head, head) if head is not None else None


def _take_queued(log: Log, reader: LogReader, session: str) -> None:
    parent = reader.session(session).head
    taken: list[Event] = []
    for turn in reader.waiting(session):
        taken.append(TurnTaken(turn=turn.id, session=session, parent=parent))
        parent = turn.id
    log.append(taken)
