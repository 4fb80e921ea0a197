"""How much is in the memory, since when, and how fast replies came; where an observation is going.

What was deleted, undone or taken out of view is in no number here.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from itertools import islice

from graph.events.codec import fields_of
from graph.ids import as_datetime
from graph.values import Trend

NEW, WINDOW, SILENCE = timedelta(days=7), timedelta(days=30), timedelta(days=90)


def trend(times: Sequence[datetime], now: datetime, first_seen: datetime) -> Trend:
    """New in its first 7 days; then by how often it was said in the last 30 days and in the 30 before.

    Stale is what nobody said for 90 days. What lies ahead of `now` was said just now: clocks differ.
    """
    if now - first_seen <= NEW:
        return "new"
    ages = [now - time for time in times]
    lately = sum(age <= WINDOW for age in ages)
    before = sum(WINDOW < age <= 2 * WINDOW for age in ages)
    if lately != before:
        return "strengthening" if lately > before else "weakening"
    return "stable" if any(age <= SILENCE for age in ages) else "stale"


QUARTER_MS = 900_000  # every zone's midnight falls on a quarter of an hour
REPLIES = 200
TRENDS: tuple[Trend, ...] = ("new", "strengthening", "stable", "weakening", "stale")

_SAID = f"""
SELECT at / {QUARTER_MS} AS quarter, count(*) AS n FROM turns
WHERE NOT deleted AND NOT queued AND role IN ('user', 'assistant') GROUP BY quarter
"""
_LEARNED = f"""
SELECT first_seen / {QUARTER_MS} AS quarter, count(*) AS n FROM observations
WHERE current AND world = 'main' GROUP BY quarter
"""
_RATED = """
SELECT significance, count(*) FROM turns
WHERE live AND world = 'main' AND role IN ('user', 'assistant')
AND seq NOT IN (SELECT seq FROM events WHERE kind = 'turn.said' AND text IS NULL) GROUP BY significance
"""
_PROOF = """
SELECT o.id, o.first_seen, coalesce(t.at, c.at) FROM observations AS o
JOIN links ON links.start = o.id AND links.rel IN ('DERIVED_FROM', 'SUPPORTED_BY')
LEFT JOIN turns AS t ON t.id = links.target LEFT JOIN chunks AS c ON c.id = links.target
WHERE o.current AND o.world = 'main' AND (t.live OR c.live)
"""
_REPLIES = """
SELECT said.at, event.version, event.structure FROM turns AS said JOIN events AS event ON event.seq = said.seq
WHERE said.role = 'assistant' AND NOT said.deleted ORDER BY said.seq DESC
"""


@dataclass(frozen=True, slots=True)
class Speed:
    """How one reply came; None is what is not known of it."""

    at: datetime
    tokens_per_s: float | None
    first_token_s: float | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """Days are those of the clock on the wall; each series has every day from its first to today."""

    first_day: date
    messages: tuple[int, ...]  # said on each day, alternatives too
    memories: tuple[int, ...]  # of what is known now, how much was first said on each day
    ratings: Mapping[int, int]  # 0 to 3 → messages in view that were rated so last
    unrated: int
    trends: Mapping[str, int]  # by TRENDS → memories
    speeds: tuple[Speed, ...]  # of the latest replies, oldest first


class Counted(ABC):
    """What is counted of a memory."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def statistics(self, *, now: datetime, timezone: tzinfo | None = None, replies: int = REPLIES) -> Statistics:
        """All the numbers of the charts; `now` is aware, `timezone` None is that of this machine."""
        with self.snapshot() as db:
            said, learned = (_days(db.execute(query), timezone) for query in (_SAID, _LEARNED))
            ratings = dict(db.execute(_RATED).fetchall())
            proof: dict[str, tuple[int, list[datetime]]] = {}
            for id, first_seen, at in db.execute(_PROOF):
                proof.setdefault(id, (first_seen, []))[1].append(as_datetime(at))
            speeds = list(islice(_speeds(db), max(replies, 0)))
        today = now.astimezone(timezone).date()
        first = min([today, *said, *learned])
        trends = Counter(trend(times, now, as_datetime(first_seen)) for first_seen, times in proof.values())
        return Statistics(
            first_day=first,
            messages=_every_day(said, first, today),
            memories=_every_day(learned, first, today),
            ratings={rating: ratings.get(rating, 0) for rating in range(4)},
            unrated=ratings.get(None, 0),
            trends={name: trends[name] for name in TRENDS},
            speeds=tuple(reversed(speeds)),
        )


def _days(rows: Iterable[tuple[int, int]], timezone: tzinfo | None) -> Counter[date]:
    """How many there are on each day, of counts by quarters of an hour."""
    days: Counter[date] = Counter()
    for quarter, count in rows:
        days[datetime.fromtimestamp(quarter * QUARTER_MS / 1000, timezone).date()] += count
    return days


def _every_day(days: Mapping[date, int], first: date, today: date) -> tuple[int, ...]:
    """What lies ahead of today counts as today: clocks differ."""
    counts = [0] * ((today - first) // timedelta(days=1) + 1)
    for day, count in days.items():
        counts[min((day - first).days, len(counts) - 1)] += count
    return tuple(counts)


def _speeds(db: sqlite3.Connection) -> Iterator[Speed]:
    """How fast replies came of which that is known, the latest first."""
    for at, version, structure in db.execute(_REPLIES):
        said = fields_of("turn.said", version, structure)
        tokens, first_ms, total_ms = (said.get(name) for name in ("completion_tokens", "first_token_ms", "total_ms"))
        if total_ms is None:
            continue
        writing_ms = total_ms - (first_ms or 0.0)
        yield Speed(
            at=as_datetime(at),
            # the first token came before the time that is counted
            tokens_per_s=1000 * (tokens - 1) / writing_ms if tokens and tokens > 1 and writing_ms > 0 else None,
            first_token_s=first_ms / 1000 if first_ms is not None else None,
        )
