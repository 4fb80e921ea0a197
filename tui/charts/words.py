"""What the charts say: the numbers of a memory as curves and bars."""

import statistics as averages
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from tui.charts.chart import Bars, Curve

if TYPE_CHECKING:
    from graph.statistics import Speed, Statistics

RATINGS = ("0 routine", "1 notable", "2 significant", "3 pivotal")
LATELY = 30  # days
STEPS = ((70, 1, "day"), (500, 7, "week"))  # up to so many days a point is so many; beyond, 30


def charts_of(found: "Statistics") -> tuple[Curve | Bars, ...]:
    """All charts, in their order on the screen."""
    return (
        said(found),
        known(found),
        rated(found),
        going(found),
        speed(found.speeds),
        waited(found.speeds),
    )


def said(found: "Statistics") -> Curve:
    """Messages over time."""
    total, lately = sum(found.messages), sum(found.messages[-LATELY:])
    if not total:
        return Curve("Messages", "No messages yet.")
    points, name = _in_steps(found.messages)
    told = f"{total:,} in all, {lately:,} in the last {LATELY} days"
    first, last = _ends(found.first_day, len(found.messages))
    return Curve("Messages", told, points, first, last, f"most in a {name}: {max(points):,}")


def known(found: "Statistics") -> Curve:
    """How the memories grew."""
    total, lately = sum(found.memories), sum(found.memories[-LATELY:])
    if not total:
        return Curve("Memories", "No memories yet. clew learns as you chat.")
    first, last = _ends(found.first_day, len(found.memories))
    told = f"{total:,} in use or under review, {lately:,} of them in the last {LATELY} days"
    return Curve("Memories", told, list(accumulate(found.memories)), first, last, f"now: {total:,}")


def rated(found: "Statistics") -> Bars:
    """How much what was said matters."""
    judged = sum(found.ratings.values())
    if not judged:
        return Bars("How much it matters", "Nothing is rated yet. clew rates each exchange after the reply.")
    told = f"{judged:,} messages are rated" + (f", {found.unrated:,} are not yet" if found.unrated else "")
    return Bars("How much it matters", told, [(RATINGS[each], found.ratings[each]) for each in range(4)])


def going(found: "Statistics") -> Bars:
    """Where the memories are going."""
    if not sum(found.trends.values()):
        return Bars("Where memories are going", "There are no memories yet.")
    return Bars("Where memories are going", "by when they were said again", list(found.trends.items()))


def speed(speeds: "Sequence[Speed]") -> Curve:
    """Tokens a second over the last replies."""
    values = [each.tokens_per_s for each in speeds if each.tokens_per_s is not None]
    if not values:
        return Curve("Speed of replies", "No replies timed yet.")
    told = f"{averages.median(values):.1f} tokens per second (median of the last {_replies(len(values))})"
    return Curve("Speed of replies", told, values, "older", "newest", f"fastest: {max(values):.1f} tokens/s")


def waited(speeds: "Sequence[Speed]") -> Curve:
    """How long the first word took."""
    values = [each.first_token_s for each in speeds if each.first_token_s is not None]
    if not values:
        return Curve("Time to first word", "No replies timed yet.")
    told = f"{averages.median(values):.2f} s (median of the last {_replies(len(values))})"
    return Curve("Time to first word", told, values, "older", "newest", f"longest: {max(values):.2f} s")


def _replies(count: int) -> str:
    return "reply" if count == 1 else f"{count} replies"


def _in_steps(days: Sequence[int]) -> tuple[list[int], str]:
    """The days summed up to steps that fit on a screen, the last step whole; and what a step is called."""
    size, name = next(((size, name) for most, size, name in STEPS if len(days) <= most), (30, "stretch of 30 days"))
    beginning = len(days) % size
    steps = [sum(days[:beginning])] if beginning else []
    return steps + [sum(days[place : place + size]) for place in range(beginning, len(days), size)], name


def _ends(first: date, days: int) -> tuple[str, str]:
    last = first + timedelta(days=days - 1)
    return ("", "today") if days == 1 else (first.isoformat(), last.isoformat())
