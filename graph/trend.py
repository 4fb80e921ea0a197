"""Where an observation is going, from when the words that prove it were said."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from graph.beliefs import Trend

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
