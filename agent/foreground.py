"""Whether somebody waits for an answer: what runs in the background asks here, and steps aside meanwhile."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


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
