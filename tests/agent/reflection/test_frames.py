"""A role play goes on over messages: what is said in it is the role's."""

from agent.reflection.frames import LONGEST, spoken_in_a_frame
from tests.agent.scored import score, tables

from .told import said


def foreign(*texts: str) -> list[int]:
    turns = [said(f"t{place}", text) for place, text in enumerate(texts)]
    return [place for place, turn in enumerate(turns) if turn.id in spoken_in_a_frame(turns)]


def test_it_begins_where_it_is_proposed_and_goes_on() -> None:
    later = ("My wife is dying.", "I have forty camels.")
    score(tables(__file__)["openings"], lambda opening: foreign("I live in Oslo.", opening, *later) == [1, 2, 3])


def test_it_ends_where_somebody_says_so() -> None:
    assert foreign(
        "let's role-play", "I am a king.", "ok, end of the role play. I live in Oslo.", "We have a cat."
    ) == [0, 1]


def test_it_ends_by_itself() -> None:
    found = foreign("let's role-play", *["I am a king."] * (LONGEST + 3))
    assert found == list(range(LONGEST + 1))


def test_plain_talk_is_ones_own() -> None:
    assert foreign("I play the cello.", "You are great, thanks!", "I'm acting in a play in June.") == []
