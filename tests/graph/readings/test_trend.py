"""A trend is read from times alone, and each of its bounds is where the words say."""

from datetime import UTC, datetime, timedelta

import pytest

from graph.readings.statistics import trend

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)


def of(*days: float, first: float = 365) -> str:
    return trend([NOW - timedelta(days=each) for each in days], NOW, NOW - timedelta(days=first))


def test_it_is_new_for_seven_days_whatever_else_was_said() -> None:
    assert of(7, first=7) == "new"
    assert of(0, 0, 0, first=0) == "new"
    assert trend([NOW], NOW, NOW - timedelta(days=7) - MOMENT) == "strengthening"
    assert trend([NOW], NOW, NOW + timedelta(days=400)) == "new"


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ((30,), "strengthening"),
        ((30, 31), "stable"),
        ((31,), "weakening"),
        ((60,), "weakening"),
        ((61,), "stable"),
        ((10, 20, 40), "strengthening"),
        ((10, 40, 50), "weakening"),
        ((90,), "stable"),
        ((91,), "stale"),
        ((-5,), "strengthening"),
        ((), "stale"),
    ],
)
def test_the_last_thirty_days_are_held_against_the_thirty_before(days: tuple[float, ...], expected: str) -> None:
    assert of(*days) == expected


def test_a_moment_past_a_bound_is_past_it() -> None:
    first = NOW - timedelta(days=365)
    assert trend([NOW - timedelta(days=30) - MOMENT], NOW, first) == "weakening"
    assert trend([NOW - timedelta(days=60) - MOMENT], NOW, first) == "stable"
    assert trend([NOW - timedelta(days=90) - MOMENT], NOW, first) == "stale"
