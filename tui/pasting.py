"""Textual 8.2.8: one paste is one event, whatever is in it.

Its parser goes on looking for keys behind an escape inside a bracketed paste, so that pasted colours press Enter and
pasted control characters quit. Here everything between the two marks is kept from it, however the reads are split.
"""

from collections.abc import Iterable

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message


class PasteParser(XTermParser):
    """XTermParser that sees of a paste only its marks."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._pasted: list[str] = []
        self._tail = ""  # the last characters read, in which a mark may have begun

    def feed(self, data: str) -> Iterable[Message]:
        """The messages of what was read; an empty string is the end of all input."""
        if not data:
            yield from super().feed(data)
        while data:
            mark = BRACKETED_PASTE_END if self._pasting else BRACKETED_PASTE_START
            seen = self._tail + data
            place = seen.find(mark)
            end = len(data) if place < 0 else place + len(mark) - len(self._tail)
            part, data = data[:end], data[end:]
            if self._pasting:
                self._pasted.append(part)
            else:
                yield from super().feed(part)
            if place < 0:
                self._tail = seen[1 - len(mark) :]
                continue
            self._tail = ""
            if self._pasting:
                yield self._paste()
            self._pasting = not self._pasting

    def _paste(self) -> events.Paste:
        text = "".join(self._pasted)[: -len(BRACKETED_PASTE_END)].replace("\x00", "")  # NUL as in XTermParser
        self._pasted.clear()
        for _ in super().feed(BRACKETED_PASTE_END):
            pass  # to it this was a paste of nothing
        return events.Paste(text)
