"""Lorebooks: which of their entries a voice is told, by what it saw itself, and why the others are left out.

A book is a line of the stage, `book:NAME`, of the world (everybody knows it) or of a member; a card's own book is its
character's. An entry that is told once stays where it stands in the prompt. What has no room is listed, never silent.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

from agent.kept import kept
from agent.story.book import Book, Entry, Salvage, book_of, normal_book
from agent.story.cards import filled
from agent.story.play import WORLD, Play
from agent.story.voice import card_of
from graph.values import Member, StageLine, Turn
from graph.whole_words import UNSPACED, fold

BOOK = "book:"  # before a book's name, as an aspect
SCANNED = 4  # turns in which keys are looked for, where a book does not say
MOST_SCANNED = 50
LONGEST_KEY = 300  # characters of a pattern
MOST_STEPS = 20_000  # that it becomes when it is compiled: what is repeated counts as often as that may be
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\s*(\d*)\s*(?:,\s*(\d*)\s*)?\}|.", re.DOTALL)
SMALL = 1_000  # steps of a pattern that is kept compiled
# What hides brackets from whoever counts them: comments, patterns with blanks, classes of POSIX.
_UNREAD = re.compile(r"\(\?#|\(\?[A-Za-z0-9]*x|\[:\^?\w+:\]")
TIME_S = 0.05  # for a pattern in all turns
MOST_S = 0.5  # for all keys of a message
MOST_WITHIN = 10_000  # times that a key may stand within other words, and in none by itself
ALWAYS = 100  # of 100: the chance of most
NO_ROOM, TOO_SLOW, NO_PATTERN = "there was no room", "its pattern takes too long", "its pattern is none"


@dataclass(frozen=True, slots=True)
class Lore:
    """An entry that a voice may be told; `id` names it in prompts, `title` for people."""

    id: str
    title: str
    text: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry that matched and was not told, and why."""

    title: str
    why: str


def lore_of(play: Play, voice: Member) -> list[tuple[Book, list[Lore]]]:
    """The books that a voice knows, each with its entries that may be told, in the order they are told in."""
    found = []
    card = card_of(play, voice)
    line = play.lines.get((voice.id, "card"))
    if card.book is not None and line is not None:
        found.append((card.book, _entries(card.book, line, play, voice)))
    for (owner, aspect), line in play.lines.items():
        if aspect.startswith(BOOK) and owner in (WORLD, voice.id) and line.text:
            book = read_book(line.text)
            found.append((book, _entries(book, line, play, voice)))
    return found


@kept(16)
def read_book(text: str) -> Book:
    """A book as it was stored; an empty one where that is none."""
    salvage = Salvage()
    value = normal_book(json.loads(text), salvage)
    return book_of(value, salvage) if value is not None else Book()


def constant(books: Sequence[tuple[Book, list[Lore]]]) -> list[Lore]:
    """What is told always."""
    return [lore for _, entries in books for lore in entries if lore.entry.constant]


def matching(
    books: Sequence[tuple[Book, list[Lore]]], seen: Sequence[Turn], told: Callable[[str], bool]
) -> tuple[list[Lore], list[LeftOut]]:
    """What the last turns that a voice saw call for and is not `told` yet, the weightiest first; and what cannot be."""
    patterns = _Patterns()
    found: list[Lore] = []
    for book, entries in books:
        depth = min(book.scan_depth or SCANNED, MOST_SCANNED)
        text = _Said("\n".join(turn.text or "" for turn in seen[-depth:]))
        fresh = [lore for lore in entries if not lore.entry.constant and not told(lore.id) and _drawn(lore, seen)]
        hits = [lore for lore in fresh if _matches(lore, text, patterns)]
        if book.recursive:
            inside = _Said("\n".join(lore.text for lore in hits))
            hits += [lore for lore in fresh if lore not in hits and _matches(lore, inside, patterns)]
        found += hits
    found.sort(key=lambda lore: (-(lore.entry.priority or 0), lore.entry.order))
    return found, patterns.left_out


def within_budget(found: Sequence[Lore], size: Callable[[str], int], room: int) -> tuple[list[Lore], list[LeftOut]]:
    """Those that fit so many tokens, and those that do not."""
    taken, left_out = [], []
    for lore in found:
        needed = size(lore.text)
        if needed <= room:
            taken.append(lore)
            room -= needed
        else:
            left_out.append(LeftOut(lore.title, NO_ROOM))
    return taken, left_out


def budget(books: Sequence[tuple[Book, list[Lore]]], most: int) -> int:
    """The tokens that lore may take at once: the smallest that a book asks for, at most `most`."""
    return min([most, *(book.token_budget for book, _ in books if book.token_budget is not None)])


class _Said:
    """A text in which keys are looked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> str:
        return fold(self.text)


class _Patterns:
    """Looks for keys, all of them for a short while; tells of patterns that are none, and of what takes too long."""

    def __init__(self) -> None:
        self._left_out: dict[str, LeftOut] = {}
        self._left_s = MOST_S

    @property
    def left_out(self) -> list[LeftOut]:
        return list(self._left_out.values())

    def says(self, lore: Lore, keys: Sequence[str], said: _Said) -> bool:
        """Whether one of the keys of an entry is in a text."""
        return any(self._in_time(lore, key, said) for key in keys)

    def _in_time(self, lore: Lore, key: str, said: _Said) -> bool:
        """Whether a text says one key; no key is looked for when the time of all is over."""
        if self._left_s <= 0:
            self.leave_out(lore, TOO_SLOW)
            return False
        began = time.thread_time()  # of its own work: a busy machine makes no key slower
        try:
            return _says(lore, key, said, self)
        finally:
            self._left_s -= time.thread_time() - began

    def found(self, lore: Lore, key: str, text: str) -> bool:
        import regex  # which only those need who have such keys

        pattern, flags = _unwrapped(key, lore.entry.case_sensitive)
        steps = _steps(pattern) if len(pattern) <= LONGEST_KEY and not _UNREAD.search(pattern) else MOST_STEPS
        if steps >= MOST_STEPS:
            self.leave_out(lore, TOO_SLOW)
            return False
        try:
            compiled = regex.compile(pattern, flags, cache_pattern=steps <= SMALL)
            return compiled.search(text, timeout=min(TIME_S, self._left_s)) is not None
        except (regex.error, ValueError):  # the latter of flags that exclude each other
            self.leave_out(lore, NO_PATTERN)
        except TimeoutError:
            self.leave_out(lore, TOO_SLOW)
        return False

    def leave_out(self, lore: Lore, why: str) -> None:
        """Tell that an entry is not looked for, the first reason of each."""
        self._left_out.setdefault(lore.title, LeftOut(lore.title, why))


def _steps(pattern: str) -> int:
    """About how many steps a pattern becomes."""
    groups, last = [0], 0
    for part in _PART.finditer(pattern):
        if part[0] == "(":
            groups.append(0)
        elif part[0] == ")" and len(groups) > 1:
            last = groups.pop() + 1
            groups[-1] += last
        elif part[1] or part[2]:
            times = max(int(part[1] or 0), int(part[2] or 0), 1)
            groups[-1] += last * (times - 1)
            last *= times
        else:
            last = 1
            groups[-1] += 1
    return sum(groups)


def _unwrapped(key: str, case_sensitive: bool) -> tuple[str, int]:
    """The pattern of a key such as /drag(on|ons)/i, and how it is looked for."""
    import regex

    pattern, ignore = key, not case_sensitive
    if key.startswith("/") and key.rfind("/") > 0:
        pattern, letters = key[1 : key.rfind("/")], key[key.rfind("/") + 1 :]
        ignore = "i" in letters
    return pattern, int(regex.IGNORECASE) if ignore else 0


def _drawn(lore: Lore, seen: Sequence[Turn]) -> bool:
    """Whether an entry's chance has it told with the last turn: drawn from both, so that it is the same again."""
    if lore.entry.chance >= ALWAYS or not seen:
        return True
    return crc32(f"{lore.id} {seen[-1].id}".encode()) % ALWAYS < lore.entry.chance


def _matches(lore: Lore, said: _Said, patterns: _Patterns) -> bool:
    entry = lore.entry
    if not patterns.says(lore, entry.keys, said):
        return False
    if not (entry.selective and entry.secondary):
        return True
    there = [patterns.says(lore, (key,), said) for key in entry.secondary]
    return {"any": any(there), "not all": not all(there), "not any": not any(there), "all": all(there)}[entry.logic]


def _says(lore: Lore, key: str, said: _Said, patterns: _Patterns) -> bool:
    if lore.entry.use_regex or (key.startswith("/") and key.rfind("/") > 0):
        return patterns.found(lore, key, said.text)
    text = said.text
    if not lore.entry.case_sensitive:
        key, text = fold(key), said.folded
    at = text.find(key) if key.strip() else -1
    for _ in range(MOST_WITHIN):
        if at < 0:
            return False
        before, after = text[at - 1 : at] if at else "", text[at + len(key) : at + len(key) + 1]
        if not _is_one_word(before, key[:1]) and not _is_one_word(key[-1:], after):
            return True
        at = text.find(key, at + 1)
    patterns.leave_out(lore, TOO_SLOW)
    return False


def _is_one_word(before: str, after: str) -> bool:
    """Whether two letters stand within one word; where words have no blanks between them, nothing tells."""
    return before.isalnum() and after.isalnum() and not UNSPACED.search(before + after)


def _entries(book: Book, line: StageLine, play: Play, voice: Member) -> list[Lore]:
    return sorted(_told(book, line, play, voice), key=lambda lore: lore.entry.order)


def _told(book: Book, line: StageLine, play: Play, voice: Member) -> Iterator[Lore]:
    you = play.seated("you")
    for at, entry in enumerate(book.entries):
        if entry.enabled and entry.content.strip() and entry.is_for(voice.name):
            title = entry.name or entry.comment or ", ".join(entry.keys[:2]) or f"entry {at + 1}"
            text = " ".join(filled(entry.content, char=voice.name, user=you.name if you else "You").split())
            yield Lore(f"lore.{line.seq}.{at}@{line.seq}", title, text, entry)
