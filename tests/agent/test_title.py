"""Titles: grounded in the words, or the words themselves."""

import pytest

from agent.text import GeneratedTitle, grounded, propose_title, verbatim
from graph.readings.rows import LONGEST
from tests.fakes import FakeGenerator


@pytest.mark.parametrize(
    ("title", "good"),
    [("Tide pool crabs", True), ("Quantum chess openings", False), ("", False), ("tide " * 20, False)],
)
def test_a_title_is_grounded_when_most_of_its_words_were_said(title: str, good: bool) -> None:
    assert grounded(title, "We watched crabs in a tide pool") is good


def test_the_first_words_are_the_floor() -> None:
    assert verbatim("\n  \n**Hello**   there\nmore") == "**Hello** there"
    long = verbatim("word " * 100)
    assert len(long) <= LONGEST
    assert long.endswith("word…")
    assert verbatim("x" * 500) == "x" * (LONGEST - 1) + "…"


async def test_a_proposal_the_words_do_not_bear_out_is_dropped() -> None:
    model = FakeGenerator(answers=[{"title": "The history of Rome"}, {"title": "'Crabs in pools.'"}])
    assert await propose_title(model, "crabs live in pools", "they do") is None
    assert await propose_title(model, "crabs live in pools", "they do") == "Crabs in pools"
    assert await propose_title(model, "crabs live in pools", "no answer is left") is None


async def test_a_title_says_what_was_asked_and_not_what_the_reply_is_full_of() -> None:
    model = FakeGenerator(answers=[{"title": "Banana: 1.00, apples: 2.00"}, {"title": "Price list of fruit"}])
    said, reply = "Make a price list of fruit: banana, apples", "Banana: 1.00, apples: 2.00, cherries: 3.00"
    assert await propose_title(model, said, reply) is None
    assert await propose_title(model, said, reply) == "Price list of fruit"
    model = FakeGenerator(answers=[{"title": "Cherries and pears"}])
    assert await propose_title(model, "What grows here?", "Cherries and pears") is None


def test_the_schema_the_model_is_held_to_bounds_the_length() -> None:
    with pytest.raises(ValueError):
        GeneratedTitle(title="x" * 61)
