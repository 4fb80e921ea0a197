"""Pieces of a reply on their way to who reads it: the first at once, then at most some 30 a second."""

import asyncio

from models.protocols import Piece
from models.servers.pseudo_tokens import ids_of

EVERY_S = 0.033


class Outlet:
    """Text is put in as it comes; `items` has Pieces, and None where nothing more will come."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[Piece | None] = asyncio.Queue()
        self.said: list[int] = []
        self._loop = asyncio.get_running_loop()
        self._text = ""
        self._thinking = False
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def say(self, text: str, thinking: bool) -> None:
        """What came; held back where a piece went out just before, but never until more comes."""
        self._text += text
        self._thinking = thinking
        if not (self._text or thinking) or self._timer is not None:
            return
        if self._loop.time() >= self._due:
            self._send()
        else:
            self._timer = self._loop.call_at(self._due, self._send)

    def end(self) -> None:
        """Send what is held back, and the end."""
        if self._timer is not None:
            self._timer.cancel()
        if self._text:
            self._send()
        self.items.put_nowait(None)

    def _send(self) -> None:
        self._timer = None
        if not (self._text or self._thinking):
            return
        self._due = self._loop.time() + EVERY_S
        ids = ids_of(self._text)
        self.said += ids
        self.items.put_nowait(Piece(tuple(ids), self._text, thinking=self._thinking))
        self._text, self._thinking = "", False
