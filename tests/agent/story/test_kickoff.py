"""The prose that stories begin with is read for what it says, and nothing is found that it does not say."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.story.kickoff import Found, Kickoff, parse
from agent.story.names import Named

MEMBERS = (Named("you", ("Ada",)), Named("mara", ("Mara Voss", "Mara")), Named("jonas", ("Jonas Hale", "Jonas")))
TABLE = tomllib.loads(Path(__file__).with_name("kickoff.toml").read_text(encoding="utf-8"))["kickoff"]
VALUES = ("place", "clock", "daytime", "weather")


def read(prose: str) -> Kickoff:
    return parse(prose, MEMBERS, you="you")


def told(kickoff: Kickoff) -> dict[str, Any]:
    """What was found, as in the table."""
    values = {name: found.value for name in VALUES if (found := getattr(kickoff, name)) is not None}
    return values | {
        "people": {person.id: person.where for person in kickoff.people},
        "doing": sorted(activity.id for activity in kickoff.activities),
        "met": kickoff.met,
        "met_sentence": kickoff.met_sentence,
    }


@pytest.mark.parametrize("row", TABLE, ids=[str(at) for at in range(len(TABLE))])
def test_what_prose_says_is_found_and_no_more(row: dict[str, Any]) -> None:
    expected = {name: row[name] for name in VALUES if name in row} | {
        "people": row.get("people", {}),
        "doing": sorted(row.get("doing", ())),
        "met": row.get("met"),
        "met_sentence": row.get("met_sentence", ""),
    }
    assert told(read(row["prose"])) == expected


def test_each_thing_found_has_the_sentence_it_stands_in() -> None:
    kickoff = read("It is dusk. Mara, the keeper, mends a net. Jonas is in the cellar.\nPlace: the lighthouse")
    assert kickoff.daytime == Found("dusk", "It is dusk.")
    assert kickoff.place == Found("the lighthouse", "Place: the lighthouse")
    assert [(person.id, person.sentence) for person in kickoff.people] == [
        ("mara", "Mara, the keeper, mends a net."),
        ("jonas", "Jonas is in the cellar."),
    ]
    assert [activity.sentence for activity in kickoff.activities] == ["Mara, the keeper, mends a net."]


def test_of_two_characters_at_most_it_is_told_whether_they_met() -> None:
    prose = "Mara and Jonas have never met."
    assert parse(prose, MEMBERS).met is None  # three, of whom none is known to be "you"
    assert parse(prose, MEMBERS[1:]).met is False
    assert parse(prose, MEMBERS[:2], you="you").met is None


def test_what_is_out_of_character_is_not_read() -> None:
    assert read("((Mara sits in the kitchen at dawn.))") == Kickoff()


WORDS = st.lists(
    st.sampled_from(
        [
            "Mara",
            "Jonas",
            "sits",
            "in",
            "the",
            "kitchen",
            "of",
            "at",
            "dawn",
            "rain",
            "heavy",
            ".",
            ",",
            "\n",
            '"',
            "*",
            "and",
            "is",
            "Place:",
            "never met",
            "you",
            "10:30",
        ]
    )
)


@given(WORDS.map(" ".join) | st.text())
def test_whatever_is_found_is_in_the_prose(prose: str) -> None:
    kickoff = read(prose)
    found = [each for name in VALUES if (each := getattr(kickoff, name)) is not None]
    assert all(each.value in each.sentence and each.sentence in prose and each.value for each in found)
    assert all(person.where in person.sentence and person.sentence in prose for person in kickoff.people)
    assert all(activity.sentence in prose for activity in kickoff.activities)
    assert (kickoff.met is None) == (not kickoff.met_sentence)
    assert kickoff.met_sentence in prose


PIECES = [
    "Mara sits in the kitchen. ",
    "in the ",
    "Mara and ",
    "rain and ",
    "Place: ",
    "of the kitchen ",
    ", ",
    '"',
    "5 ",
    "\n",
]


@pytest.mark.parametrize("piece", PIECES)
def test_200_kilobytes_of_anything_are_read(piece: str) -> None:
    assert len(read(piece * (200_000 // len(piece))).people) <= 3
