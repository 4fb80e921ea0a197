"""What is counted: what stands, by day, and nothing of what is gone; and a trend is read from times alone."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from graph.memory import Memory
from graph.readings.statistics import trend
from tests.graph.deeds import delete, hide, rate
from tests.graph.talk import reply, said, talk
from tests.graph.teach import observed
from tests.tables import each

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(days_ago: float) -> int:
    return int((NOW - timedelta(days=days_ago)).timestamp() * 1000)


@pytest.fixture
def timed(memory: Memory) -> Memory:
    """Four messages on three days, the newest reply timed."""
    talk(memory, 0)
    memory.append(
        said("a", said_at=at(3)),
        reply("b", parent="a", said_at=at(3), total_ms=3000.0, first_token_ms=1000.0, completion_tokens=41),
        said("c", parent="b", said_at=at(1)),
        reply("d", parent="c", said_at=at(0), total_ms=5000.0, first_token_ms=1000.0, completion_tokens=41),
    )
    return memory


def test_messages_are_counted_by_the_day_of_the_clock_on_the_wall_without_a_gap(timed: Memory) -> None:
    found = timed.readings.statistics(now=NOW, timezone=UTC)
    assert found.first_day == date(2026, 2, 26)
    assert found.messages == (2, 0, 1, 1)
    there = timezone(timedelta(hours=12, minutes=45))
    assert timed.readings.statistics(now=NOW, timezone=there).first_day == date(2026, 2, 27)
    before = timed.readings.statistics(now=NOW - timedelta(days=1), timezone=UTC)
    assert before.messages == (2, 0, 2), "what lies ahead of now is of today"
    speeds = [(each.tokens_per_s, each.first_token_s) for each in found.speeds]
    assert speeds == [(20.0, 1.0), (10.0, 1.0)], "those of the latest replies, the oldest first"
    assert [each.tokens_per_s for each in timed.readings.statistics(now=NOW, timezone=UTC, replies=1).speeds] == [10.0]


def test_what_is_deleted_is_in_no_number_and_memories_of_hidden_words_are_not_counted(timed: Memory) -> None:
    timed.append(rate("a", 2, by="user"), observed("o", "a"), observed("p", "c"))
    found = timed.readings.statistics(now=NOW, timezone=UTC)
    assert (found.ratings, sum(found.memories), found.unrated) == ({0: 0, 1: 0, 2: 1, 3: 0}, 2, 3)
    timed.append(hide("c"))
    found = timed.readings.statistics(now=NOW, timezone=UTC)
    assert sum(found.memories) == sum(found.trends.values()) == 1
    assert found.unrated == 2
    timed.append(delete("a"))
    found = timed.readings.statistics(now=NOW, timezone=UTC)
    assert (sum(found.messages), sum(found.ratings.values())) == (3, 0)
    assert sum(found.memories) == sum(found.trends.values()) == 0


def test_an_empty_memory_has_today_alone(memory: Memory) -> None:
    found = memory.readings.statistics(now=NOW, timezone=UTC)
    assert (found.first_day, found.messages, found.memories, found.speeds) == (NOW.date(), (0,), (0,), ())
    assert (sum(found.trends.values()), found.unrated) == (0, 0)


MOMENT = timedelta(milliseconds=1)


def of(*days: float, first: float = 365) -> str:
    return trend([NOW - timedelta(days=each) for each in days], NOW, NOW - timedelta(days=first))


def test_it_is_new_for_seven_days_whatever_else_was_said() -> None:
    assert of(7, first=7) == "new"
    assert of(0, 0, 0, first=0) == "new"
    assert trend([NOW], NOW, NOW - timedelta(days=7) - MOMENT) == "strengthening"
    assert trend([NOW], NOW, NOW + timedelta(days=400)) == "new"


A_MOMENT = MOMENT / timedelta(days=1)
EXPECTED = (
    ("strengthening", ((30,), (10, 20, 40), (-5,))),
    ("stable", ((30, 31), (61,), (60 + A_MOMENT,), (90,))),
    ("weakening", ((30 + A_MOMENT,), (31,), (60,), (10, 40, 50))),
    ("stale", ((90 + A_MOMENT,), (91,), ())),
)


def test_the_last_thirty_days_are_held_against_the_thirty_before_and_a_moment_past_a_bound_is_past_it() -> None:
    def check(row: tuple[str, tuple[tuple[float, ...], ...]]) -> None:
        expected, cases = row
        assert [of(*days) for days in cases] == [expected] * len(cases)

    each(EXPECTED, check)
