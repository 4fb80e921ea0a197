"""What happens beside the conversation, told to every face that listens."""

import asyncio
import threading
from collections.abc import AsyncIterator

from .events import Notice


class Notifications:
    """Tells notices from any thread; `begin` it in the event loop where they are heard."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[Notice | None]] = set()

    def begin(self) -> None:
        """From now on notices can be told; this is the event loop, and its thread."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    def listen(self) -> AsyncIterator[Notice]:
        """Every notice from the moment of the call until `close`."""
        queue: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._listeners.add(queue)
        return self._listen(queue)

    def tell(self, notice: Notice) -> None:
        """Tell every listener; from any thread."""
        if threading.get_ident() == self._thread:
            for listener in self._listeners:
                listener.put_nowait(notice)
        else:
            self._loop.call_soon_threadsafe(self.tell, notice)

    def close(self) -> None:
        """Let every listener come to its end."""
        for listener in self._listeners:
            listener.put_nowait(None)

    async def _listen(self, queue: asyncio.Queue[Notice | None]) -> AsyncIterator[Notice]:
        try:
            while (notice := await queue.get()) is not None:
                yield notice
        finally:
            self._listeners.discard(queue)
