"""A sentence is grounded only where its names, numbers, family, negation and most of its words are in its sources."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.grounding import ground


def calls(do: Callable[[], object]) -> int:
    """How many functions are called while it is done."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        do()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("The user is a nurse.", "I'm a nurse."),
        ("The user works as a nurse.", "I'm a nurse."),
        ("User's sister Anna is a doctor.", "My sister Anna's a doctor"),
        ("The user has two cats.", "We have 2 cats"),
        ("The user is 34 years old.", "I'm thirty-four"),
        ("The user hates cilantro.", "I can't stand cilantro"),
        ("The user no longer works at Siemens.", "I quit Siemens last week"),
        ("The user is a nurse.", "I'm a nurse, not a doctor"),
        ("The user's birthday is 05-03.", "My birthday is on 3 May"),
        (
            "The user used to live in Munich and now lives in Berlin.",
            "I used to live in Munich but now I live in Berlin",
        ),
        ("Enjoys hiking in the Alps", "I love hiking in the alps"),
        ("The user's mother lives in Ghent.", "My mom lives in Ghent."),
        ("Der Nutzer wohnt in Hamburg.", "Ich wohne in Hamburg."),
    ],
)
def test_what_was_said_is_grounded_in_the_third_person_too(text: str, source: str) -> None:
    assert ground(text, [source], cosine=None).grounded


@pytest.mark.parametrize(
    ("text", "source", "lacking"),
    [
        ("The user lives in Munich.", "I live in Berlin", "Munich"),
        ("Anna is a nurse.", "My sister is a nurse", "Anna"),
        ("The user has three cats.", "We have 2 cats", "3"),
        ("The user loves cilantro.", "I can't stand cilantro", "not"),
        ("The user works at Siemens.", "I don't work at Siemens anymore", "not"),
        ("The user is a doctor.", "I'm a nurse, not a doctor", "not"),
        ("The user's brother Tom is a pilot.", "My friend Tom is a pilot", "brother"),
        ("The user's husband is a pilot.", "My wife is a pilot", "husband"),
    ],
)
@pytest.mark.parametrize("cosine", [None, 0.99])
def test_names_numbers_family_and_negation_are_never_vouched_for(
    text: str, source: str, lacking: str, cosine: float | None
) -> None:
    found = ground(text, [source], cosine=cosine)
    assert not found.grounded
    assert lacking in found.lacking


def test_likeness_makes_up_for_words_but_not_for_all_of_them() -> None:
    source = "I spend my weekends on the slopes with my snowboard"
    assert not ground("The user spends winter days racing a snowboard", [source], cosine=None).grounded
    assert ground("The user spends winter days racing a snowboard", [source], cosine=0.9).grounded
    assert not ground("The user collects antique porcelain", [source], cosine=0.99).grounded


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nurse " * 31,
        "nurse " * 10_000,
        '{"action": "create", "text": "nurse"}',
        "You are a helpful assistant who knows a nurse",
        "print('nurse')",
        "Is the user a nurse?",
        "The user.",
        "[1] you: I'm a nurse",
    ],
)
def test_what_is_no_sentence_about_a_person_is_never_grounded(text: str) -> None:
    assert not ground(text, [text, "I'm a nurse"], cosine=1.0).grounded


def test_the_name_of_the_speaker_need_not_be_said() -> None:
    assert not ground("Caroline is a nurse.", ["I'm a nurse."], cosine=None).grounded
    assert ground("Caroline is a nurse.", ["I'm a nurse."], cosine=None, known=["Caroline"]).grounded


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3), st.none() | st.floats(-1, 1))
def test_any_text_gives_an_overlap_between_none_and_all(text: str, sources: list[str], cosine: float | None) -> None:
    assert 0 <= ground(text, sources, cosine=cosine).overlap <= 1


def test_the_work_grows_no_faster_than_the_sources() -> None:
    source = "My sister Anna lives in Berlin, but I don't. "
    few, many = (calls(lambda n=n: ground("Anna lives in Berlin.", [source * n], cosine=None)) for n in (500, 1000))  # type: ignore[misc]
    assert many <= 2.2 * few
