"""Short ways to say what people do with what was said: begin and fork chats, go back, hide, delete, pin, name."""

from collections.abc import Callable
from typing import TypeVar

from graph.events import (
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

Made = TypeVar("Made", bound=Base)


def deed(event: type[Made], *fields: str, **usual: object) -> Callable[..., Made]:
    """Makes events of one kind: `fields` are told in their order, others by name, and some are as usual."""

    def make(*told: object, **more: object) -> Made:
        return event.model_validate({**usual, **dict(zip(fields, told, strict=False)), **more})

    return make


hide, unhide, delete = deed(TurnHidden, "turn"), deed(TurnUnhidden, "turn"), deed(TurnDeleted, "turn")
withhold, release = deed(TurnWithheld, "turn"), deed(TurnReleased, "turn")
pin, unpin = deed(PinSet, "turn"), deed(PinCleared, "turn")
rate = deed(TurnRated, "turn", "significance", by="rule")
taken = deed(TurnTaken, "turn", "session")  # a queued message, below its parent
move = deed(HeadMoved, "session", "turn")
begin = deed(SessionStarted, "session", client="test")
fork = deed(SessionForked, "session", "origin", "at", "world", client="test")
drop, archive = deed(SessionDeleted, "session"), deed(SessionArchived, "session")
rename, assign = deed(SessionRenamed, "session", "text"), deed(ProjectAssigned, "session", "project")


def what_if(session: str, origin: str, at: str) -> SessionForked:
    """A fork into a world of its own, which is called as the session is."""
    return fork(session, origin, at, session)


def titled(session: str, text: str, *sources: str) -> SessionTitled:
    return SessionTitled(session=session, sources=sources, text=text)


def write(block: str, text: str, *sources: str, **more: object) -> CoreWritten:
    """A core block of main, by the user, unless told otherwise."""
    return CoreWritten.model_validate({"block": block, "text": text, "sources": sources, "by": "user", **more})
