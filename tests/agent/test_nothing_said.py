"""Asked for a time in which nothing was said, the memory says so."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from agent.recall import nothing_said
from graph.recall.intent import Intent


def test_a_time_in_which_nothing_was_said_is_told_by_its_days() -> None:
    midnight, next_midnight = datetime(2026, 11, 18, 23, tzinfo=UTC), datetime(2026, 11, 19, 23, tzinfo=UTC)
    morning, noon = datetime(2026, 11, 19, 5, tzinfo=UTC), datetime(2026, 11, 19, 11, tzinfo=UTC)
    for since, until, words in (
        (midnight, next_midnight, "on 2026-11-19."),
        (midnight, None, "from 2026-11-19 on."),
        (None, next_midnight, "before 2026-11-20."),
        (morning, noon, "from 2026-11-19 06:00 until 2026-11-19 12:00."),
        (None, None, "in other conversations yet."),
    ):
        told = nothing_said(Intent("recent", since, until), ZoneInfo("Europe/Berlin"))
        assert told == f"Nothing was said {words}"
