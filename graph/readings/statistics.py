"""How much is in the memory, since when, and how fast replies came; where an observation is going.

Counted on the graph, which knows what was deleted, undone or taken out of view; what is gone is in no number here.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

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
MATCH (t:Turn) WHERE NOT t.deleted AND NOT t.queued AND t.role IN ['user', 'assistant']
RETURN t.at / {QUARTER_MS} AS quarter, count(*) AS n
"""
_LEARNED = f"""
MATCH (o:Observation) WHERE o.current AND o.world = 'main' RETURN o.first_seen / {QUARTER_MS} AS quarter, count(*) AS n
"""
_RATED = """
MATCH (t:Turn) WHERE t.live AND t.world = 'main' AND t.role IN ['user', 'assistant'] AND t.text IS NOT NULL
RETURN t.significance AS rating, count(*) AS n
"""
_PROOF = """
MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY]->(t)
WHERE o.current AND o.world = 'main' AND t.live RETURN o.first_seen AS first, collect(t.at) AS times, o.id AS id
"""
_REPLIES = """
MATCH (t:Turn) WHERE t.role = 'assistant' AND NOT t.deleted AND t.total_ms IS NOT NULL
RETURN t.at AS at, t.completion_tokens AS tokens, t.first_token_ms AS first_ms, t.total_ms AS total_ms
ORDER BY t.seq DESC LIMIT $replies
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


class Counted:
    """What is counted of a memory. Raises GraphFailure while the graph is closed."""

    @abstractmethod
    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """Read the graph with a trusted query."""

    def statistics(self, *, now: datetime, timezone: tzinfo | None = None, replies: int = REPLIES) -> Statistics:
        """All the numbers of the charts; `now` is aware, `timezone` None is that of this machine."""
        said = _days(self.query(_SAID), timezone)
        learned = _days(self.query(_LEARNED), timezone)
        ratings = {row["rating"]: row["n"] for row in self.query(_RATED)}
        today = now.astimezone(timezone).date()
        first = min([today, *said, *learned])
        trends = Counter(
            trend([as_datetime(at) for at in row["times"]], now, as_datetime(row["first"]))
            for row in self.query(_PROOF)
        )
        speeds = [_speed(row) for row in self.query(_REPLIES, {"replies": replies})]
        return Statistics(
            first_day=first,
            messages=_every_day(said, first, today),
            memories=_every_day(learned, first, today),
            ratings={rating: ratings.get(rating, 0) for rating in range(4)},
            unrated=ratings.get(None, 0),
            trends={name: trends[name] for name in TRENDS},
            speeds=tuple(reversed(speeds)),
        )


def _days(rows: Iterable[Mapping[str, Any]], timezone: tzinfo | None) -> Counter[date]:
    """How many there are on each day, of counts by quarters of an hour."""
    days: Counter[date] = Counter()
    for row in rows:
        days[datetime.fromtimestamp(row["quarter"] * QUARTER_MS / 1000, timezone).date()] += row["n"]
    return days


def _every_day(days: Mapping[date, int], first: date, today: date) -> tuple[int, ...]:
    """What lies ahead of today counts as today: clocks differ."""
    counts = [0] * ((today - first) // timedelta(days=1) + 1)
    for day, count in days.items():
        counts[min((day - first).days, len(counts) - 1)] += count
    return tuple(counts)


def _speed(row: Mapping[str, Any]) -> Speed:
    tokens, first_ms, total_ms = row["tokens"], row["first_ms"], row["total_ms"]
    writing_ms = total_ms - (first_ms or 0.0)
    return Speed(
        at=as_datetime(row["at"]),
        # the first token came before the time that is counted
        tokens_per_s=1000 * (tokens - 1) / writing_ms if tokens and tokens > 1 and writing_ms > 0 else None,
        first_token_s=first_ms / 1000 if first_ms is not None else None,
    )
