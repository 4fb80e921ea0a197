"""Where the commands write: data on stdout, narration on stderr, and no stored text reaches a terminal unread.

Human forms pass every text through `tui.text.shown`; JSON escapes what a terminal would obey. Colour is used only on a
terminal and never where NO_COLOR is set. Lines are cut to the width of a terminal, and not at all where there is none:
what reads them may look for words.
"""

import errno
import json
import os
import stat
import sys
import time
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from datetime import datetime
from shutil import get_terminal_size
from typing import TextIO

from tui.text import one_line, shown

LONG_S = 5.0  # work that takes longer is told of even where nobody may be watching
SILENCE_S = 2.0  # the same of work that nobody expects to be short
REDRAW_S = 0.1
ENDLESS = 1 << 40  # columns


def prepare_streams() -> None:
    """Make stdout and stderr take any text: a character the terminal's encoding lacks becomes a question mark.

    One that was closed (`>&-`) takes everything too, and nothing comes of it.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (open until the end)
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=errors)


class TerminalGone(OSError):
    """The terminal that was written to is there no more."""


def put(text: str, *, end: str = "\n") -> None:
    """Data to stdout, as it is; whoever calls has made it safe.

    Raises BrokenPipeError or TerminalGone at once, not at exit.
    """
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.EIO and stat.S_ISCHR(os.fstat(sys.stdout.fileno()).st_mode):
            raise TerminalGone(errno.EIO, "the terminal went away") from error
        raise


def say(text: str) -> None:
    """A line of narration to stderr, at once. A stderr that is gone is no reason to fail."""
    try:
        sys.stderr.write(shown(text) + "\n")
        sys.stderr.flush()
    except OSError:
        let_go(sys.stderr)


def let_go(stream: TextIO) -> None:
    """If a stream takes no more, what is still buffered goes nowhere, instead of failing again at exit."""
    try:
        stream.flush()
        return
    except (OSError, ValueError):
        pass
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return


def complain(error: BaseException) -> None:
    """What went wrong, on stderr."""
    text = str(error) or type(error).__name__
    say(f"clew: {text}")


def put_json(value: object) -> None:
    """One JSON value, on one line; plain ASCII where a terminal shows it or cannot show more."""
    plain = sys.stdout.isatty() or (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    put(json.dumps(value, ensure_ascii=plain, default=_as_json))


def _as_json(value: object) -> str:
    if isinstance(value, datetime):
        return instant(value)
    return str(value)


def instant(at: datetime) -> str:
    """A UTC time as JSON has it everywhere: 2025-03-01T12:00:00.123+00:00."""
    return at.isoformat(timespec="milliseconds")


def local(at: datetime) -> str:
    """A UTC time for people: the clock on their wall, to the minute."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def width() -> int:
    """Columns to write in: of the terminal; as many as there are words for where stdout is none."""
    return _terminal_width() if sys.stdout.isatty() else ENDLESS


def _terminal_width() -> int:
    return max(20, get_terminal_size((100, 24)).columns)


def fit(text: str, columns: int) -> str:
    """The text on one line of at most `columns` columns, wide characters counted as two."""
    return clip(one_line(text), columns)


def clip(line: str, columns: int) -> str:
    """A line as it is, in at most `columns` columns."""
    if 2 * len(line) <= columns:
        return line
    used = 0
    for at, character in enumerate(line):
        wide = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used + wide > columns - (at + 1 < len(line)):
            return line[:at] + "…"
        used += wide
    return line


def paint(text: str, style: str) -> str:
    """`text` in an ANSI style ("1" bold, "2" dim, "31" red …) where colour is welcome."""
    return f"\x1b[{style}m{text}\x1b[0m" if colourful(sys.stdout) else text


def colourful(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user did not ask for no colour."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def text_of(raw: bytes) -> str:
    """What was piped in as text; where letters of it are guesses, that is said."""
    from agent.decoding import decoded

    found = decoded(raw)
    wide = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    if found.unknown or not (wide or found.text.encode() == raw.removeprefix(BOM_UTF8)):
        unknown = f" ({found.unknown:,} unknown)" if found.unknown else ""
        say(f"clew: What was piped in is not all UTF-8, so some of its letters are guesses{unknown}.")
    return found.text


class Narration:
    """How far long work is, on stderr: one line rewritten in place on a terminal, else a line every LONG_S seconds.

    Where there is no terminal, the first comes after `silence_s`.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        silence_s: float = LONG_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._live = self._stream.isatty()
        self._silence_s = silence_s
        self._due: float | None = None
        self._drawn = 0
        self._last = ""

    @property
    def blank(self) -> bool:
        """On a terminal, and nothing is written there."""
        return self._live and not self._drawn

    def tell(self, text: str) -> None:
        """The work stands like this now."""
        now, self._last = self._clock(), text
        if self._due is None:
            self._due = now if self._live else now + self._silence_s
        if now < self._due:
            return
        self._due = now + (REDRAW_S if self._live else LONG_S)
        line = fit(text, _terminal_width() - 1)
        if self._live:
            self._write("\r" + line + " " * max(0, self._drawn - len(line)))
            self._drawn = len(line)
        else:
            self._write(line + "\n")

    def go_on(self) -> None:
        """The work stands as it was told last: a line that is due is written."""
        if self._last and not self._live:
            self.tell(self._last)

    def clear(self) -> None:
        """The work is over: nothing of the line stays on a terminal."""
        if self._drawn:
            self._write("\r" + " " * self._drawn + "\r")
        self._drawn, self._due, self._last = 0, None, ""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            let_go(self._stream)
