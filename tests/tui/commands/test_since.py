"""What `--since` understands."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.commands.choosing import EARLIEST, parse_since

NOW = datetime(2025, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def kathmandu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock on the wall that no machine of ours goes by: 5:45 ahead."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("kathmandu")
def test_a_time_is_so_long_ago_or_the_users_own_unless_it_has_an_offset() -> None:
    for text, meant in (
        ("90s", NOW - timedelta(seconds=90)),
        ("45m", NOW - timedelta(minutes=45)),
        ("2h", NOW - timedelta(hours=2)),
        ("3d", NOW - timedelta(days=3)),
        ("1w", NOW - timedelta(weeks=1)),
        (" 2 H ", NOW - timedelta(hours=2)),
        ("2025-03-01", datetime(2025, 2, 28, 18, 15, tzinfo=UTC)),  # the midnight that begins it
        ("2025-03-01T14:30", datetime(2025, 3, 1, 8, 45, tzinfo=UTC)),
        ("2025-03-01T14:30+02:00", datetime(2025, 3, 1, 12, 30, tzinfo=UTC)),
        *((text, EARLIEST) for text in ("99999999d", "999999999999w", "0001-01-01", "0001-01-01T00:00+14:00")),
    ):
        found = parse_since(text, now=NOW)
        assert (text, found, found.tzinfo) == (text, meant, UTC)


def test_anything_else_is_refused_with_examples() -> None:
    for text in ("", "yesterday-ish", "2025-13-01", "2h3d", "-2h", "9" * 40 + "d", "2025-02-30"):
        with pytest.raises(ValueError, match="Write it as 2025-03-01"):
            parse_since(text, now=NOW)
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
