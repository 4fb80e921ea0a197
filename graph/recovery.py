"""What the last run left undone: replies a crash cut off, and messages that still wait in the queue.

Both are finished with ordinary events in one append per session, so a crash in here is met the same way again.
"""

from graph.events import Event, Role, StopReason, TurnSaid, TurnTaken, TurnWithheld
from graph.log import Log, Stream
from graph.reading import LogReader

ASSISTANT = "assistant"


def recover(log: Log, reader: LogReader) -> int:
    """Make cut-off replies truncated turns, put queued messages on the path; returns how many replies there were."""
    streams = log.streams()
    recovered = sum(_recover_reply(log, reader, stream) for stream in streams)
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


def _take_queued(log: Log, reader: LogReader, session: str) -> None:
    parent = reader.session(session).head
    taken: list[Event] = []
    for turn in reader.waiting(session):
        taken.append(TurnTaken(turn=turn.id, session=session, parent=parent))
        parent = turn.id
    log.append(taken)
