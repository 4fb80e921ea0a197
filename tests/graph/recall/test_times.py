"""Times in questions: which range they mean, in the asker's own time zone, also where clocks and years change."""

from datetime import UTC, datetime, timedelta
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


RANGES = (
    ("today", "2026-02-11", "2026-02-12"),
    ("what did I say yesterday", "2026-02-10", "2026-02-11"),
    ("yesterday morning", "2026-02-10 05:00", "2026-02-10 12:00"),
    ("last night", "2026-02-10 18:00", "2026-02-11 05:00"),
    ("the day before yesterday", "2026-02-09", "2026-02-10"),
    ("what did we talk about last Tuesday?", "2026-02-10", "2026-02-11"),
    ("on Wednesday", "2026-02-04", "2026-02-05"),
    ("this Friday", "2026-02-13", "2026-02-14"),
    ("Monday evening", "2026-02-09 17:00", "2026-02-10"),
    ("since Monday", "2026-02-09", None),
    ("this week", "2026-02-09", "2026-02-16"),
    ("last week", "2026-02-02", "2026-02-09"),
    ("last weekend", "2026-02-07", "2026-02-09"),
    ("this weekend", "2026-02-14", "2026-02-16"),
    ("the last week", "2026-02-04 15:00", "2026-02-11 15:00"),
    ("in the past three days", "2026-02-08 15:00", "2026-02-11 15:00"),
    ("last month", "2026-01-01", "2026-02-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("two weeks ago", "2026-01-25", "2026-02-01"),
    ("3 days ago", "2026-02-08", "2026-02-09"),
    ("a couple of months ago", "2025-12-01", "2026-01-01"),
    ("in March", "2025-03-01", "2025-04-01"),
    ("in February", "2026-02-01", "2026-03-01"),
    ("last February", "2025-02-01", "2025-03-01"),
    ("in March 2023", "2023-03-01", "2023-04-01"),
    ("before March 2023", None, "2023-03-01"),
    ("after March 2023", "2023-04-01", None),
    ("in 2023", "2023-01-01", "2024-01-01"),
    ("on 3 May 2023", "2023-05-03", "2023-05-04"),
    ("on May 3rd, 2023", "2023-05-03", "2023-05-04"),
    ("on the 3rd of May", "2025-05-03", "2025-05-04"),
    ("on 12 Feb", "2025-02-12", "2025-02-13"),  # tomorrow is not behind us
    ("2023-05-03", "2023-05-03", "2023-05-04"),
    ("29 February", "2024-02-29", "2024-03-01"),
    ("from Monday to Wednesday", "2026-02-09", "2026-02-12"),
    ("between 3 May and 7 May 2023", "2023-05-03", "2023-05-08"),
    ("from December 29 to January 3", "2025-12-29", "2026-01-04"),
    ("the week before 9 May 2023", "2023-05-02", "2023-05-10"),
    ("two days after 3 May 2023", "2023-05-03", "2023-05-06"),
    ("on the Sunday before October 25, 2022", "2022-10-18", "2022-10-26"),
    ("last Friday, on 23 January 2022", "2022-01-23", "2022-01-24"),
    ("over the weekend", "2026-02-07", "2026-02-09"),
    ("on the weekend", "2026-02-07", "2026-02-09"),
    ("the weekend", "2026-02-07", "2026-02-09"),
    ("since the weekend", "2026-02-07", None),
    ("a fortnight ago", "2026-01-25", "2026-02-01"),
    ("in the last fortnight", "2026-01-28 15:00", "2026-02-11 15:00"),
    ("the last few weeks", "2026-01-21 15:00", "2026-02-11 15:00"),
    ("a couple of weeks ago", "2026-01-25", "2026-02-01"),
    ("on the 11th", "2026-02-11", "2026-02-12"),
    ("on the 17th?", "2026-01-17", "2026-01-18"),
    ("the 31st", "2026-01-31", "2026-02-01"),
    ("on the 3rd of last month", "2026-01-03", "2026-01-04"),
    ("what did we say on the 3rd about boats", "2026-02-03", "2026-02-04"),
    ("between the 3rd and the 5th", "2026-02-03", "2026-02-06"),
    ("17.11.2025", "2025-11-17", "2025-11-18"),
    ("on 17-11-2025", "2025-11-17", "2025-11-18"),
    ("2025/11/17", "2025-11-17", "2025-11-18"),
    ("on 11/17", "2025-11-17", "2025-11-18"),
    ("17/11", "2025-11-17", "2025-11-18"),
    ("11/17/25", "2025-11-17", "2025-11-18"),
    ("from 1/17 to 2/3", "2026-01-17", "2026-02-04"),
    ("last winter", "2024-12-01", "2025-03-01"),
    ("this winter", "2025-12-01", "2026-03-01"),
    ("last summer", "2025-06-01", "2025-09-01"),
    ("over the summer", "2025-06-01", "2025-09-01"),
    ("in the fall of 2023", "2023-09-01", "2023-12-01"),
    ("winter 2023", "2023-12-01", "2024-03-01"),
    ("from last week", "2026-02-02", "2026-02-09"),
    ("from last week on", "2026-02-02", None),
    ("from last week onwards", "2026-02-02", None),
    ("from March to now", "2025-03-01", None),
    ("my notes from last week on boats", "2026-02-02", "2026-02-09"),
)


def test_a_time_is_the_range_that_people_mean() -> None:
    def check(row: tuple[str, str | None, str | None]) -> None:
        text, since, until = row
        assert days(text) == (since, until)

    each(RANGES, check)


@pytest.mark.parametrize(
    "text",
    [
        "May I ask you a second question?",
        "March went well",
        "April said so",
        "we met twice",
        "31 February",
        "in the year dot",
        "1000 years ago",
        "it costs 2023 euros",
        "week after week",
        "yesterdays",
        "plans for the weekend",
        "a weekend in Rome",
        "on the 17th floor",
        "in the 20th century",
        "the 3rd of us",
        "on the 32nd",
        "1/2 cup of sugar",
        "24/7 support",
        "it costs 17.11.",
        "on 13/13",
        "spring rolls",
        "the fall of Rome",
        "in the fall of Rome",
        "mondayish",
        "",
    ],
)
def test_what_is_no_time_is_left_alone(text: str) -> None:
    assert span(text) is None


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


def test_a_day_is_the_users_day_not_that_of_utc() -> None:
    late = datetime(2026, 2, 11, 23, 30, tzinfo=UTC)  # already the 12th in Berlin
    found = find_time("today", now=late, timezone=BERLIN)
    assert found is not None
    assert found.since == datetime(2026, 2, 11, 23, 0, tzinfo=UTC)


def test_days_on_which_the_clock_changes_have_their_own_length() -> None:
    spring, autumn = span("on 29 March 2026", NOW + timedelta(days=90)), span("on 26 October 2025")
    assert spring is not None
    assert spring.since is not None
    assert spring.until is not None
    assert spring.until - spring.since == timedelta(hours=23)
    assert autumn is not None
    assert autumn.since is not None
    assert autumn.until is not None
    assert autumn.until - autumn.since == timedelta(hours=25)


def test_a_midnight_that_the_clock_leaps_over_is_the_moment_of_the_leap() -> None:
    beirut = ZoneInfo("Asia/Beirut")  # 00:00 became 01:00 on 31 March 2024
    found = find_time("on 31 March 2024", now=NOW, timezone=beirut)
    assert found is not None
    assert found.since == datetime(2024, 3, 30, 22, 0, tzinfo=UTC)


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
