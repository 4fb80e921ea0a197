"""What a command says of work: how far the graph is, and what is left when it ends."""

from contextlib import suppress
from typing import TYPE_CHECKING

from tui.output import say
from tui.text import counted

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.face import Face
    from graph.values import Progress

STILL_ERASED = "Deleted content is still being erased; this continues at the next start."


def waiting(count: int, *, by_itself: bool = True) -> str:
    """How many exchanges are waiting and what takes them up; nothing where none do."""
    if not count:
        return ""
    exchanges = f"{counted(count, 'exchange')} {'is' if count == 1 else 'are'} waiting"
    chat = "the chat does it automatically, `clew reflect` does it now" if by_itself else "`clew reflect` does it now"
    return f"{exchanges} to be learned from: {chat}."


async def tell_waiting(agent: "Face") -> None:
    """Say on stderr that exchanges are waiting, if any do."""
    words = waiting(await agent.reflection.unreflected(), by_itself=agent.settings.reflect)
    if words:
        say(words)


async def tell_erasing(agent: "Face | Agent") -> None:
    """Say on stderr, once, that a purge is not over: the end of this command breaks it off."""
    from agent.errors import AgentError
    from graph.errors import MemoryFailure

    with suppress(MemoryFailure, AgentError):  # what the command did is done, whatever the log says now
        if await agent.erasure.is_left():
            say(STILL_ERASED)


def describe(step: "Progress") -> str:
    """How far work on the graph is, on one line."""
    of = f": {step.done:,} of {counted(step.total, 'event')}" if step.total else " …"
    return f"{step.what} the graph{of}"
