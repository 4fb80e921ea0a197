"""The prose that stories begin with is read for what it says, and nothing is found that it does not say."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from agent.story.kickoff import Found, Kickoff, parse
from bench.fiction.tables import MEMBERS
from tests.examples import few
from tests.phrases import Rows, babble, scored

FIELDS = ("place", "clock", "daytime", "weather", "met", "met_sentence", "people", "doing")


def read(prose: str) -> Kickoff:
    return parse(prose, MEMBERS, you="you")


def told(asked: tuple[str, str]) -> list[str]:
    """What is found of a field in a prose."""
    prose, field = asked
    kickoff = read(prose)
    match field:
        case "people":
            return [f"{person.id} {person.where}" for person in kickoff.people]
        case "doing":
            return [activity.id for activity in kickoff.activities]
        case _:
            found = getattr(kickoff, field)
            return in_words(found.value if isinstance(found, Found) else found)


def in_words(value: Any) -> list[str]:
    """What the table has of a field; nothing where it is not told."""
    match value:
        case dict():
            return [f"{who} {where}" for who, where in value.items()]
        case list():
            return value
        case _:
            return [] if value in (None, "") else [str(value)]


def table(path: Path) -> Rows[tuple[str, str]]:
    """A row for each field of each prose."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["kickoff"]
    return [((row["prose"], field), in_words(row.get(field))) for row in rows for field in FIELDS]


def test_what_prose_says_is_found_and_no_more() -> None:
    scored(Path(__file__).with_name("kickoff.toml"), told, 1, 0.825, read=table)


def test_each_thing_found_has_the_sentence_it_stands_in() -> None:
    kickoff = read("It is dusk. Mara, the keeper, mends a net. Jonas is in the cellar.\nPlace: the lighthouse")
    assert kickoff.daytime == Found("dusk", "It is dusk.")
    assert kickoff.place == Found("the lighthouse", "Place: the lighthouse")
    found = [(person.id, person.sentence) for person in kickoff.people]
    assert found == [("mara", "Mara, the keeper, mends a net."), ("jonas", "Jonas is in the cellar.")]
    assert [activity.sentence for activity in kickoff.activities] == ["Mara, the keeper, mends a net."]


def test_of_two_characters_at_most_it_is_told_whether_they_met() -> None:
    prose = "Mara and Jonas have never met."
    assert parse(prose, MEMBERS).met is None  # three, of whom none is known to be "you"
    assert parse(prose, MEMBERS[1:]).met is False
    assert parse(prose, MEMBERS[:2], you="you").met is None


def test_what_is_out_of_character_is_not_read() -> None:
    assert read("((Mara sits in the kitchen at dawn.))") == Kickoff()


WORDS = 'Mara Jonas sits in the kitchen of at dawn rain heavy . , " * and is Place: you 10:30'


@given(babble(WORDS, "\n", "never met"))
def test_whatever_is_found_is_in_the_prose(prose: str) -> None:
    kickoff = read(prose)
    found = [each for name in FIELDS[:4] if (each := getattr(kickoff, name)) is not None]
    assert all(each.value in each.sentence and each.sentence in prose and each.value for each in found)
    assert all(person.where in person.sentence and person.sentence in prose for person in kickoff.people)
    assert all(activity.sentence in prose for activity in kickoff.activities)
    assert (kickoff.met is None) == (not kickoff.met_sentence)
    assert kickoff.met_sentence in prose


PIECES = ("Mara sits in the kitchen. ", "in the ", "Mara and ", "rain and ", "Place: ", "of the kitchen ", ", ")


@pytest.mark.parametrize("piece", [*PIECES, '"', "5 ", "\n"])
def test_200_kilobytes_of_anything_are_read(piece: str) -> None:
    assert len(read(piece * (few(200_000) // len(piece))).people) <= 3
