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

VALUES = ("place", "clock", "daytime", "weather")


def read(prose: str) -> Kickoff:
    return parse(prose, MEMBERS, you="you")


def told(prose: str) -> list[str]:
    """What is found."""
    kickoff = read(prose)
    found = {name: getattr(kickoff, name) for name in VALUES}
    return in_lines(
        {name: each.value for name, each in found.items() if each is not None}
        | {"people": {person.id: person.where for person in kickoff.people}}
        | {"doing": [activity.id for activity in kickoff.activities]}
        | {"met": kickoff.met, "met_sentence": kickoff.met_sentence}
    )


def in_lines(values: dict[str, Any]) -> list[str]:
    """What the table has of a prose; what is not there is left out."""
    lines = [f"{name}: {value}" for name, value in values.items() if isinstance(value, str | bool) and value != ""]
    lines += [f"{who} is there, {where}" for who, where in values.get("people", {}).items()]
    return lines + [f"{who} does something" for who in values.get("doing", [])]


def table(path: Path) -> Rows[str]:
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["kickoff"]
    return [(row["prose"], in_lines({**row, "prose": "", "about": ""})) for row in rows]


def test_what_prose_says_is_found_and_no_more() -> None:
    scored(Path(__file__).with_name("kickoff.toml"), told, 1, 0.25, read=table)


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
    found = [each for name in VALUES if (each := getattr(kickoff, name)) is not None]
    assert all(each.value in each.sentence and each.sentence in prose and each.value for each in found)
    assert all(person.where in person.sentence and person.sentence in prose for person in kickoff.people)
    assert all(activity.sentence in prose for activity in kickoff.activities)
    assert (kickoff.met is None) == (not kickoff.met_sentence)
    assert kickoff.met_sentence in prose


PIECES = ("Mara sits in the kitchen. ", "in the ", "Mara and ", "rain and ", "Place: ", "of the kitchen ", ", ")


@pytest.mark.parametrize("piece", [*PIECES, '"', "5 ", "\n"])
def test_200_kilobytes_of_anything_are_read(piece: str) -> None:
    assert len(read(piece * (few(200_000) // len(piece))).people) <= 3
