"""Where the events of a message go: to each listener as fast as it takes them, and never more than a few unread."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Generic, TypeVar

from .events import AgentEvent, PromptRead, TokensArrived, ToolProgress

Event = TypeVar("Event")

MOST_UNREAD = 64  # from which on what is told in pieces is told in larger ones


class Outlet(Generic[Event]):
    """The events for one listener; None ends them. A listener that went away hears nothing more."""

    def __init__(self, join: Callable[[Event, Event], Event | None]) -> None:
        """`join` makes one event of two that follow one another; None where both have to be told."""
        self._join = join
        self._unread: deque[Event | None] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._left = False

    def put(self, event: Event | None) -> None:
        """Tell an event, from the event loop; None: that was all."""
        if self._left:
            return
        last = self._unread[-1] if len(self._unread) >= MOST_UNREAD else None
        if last is not None and event is not None and (both := self._join(last, event)) is not None:
            self._unread[-1] = both
        else:
            self._unread.append(event)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def events(self) -> AsyncGenerator[Event, None]:
        """What is told, to its end."""
        try:
            while True:
                while not self._unread:
                    self._waiting = asyncio.get_running_loop().create_future()
                    await self._waiting
                event = self._unread.popleft()
                if event is None:
                    return
                yield event
        finally:
            self._left = True
            self._unread.clear()


def joined(last: AgentEvent, event: AgentEvent) -> AgentEvent | None:
    """Two events as one that says the same; None where both have to be told."""
    match last, event:
        case TokensArrived(), TokensArrived() if last.reply_turn == event.reply_turn:
            return replace(event, text=last.text + event.text)
        case PromptRead(), PromptRead() if last.turn == event.turn:
            return event
        case ToolProgress(), ToolProgress() if last.call == event.call:
            return event
        case _:
            return None
