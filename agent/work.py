"""Long work that a face asks for: its steps are events of the request, and its result comes at the end."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from .outlets import Outlet

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
        task = self._task = asyncio.ensure_future(self._start(outlet.put))
        task.add_done_callback(lambda _: outlet.put(None))
        try:
            async with aclosing(outlet.events()) as steps:
                async for step in steps:
                    yield step
            await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def _nobody(step: object) -> None:
    """Nobody goes through the steps."""


def on_loop(tell: Callable[[Step], None]) -> Callable[[Step], None]:
    """The same for other threads: it is told on this event loop."""
    loop = asyncio.get_running_loop()
    return lambda step: _pass_on(loop, tell, step)


def _pass_on(loop: asyncio.AbstractEventLoop, tell: Callable[[Step], None], step: Step) -> None:
    loop.call_soon_threadsafe(tell, step)
