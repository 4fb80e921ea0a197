"""What every format is parsed into: chats of messages, each naming the one it follows, and when each was said.

Invariant: a source key tells where a message came from and nothing of what it says. Keys stay in the log for ever, also
after a text was erased, and a hash that covers a text could be tried against guesses of it. So a key is of the format,
the chat's id, the message's id or position, its role and its time. Where an export has no ids, two texts can share a
key; the importer then compares with the text that is stored.
"""

import hashlib
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from graph.events import Role
from graph.letters import paired

LATEST_MS = 253_402_300_799_999  # the end of the year 9999
SECONDS_BELOW = 100_000_000_000  # a smaller number counts seconds: as milliseconds it would be before April 1973
LOCOMO = re.compile(r"\s*(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})\s*", re.IGNORECASE)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class SaidAt(NamedTuple):
    """UTC milliseconds; `naive` if the text named no offset, so that UTC was taken."""

    ms: int
    naive: bool = False


def moment(value: object) -> SaidAt | None:
    """The time that a JSON value means; None for one that means none, or that is before 1970."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _of_number(value)
    if isinstance(value, str):
        return _of_text(value)
    return None


def _of_number(value: float) -> SaidAt | None:
    if not -LATEST_MS <= value <= LATEST_MS:  # not a number is neither
        return None
    ms = round(value * 1000) if abs(value) < SECONDS_BELOW else round(value)
    return SaidAt(ms) if 0 < ms <= LATEST_MS else None


def _of_text(text: str) -> SaidAt | None:
    stripped = text.strip()
    utc = stripped.removesuffix("UTC")
    if re.fullmatch(r"\d+(\.\d+)?", stripped) and len(stripped) > 8:  # 20230508 is a date
        return _of_number(float(stripped))
    try:
        at = _locomo(stripped) or datetime.fromisoformat(f"{utc.rstrip()}+00:00" if utc != stripped else stripped)
    except ValueError:
        return None
    aware = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    ms = round(aware.timestamp() * 1000)
    return SaidAt(ms, at.tzinfo is None) if 0 < ms <= LATEST_MS else None


def _locomo(text: str) -> datetime | None:
    """1:56 pm on 8 May, 2023. Raises ValueError for a date that is none."""
    found = LOCOMO.fullmatch(text)
    if found is None or found[5][:3].lower() not in MONTHS:
        return None
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    return datetime(int(found[6]), MONTHS.index(found[5][:3].lower()) + 1, int(found[4]), hour, int(found[2]))


SPEAKERS = {Role.USER: "you", Role.ASSISTANT: "assistant", Role.NOTE: "you"}
LONGEST_NAME = 120
# A mark is its kind and what it refers to, with U+E202 between; the blanks before it go with one that shows nothing.
MARK = re.compile("(?<![ \t])([ \t]*)\ue200([a-z_]+(?:\ue202[^\ue200\ue201]*)?)(?:\ue201|\\Z)")
HIGHLIGHTS = re.compile("[\ue200-\ue206]")  # where what is cited begins and ends


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """One message; `at` is UTC milliseconds as the export has it, None if it has none.

    `key` is unique in the chat: an id of the export, or the position where it has none (then not `identified`).
    `parent` is the key of the message it follows.
    """

    key: str
    parent: str | None
    role: Role
    speaker: str
    text: str
    at: int | None = None
    model: str | None = None
    identified: bool = True


@dataclass(frozen=True, slots=True)
class ImportedChat:
    """One conversation, or the next part of one. Messages come after those they follow.

    `head` is the key of the message at which the conversation stands. `skipped` counts what was left out by why;
    `naive` times had no offset and were taken as UTC. Not `identified`: `id` stands in for an id that is not there.
    One that `continues` is a later part of a chat of the same file, and of one with `more` later parts may follow.
    `times` are those of what is near, nearest first, for messages of which no time is known. One that is `archived` was
    put out of sight where it is from, and one that is `withheld` is to be remembered nowhere.
    """

    format: str
    id: str
    messages: tuple[ImportedMessage, ...]
    title: str | None = None
    titled_by_content: bool = True  # by the words of its messages, not by who took part
    at: int | None = None
    head: str | None = None
    identified: bool = True
    continues: bool = False
    more: bool = False
    archived: bool = False
    withheld: bool = False
    times: tuple[int, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    naive: int = 0
    odd: tuple[str, ...] = ()  # what of it was not understood, each named


def chat_source(chat: ImportedChat, variant: int = 1) -> str:
    """The source key of a chat; `variant` tells apart those whose stand-in for an id is the same."""
    return _key(chat.format, _id(chat, variant))


def message_source(chat: ImportedChat, message: ImportedMessage, variant: int = 1, *, same: int = 1) -> str:
    """The source key of a message; `same` tells apart different texts at one position."""
    parts = [chat.format, _id(chat, variant), message.key, message.role, "" if message.at is None else str(message.at)]
    return _key(*parts, *([str(same)] if same > 1 else []))


def name(text: object) -> str | None:
    """A title's or speaker's first line, as it can be stored; None if nothing is left."""
    if not isinstance(text, str):
        return None
    line = " ".join("".join(c if c.isprintable() else " " for c in paired(text)).split())
    return line[:LONGEST_NAME] or None


def unmarked(text: str) -> str:
    """A text without the marks that ChatGPT writes for its own screen, but with the names that some of them show."""
    if "\ue200" not in text:
        return text
    shown, marks = MARK.subn(_shown_for, text)
    return HIGHLIGHTS.sub("", shown) if marks else text


def _shown_for(mark: re.Match[str]) -> str:
    """What a mark shows: the name of an entity, the title of a link, nothing of a citation."""
    space, parts = str(mark[1]), str(mark[2]).split("\ue202")
    match parts:
        case ["url", title, *_]:
            return space + title
        case ["entity" | "product_entity", entity, *_]:
            with suppress(ValueError, RecursionError):
                match json.loads(entity):
                    case [_, str(named), *_]:
                        return space + named
    return ""


def _id(chat: ImportedChat, variant: int) -> str:
    return chat.id if variant == 1 else f"{chat.id}\0{variant}"


def _key(*parts: str) -> str:
    data = "\0".join(part.replace("\\", "\\\\").replace("\0", "\\0") for part in parts)
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()
