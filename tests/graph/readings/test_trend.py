"""A trend is read from times alone, and each of its bounds is where the words say."""

from datetime import UTC, datetime, timedelta

from graph.readings.statistics import trend
from tests.tables import each

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)


def of(*days: float, first: float = 365) -> str:
    return trend([NOW - timedelta(days=each) for each in days], NOW, NOW - timedelta(days=first))


def test_it_is_new_for_seven_days_whatever_else_was_said() -> None:
    assert of(7, first=7) == "new"
    assert of(0, 0, 0, first=0) == "new"
    assert trend([NOW], NOW, NOW - timedelta(days=7) - MOMENT) == "strengthening"
    assert trend([NOW], NOW, NOW + timedelta(days=400)) == "new"


PAST = MOMENT / timedelta(days=1)
EXPECTED = (
    ("strengthening", ((30,), (10, 20, 40), (-5,))),
    ("stable", ((30, 31), (61,), (60 + PAST,), (90,))),
    ("weakening", ((30 + PAST,), (31,), (60,), (10, 40, 50))),
    ("stale", ((90 + PAST,), (91,), ())),
)


def test_the_last_thirty_days_are_held_against_the_thirty_before_and_a_moment_past_a_bound_is_past_it() -> None:
    def check(row: tuple[str, tuple[tuple[float, ...], ...]]) -> None:
        expected, cases = row
        assert [of(*days) for days in cases] == [expected] * len(cases)

    each(EXPECTED, check)
