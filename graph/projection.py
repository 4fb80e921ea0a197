"""What each kind of event does to the graph. Live writing and the rebuild both use this, and nothing else.

Invariants: a projection is a pure function of the event and the view; it never reads a clock or a model. The
log's rules (admission.py) make sure that what it looks for is there.
"""

from collections.abc import Iterator

from graph.changes import Change, PutNode, PutRel, SetNode, Sink, View
from graph.codec import Stored
from graph.events import (
    HeadMoved,
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
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
)
from graph.liveness import is_live, move_head, node


def apply(stored: Stored, sink: Sink) -> None:
    """Apply one event to a sink."""
    for change in project(stored, sink):
        sink.apply(change)


def project(stored: Stored, view: View) -> Iterator[Change]:
    """The changes of one event, in order; each has to be in `view` before the next is asked for."""
    match stored.event:
        case SessionStarted() as event:
            yield from _begin(view, stored, event, fork=None)
        case SessionForked() as event:
            yield from _begin(view, stored, event, fork=event.at)
            yield from move_head(view, event.session, event.at)
        case SessionTitled() as event:
            yield SetNode("Session", event.session, {"title": event.text, "title_seq": stored.seq})
        case SessionRenamed() as event:
            yield SetNode("Session", event.session, {"name": event.text, "name_seq": stored.seq})
        case SessionArchived() as event:
            yield SetNode("Session", event.session, {"archived": True})
        case SessionUnarchived() as event:
            yield SetNode("Session", event.session, {"archived": False})
        case SessionDeleted() as event:
            yield from move_head(view, event.session, None)
            yield SetNode("Session", event.session, {"deleted": True})
        case SessionConfigured() as event:
            settings = {"model": event.model, "system_prompt": event.text, "prompt_seq": stored.seq}
            yield SetNode("Session", event.session, settings)
        case TurnSaid() as event:
            yield from _say(view, stored, event)
        case TurnTaken() as event:
            yield SetNode("Turn", event.turn, {"queued": False})
            yield from _place(view, event.session, event.turn, event.parent)
        case TurnHidden() as event:
            yield from _mark(view, event.turn, "hidden", True)
        case TurnUnhidden() as event:
            yield from _mark(view, event.turn, "hidden", False)
        case TurnDeleted() as event:
            yield from _mark(view, event.turn, "deleted", True)
        case HeadMoved() as event:
            yield from move_head(view, event.session, event.turn)
        case TextErased() as event:
            for seq in event.events:
                yield from _erase(view, seq)


def _begin(view: View, stored: Stored, event: SessionStarted | SessionForked, *, fork: str | None) -> Iterator[Change]:
    if view.node("World", event.world) is None:
        yield PutNode("World", event.world, {"fork": fork})
    properties = {
        "world": event.world,
        "project": event.project,
        "client": event.client,
        "started_at": stored.at,
        "last_at": stored.at,
        "archived": False,
        "deleted": False,
        "turns": 0,
    }
    yield PutNode("Session", event.session, properties)
    yield PutRel("IN_WORLD", event.session, event.world)


def _say(view: View, stored: Stored, event: TurnSaid) -> Iterator[Change]:
    session = node(view, "Session", event.session)
    if view.node("Entity", event.speaker) is None:
        yield PutNode("Entity", event.speaker, {"kind": _kind_of(event.speaker)})
    properties = {
        "seq": stored.seq,
        "session": event.session,
        "world": session["world"],
        "role": event.role.value,
        "speaker": event.speaker,
        "client": event.client,
        "text": event.text,
        "at": stored.at,
        "index": session["turns"],
        "live": False,
        "hidden": False,
        "deleted": False,
        "queued": event.queued,
        "heads": 0,
        "stop_reason": event.stop_reason.value if event.stop_reason is not None else None,
        "error": event.error,
        "model": event.model,
        "prompt_hash": event.prompt_hash,
        "prompt_tokens": event.prompt_tokens,
        "evaluated_tokens": event.evaluated_tokens,
        "completion_tokens": event.completion_tokens,
        "first_token_ms": event.first_token_ms,
        "total_ms": event.total_ms,
    }
    yield PutNode("Turn", event.turn, properties)
    yield PutRel("IN", event.turn, event.session)
    yield PutRel("SAID_BY", event.turn, event.speaker)
    yield SetNode("Session", event.session, {"turns": session["turns"] + 1, "last_at": stored.at})
    if not event.queued:
        yield from _place(view, event.session, event.turn, event.parent)


def _place(view: View, session: str, turn: str, parent: str | None) -> Iterator[Change]:
    """Put a turn that was on no path below `parent`, and the session's head on it."""
    depth = 0
    if parent is not None:
        depth = node(view, "Turn", parent)["depth"] + 1
        yield PutRel("REPLIES_TO", turn, parent)
    yield SetNode("Turn", turn, {"parent": parent, "depth": depth})
    yield from move_head(view, session, turn)


def _mark(view: View, turn: str, flag: str, value: bool) -> Iterator[Change]:
    marked = {**node(view, "Turn", turn), flag: value}
    yield SetNode("Turn", turn, {flag: value, "live": is_live(marked)})


def _erase(view: View, seq: int) -> Iterator[Change]:
    """Take an event's text out of the graph, if it is still what stands there."""
    match view.event(seq):
        case TurnSaid() as event:
            yield SetNode("Turn", event.turn, {"text": None})
        case SessionTitled() as event if node(view, "Session", event.session)["title_seq"] == seq:
            yield SetNode("Session", event.session, {"title": None})
        case SessionRenamed() as event if node(view, "Session", event.session)["name_seq"] == seq:
            yield SetNode("Session", event.session, {"name": None})
        case SessionConfigured() as event if node(view, "Session", event.session)["prompt_seq"] == seq:
            yield SetNode("Session", event.session, {"system_prompt": None})


def _kind_of(speaker: str) -> str:
    return speaker if speaker in ("you", "assistant") else "person"
