"""What a question is after, read without a model."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from graph.recall.intent import Intent, read_intent, spoken
from tests.tables import each

NOW = datetime(2026, 2, 11, 15, 0, tzinfo=UTC)
NAMES = ("Anna", "Tom Reed")
QUESTIONS: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "questions.toml").read_text("utf-8"))


def read(query: str) -> Intent:
    return read_intent(query, now=NOW, timezone=UTC, names=NAMES)


def test_a_question_is_read_as_what_it_is_after_and_one_with_several_answers_known_by_its_plural() -> None:
    def check(row: tuple[str, str]) -> None:
        after, query = row
        if after in ("several", "one"):
            assert read(query).several == (after == "several")
        else:
            assert read(query).route == after

    each([(after, query) for after, queries in QUESTIONS.items() for query in queries], check)


def test_a_time_and_names_beside_content_words_are_told_and_the_time_is_cut_from_the_words() -> None:
    found = read("What did Anna say about boats last month?")
    assert (found.since, found.until) == (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))
    assert found.words == "What did Anna say about boats ?"
    assert found.names == ("Anna",)
    assert read("Did tom reed know ANNA?").names == ("Tom Reed", "Anna"), "in the order of the question"
    assert read("Annabel met Tom").names == (), "and only whole"
    page = read("yesterday " * 2_000)
    assert (page.route, page.since) == ("recall", None), "a page is no question about time"


@pytest.mark.parametrize("query", ["over the weekend", "on the 17th", "11/17", "last winter", "a fortnight ago"])
def test_a_day_asked_for_begins_where_the_asker_is(query: str) -> None:
    for zone in (ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")):
        found = read_intent(query, now=NOW, timezone=zone)
        assert found.since is not None
        assert found.until is not None
        since, until = found.since.astimezone(zone), found.until.astimezone(zone)
        assert (since.hour, since.minute, until.hour, until.minute) == (0, 0, 0, 0)
        assert until <= NOW


def test_a_season_is_a_time_of_saying_only_where_saying_is_spoken_of() -> None:
    since = datetime(2025, 6, 1, tzinfo=UTC)
    asked = read("What did we say about boats last summer?")
    assert (asked.since, asked.words) == (since, "What did we say about boats ?")
    assert read("our conversations last summer").since == read("last summer").since == since
    event = read("Where did Anna swim last summer?")
    assert (event.route, event.since, event.words) == ("recall", None, "Where did Anna swim last summer?")
    assert spoken("Where did Anna swim last summer?", now=NOW, timezone=UTC, names=NAMES).endswith("last summer?")


def test_a_question_is_embedded_as_it_would_have_been_said() -> None:
    def as_said(query: str) -> str:
        return spoken(query, now=NOW, timezone=UTC, names=NAMES)

    assert as_said("When did Anna's dog die?") == "When did my dog die?"
    assert as_said("What did Anna tell Tom Reed on 3 May 2023?") == "What did I tell I?"
    assert as_said("What about boats?") == "What about boats?"
    assert as_said("last Tuesday") == "last Tuesday"
