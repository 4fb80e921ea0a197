"""Short ways to change a story: who sits where, who saw what, what stands on the stage, and where its chats go."""

from typing import Any

from graph.events import CastReset, CastSet, HeadMoved, SessionForked, SessionStarted, StageSet, TurnWitnessed
from graph.memory import Memory
from tests.graph.stories.played import CHAT, JONAS, STORY


def begins(session: str) -> SessionStarted:
    """Another chat of the story."""
    return SessionStarted(session=session, world=STORY, client="test")


def forks(session: str, at: str, world: str = STORY, *, origin: str = CHAT) -> SessionForked:
    """A chat that goes on from a turn, in the same world or as a what-if."""
    return SessionForked(session=session, origin=origin, at=at, world=world, client="test")


def moves_to(turn: str | None) -> HeadMoved:
    """The chat goes back to a turn, or over to another path."""
    return HeadMoved(session=CHAT, turn=turn)


def sits(
    member: str, seat: str | None, after: str | None = None, name: str | None = None, world: str = STORY
) -> CastSet:
    """A member has a seat from a turn on, or none; and is called by a name, if one is given."""
    return CastSet.model_validate({"world": world, "member": member, "seat": seat, "after": after, "text": name})


def joins(after: str | None, member: str = JONAS, name: str | None = "Jonas") -> CastSet:
    """A guest comes."""
    return sits(member, "guest", after, name)


def resets(member: str, since: int = 0, world: str = STORY) -> CastReset:
    """A member forgets what was up to an event."""
    return CastReset(world=world, member=member, since=since)


def was_seen(turn: str, by: tuple[str, ...] = ()) -> TurnWitnessed:
    """Who saw a turn is corrected."""
    return TurnWitnessed(turn=turn, witnesses=by)


def put(owner: str, aspect: str, text: str | None, after: str | None = None, **more: Any) -> StageSet:
    """A line on the stage, by hand."""
    line = {"world": STORY, "owner": owner, "aspect": aspect, "text": text, "after": after}
    return StageSet.model_validate({**line, **more})


def faults(memory: Memory, *known: str) -> list[str]:
    """What `doctor` finds, but for what is `known`."""
    return [check.name for check in memory.doctor() if not check.ok and check.name not in known]
