"""Long blocking work of an agent: each piece in a thread of its own, asked to end when nobody waits any more."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

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
