"""How a conversation comes into the graph: sessions that begin, and turns that are said."""

from typing import Any

from graph.events import ProjectMade, SessionForked, SessionStarted, TurnSaid, TurnTaken
from graph.events.codec import Stored
from graph.events.references import referred
from graph.projection import stories
from graph.projection.entities import meant, speaker
from graph.projection.liveness import move_head
from graph.projection.sink import Sink, node
from graph.projection.sources import place


def make_project(sink: Sink, stored: Stored, event: ProjectMade) -> None:
    """A project is new, or is something else now."""
    put_project(sink, event.project)
    values = {"description": event.text, "status": event.status, "seq": stored.seq}
    sink.set_node("Project", event.project, values)


def put_project(sink: Sink, project: str) -> None:
    """A project that something belongs to is there, also where nobody ever said what it is."""
    if sink.node("Project", project) is None:
        sink.put_node("Project", project, {"status": "active"})


def scope(sink: Sink, session: str, project: str | None) -> None:
    """A session belongs to a project from here on, or to none."""
    before = node(sink, "Session", session)["project"]
    if before == project:
        return
    if before is not None:
        sink.drop_rel("SCOPED_TO", session, before)
    if project is not None:
        put_project(sink, project)
        sink.put_rel("SCOPED_TO", session, project)
    sink.set_node("Session", session, {"project": project})


_RECALLED = {"turn": "Turn", "observation": "Observation", "chunk": "Chunk", "reference": "Reference"}


def begin(sink: Sink, stored: Stored, event: SessionStarted | SessionForked) -> None:
    """A session begins, maybe with a world of its own that left its origin's."""
    if sink.node("World", event.world) is None:
        sink.put_node("World", event.world, _left(sink, stored, event))
    said_at = event.said_at if isinstance(event, SessionStarted) else None
    told = said_at if said_at is not None else stored.at
    properties = {
        "world": event.world,
        "client": event.client,
        "started_at": told,
        "last_at": told,
        "archived": False,
        "deleted": False,
        "turns": 0,
        "seq": stored.seq,
        "last_seq": stored.seq,
    }
    if isinstance(event, SessionForked):
        properties |= {"origin": event.origin, "fork": event.at}
    sink.put_node("Session", event.session, properties)
    sink.put_rel("IN_WORLD", event.session, event.world)
    scope(sink, event.session, event.project)


def _left(sink: Sink, stored: Stored, event: SessionStarted | SessionForked) -> dict[str, Any]:
    """What a new world inherits from."""
    if not isinstance(event, SessionForked):
        return {"seq": 0}
    parent: str = node(sink, "Session", event.origin)["world"]
    sink.set_node("World", parent, {"forked": stored.seq})
    return {"parent": parent, "fork": event.at, "seq": stored.seq, "story": node(sink, "World", parent)["story"]}


def say(sink: Sink, stored: Stored, event: TurnSaid) -> None:
    """A turn is said: its session's head moves to it, unless it waits."""
    session = node(sink, "Session", event.session)
    speaker(sink, event.speaker)
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
        "placed": None if event.queued else stored.seq,
        "pinned": False,
        "withheld": False,
        "evidence": 0,
        "touched": stored.seq,
        "heads": 0,
        "addressed": event.addressed,
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
    sink.put_node("Turn", event.turn, properties)
    sink.put_rel("IN_SESSION", event.turn, event.session)
    sink.put_rel("SAID_BY", event.turn, meant(sink, event.speaker, event.turn))
    if event.witnesses is not None:
        stories.witness(sink, event.turn, event.witnesses)
    counted = {"turns": session["turns"] + 1}
    if not session["turns"] or told >= session["last_at"]:
        counted |= {"last_at": told, "last_seq": stored.seq}
    sink.set_node("Session", event.session, counted)
    if not event.queued:
        place(sink, event.turn, event.parent)
        move_head(sink, event.session, event.turn, seq=stored.seq)
    _recall(sink, event)


def _recall(sink: Sink, event: TurnSaid) -> None:
    """The context pack as edges, each to what is there, by the best of its ranks; core blocks have none."""
    for item in reversed(event.recalled):  # of one that is named twice the first counts
        table, id = _RECALLED.get(item.kind), referred(item.id) if item.kind == "reference" else item.id
        if table is not None and id != event.turn and sink.node(table, id) is not None:
            strategy = min(item.ranks, key=lambda each: (item.ranks[each], each), default=None)
            rank = item.ranks[strategy] if strategy is not None else None
            values = {"strategy": strategy, "rank": rank, "score": item.score}
            sink.put_rel("RECALLED", event.turn, id, values, to=table)


def take(sink: Sink, event: TurnTaken, seq: int) -> None:
    """A turn that waited takes its place."""
    sink.set_node("Turn", event.turn, {"queued": False, "placed": seq, "touched": seq})
    place(sink, event.turn, event.parent)
    move_head(sink, event.session, event.turn, seq=seq)
