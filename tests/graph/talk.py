"""Short ways to say what people do: talk, fork, go back, hide, pin, name."""

from datetime import UTC, datetime

from graph.events import (
    MAIN_WORLD,
    CoreWritten,
    HeadMoved,
    PinCleared,
    PinSet,
    ProjectAssigned,
    Role,
    SessionArchived,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    StopReason,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
    TurnWithheld,
)
from graph.memory import Memory

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def said(
    turn: str, session: str = "s", *, parent: str | None = None, text: str | None = None, **more: object
) -> TurnSaid:
    """A user turn; its text is its id unless given."""
    fields: dict[str, object] = {
        "turn": turn,
        "session": session,
        "parent": parent,
        "role": Role.USER,
        "speaker": "you",
        "client": "test",
        "text": turn if text is None else text,
    }
    return TurnSaid.model_validate({**fields, **more})


def reply(turn: str, session: str = "s", *, parent: str | None, text: str | None = None, **more: object) -> TurnSaid:
    """A reply that ended by itself."""
    fields: dict[str, object] = {"role": Role.ASSISTANT, "speaker": "assistant", "stop_reason": StopReason.END}
    return said(turn, session, parent=parent, text=text, **{**fields, **more})


def talk(memory: Memory, turns: int, session: str = "s") -> list[str]:
    """A session of `turns` turns, users and replies by turns; their ids are s0, s1 …"""
    ids = [f"{session}{number}" for number in range(turns)]
    events = [
        (said if number % 2 == 0 else reply)(id, session, parent=ids[number - 1] if number else None)
        for number, id in enumerate(ids)
    ]
    memory.append(begin(session), *events)
    return ids


def begin(session: str, **more: object) -> SessionStarted:
    return SessionStarted.model_validate({"session": session, "client": "test", **more})


def fork(session: str, origin: str, at: str, world: str = MAIN_WORLD, **more: object) -> SessionForked:
    """A fork into main, unless another world is given."""
    fields: dict[str, object] = {"session": session, "origin": origin, "at": at, "world": world, "client": "test"}
    return SessionForked.model_validate({**fields, **more})


def what_if(session: str, origin: str, at: str, **more: object) -> SessionForked:
    """A fork into a world of its own, which is called as the session is."""
    return fork(session, origin, at, session, **more)


def drop(session: str) -> SessionDeleted:
    return SessionDeleted(session=session)


def archive(session: str) -> SessionArchived:
    return SessionArchived(session=session)


def rename(session: str, text: str | None) -> SessionRenamed:
    return SessionRenamed(session=session, text=text)


def titled(session: str, text: str, *sources: str) -> SessionTitled:
    return SessionTitled(session=session, sources=sources, text=text)


def assign(session: str, project: str | None) -> ProjectAssigned:
    return ProjectAssigned(session=session, project=project)


def move(session: str, turn: str | None) -> HeadMoved:
    """The head of a session goes to another turn, or before the first."""
    return HeadMoved(session=session, turn=turn)


def taken(turn: str, session: str, *, parent: str | None) -> TurnTaken:
    """A queued message is taken up."""
    return TurnTaken(turn=turn, session=session, parent=parent)


def hide(turn: str) -> TurnHidden:
    return TurnHidden(turn=turn)


def unhide(turn: str) -> TurnUnhidden:
    return TurnUnhidden(turn=turn)


def delete(turn: str) -> TurnDeleted:
    return TurnDeleted(turn=turn)


def withhold(turn: str) -> TurnWithheld:
    return TurnWithheld(turn=turn)


def release(turn: str) -> TurnReleased:
    return TurnReleased(turn=turn)


def rate(turn: str, significance: int, by: str = "rule") -> TurnRated:
    return TurnRated.model_validate({"turn": turn, "significance": significance, "by": by})


def pin(turn: str | None = None, **more: str | None) -> PinSet:
    return PinSet(turn=turn, **more)


def unpin(turn: str | None = None, **more: str | None) -> PinCleared:
    return PinCleared(turn=turn, **more)


def write(block: str, text: str, *sources: str, **more: object) -> CoreWritten:
    """A core block of main, by the user, unless told otherwise."""
    return CoreWritten.model_validate({"block": block, "text": text, "sources": sources, "by": "user", **more})
