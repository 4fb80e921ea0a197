"""The work that nobody waits for: tasks and threads, which step aside while somebody waits for an answer."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar


class Foreground:
    """Counts the messages that wait for an answer or are being answered; for one event loop."""

    def __init__(self) -> None:
        self._waiting = 0
        self._taken = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()

    @property
    def busy(self) -> bool:
        return not self._free.is_set()

    @property
    def waiting(self) -> int:
        """How many there are."""
        return self._waiting

    @contextmanager
    def held(self) -> Iterator[None]:
        """A message waits for its answer while this is entered."""
        self._waiting += 1
        self._free.clear()
        self._taken.set()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._taken.clear()
                self._free.set()

    async def free(self) -> None:
        """Wait until nobody waits."""
        await self._free.wait()

    async def taken(self) -> None:
        """Wait until somebody does."""
        await self._taken.wait()


T = TypeVar("T")
Stopping = Callable[[], bool]


class Jobs:
    """Runs work that asks now and then whether to stop; `close` ends and awaits all of it."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._running: set[asyncio.Future[Any]] = set()

    async def run(self, work: Callable[[Stopping], T]) -> T:
        """What `work` answers. Cancelled, it is asked to stop and waited for: what it did by then stays."""
        stop = threading.Event()
        task = asyncio.ensure_future(asyncio.to_thread(work, lambda: stop.is_set() or self._ending.is_set()))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.gather(task, return_exceptions=True)
            raise

    async def close(self) -> None:
        """End what runs, after the step it is at."""
        self._ending.set()
        await asyncio.gather(*self._running, return_exceptions=True)


class BackgroundTasks:
    """Holds each task until its end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run it in the background."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def done(self) -> None:
        """Wait for those that run now, however they end. It always yields, so that finished ones leave the set."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cancel what runs, and wait for its end."""
        for task in self._tasks:
            task.cancel()
        await self.done()
