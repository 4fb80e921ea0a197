"""How events reach the faces: of a message, of long work, and of what happens beside; few unread for each listener."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Generic, TypeVar

from agent.events import AgentEvent, Notice, OfPrivate, PromptRead, TokensArrived, ToolProgress

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


Step = TypeVar("Step")
Result = TypeVar("Result")


class Work(Generic[Step, Result]):
    """`await` it for what comes of it, or go through its steps with `async for` first; it begins with either.

    Leaving the loop early ends the work, and so does cancelling whoever waits. What fails is raised by either.
    """

    def __init__(self, start: Callable[[Callable[[Step], None]], Awaitable[Result]]) -> None:
        """`start` does the work; it is given what tells a step, from the event loop."""
        self._start = start
        self._task: asyncio.Future[Result] | None = None

    def __await__(self) -> Generator[Any, None, Result]:
        return (self._task or self._start(_nobody)).__await__()

    async def __aiter__(self) -> AsyncGenerator[Step, None]:
        outlet: Outlet[Step] = Outlet(join=lambda last, step: step)
        self._task = asyncio.ensure_future(self._start(outlet.put))
        async with aclosing(told_by(self._task, outlet)) as steps:
            async for step in steps:
                yield step


async def told_by(task: asyncio.Future[Any], outlet: Outlet[Event]) -> AsyncGenerator[Event, None]:
    """What a task tells to an outlet, to the end of the task; what fails is raised. Leaving early ends the task."""
    task.add_done_callback(lambda _: outlet.put(None))
    try:
        async with aclosing(outlet.events()) as events:
            async for event in events:
                yield event
        await task
    finally:
        if not task.done():
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)  # nobody is there any more whom to tell of what failed


def _nobody(step: object) -> None:
    """Nobody goes through the steps."""


def on_loop(tell: Callable[[Step], None]) -> Callable[[Step], None]:
    """The same for other threads: it is told on this event loop."""
    loop = asyncio.get_running_loop()
    return lambda step: _pass_on(loop, tell, step)


def _pass_on(loop: asyncio.AbstractEventLoop, tell: Callable[[Step], None], step: Step) -> None:
    loop.call_soon_threadsafe(tell, step)


class Notifications:
    """Tells notices from any thread; `begin` it in the event loop where they are heard."""

    def __init__(self) -> None:
        self._listeners: set[Callable[[Notice | OfPrivate | None], None]] = set()

    def begin(self) -> None:
        """From now on notices can be told; this is the event loop, and its thread."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    def listen(self) -> AsyncIterator[Notice]:
        """Every notice from the moment of the call until `close`."""
        queue: asyncio.Queue[Notice | OfPrivate | None] = asyncio.Queue()
        self._listeners.add(queue.put_nowait)
        return self._listen(queue)

    def add(self, listener: Callable[[Notice | OfPrivate], None]) -> None:
        """Call it with every notice, in the event loop, before whoever asked for what is told gets an answer."""
        self._listeners.add(lambda notice: None if notice is None else listener(notice))

    def tell(self, notice: Notice | OfPrivate) -> None:
        """Tell every listener; from any thread."""
        if threading.get_ident() == self._thread:
            for listener in list(self._listeners):
                listener(notice)
        else:
            self._loop.call_soon_threadsafe(self.tell, notice)

    def close(self) -> None:
        """Let every listener come to its end."""
        for listener in self._listeners:
            listener(None)

    async def _listen(self, queue: asyncio.Queue[Notice | OfPrivate | None]) -> AsyncIterator[Notice]:
        try:
            while (notice := await queue.get()) is not None:
                yield notice.notice if isinstance(notice, OfPrivate) else notice
        finally:
            self._listeners.discard(queue.put_nowait)
