"""What `--since` understands."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.commands.choosing import EARLIEST, parse_since

NOW = datetime(2025, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("90s", timedelta(seconds=90)),
        ("45m", timedelta(minutes=45)),
        ("2h", timedelta(hours=2)),
        ("3d", timedelta(days=3)),
        ("1w", timedelta(weeks=1)),
        (" 2 H ", timedelta(hours=2)),
    ],
)
def test_how_long_ago_counts_back_from_now(text: str, ago: timedelta) -> None:
    assert parse_since(text, now=NOW) == NOW - ago


@pytest.fixture
def kathmandu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock on the wall that no machine of ours goes by: 5:45 ahead."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("kathmandu")
def test_a_date_is_the_midnight_that_begins_it_on_the_users_clock() -> None:
    assert parse_since("2025-03-01", now=NOW) == datetime(2025, 2, 28, 18, 15, tzinfo=UTC)


@pytest.mark.usefixtures("kathmandu")
def test_a_time_without_an_offset_is_the_users_own() -> None:
    assert parse_since("2025-03-01T14:30", now=NOW) == datetime(2025, 3, 1, 8, 45, tzinfo=UTC)


def test_an_offset_is_obeyed() -> None:
    two_hours_east = timezone(timedelta(hours=2))
    found = parse_since("2025-03-01T14:30+02:00", now=NOW)
    assert found == datetime(2025, 3, 1, 14, 30, tzinfo=two_hours_east)
    assert found.tzinfo is UTC


@pytest.mark.parametrize("text", ["99999999d", "999999999999w", "0001-01-01", "0001-01-01T00:00+14:00"])
def test_what_is_older_than_any_memory_means_everything(text: str) -> None:
    assert parse_since(text, now=NOW) == EARLIEST


@pytest.mark.parametrize("text", ["", "yesterday-ish", "2025-13-01", "2h3d", "-2h", "9" * 40 + "d", "2025-02-30"])
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="Write it as 2025-03-01"):
        parse_since(text, now=NOW)


def test_a_time_past_the_end_of_the_calendar_is_refused() -> None:
    with pytest.raises(ValueError, match="out of range"):
        parse_since("9999-12-31T23:59-23:59", now=NOW)


@given(st.text(max_size=30))
def test_no_text_at_all_breaks_it(text: str) -> None:
    try:
        found = parse_since(text, now=NOW)
    except ValueError:
        return
    assert found.tzinfo is UTC
    assert found >= EARLIEST
