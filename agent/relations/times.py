"""When something is so: the times that a sentence tells, as since, until or in, taken out of its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from agent.relations.words import Language, Token

Role = Literal["since", "until", "in", "lasting"]


@dataclass(frozen=True, slots=True)
class Time:
    """A time of "YYYY", "YYYY-MM" or "YYYY-MM-DD" (None: it is told, but not which), and the token it stands before."""

    at: int
    role: Role
    value: str | None


def without_times(tokens: Sequence[Token], words: Language, said_at: date) -> tuple[list[Token], list[Time]]:
    """The tokens that tell no time, and the times."""
    reading = _Reading(tokens, words, said_at)
    kept: list[Token] = []
    times: list[Time] = []
    at = 0
    while at < len(tokens):
        told = reading.time(at)
        if told is None:
            kept.append(tokens[at])
            at += 1
            continue
        at, found = told
        times += [Time(len(kept), role, value) for role, value in found]
    return kept, times


@dataclass(frozen=True, slots=True)
class _Reading:
    tokens: Sequence[Token]
    words: Language
    said_at: date

    def time(self, at: int) -> tuple[int, list[tuple[Role, str | None]]] | None:
        """The time that begins at a token, and where it ends."""
        if size := self.words.starts("lasting", self.tokens, at):
            return at + size, [("lasting", None)]
        if self._is("for", at) and (span := self._span(at + 1)):
            return span[0], [("lasting", None)]
        if told := self._bare(at):
            return told[0], [("in", told[1])]
        roles: tuple[tuple[Role, str], ...] = (
            ("since", "since"),
            ("since", "between"),
            ("until", "until"),
            ("in", "in"),
        )
        for role, name in roles:
            size = self.words.starts(name, self.tokens, at)
            told = (self._bare(at + size) or self._moment(at + size)) if size else None
            if told is None:
                continue
            end, value = told
            if role == "since" and self._is("to", end) and (last := self._moment(end + 1)):
                return last[0], [("since", value), ("until", last[1])]
            if name != "between" or self._is("since", at):
                return end, [(role, value)]
        if self.words.option("bare_year") and (year := self._year(at)):
            return at + 1, [("in", year)]
        return None

    def _is(self, role: str, at: int) -> bool:
        return self.words.starts(role, self.tokens, at) == 1

    def _low(self, at: int) -> str:
        return self.tokens[at].low if at < len(self.tokens) else ""

    def _year(self, at: int) -> str | None:
        word = self._low(at)
        return word if word.isdecimal() and len(word) == 4 and 1900 <= int(word) <= 2100 else None

    def _number(self, at: int) -> int | None:
        word = self._low(at)
        if word.isdecimal() and len(word) < 3:
            return int(word)
        told = self.words.data["times"]["numbers"]
        return next((number for number, names in enumerate(told, start=1) if word in names.split()), None)

    def _month(self, at: int) -> int | None:
        word = self._low(at)
        told = self.words.data["times"]["months"]
        return next((month for month, names in enumerate(told, start=1) if word in names.split()), None)

    def _span(self, at: int) -> tuple[int, date, str] | None:
        """Two years, three months: the day so long ago, and the unit."""
        at += self._low(at) in ("about", "over", "almost", "nearly")
        number = self._number(at)
        at += self._low(at) == "a" and self._number(at + 1) is not None
        if number is None or number > 99:
            return None
        number = self._number(at) or number
        at += 1 + (self._low(at + 1) == "of")
        if self._is("days", at) or self._is("weeks", at):
            days = number * (7 if self._is("weeks", at) else 1)
            return at + 1, self.said_at - timedelta(days=days), "day"
        months = number * (12 if self._is("years", at) else 1)
        if self._is("years", at) or self._is("month", at):
            return at + 1, self._months_ago(months), "year" if self._is("years", at) else "month"
        return None

    def _months_ago(self, months: int) -> date:
        count = self.said_at.year * 12 + self.said_at.month - 1 - months
        return date(count // 12, count % 12 + 1, 1)

    def _bare(self, at: int) -> tuple[int, str | None] | None:
        """A time that needs no word before it: last month, two years ago, yesterday."""
        if self._is("today", at) or self.words.starts("today", self.tokens, at):
            return at + self.words.starts("today", self.tokens, at), self.said_at.isoformat()
        if size := self.words.starts("yesterday", self.tokens, at):
            return at + size, (self.said_at - timedelta(days=1)).isoformat()
        before = self.words.starts("ago_before", self.tokens, at)
        span = self._span(at + before)
        if span and (before or self._is("ago", span[0])):
            end, day, unit = span
            return end + (not before), day.isoformat()[: {"year": 4, "month": 7, "day": 10}[unit]]
        if not self._is("last", at) and not self._is("this", at):
            return None
        past, next_ = self._is("last", at), at + 1
        if self._is("years", next_):
            return next_ + 1, str(self.said_at.year - past)
        if self._is("month", next_):
            return next_ + 1, self._months_ago(int(past)).isoformat()[:7]
        if self._is("weeks", next_):
            return next_ + 1, (self.said_at - timedelta(days=7 * past)).isoformat()[:7]
        return self._moment(next_, last=past) if self._month(next_) or self._named(next_) else None

    def _named(self, at: int) -> bool:
        return self._low(at) in self.words.data["times"].get("seasons", {}) or self._is("weekdays", at)

    def _moment(self, at: int, *, last: bool = False) -> tuple[int, str | None] | None:
        """A year, a month, a day, a season."""
        if year := self._year(at):
            return at + 1, year
        start = at + (self._low(at) == "the")
        day, next_ = self._day(start)
        if day and self._low(next_) == "of":
            next_ += 1
        month = self._month(next_ if day else at)
        if month is not None:
            end = (next_ if day else at) + 1
            if day is None and not self._year(end):
                day, end = self._day(end)
            comma = self._low(end) == "," and self._year(end + 1) is not None
            year = self._year(end + comma)
            end += (1 + comma) if year else 0
            ahead = month > self.said_at.month or (last and month == self.said_at.month)
            year = year or str(self.said_at.year - ahead)
            return end, f"{year}-{month:02}" + (f"-{day:02}" if day else "")
        season = self.words.data["times"].get("seasons", {}).get(self._low(start))
        if season is not None:
            end = start + 1 + (self._low(start + 1) == "of")
            year = self._year(end)
            return (end + 1, year) if year else (start + 1, None)
        return (at + 1, None) if self._is("weekdays", at) else None

    def _day(self, at: int) -> tuple[int | None, int]:
        word = self._low(at)
        if not word.isdecimal() or not 1 <= int(word) <= 31:
            return None, at
        return int(word), at + 1 + (self._low(at + 1) in ("st", "nd", "rd", "th", "."))
