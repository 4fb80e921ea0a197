"""What a message of a story consists of: what is said, what is done (`*action*`), and `((out of character))` notes.

Notes are found first, wherever they stand; asterisks count in what remains. Everything is one pass over the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

Marker = tuple[str, str]

MARKER: Marker = ("((", "))")
LONGEST = 10  # characters of one half of a marker
CLOSING = ",.;:!?…)]}’”»"  # that stand close to the word before them
PARAGRAPH = r"\n[^\S\n]*\n"
ASTERISKS = re.compile(rf"(?P<end>{PARAGRAPH})|(?<![*\\])\*(?!\*)")


class Kind(StrEnum):
    """What a part of a message is."""

    SPEECH = "speech"
    ACTION = "action"
    OOC = "ooc"


@dataclass(frozen=True, slots=True)
class Span:
    """The slice `start:end` of a message, markers and all; `text` is what stands inside of them."""

    kind: Kind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Marked:
    """Where something begins, where what is inside of it begins and ends, and where it ends."""

    start: int
    first: int
    last: int
    end: int


def marker_of(setting: str) -> Marker:
    """The marker that a setting such as "(( ))" names. Raises ValueError for what is no pair."""
    match setting.split():
        case [opening, closing] if max(len(opening), len(closing)) <= LONGEST and "*" not in opening + closing:
            return opening, closing
    raise ValueError(
        f"“{setting[:60]}” is no pair of markers: give two of at most {LONGEST} characters and without asterisks, "
        "with a space between them, such as (( ))."
    )


def spans(text: str, *, marker: Marker = MARKER) -> list[Span]:
    """The parts of a message in order; together their slices are the message.

    A note may hold others, and one that is never closed runs to the end of its paragraph. An asterisk without another
    in its paragraph is part of what is said, and so is `**bold**`. A note in an action leaves an action on each side.
    """
    found: list[Span] = []
    notes = _notes(text, marker)
    gaps = _gaps(text, notes)
    actions = [*_actions(text, gaps)]
    next_ = 0
    for at, (start, end) in enumerate(gaps):
        while next_ < len(actions) and actions[next_].start < end:
            action = actions[next_]
            opening, closing = max(action.start, start), min(action.end, end)
            found += _span(text, Kind.SPEECH, _Marked(start, start, opening, opening))
            inside = max(action.first, start), min(action.last, end)
            found += _span(text, Kind.ACTION, _Marked(opening, *inside, closing))
            start = closing
            if action.end > end:
                break  # it goes on after the note
            next_ += 1
        found += _span(text, Kind.SPEECH, _Marked(start, start, end, end))
        found += [each for note in notes[at : at + 1] for each in _span(text, Kind.OOC, note)]
    return found


def split_ooc(text: str, marker: Marker = MARKER) -> tuple[str, tuple[str, ...]]:
    """A message without its notes, "" where nothing else is in it, and the notes that say something.

    Where a note was, a space or the larger of both gaps remains; a message without notes stays as it is.
    """
    notes = _notes(text, marker)
    if not notes:
        return text, ()
    pieces = (text[start:end] for start, end in _gaps(text, notes))
    inside = (text[note.first : note.last].strip() for note in notes)
    return _joined(pieces), tuple(note for note in inside if note)


def _span(text: str, kind: Kind, marked: _Marked) -> list[Span]:
    """The span, or none where there is nothing."""
    if marked.start >= marked.end:
        return []
    return [Span(kind, text[marked.first : marked.last], marked.start, marked.end)]


def _notes(text: str, marker: Marker) -> list[_Marked]:
    """The outermost notes. Halves are matched as brackets are, over the whole message."""
    found: list[_Marked] = []
    waiting: list[tuple[int, int, int]] = []  # opened: start, start of the inside, number of the paragraph
    ends: list[int] = []
    for half, start, end, count in _halves(text, marker):
        if half == "paragraph":
            ends.append(start)
        elif half == "open" and (marker[0] != marker[1] or not waiting):
            waiting += [(start, end, len(ends))] * count
        elif waiting:
            opened, first, _ = waiting[-count:][0]
            del waiting[-count:]
            found.append(_Marked(opened, first, start, end))
    ends.append(len(text))
    found += [_Marked(start, first, ends[number], ends[number]) for start, first, number in waiting]
    return _outermost(found)


def _halves(text: str, marker: Marker) -> Iterator[tuple[str, int, int, int]]:
    """The halves of markers and the ends of paragraphs in order: what, start, end, and how many at once.

    Of a half that repeats one character a longer run is several, and what is over belongs to them.
    """
    opening, closing = (
        f"{re.escape(half[0])}{{{len(half)},}}" if len({*half}) == 1 else re.escape(half) for half in marker
    )
    for match in re.finditer(f"(?P<paragraph>{PARAGRAPH})|(?P<open>{opening})|(?P<close>{closing})", text):
        half = match.lastgroup or ""
        yield half, *match.span(), len(match[0]) // len(marker[half == "close"])


def _outermost(found: list[_Marked]) -> list[_Marked]:
    """The notes in order; one inside of another is part of it, and so is what two share."""
    kept: list[_Marked] = []
    for each in sorted(found, key=lambda note: note.start):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
        elif each.end > kept[-1].end:
            kept[-1] = _Marked(kept[-1].start, kept[-1].first, each.last, each.end)
    return kept


def _actions(text: str, gaps: Sequence[tuple[int, int]]) -> Iterator[_Marked]:
    """What stands between two asterisks of a paragraph, of those outside of notes."""
    opened: int | None = None
    for match in (match for start, end in gaps for match in ASTERISKS.finditer(text, start, end)):
        at = match.start()
        before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
        if match["end"] is not None:
            opened = None
        elif opened is not None and opened + 1 < at and not before.isspace():
            yield _Marked(opened, opened + 1, at, at + 1)
            opened = None
        elif after and not after.isspace() and not (before.isdigit() and after.isdigit()):
            opened = at


def _gaps(text: str, notes: Sequence[_Marked]) -> list[tuple[int, int]]:
    """The slices before, between and after the notes, empty ones too."""
    edges = [0, *(at for note in notes for at in (note.start, note.end)), len(text)]
    return [*pairwise(edges)][::2]


def _joined(pieces: Iterable[str]) -> str:
    """Pieces between which a note was, with one gap where two met, and none before a comma."""
    kept: list[str] = []
    gap = ""
    for piece in pieces:
        body = piece.strip()
        if not body:
            gap = _larger(gap, piece)
            continue
        if kept:
            gap = _larger(gap, piece[: len(piece) - len(piece.lstrip())])
            close = body[0] in CLOSING and "\n" not in gap
            kept.append("" if close else gap or " ")
        kept.append(body)
        gap = piece[len(piece.rstrip()) :]
    return "".join(kept)


def _larger(one: str, other: str) -> str:
    """The gap with more lines; a space of two in one line."""
    larger = max(one, other, key=lambda gap: gap.count("\n"))
    return larger if "\n" in larger else " " * bool(one or other)
