"""Times in a question ("last Tuesday", "in March", "two weeks ago") as ranges, in the asker's time zone.

A small grammar of our own: of the libraries, dateparser, parsedatetime and ctparse give a moment where a range is meant
("in March" is a day in the March to come), take the "May" of "May I ask" and even "we" for dates, and the first needs
80 ms to import and up to 90 ms for a question; timefhuman knows ranges but not the past. This one takes well under a
millisecond, reads the past, and leaves alone what it does not know. English; other languages find nothing here.

"From last week" is that week; "from last week on", or "to now", goes on until now, and so does "since last week".

A date in the calendar beats a time seen from now: "last Friday on 23 January 2022" is that day, and "the week before 9
May" the week up to it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from graph.recall.expressions import NUMBER, WEEKDAY, FoundRange, Range, expressions, number_of

_JOINS = re.compile(r"\s*(?:and|to|until|till|through|[-–])\s*(?:the\s+)?", re.IGNORECASE)
_LEADS = re.compile(
    r"\b(since|after|before|until|till|by|from|between|on|in|during|around|over|of|at)\s+(?:the\s+)?$", re.IGNORECASE
)
_BESIDE = re.compile(
    rf"(?:\b(?:on|in|during)\s+)?\b(?:the\s+|last\s+)?(?:({NUMBER})\s+)?(day|week|weekend|fortnight|month|year|{WEEKDAY})s?\s+"
    r"(before|after|prior\s+to|preceding|following)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_ONWARD = re.compile(
    r"\s+(?:onwards?|forwards?|on(?=\s*(?:[?.!,;:]|$))|(?:up\s+)?(?:to|until|till)\s+(?:now|the\s+present))(?!\w)", re.I
)
_DAYS = {"day": 1, "fortnight": 14, "month": 31, "year": 366}  # other units: a week
_JOINED = frozenset({"from", "between", "in", "on", "during", ""})

Open = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class Span:
    """A time that a text speaks of: UTC, `since` inclusive, `until` exclusive; and where the text says it."""

    since: datetime | None
    until: datetime | None
    places: tuple[tuple[int, int], ...]

    def cut(self, text: str) -> str:
        """The text it was read from, without the time."""
        for start, end in reversed(self.places):
            text = f"{text[:start].rstrip()} {text[end:].lstrip()}".strip()
        return text


def find_time(text: str, *, now: datetime, timezone: tzinfo) -> Span | None:
    """The time that `text` speaks of, None if it speaks of none. `now` is aware."""
    founds = list(expressions(text, now.astimezone(timezone).replace(tzinfo=None)))
    if not founds:
        return None
    read = [each for place in range(len(founds)) if (each := _read(text, founds, place)) is not None]
    if not read:
        return None
    dated = next((each for each in read if each[2]), None)
    since, until = (dated or read[0])[0]
    places = [each[1] for each in read] if dated else [read[0][1]]
    return Span(_utc(since, timezone), _utc(until, timezone), tuple(_apart(places)))


def _utc(wall: datetime | None, timezone: tzinfo) -> datetime | None:
    """A time of the wall clock; one that the clock leaps over is the moment of the leap."""
    return None if wall is None else wall.replace(tzinfo=timezone).astimezone(UTC)


def _apart(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places in order, those that overlap made one."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart


def _read(text: str, founds: Sequence[FoundRange], place: int) -> tuple[Open, tuple[int, int], bool] | None:
    """One expression with the words before it: the range, its place, and whether it is dated; None if it is no time."""
    found = founds[place]
    beside = _BESIDE.search(text, 0, found.start)
    if beside and not found.needs:
        return _beside(found.range, beside), (beside.start(), found.end), found.dated
    lead = _LEADS.search(text, 0, found.start)
    word, start = (lead[1].lower(), lead.start()) if lead else ("", found.start)
    following = founds[place + 1] if place + 1 < len(founds) else None
    if following is not None and word in _JOINED and _JOINS.fullmatch(text, found.end, following.start):
        return _spanned(found.range, following.range), (start, following.end), found.dated or following.dated
    onward = _ONWARD.match(text, found.end) if word == "from" else None
    if onward is not None:
        return (found.range[0], None), (start, onward.end()), found.dated
    if found.needs and (not word or word not in found.needs) and not ("" in found.needs and _alone(text, found)):
        return None
    return _bounded(word, found.range), (start, found.end), found.dated


def _alone(text: str, found: FoundRange) -> bool:
    return not re.search(r"\w", text[: found.start] + text[found.end :])


def _bounded(word: str, range: Range) -> Open:
    match word:
        case "since":
            return range[0], None
        case "after":
            return range[1], None
        case "before":
            return None, range[0]
        case "until" | "till" | "by":
            return None, range[1]
        case _:
            return range


def _beside(range: Range, beside: "re.Match[str]") -> Open:
    """So long before it, or after it, and the day itself: what happened then was told of on the way."""
    number, unit, side = beside.groups()
    length = timedelta(days=_DAYS.get(unit.lower(), 7) * (number_of(number.lower()) if number else 1))
    if side.lower() in ("after", "following"):
        return range[0], range[1] + length
    return range[0] - length, range[1]


def _spanned(first: Range, last: Range) -> Range:
    """From the one to the other: a weekday that comes later is the next one, a day without a year has the other's."""
    if last[1] > first[0]:
        return first[0], last[1]
    if first[0] - last[0] < timedelta(days=7):
        return first[0], last[1] + timedelta(days=7)
    years = first[0].year - last[0].year + (first[0].timetuple()[1:3] > last[0].timetuple()[1:3])
    return first[0].replace(year=first[0].year - years, day=min(first[0].day, 28)), last[1]
