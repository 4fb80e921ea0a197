"""What happens beside the conversation, told to whoever listens; and the work of the background, until its end."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from .events import Notice


class Telling:
    """The part of the Agent that tells notices and runs tasks; `_begin` it in the event loop."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[Notice | None]] = set()
        self._background: set[asyncio.Task[None]] = set()

    def _begin(self) -> None:
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    def notices(self) -> AsyncIterator[Notice]:
        """What happens beside the conversation, from the moment of the call until `close`."""
        queue: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._listeners.add(queue)
        return self._listen(queue)

    async def _listen(self, queue: asyncio.Queue[Notice | None]) -> AsyncIterator[Notice]:
        try:
            while (notice := await queue.get()) is not None:
                yield notice
        finally:
            self._listeners.discard(queue)

    def _tell(self, notice: Notice) -> None:
        """Tell every listener; from any thread."""
        if threading.get_ident() == self._thread:
            for listener in self._listeners:
                listener.put_nowait(notice)
        else:
            self._loop.call_soon_threadsafe(self._tell, notice)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _end_tasks(self) -> None:
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def _end_notices(self) -> None:
        for listener in self._listeners:
            listener.put_nowait(None)
