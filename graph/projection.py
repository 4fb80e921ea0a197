"""What each kind of event does to the graph. Live writing and the rebuild both use this, and nothing else.

Invariants: a projection is a pure function of the event and what the sink shows; it never reads a clock or a model. The
log's rules (admission.py) make sure that what it looks for is there.
"""

from typing import Any

from graph.codec import Stored
from graph.events import (
    HeadMoved,
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
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
)
from graph.liveness import is_live, move_head, node
from graph.sink import Sink


def project(stored: Stored, sink: Sink) -> None:
    """Apply one event to a graph."""
    match stored.event:
        case SessionStarted() as event:
            _begin(sink, stored, event, fork=None)
        case SessionForked() as event:
            _begin(sink, stored, event, fork=event.at)
            move_head(sink, event.session, event.at, seq=stored.seq)
        case SessionTitled() as event:
            sink.set_node("Session", event.session, {"title": event.text, "title_seq": stored.seq})
        case SessionRenamed() as event:
            sink.set_node("Session", event.session, {"name": event.text, "name_seq": stored.seq})
        case SessionArchived() as event:
            sink.set_node("Session", event.session, {"archived": True})
        case SessionUnarchived() as event:
            sink.set_node("Session", event.session, {"archived": False})
        case SessionDeleted() as event:
            move_head(sink, event.session, None, seq=stored.seq)
            sink.set_node("Session", event.session, {"deleted": True})
        case SessionConfigured() as event:
            settings = {"model": event.model, "system_prompt": event.text, "prompt_seq": stored.seq}
            sink.set_node("Session", event.session, settings)
        case TurnSaid() as event:
            _say(sink, stored, event)
        case TurnTaken() as event:
            _take(sink, event, stored.seq)
        case TurnHidden() as event:
            _mark(sink, event.turn, stored.seq, hidden=True)
        case TurnUnhidden() as event:
            _mark(sink, event.turn, stored.seq, hidden=False)
        case TurnDeleted() as event:
            _mark(sink, event.turn, stored.seq, deleted=True)
        case PinSet() as event:
            _pin(sink, event, stored.seq, pinned=True)
        case PinCleared() as event:
            _pin(sink, event, stored.seq, pinned=False)
        case HeadMoved() as event:
            move_head(sink, event.session, event.turn, seq=stored.seq)
        case TextErased() as event:
            for seq in event.events:
                _erase(sink, seq, touched=stored.seq)


def _begin(sink: Sink, stored: Stored, event: SessionStarted | SessionForked, *, fork: str | None) -> None:
    if sink.node("World", event.world) is None:
        sink.put_node("World", event.world, {"fork": fork})
    said_at = event.said_at if isinstance(event, SessionStarted) else None
    told = said_at if said_at is not None else stored.at
    properties = {
        "world": event.world,
        "project": event.project,
        "client": event.client,
        "started_at": told,
        "last_at": told,
        "archived": False,
        "deleted": False,
        "turns": 0,
    }
    sink.put_node("Session", event.session, properties)
    sink.put_rel("IN_WORLD", event.session, event.world)


def _say(sink: Sink, stored: Stored, event: TurnSaid) -> None:
    session = node(sink, "Session", event.session)
    if sink.node("Entity", event.speaker) is None:
        sink.put_node("Entity", event.speaker, {"kind": _kind_of(event.speaker)})
    told = event.said_at if event.said_at is not None else stored.at
    properties = {
        "seq": stored.seq,
        "session": event.session,
        "world": session["world"],
        "role": event.role.value,
        "speaker": event.speaker,
        "client": event.client,
        "text": event.text,
        "at": told,
        "index": session["turns"],
        "live": False,
        "hidden": False,
        "deleted": False,
        "queued": event.queued,
        "pinned": False,
        "withheld": False,
        "evidence": 0,
        "touched": stored.seq,
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
        **({} if event.queued else _place(sink, event.parent)),
    }
    sink.put_node("Turn", event.turn, properties)
    sink.put_rel("IN", event.turn, event.session)
    sink.put_rel("SAID_BY", event.turn, event.speaker)
    last_at = max(told, session["last_at"]) if session["turns"] else told
    sink.set_node("Session", event.session, {"turns": session["turns"] + 1, "last_at": last_at})
    if not event.queued:
        if event.parent is not None:
            sink.put_rel("REPLIES_TO", event.turn, event.parent)
        move_head(sink, event.session, event.turn, seq=stored.seq)
    _recall(sink, event)


def _recall(sink: Sink, event: TurnSaid) -> None:
    """The context pack as edges, each to a turn that is there and of the best of its ranks."""
    for item in reversed(event.recalled):  # of one that is named twice the first counts
        if item.kind == "turn" and item.id != event.turn and sink.node("Turn", item.id) is not None:
            strategy = min(item.ranks, key=lambda each: (item.ranks[each], each), default=None)
            rank = item.ranks[strategy] if strategy is not None else None
            sink.put_rel("RECALLED", event.turn, item.id, {"strategy": strategy, "rank": rank, "score": item.score})


def _take(sink: Sink, event: TurnTaken, seq: int) -> None:
    sink.set_node("Turn", event.turn, {"queued": False, "touched": seq, **_place(sink, event.parent)})
    if event.parent is not None:
        sink.put_rel("REPLIES_TO", event.turn, event.parent)
    move_head(sink, event.session, event.turn, seq=seq)


def _place(sink: Sink, parent: str | None) -> dict[str, Any]:
    """Where a turn below `parent` stands."""
    return {"parent": parent, "depth": 0 if parent is None else node(sink, "Turn", parent)["depth"] + 1}


def _mark(sink: Sink, turn: str, seq: int, **flag: bool) -> None:
    now = node(sink, "Turn", turn)
    flags = {"hidden": now["hidden"], "deleted": now["deleted"], **flag}
    sink.set_node("Turn", turn, {**flag, "live": is_live(now["heads"], **flags), "touched": seq})


def _pin(sink: Sink, event: PinSet | PinCleared, seq: int, *, pinned: bool) -> None:
    for table, id in (("Turn", event.turn), ("Observation", event.observation)):
        if id is not None:
            sink.set_node(table, id, {"pinned": pinned, "touched": seq})


def _erase(sink: Sink, seq: int, *, touched: int) -> None:
    """Take an event's text out of the graph, if it is still what stands there."""
    match sink.event(seq):
        case TurnSaid() as event:
            sink.set_node("Turn", event.turn, {"text": None, "touched": touched})
        case SessionTitled() as event if node(sink, "Session", event.session)["title_seq"] == seq:
            sink.set_node("Session", event.session, {"title": None})
        case SessionRenamed() as event if node(sink, "Session", event.session)["name_seq"] == seq:
            sink.set_node("Session", event.session, {"name": None})
        case SessionConfigured() as event if node(sink, "Session", event.session)["prompt_seq"] == seq:
            sink.set_node("Session", event.session, {"system_prompt": None})


def _kind_of(speaker: str) -> str:
    return speaker if speaker in ("you", "assistant") else "person"
