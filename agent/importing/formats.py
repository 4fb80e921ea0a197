"""Which format a file has, told by its content, and its chats.

A JSON document is read to its end before anything is given on: one that is broken in the middle imports nothing. Of
JSON Lines the good lines are good whatever the others are.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from agent.errors import ExportUnreadable
from agent.importing.chats import LATEST_MS

from . import chatgpt, claude, clew, locomo
from .chats import ImportedChat, name
from .lines import JsonLines, looks_like_one
from .reading import SAFE, ExportLine, ExportSource, document, lines, sources, text

KNOWN = (
    "clew reads its own exports, ChatGPT's and Claude's (conversations.json, or the .zip with it), LoCoMo-shaped JSON, "
    'and JSON Lines like {"role": "user", "text": "…", "time": "2025-01-31T12:00:00Z"}.'
)
TRIED = 20  # first lines that may be broken in a file of lines
NOT_UNDERSTOOD = "in a chat that was not understood"
Parser = Callable[[Any], Iterator[ImportedChat]]


@dataclass(slots=True)
class Export:
    """A file of chats: `format` in words, `total` messages in it, and the broken lines (the first, and how many)."""

    format: str
    total: int
    parts: list[tuple[ExportSource, Parser | None]]  # without a parser: lines
    array: bool = False  # of messages, where others have lines
    bad: list[tuple[int, str]] = field(default_factory=list)
    bad_count: int = 0
    times: list[dict[str | None, int]] = field(default_factory=list)  # of each part that is lines, see there

    def chats(self) -> Iterator[ImportedChat]:
        """Every chat, some in several parts. Raises ExportUnreadable if the file changed meanwhile."""
        times = iter(self.times)
        for source, parser in self.parts:
            if parser is None:
                yield from JsonLines(next(times)).chats(_messages(source) if self.array else lines(source))
            else:
                yield from _parsed(source, parser)


def clew_export(path: Path) -> clew.ClewExport | None:
    """An export of clew's own, read through; None for any other file. Raises ExportMissing or ExportUnreadable."""
    found = sources(path)
    return clew.open_clew(found[0]) if len(found) == 1 and clew.is_one(found[0]) else None


def open_export(path: Path, latest: int = LATEST_MS) -> Export:
    """Read a file through, and tell what it is. Raises ExportMissing or ExportUnreadable; blocking.

    Times after `latest` are in the future.
    """
    found = [(source, *_detect(source)) for source in sources(path)]
    export = Export(found[0][1], 0, [(source, parser) for source, _, parser, _ in found], array=found[0][3])
    for source, parser in export.parts:
        if parser is None:
            read = JsonLines(latest=latest)
            for chat in read.chats(_messages(source) if export.array else lines(source)):
                export.total += len(chat.messages)
            export.bad, export.bad_count = read.bad, read.bad_count
            export.times.append(read.times)
        else:
            export.total += sum(len(chat.messages) for chat in _parsed(source, parser))
    return export


def _detect(source: ExportSource) -> tuple[str, Parser | None, bool]:
    """The format's name, its parser, and whether it is an array of messages. Raises ExportUnreadable."""
    start = _start(source)
    if not start.startswith("["):
        first = [line.value for line in islice(lines(source), TRIED) if line.error is None]
        if any(looks_like_one(value) for value in first):
            return "JSON Lines", None, False
        if not start.startswith("{"):
            raise ExportUnreadable(
                f"{source.name} is not a file of chats: it starts with {start[:20]!r}. {SAFE} {KNOWN}"
            )
        if len(first) > 1:
            raise ExportUnreadable(f"{source.name} is JSON Lines, of {_described(first[0])}. {SAFE} {KNOWN}")
    values = document(source)
    first = list(islice(values, TRIED))
    values.close()  # type: ignore[attr-defined]
    for value in first:  # of which one may be odd
        if looks_like_one(value):
            return "a JSON array of messages", None, True
        for format, is_one, parser in FORMATS:
            if isinstance(value, dict) and is_one(value):
                return format, parser, False
    told = _described(first[0] if first else None)
    raise ExportUnreadable(f"{source.name} is JSON, but not a chat format clew knows: {told}. {SAFE} {KNOWN}")


def _chatgpt(value: Any) -> Iterator[ImportedChat]:
    yield chatgpt.parse(value)


def _claude(value: Any) -> Iterator[ImportedChat]:
    yield claude.parse(value)


FORMATS: tuple[tuple[str, Callable[[dict[str, Any]], bool], Parser], ...] = (
    ("ChatGPT's export", lambda value: isinstance(value.get("mapping"), dict), _chatgpt),
    ("Claude's export", lambda value: isinstance(value.get("chat_messages"), list), _claude),
    ("LoCoMo", locomo.is_one, locomo.parse),
)


def _parsed(source: ExportSource, parser: Parser) -> Iterator[ImportedChat]:
    """The chats of a document; one that is not as it should be is counted, and the others are read."""
    for value in document(source):
        try:
            yield from parser(value)
        except ValueError:  # pydantic's too
            title = (name(value.get("title") or value.get("name")) if isinstance(value, dict) else None) or "a chat"
            odd = f"“{title}” ({_described(value)})"
            yield ImportedChat("", "", (), skipped=Counter({NOT_UNDERSTOOD: 1}), odd=(odd,))


def _messages(source: ExportSource) -> Iterator[ExportLine]:
    for number, value in enumerate(document(source), start=1):
        yield ExportLine(number, value)


def _start(source: ExportSource) -> str:
    """The first characters that are no space. Raises ExportUnreadable where there are none."""
    for piece in text(source):
        if stripped := piece.lstrip():
            return stripped[:200]
    raise ExportUnreadable(f"{source.name} is empty. {SAFE}")


def _described(value: Any) -> str:
    """What a JSON value is, in words."""
    if isinstance(value, dict):
        keys = ", ".join(list(map(str, value))[:8])
        return f"objects with the keys {keys}" if keys else "empty objects"
    return "nothing at all" if value is None else f"values like {json.dumps(value)[:40]}"
