"""Who leaves and joins is guessed from what is said and told, and little is guessed that is not so."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given

from agent.story.departures import Guess, departure
from agent.story.names import Named
from bench.fiction.tables import MEMBERS, moved, moves
from tests.examples import few
from tests.phrases import babble, scored
from tests.tables import each


def test_who_leaves_and_joins_is_found_and_little_else() -> None:
    scored(Path(__file__).with_name("departures.toml"), moved, 0.994, held_out=0.98)


def test_the_tables_have_the_rows_that_are_asked_for() -> None:
    table, held_out = moves("departures"), moves("departures_held_out")
    assert len(table) >= 150
    assert sum(not expected for _, expected in table) >= 75
    assert len(dict([*table, *held_out])) == len(table) + len(held_out)


def test_a_guess_has_the_sentence_that_says_so() -> None:
    said = 'The fire cracks. "Enough," I say. Jonas gets up and leaves the room. Nobody speaks.'
    assert departure(said, MEMBERS, speaker="you") == [Guess("jonas", "leaves", "Jonas gets up and leaves the room.")]


SEVERAL = [
    ("*Mara and Jonas leave together*", ["mara leaves", "jonas leaves"]),
    ("I'll be right back. *comes back a few minutes later*", ["you leaves", "you joins"]),
    ("I have to go now. Bye, everyone! *leaves*", ["you leaves"]),
    ("*Jonas leaves.* ((I'm leaving too, dinner)) Good riddance.", ["jonas leaves"]),
    ('"I\'m leaving," Mara says. "Goodbye, everyone."', ["mara leaves", "you leaves"]),
    ('"I\'m leaving," she says.', []),
    ("*the old man leaves*", []),
]


def test_several_guesses_are_in_order_and_none_is_told_twice() -> None:
    def told(row: tuple[str, list[str]]) -> None:
        assert moved(row[0]) == row[1]

    each(SEVERAL, told)


def test_nobody_is_meant_by_a_name_that_two_share() -> None:
    lund, voss = Named("lund", ("Mara Lund", "Mara")), Named("voss", ("Mara Voss", "Mara"))
    assert departure("*Mara leaves the room*", [lund, voss], speaker="you") == []
    assert departure("*Mara Lund leaves the room*", [lund, voss])[0].id == "lund"


def test_without_a_speaker_nobody_is_meant_by_i() -> None:
    assert departure("I have to go now, bye everyone! *leaves the room*", MEMBERS) == []
    assert departure("*Jonas leaves the room*", MEMBERS) == [Guess("jonas", "leaves", "Jonas leaves the room")]


def test_a_name_that_is_a_word_leaves_only_with_a_capital() -> None:
    will = Named("will", ("Will Turner", "Will"))
    assert departure("*Will leaves the room*", [will])[0].id == "will"
    assert departure("*a will leaves nothing out*", [will]) == []


@given(babble('I Mara Jonas and leaves leave out back to the room . , * " ?'))
def test_only_members_are_guessed_and_their_sentence_is_in_the_message(text: str) -> None:
    guesses = departure(text, MEMBERS, speaker="you")
    assert all(guess.id in ("you", "mara", "jonas") and guess.sentence in text for guess in guesses)
    for member in ("you", "mara", "jonas"):
        kinds = [guess.kind for guess in guesses if guess.id == member]
        assert all(one != other for one, other in pairwise(kinds))


@pytest.mark.parametrize(
    "piece", ["I leave. ", "Mara and ", "leave ", "the ", "out of the ", "if ", '"I go," ', "*", "back, "]
)
def test_200_kilobytes_of_anything_are_read(piece: str) -> None:
    assert len(departure(piece * (few(200_000) // len(piece)), MEMBERS, speaker="you")) <= 1
