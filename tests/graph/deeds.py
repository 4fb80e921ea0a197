"""Short ways to say what people do with what was said: begin and fork chats, go back, hide, delete, pin, name."""

from collections.abc import Callable
from typing import TypeVar

from graph.events import (
    MAIN_WORLD,
    CoreWritten,
    HeadMoved,
    PinCleared,
    PinSet,
    ProjectAssigned,
    SessionArchived,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnTaken,
    TurnUnhidden,
    TurnWithheld,
)
from graph.events.conversation import Base

Deed = TypeVar("Deed", bound=Base)


def done_to(field: str, event: type[Deed]) -> Callable[[str], Deed]:
    """Makes events that say nothing but what they are of."""

    def deed(id: str) -> Deed:
        return event.model_validate({field: id})

    return deed


hide, unhide = done_to("turn", TurnHidden), done_to("turn", TurnUnhidden)
withhold, release = done_to("turn", TurnWithheld), done_to("turn", TurnReleased)
delete = done_to("turn", TurnDeleted)
drop, archive = done_to("session", SessionDeleted), done_to("session", SessionArchived)


def begin(session: str, **more: object) -> SessionStarted:
    return SessionStarted.model_validate({"session": session, "client": "test", **more})


def fork(session: str, origin: str, at: str, world: str = MAIN_WORLD, **more: object) -> SessionForked:
    """A fork into main, unless another world is given."""
    fields: dict[str, object] = {"session": session, "origin": origin, "at": at, "world": world, "client": "test"}
    return SessionForked.model_validate({**fields, **more})


def what_if(session: str, origin: str, at: str, **more: object) -> SessionForked:
    """A fork into a world of its own, which is called as the session is."""
    return fork(session, origin, at, session, **more)


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


def rate(turn: str, significance: int, by: str = "rule") -> TurnRated:
    return TurnRated.model_validate({"turn": turn, "significance": significance, "by": by})


def pin(turn: str | None = None, **more: str | None) -> PinSet:
    return PinSet.model_validate({"turn": turn, **more})


def unpin(turn: str | None = None, **more: str | None) -> PinCleared:
    return PinCleared.model_validate({"turn": turn, **more})


def write(block: str, text: str, *sources: str, **more: object) -> CoreWritten:
    """A core block of main, by the user, unless told otherwise."""
    return CoreWritten.model_validate({"block": block, "text": text, "sources": sources, "by": "user", **more})
