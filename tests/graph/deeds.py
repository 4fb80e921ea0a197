"""Short ways to say what people do with what was said: begin and fork chats, go back, hide, delete, pin, name."""

from collections.abc import Callable
from typing import TypeVar

from graph import events
from graph.events.conversation import Base

Made = TypeVar("Made", bound=Base)


def deed(event: type[Made], *fields: str, **usual: object) -> Callable[..., Made]:
    """Makes events of one kind: `fields` are told in their order, others by name, and some are as usual."""

    def make(*told: object, **more: object) -> Made:
        return event.model_validate({**usual, **dict(zip(fields, told, strict=False)), **more})

    return make


hide, unhide = deed(events.TurnHidden, "turn"), deed(events.TurnUnhidden, "turn")
delete = deed(events.TurnDeleted, "turn")
withhold, release = deed(events.TurnWithheld, "turn"), deed(events.TurnReleased, "turn")
pin, unpin = deed(events.PinSet, "turn"), deed(events.PinCleared, "turn")
rate = deed(events.TurnRated, "turn", "significance", by="rule")
taken = deed(events.TurnTaken, "turn", "session")  # a queued message, below its parent
move = deed(events.HeadMoved, "session", "turn")
begin = deed(events.SessionStarted, "session", client="test")
fork = deed(events.SessionForked, "session", "origin", "at", "world", client="test")
drop, archive = deed(events.SessionDeleted, "session"), deed(events.SessionArchived, "session")
rename, assign = deed(events.SessionRenamed, "session", "text"), deed(events.ProjectAssigned, "session", "project")


def what_if(session: str, origin: str, at: str) -> events.SessionForked:
    """A fork into a world of its own, which is called as the session is."""
    return fork(session, origin, at, session)


def titled(session: str, text: str, *sources: str) -> events.SessionTitled:
    return events.SessionTitled(session=session, sources=sources, text=text)


def write(block: str, text: str, *sources: str, **more: object) -> events.CoreWritten:
    """A core block of main, by the user, unless told otherwise."""
    return events.CoreWritten.model_validate({"block": block, "text": text, "sources": sources, "by": "user", **more})
