"""Times in a question (last Tuesday, in March) as ranges in the asker's time zone, and the grammar that reads them.

Weeks begin on Monday. Days are calendar days, however many hours they have. What has no year is in the past. Seasons
are those of the north, three whole months each: winter from December.

A date in numbers: with a year in front or behind points it needs no guess, "2026-11-17" and "17.11.2026". With slashes
a number above 12 is the day; else the month is first where the locale of the environment writes it so (LC_ALL, LC_TIME
or LANG: the United States, and where none is set), and the day elsewhere.

A small grammar of our own: of the libraries, dateparser, parsedatetime and ctparse give a moment where a range is meant
("in March" is a day in the March to come), take the "May" of "May I ask" and even "we" for dates, and the first needs
80 ms to import and up to 90 ms for a question; timefhuman knows ranges but not the past. This one takes well under a
millisecond, reads the past, and leaves alone what it does not know. English; other languages find nothing here.

"From last week" is that week; "from last week on", or "to now", goes on until now, and so does "since last week".

A date in the calendar beats a time seen from now: "last Friday on 23 January 2022" is that day, and "the week before 9
May" the week up to it.
"""

import os
import re
from calendar import day_name, month_name
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache

_WEEKDAYS = {name.lower(): number for number, name in enumerate(day_name)}
_MONTHS = {name.lower(): number for number, name in enumerate(month_name) if name}
_SHORT_MONTHS = {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_ALSO_WORDS = {"march", "may", "april", "june", "august"}  # or names
_BEFORE_MONTHS = frozenset({"in", "since", "during", "until", "till"})
_BEFORE_YEARS = _BEFORE_MONTHS | {"before", "after", "from", "of"}
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: number for number, word in enumerate(_COUNTED)} | {
    "a": 1, "an": 1, "a couple of": 2, "a couple": 2, "couple of": 2, "couple": 2, "a few": 3, "few": 3, "several": 4
}  # fmt: skip
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 29)}  # hours of that day

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the first month
_ALONE = ""  # among what a time needs: that nothing else is said
_BEFORE_SEASONS = frozenset({"in", "over", "during", "since", "until", "till"})
_BEFORE_DAYS = frozenset({"on", "since", "from", "until", "till", "by", "before", "after", "between", _ALONE})
_NEEDS = {"short_date": _BEFORE_DAYS, "day_only": _BEFORE_DAYS, "season": _BEFORE_SEASONS}
_MONTH_FIRST = ("en_US", "es_US", "en_PH", "C", "POSIX", "en")

WEEKDAY = "|".join(_WEEKDAYS)
_MONTH = "|".join(_MONTHS)
_ANY_MONTH = f"{_MONTH}|{'|'.join(_SHORT_MONTHS)}"
NUMBER = r"\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_PART = "|".join(_PARTS)
_YEAR = r"(?:19|20)\d\d"
SEASON = "|".join(_SEASONS)
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"

Range = tuple[datetime, datetime]  # of the wall clock, without a zone; the end is exclusive


@dataclass(frozen=True, slots=True)
class FoundRange:
    """A range at a place in a text, and the words one of which has to stand before it, if any.

    `dated` tells that it is in the calendar by itself, with a day or a year, not seen from now.
    """

    range: Range
    start: int
    end: int
    needs: frozenset[str]
    dated: bool


def expressions(text: str, now: datetime) -> Iterator[FoundRange]:
    """The times in a text, in order, none over another."""
    end = 0
    for match in _pattern().finditer(text):
        name = match.lastgroup or ""
        groups = re.fullmatch(_RULES[name][0], match[0], re.IGNORECASE)
        if match.start() < end or groups is None:
            continue
        try:
            range = _RULES[name][1](now, [each.lower() if each else "" for each in groups.groups()])
        except (ValueError, OverflowError):  # 31 February, 900 years ago
            continue
        end = match.end()
        yield FoundRange(range, match.start(), end, _needs(name, match[0].lower()), name in _DATED)


def _needs(rule: str, said: str) -> frozenset[str]:
    """The words one of which makes a time of what may be a name, a verb or any number."""
    if rule == "year":
        return _BEFORE_YEARS
    if rule == "weekend":  # "the weekend" is one; a weekend is not
        return frozenset() if said.startswith("the") else frozenset({"over", "on", "at", "during", "since"})
    if rule in _NEEDS:
        return _NEEDS[rule]
    return _BEFORE_MONTHS if rule == "month" and said in _ALSO_WORDS else frozenset()


Rule = Callable[[datetime, list[str]], Range]


def _day_range(day: date, part: str = "") -> Range:
    midnight = datetime.combine(day, time())
    first, last = _PARTS.get(part, (0, 24))
    return midnight + timedelta(hours=first), midnight + timedelta(hours=last)


def _months(year: int, month: int, count: int = 1) -> Range:
    """`count` calendar months from the given one, which may lie outside 1–12."""
    first, last = divmod(year * 12 + month - 1, 12), divmod(year * 12 + month - 1 + count, 12)
    return datetime(first[0], first[1] + 1, 1), datetime(last[0], last[1] + 1, 1)


def _relative_day(now: datetime, groups: list[str]) -> Range:
    word, part = groups
    back = {"yesterday": 1, "last": 1}.get(word.split()[0], 0)
    if "before" in word:
        back = 2
    if word == "tonight" or word.endswith("night"):
        part = "night"
    elif word.startswith("this"):
        part = word.split()[-1]
    return _day_range(now.date() - timedelta(days=back), part)


def _period(now: datetime, groups: list[str]) -> Range:
    """This week, last month; with an article, or as "past", the time of that length up to now."""
    article, which, unit = groups
    if unit in ("hour", "day", "minute", "fortnight") or which == "past" or (article and which == "last"):
        return (_back(now, 1, unit), now)
    ago = 0 if which in ("this", "current") else 1
    day = now.date()
    match unit:
        case "year":
            return _months(day.year - ago, 1, 12)
        case "month":
            return _months(day.year, day.month - ago)
        case "weekend":
            saturday = day - timedelta(days=(day.weekday() - 5) % 7)  # the newest one that has begun
            if ago and day.weekday() >= 5:
                saturday -= timedelta(days=7)
            elif not ago and day.weekday() < 5:
                saturday += timedelta(days=7)
            return (_day_range(saturday)[0], _day_range(saturday + timedelta(days=1))[1])
        case _:
            monday = day - timedelta(days=day.weekday() + 7 * ago)
            return (_day_range(monday)[0], _day_range(monday + timedelta(days=6))[1])


def _rolling(now: datetime, groups: list[str]) -> Range:
    number, unit = groups
    return (_back(now, number_of(number), unit), now)


def _ago(now: datetime, groups: list[str]) -> Range:
    """So long ago, as exactly as the unit says: an hour, a day, a week, a month around it."""
    number, unit = number_of(groups[0]), groups[1]
    then = _back(now, number, unit)
    match unit:
        case "minute" | "hour":
            about = timedelta(minutes=30) if unit == "hour" else timedelta(minutes=max(5, number // 4))
            return (then - about, then + about)
        case "day":
            return _day_range(then.date())
        case "week" | "fortnight":
            return (_day_range(then.date() - timedelta(days=3))[0], _day_range(then.date() + timedelta(days=3))[1])
        case "month":
            return _months(then.year, then.month)
        case _:
            return _months(then.year, then.month - 2, 5)


def _weekday(now: datetime, groups: list[str]) -> Range:
    """The newest such day before today; "this Friday" is the one of this week, also ahead."""
    which, name, part = groups
    day, wanted = now.date(), _WEEKDAYS[name]
    if which == "this":
        return _day_range(day - timedelta(days=day.weekday()) + timedelta(days=wanted), part)
    return _day_range(day - timedelta(days=(day.weekday() - wanted - 1) % 7 + 1), part)


def _weekend(now: datetime, groups: list[str]) -> Range:
    return _period(now, ["", "this" if now.weekday() >= 5 else "last", "weekend"])


def _iso(now: datetime, groups: list[str]) -> Range:
    year, month, day = (int(each) for each in groups)
    return _day_range(date(year, month, day))


def _day_first(now: datetime, groups: list[str]) -> Range:
    day, month, year = (int(each) for each in groups)
    return _day_range(date(year, month, day))


def _slashed(now: datetime, groups: list[str]) -> Range:
    """A date with slashes: which number is the day, they may tell, and else the locale."""
    day, month, year = int(groups[0]), int(groups[1]), groups[2] if len(groups) > 2 else ""
    if day <= 12 and (month > 12 or month_first()):
        day, month = month, day
    return _day_range(_newest_day(now, day, month, f"20{year}" if len(year) == 2 else year))


def month_first() -> bool:
    """Whether the month stands before the day in a date with slashes."""
    set_ = next((value for name in ("LC_ALL", "LC_TIME", "LANG") if (value := os.environ.get(name))), "C")
    return set_.split(".")[0].split("@")[0] in _MONTH_FIRST


def _day_of_month(now: datetime, groups: list[str]) -> Range:
    """The newest such day that has begun, or that of this month or the last one."""
    day, which = int(groups[0]), groups[1]
    if which:
        first = _months(now.year, now.month - (which == "last"))[0]
        return _day_range(first.date().replace(day=day))
    for back in range(3):  # the 31st, on a 30th
        month = _months(now.year, now.month - back)[0].date()
        try:
            found = month.replace(day=day)
        except ValueError:
            continue
        if found <= now.date():
            return _day_range(found)
    raise ValueError


def _season(now: datetime, groups: list[str]) -> Range:
    """The newest such season that has begun; the newest that is over, if "last" is said."""
    which, name = groups if len(groups) > 1 else ("", groups[0])
    for year in (now.year, now.year - 1, now.year - 2):
        range = _months(year, _SEASONS[name], 3)
        if range[1 if which in ("last", "previous") else 0] <= now:
            return range
    raise ValueError


def _season_year(now: datetime, groups: list[str]) -> Range:
    name, year = groups
    return _months(int(year), _SEASONS[name], 3)


def _day_month(now: datetime, groups: list[str]) -> Range:
    day, month, year = groups
    return _day_range(_newest_day(now, int(day), _SHORT_MONTHS[month[:3]], year))


def _month_day(now: datetime, groups: list[str]) -> Range:
    month, day, year = groups
    return _day_range(_newest_day(now, int(day), _SHORT_MONTHS[month[:3]], year))


def _newest_day(now: datetime, day: int, month: int, year: str) -> date:
    """The day, in the newest year in which it is not ahead if none is given. Raises ValueError where there is none."""
    if year:
        return date(int(year), month, day)
    for back in range(5):  # 29 February
        try:
            found = date(now.year - back, month, day)
        except ValueError:
            continue
        if found <= now.date():
            return found
    raise ValueError


def _month_year(now: datetime, groups: list[str]) -> Range:
    month, year = groups
    return _months(int(year), _SHORT_MONTHS[month[:3]])


def _month(now: datetime, groups: list[str]) -> Range:
    """The newest such month that has begun; the one before, if it is this one and "last" is said."""
    which, name = groups
    month = _MONTHS[name]
    year = now.year - (month > now.month) - (which == "last" and month == now.month)
    return _months(year, month)


def _year(now: datetime, groups: list[str]) -> Range:
    return _months(int(groups[0]), 1, 12)


def _back(now: datetime, number: int, unit: str) -> datetime:
    match unit:
        case "month" | "year":
            months = now.year * 12 + now.month - 1 - number * (12 if unit == "year" else 1)
            year, month = divmod(months, 12)
            longest = (_months(year, month + 1)[1] - timedelta(days=1)).day
            return now.replace(year=year, month=month + 1, day=min(now.day, longest))
        case "weekend":
            return now - timedelta(weeks=number)
        case "fortnight":
            return now - timedelta(weeks=2 * number)
        case _:
            return now - timedelta(**{f"{unit}s": number})


def number_of(word: str) -> int:
    """A number as people write it, "two" or "a couple of". Raises KeyError."""
    return int(word) if word.isdigit() else _NUMBERS[" ".join(word.split())]


_DATED = frozenset({"iso", "day_first", "slashed", "short_date", "day_month", "month_day", "month_year", "season_year"})
_UNIT = "minute|hour|day|week|weekend|fortnight|month|year"
_ENDS = (  # what may follow "the 17th": nothing, or what does not make it the 17th of other things
    r"(?=\s*(?:[^\w\s-]|$)|\s+(?:and|or|to|till|until|through|on|onwards?|at|in|about|with|for|we|i|you|did|was|were|that"
    rf"|what|when|{_PART})\b)"
)

# Name to pattern and meaning; the first that fits at a place wins.
_RULES: dict[str, tuple[str, Rule]] = {
    "relative": (
        rf"((?:the\s+)?day\s+before\s+yesterday|last\s+night|tonight|this\s+(?:morning|afternoon|evening)|yesterday|today)"
        rf"(?:\s+({_PART}))?",
        _relative_day,
    ),
    "rolling": (rf"(?:the\s+)?(?:last|past|previous)\s+({NUMBER})\s+({_UNIT})s?", _rolling),
    "ago": (rf"(?:about\s+)?({NUMBER})\s+({_UNIT})s?\s+ago", _ago),
    "period": (rf"(the\s+)?(last|past|previous|this|current)\s+({_UNIT})", _period),
    "weekend": (r"(?<!for\s)(?:the\s+)?weekend", _weekend),
    "iso": (r"(\d{4})[-/](\d\d)[-/](\d\d)", _iso),
    "day_first": (rf"(\d{{1,2}})[.-](\d{{1,2}})[.-]({_YEAR})", _day_first),
    "slashed": (rf"(\d{{1,2}})/(\d{{1,2}})/({_YEAR}|\d\d)", _slashed),
    "short_date": (r"(\d{1,2})/(\d{1,2})(?!/)", _slashed),
    "day_month": (rf"(?:the\s+)?{_ORDINAL}\s+(?:of\s+)?({_ANY_MONTH})\.?(?:,?\s+({_YEAR}))?", _day_month),
    "month_day": (rf"({_ANY_MONTH})\.?\s+(?:the\s+)?{_ORDINAL}(?!\d)(?:,?\s+({_YEAR}))?", _month_day),
    "day_only": (
        rf"(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)(?:\s+of\s+(?:the\s+)?(last|this)\s+month|{_ENDS})",
        _day_of_month,
    ),
    "season_year": (rf"({SEASON})(?:,?\s+|\s+of\s+)({_YEAR})", _season_year),
    "last_season": (rf"(last|this|past|previous)\s+({SEASON})", _season),
    "season": (rf"({SEASON})(?!\s+of\b)", _season),
    "month_year": (rf"({_ANY_MONTH})\.?,?\s+({_YEAR})", _month_year),
    "month": (rf"(?:(last|this|past|early|late|mid)[\s-]+)?({_MONTH})", _month),
    "weekday": (rf"(?:(last|this|past|previous)\s+)?({WEEKDAY})(?:\s+({_PART}))?", _weekday),
    "year": (rf"({_YEAR})", _year),
}


_GROUP = re.compile(r"\((?!\?)")


@cache
def _pattern() -> "re.Pattern[str]":
    """All rules as one, each a named group without groups of its own."""
    parts = [f"(?P<{name}>{_GROUP.sub('(?:', rule)})" for name, (rule, _) in _RULES.items()]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])", re.IGNORECASE)


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
