"""A sentence is grounded only where its names, numbers, family, negation and most of its words are in its sources."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.grounding import ground
from tests.agent.scored import score, tables

TABLES = tables(__file__)


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


def test_what_was_said_is_grounded_in_the_third_person_too() -> None:
    score(TABLES["grounded"], lambda text, source: ground(text, [source], cosine=None).grounded)


@pytest.mark.parametrize("cosine", [None, 0.99])
def test_names_numbers_family_and_negation_are_never_vouched_for(cosine: float | None) -> None:
    def right(text: str, source: str, lacking: str) -> bool:
        found = ground(text, [source], cosine=cosine)
        return not found.grounded and lacking in found.lacking

    score(TABLES["lacking"], right)


def test_what_is_no_sentence_about_a_person_is_never_grounded() -> None:
    texts = [*TABLES["no_sentence"], "nurse " * 31, "nurse " * 10_000]
    score(texts, lambda text: not ground(text, [text, "I'm a nurse"], cosine=1.0).grounded)


def test_likeness_makes_up_for_words_but_not_for_all_of_them() -> None:
    source = "I spend my weekends on the slopes with my snowboard"
    assert not ground("The user spends winter days racing a snowboard", [source], cosine=None).grounded
    assert ground("The user spends winter days racing a snowboard", [source], cosine=0.9).grounded
    assert not ground("The user collects antique porcelain", [source], cosine=0.99).grounded


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
