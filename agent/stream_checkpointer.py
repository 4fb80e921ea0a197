"""Keeps what a reply has so far on disk while it streams, by the clock: also when the model pauses in the middle.

Invariant: a text that was handed to `keep` is saved no later than SAVE_EVERY_S and one save after it, whether or not
more text follows. Saves never overlap, and none is running any more once `close` has returned.
"""

import asyncio
from collections.abc import Awaitable, Callable

SAVE_EVERY_S = 0.4  # the text on disk may be 1 s behind; the save itself takes its time too


class StreamCheckpointer:
    """Saves the newest text in the background, at most every `every_s` seconds."""

    def __init__(self, save: Callable[[str], Awaitable[None]], *, every_s: float = SAVE_EVERY_S) -> None:
        self._save = save
        self._every_s = every_s
        self._text = ""
        self._fresh = asyncio.Event()
        self._saving = asyncio.Lock()
        self._task = asyncio.create_task(self._run())

    def keep(self, text: str) -> None:
        """The text is this now, whole. Raises what an earlier save raised."""
        if self._task.done():
            self._task.result()
        if text != self._text:
            self._text = text
            self._fresh.set()

    async def close(self) -> None:
        """No save follows; what was not saved is for whoever stores the whole reply."""
        async with self._saving:  # a save runs in a thread, where nothing could take it back
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            async with self._saving:
                await self._save(self._text)
            await asyncio.sleep(self._every_s)
