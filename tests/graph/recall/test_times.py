"""Times in questions: which range they mean, in the asker's own time zone, also where clocks and years change."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.recall.times import Span, find_time
from tests.tables import each

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 2, 11, 15, 0, tzinfo=BERLIN)  # a Wednesday


def span(text: str, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> Span | None:
    return find_time(text, now=now, timezone=zone)


def days(text: str, now: datetime = NOW) -> tuple[str | None, str | None]:
    """Since and until as local dates."""
    found = span(text, now)
    assert found is not None, text
    ends = (found.since, found.until)
    since, until = (None if end is None else end.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M") for end in ends)
    return (since and since.removesuffix(" 00:00"), until and until.removesuffix(" 00:00"))


SAID = tomllib.loads((Path(__file__).parent / "times.toml").read_text("utf-8"))


def test_a_time_is_the_range_that_people_mean_and_what_is_none_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")

    def means(row: tuple[str, list[str]]) -> None:
        text, ends = row
        assert [end or "" for end in days(text)] == ends

    def is_none(text: str) -> None:
        assert span(text) is None

    each(SAID["ranges"].items(), means)
    each(SAID["nothing"]["phrases"], is_none)


def test_which_number_of_a_date_with_slashes_is_the_day_is_the_locales(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_TIME", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert days("on 3/4/2025") == ("2025-03-04", "2025-03-05")
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    assert days("on 3/4/2025") == ("2025-03-04", "2025-03-05")
    monkeypatch.setenv("LC_TIME", "en_GB.UTF-8")
    assert days("on 3/4/2025") == ("2025-04-03", "2025-04-04")
    assert days("on 3/14/2025") == ("2025-03-14", "2025-03-15")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert days("on 3/4/2025") == ("2025-03-04", "2025-03-05")
    assert days("3.4.2025") == ("2025-04-03", "2025-04-04")


def test_a_year_boundary_is_crossed_backwards() -> None:
    new_year = datetime(2026, 1, 1, 0, 30, tzinfo=BERLIN)
    assert days("yesterday", new_year) == ("2025-12-31", "2026-01-01")
    assert days("last month", new_year) == ("2025-12-01", "2026-01-01")
    assert days("last week", new_year) == ("2025-12-22", "2025-12-29")
    assert days("on the 31st", new_year) == ("2025-12-31", "2026-01-01")
    assert days("12/31", new_year) == ("2025-12-31", "2026-01-01")
    assert days("last winter", new_year) == ("2024-12-01", "2025-03-01")
    assert days("in December", new_year) == ("2025-12-01", "2026-01-01")


@pytest.mark.parametrize(
    ("text", "now", "zone", "since"),
    [
        # already the 12th in Berlin
        ("today", datetime(2026, 2, 11, 23, 30, tzinfo=UTC), BERLIN, datetime(2026, 2, 11, 23, tzinfo=UTC)),
        # 00:00 became 01:00 on 31 March 2024
        ("on 31 March 2024", NOW, ZoneInfo("Asia/Beirut"), datetime(2024, 3, 30, 22, tzinfo=UTC)),
    ],
)
def test_a_day_is_the_users_and_begins_at_a_leap(text: str, now: datetime, zone: ZoneInfo, since: datetime) -> None:
    found = span(text, now, zone)
    assert found is not None
    assert found.since == since


def test_days_on_which_the_clock_changes_have_their_own_length() -> None:
    for text, now, hours in (("on 29 March 2026", NOW + timedelta(days=90), 23), ("on 26 October 2025", NOW, 25)):
        found = span(text, now)
        assert found is not None
        assert found.since is not None
        assert found.until is not None
        assert found.until - found.since == timedelta(hours=hours)


def test_the_text_is_given_back_without_the_time() -> None:
    text = "What did Anna say about boats on 3 May 2023 in the harbour?"
    found = span(text)
    assert found is not None
    assert found.cut(text) == "What did Anna say about boats in the harbour?"


@given(st.text(max_size=200))
def test_any_text_is_read_or_left_alone(text: str) -> None:
    found = span(text)
    assert found is None or found.since is None or found.until is None or found.since < found.until


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)), st.sampled_from(["last week", "yesterday", "in May"]))
def test_the_past_is_never_ahead(now: datetime, text: str) -> None:
    local = now.replace(tzinfo=BERLIN)
    found = span(text, local)
    assert found is not None
    assert found.since is not None
    assert found.since <= local
