"""The work that nobody waits for: tasks and threads, which step aside while somebody waits for an answer.

Whatever works as long as clew does is a `Worker`: a bug ends it for a moment, and is told.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from agent.events import Notice, Warned

FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 600.0
WELL_S = 60.0  # whoever worked that long was well, and pauses as at first


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


class Pauses:
    """How long whoever failed waits before it tries again: longer each time, until it has been well for a while."""

    def __init__(self) -> None:
        self._next_s = FIRST_PAUSE_S

    def after(self, worked_s: float) -> float:
        """The seconds to wait for, of who worked that long."""
        pause_s = FIRST_PAUSE_S if worked_s > WELL_S else self._next_s
        self._next_s = min(4 * pause_s, LAST_PAUSE_S)
        return pause_s


class Worker:
    """Works from `start` to `close`. Where a bug ends the work that is told, and it begins again after a pause."""

    def __init__(
        self, name: str, work: Callable[[], Coroutine[Any, Any, None]], tell: Callable[[Notice], None]
    ) -> None:
        """`name` is what stops without it, to begin a sentence with; `work` may be begun as often as need be."""
        self._name = name
        self._work = work
        self._tell = tell
        self._task: asyncio.Task[None] | None = None

    @property
    def works(self) -> bool:
        """Whether it was started, and neither closed nor is at its end."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """End it, and wait for its end. Idempotent; may come before the start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        now, pauses = asyncio.get_running_loop().time, Pauses()
        while True:
            began = now()
            task = asyncio.create_task(self._work())
            try:
                await asyncio.wait({task})
            finally:
                if not task.done():
                    task.cancel()
                    await asyncio.wait({task})
            if task.cancelled() or (error := task.exception()) is None:
                return
            self._tell(Warned(f"{self._name} stopped because of a bug ({told_of(error)}). {BEGINS_AGAIN}"))
            await asyncio.sleep(pauses.after(now() - began))


BEGINS_AGAIN = "Nothing that is stored is lost, and it begins again by itself. Please report it."


def told_of(error: BaseException) -> str:
    """What a bug says for itself."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class BackgroundTasks:
    """Holds each task until its end; what a bug ends is told."""

    def __init__(self, tell: Callable[[Notice], None]) -> None:
        self._tell = tell
        self._tasks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run it in the background."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._tell(Warned(f"Work in the background ended because of a bug ({told_of(error)}). Please report it."))

    async def done(self) -> None:
        """Wait for those that run now, however they end. It always yields, so that finished ones leave the set."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Cancel what runs, and wait for its end."""
        for task in self._tasks:
            task.cancel()
        await self.done()
