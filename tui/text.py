"""The one way text gets on the screen: `shown` makes any text harmless, `plain` wraps it; times and counts in words.

Text comes from people, models and files. On a terminal it could move the cursor, change colours, reorder what is read
(bidirectional overrides) or hide words (invisible characters); in Textual it could close a tag. So every control
character becomes a visible symbol or goes away, and what is left is never parsed as console markup.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.content import Content
    from textual.style import Style


MUTED = "$foreground 60%"  # $text-muted is an automatic colour, which Textual 8.2.8 leaves out of Content
MOST_ENDINGS = 8
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def _build_table() -> dict[int, str | None]:
    table: dict[int, str | None] = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
    table[0x7F] = "\N{SYMBOL FOR DELETE}"
    table.update(dict.fromkeys(range(0x80, 0xA0), REPLACEMENT))  # C1: some terminals obey these like escapes
    table.update(dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), REPLACEMENT))  # reorder what is read
    table.update(dict.fromkeys((0xAD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, 0x180E)))  # no width, no glyph
    table.update(dict.fromkeys(range(0xE0000, 0xE0080)))  # tag characters: invisible text
    table.update({0x2028: "\n", 0x2029: "\n\n", 0x09: "    "})
    return table


_TABLE = _build_table()
_SUSPECT = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_ONE_TO_ONE = {code: mark for code, mark in _TABLE.items() if mark is not None and len(mark) == 1 and mark != "\n"}
_COMMAND = re.compile(r"`clew ((?:undo|marks|fork|tree|rewind)(?: [^`-]*)?)`")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Text as it may be kept and sent: line ends are \\n, lone surrogates are replaced, NUL and escapes stay words."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub(REPLACEMENT, text)


def as_sent(text: str) -> str:
    """A message as it will be kept (agent/text.py): controls mean nothing in it, and are marked."""
    return _CONTROLS.sub(REPLACEMENT, clean(text))


def shown(text: str) -> str:
    """Text as it may be painted: the same words, with nothing in them that a terminal would obey."""
    if _SUSPECT.search(text) is None:
        return text
    return clean(text).translate(_TABLE)


def shown_in_place(text: str) -> str:
    """A line being edited as it may be painted: as `shown`, with every character still at its place."""
    return text if _SUSPECT.search(text) is None else text.translate(_ONE_TO_ONE)


def spaced(count: int) -> str:
    """A count with a blank between its thousands: 12 340."""
    return f"{count:,}".replace(",", " ")


def counted(number: int, noun: str, plural: str = "") -> str:
    """So many of something: 1 message, 1,200 messages; a plural that is not made with an s is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str) -> str:
    """Text for a row of a list or a title: shown, with every run of white space made one blank."""
    return " ".join(shown(text).split())


def cut(text: str, most: int) -> str:
    """Text on one line, at most so many characters."""
    line = one_line(text)
    return f"{line[: most - 1].rstrip()}…" if len(line) > most else line


def plain(text: str, style: "str | Style" = "") -> "Content":
    """Text for a widget, never parsed as markup."""
    from textual.content import Content  # the commands print without Textual, which takes 100 ms to import

    return Content.styled(shown(text), style) if style else Content(shown(text))


def in_chat(words: str) -> str:
    """What was said for the command line, for the chat: its commands begin with a slash there, and keys are its own."""
    words = _COMMAND.sub(r"/\1", words)
    return words.replace(" (Esc in the chat, Ctrl+C on the command line)", " (Esc)")


def size_of(count: int) -> str:
    """Bytes for people: 512 B, 12 KB, 1.5 GB (powers of 1000)."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("KB", "MB", "GB"):
        value /= 1000
        if value < 1000:
            return f"{value:.1f} {unit}" if value < 10 and unit == "GB" else f"{value:.0f} {unit}"
    return f"{value / 1000:.1f} TB"


def by_ending(paths: Sequence[str]) -> str:
    """Files for people, by how they end: `plan.docx, 12 .png`; the most first."""
    found: dict[str, list[PurePath]] = {}
    for path in map(PurePath, paths):
        found.setdefault(path.suffix.lower(), []).append(path)
    kinds = sorted(found.items(), key=lambda kind: -len(kind[1]))
    parts = [
        one_line(each[0].name) if len(each) == 1 else f"{len(each):,} {one_line(ending) or 'without an ending'}"
        for ending, each in kinds[:MOST_ENDINGS]
    ]
    more = sum(len(each) for _, each in kinds[MOST_ENDINGS:])
    return ", ".join([*parts, *([f"{more:,} others"] if more else [])])


def short_count(count: int) -> str:
    """A count of tokens for people: 980, 1.2k, 8.2k, 131k."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 100_000 else f"{count // 1000}k"


def when(at: datetime, now: datetime) -> str:
    """A time for people, in their own time zone: 14:02, yesterday, Tuesday, 3 Jun, 3 Jun 2024."""
    local = at.astimezone(now.tzinfo)
    days = (now.date() - local.date()) / timedelta(days=1)
    if days <= 0:
        return f"{local:%H:%M}"
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{local:%A}"
    return day(at, now)


def day(at: datetime, now: datetime) -> str:
    """The day of a time in people's own time zone, which stays true as time goes on: 3 Jun, 3 Jun 2024."""
    local = at.astimezone(now.tzinfo)
    return f"{local.day} {local:%b}" if local.year == now.year else f"{local.day} {local:%b %Y}"
