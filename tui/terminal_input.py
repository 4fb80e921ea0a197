"""Makes messages of the bytes that a terminal sends, whatever they are; one paste is one, and presses no key.

Textual 8.2.8: its parser goes on looking for keys behind an escape inside a bracketed paste, so that pasted colours
press Enter and pasted control characters quit; and a byte that is no UTF-8, a mouse report of X10 right of column 95, a
key that is let go, a number that is no letter or a window of no size end the thread that reads. Here everything between
the two marks of a paste is kept from it, however the reads are split; what cannot be understood costs itself alone; and
a paste, a report or a letter that is cut off holds nothing back that is typed later.
"""

import re
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic

from textual import constants, events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.keys import Keys
from textual.message import Message

STALLED_S = 1.0  # without a byte, a paste is shown as far as it came
LARGEST = 4_000  # columns or rows of a window
_X10_FIRST = 32  # what its numbers are counted from
_ESC = "\x1b"
# A key of kitty's protocol with more than its code: CSI code:others on it ; modifiers:what became of it ; text
_KITTY = re.compile(r"\x1b\[(\d*)(?::[\d:]*)?;?(\d*)(?::(\d*))?(;[\d:]*)?([u~ABCDEFHPQRS])")
_RELEASED = "3"


class InputParser(XTermParser):
    """XTermParser that is fed bytes, each as the character of its number, and sees of a paste only its marks."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._pasted: list[str] = []
        self._tail = ""  # the last bytes read, in which a mark may have begun
        self._utf8 = getincrementaldecoder("utf-8")("replace")
        self._report: str | None = None  # the bytes of a mouse report in X10's coordinates, as far as they came
        self._read_at = monotonic()

    def feed(self, data: str) -> Iterable[Message]:
        """The messages of what was read; an empty string is the end of all input."""
        if not data:
            yield from super().feed(data)
            return
        if self._pasting and not self._pasted and self._waited(STALLED_S) and _is_a_key(data):
            yield from self._end_of_paste()  # whose other mark was lost
        if self._waited(constants.ESCAPE_DELAY) and not self._pasting:
            self._report, self._tail = None, ""  # what was begun then is over: its parser has given it out as keys
        self._read_at = monotonic()
        while data:
            mark = BRACKETED_PASTE_END if self._pasting else BRACKETED_PASTE_START
            seen = self._tail + data
            place = seen.find(mark)
            end = len(data) if place < 0 else place + len(mark) - len(self._tail)
            part, data = data[:end], data[end:]
            if self._pasting:
                self._pasted.append(part)
            else:
                yield from self._typed(part)
            self._tail = seen[1 - len(mark) :] if place < 0 else ""
            if place < 0:
                continue
            if self._pasting:
                yield from self._end_of_paste()
            else:
                self._pasting = True

    def tick(self) -> Iterable[Message]:
        """The messages of what came to no end in time."""
        if self._pasted and self._waited(STALLED_S):
            yield self._paste()
        yield from self._guarded(super().tick)

    def _waited(self, seconds: float) -> bool:
        return monotonic() - self._read_at > seconds

    def _end_of_paste(self) -> Iterable[Message]:
        self._pasting, self._tail = False, ""
        if self._pasted:
            yield self._paste()
        for _ in super().feed(BRACKETED_PASTE_END):
            pass  # to it this was a paste of nothing

    def _paste(self) -> events.Paste:
        raw = "".join(self._pasted).removesuffix(BRACKETED_PASTE_END)
        self._pasted.clear()
        return events.Paste(raw.encode("latin-1").decode(errors="replace").replace("\x00", ""))  # NUL as in XTermParser

    def _typed(self, data: str) -> Iterable[Message]:
        """The messages of bytes outside of a paste."""
        seen = self._tail
        for byte in data:
            if self._report is not None and byte >= " ":
                self._report += byte
                if len(self._report) == 3:
                    yield from self._parsed(_as_sgr(self._report))
                    self._report = None
            elif byte == "M" and seen.endswith(f"{_ESC}["):
                self._report = ""
            else:
                self._report = None
                yield from self._parsed(self._utf8.decode(byte.encode("latin-1")))
            seen = seen[-1:] + byte

    def _parsed(self, text: str) -> Iterable[Message]:
        for character in text:
            window = self.terminal_size, self.terminal_pixel_size, self.mouse_pixels
            for message in self._guarded(partial(super().feed, character)):
                if isinstance(message, events.Resize) and not all(0 < each <= LARGEST for each in message.size):
                    self.terminal_size, self.terminal_pixel_size, self.mouse_pixels = window
                else:
                    yield message
            if self.terminal_pixel_size is not None and not all(self.terminal_pixel_size):
                self.mouse_pixels = False  # the terminal does not tell how large a cell is

    def _guarded(self, parsed: Callable[[], Iterable[Message]]) -> list[Message]:
        """Its messages; none of what it cannot parse, after which it begins anew."""
        try:
            return list(parsed())
        except (ValueError, ArithmeticError):  # a number that is none, or no letter's, or nothing
            self._tokens.clear()
            self._gen = self.parse(self._tokens.append)
            self._awaiting = next(self._gen)
            return []

    def _parse_extended_key(self, sequence: str) -> list[events.Key] | None:  # type: ignore[override]
        ignored = [events.Key(Keys.Ignore, sequence)]
        if ":" in sequence and (match := _KITTY.fullmatch(sequence)) is not None:
            code, modifiers, event, text, end = match.groups(default="")
            if event == _RELEASED:
                return ignored
            sequence = f"{_ESC}[{code};{modifiers}{text}{end}"
        try:
            keys = super()._parse_extended_key(sequence)
        except (ValueError, ArithmeticError):  # a code that is no letter's
            return ignored
        lone = any(key.character is not None and "\ud800" <= key.character <= "\udfff" for key in keys or ())
        return ignored if lone else keys


def _as_sgr(report: str) -> str:
    """What follows CSI in the report of a mouse, as SGR has it, from the three bytes of X10's."""
    buttons, column, row = (ord(byte) - _X10_FIRST for byte in report)
    released = buttons & 3 == 3 and not buttons & (32 | 64)  # of no button that is told
    return f"<{buttons & ~3};{column};{row}m" if released else f"<{buttons};{column};{row}M"


def _is_a_key(data: str) -> bool:
    """Whether a read is of one letter, which a paste that stood still does not go on with; Enter is never one."""
    return data >= " " and len(data.encode("latin-1").decode(errors="ignore")) == 1


def bytes_as_text(_: str) -> Callable[..., IncrementalDecoder]:
    """In the place of getincrementaldecoder in a driver: what it reads is fed as it came."""
    return getincrementaldecoder("latin-1")
