"""Whose turn it is to ask a server: the foreground's at once, the background's while nobody waits for a reply."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from models.errors import EngineClosed

Result = TypeVar("Result")


class Turns:
    """What runs in the background is cancelled when the foreground comes, and begins again after it."""

    def __init__(self) -> None:
        self._waited_for = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._one = asyncio.Lock()
        self._running: asyncio.Task[Any] | None = None
        self._closed = False

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """As long as it is entered the background rests."""
        self._waited_for += 1
        self._idle.clear()
        self._interrupt()
        try:
            yield
        finally:
            self._waited_for -= 1
            if not self._waited_for:
                self._idle.set()

    async def background(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """What `work` gives, called as often as it is interrupted. Raises what it raises, and EngineClosed."""
        async with self._one:
            while True:
                while not (self._idle.is_set() or self._closed):
                    await self._idle.wait()
                if self._closed:
                    raise EngineClosed
                task = asyncio.create_task(work())
                self._running = task
                try:
                    await asyncio.wait([task])
                finally:
                    self._running = None
                    await ended(task)
                if not task.cancelled():
                    return task.result()

    async def close(self) -> None:
        """Whoever waits gets EngineClosed."""
        self._closed = True
        self._idle.set()
        if self._running is not None:
            await ended(self._running)

    def _interrupt(self) -> None:
        if self._running is not None:
            self._running.cancel()


async def ended(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it is over; whatever it raised is looked at by nobody."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
