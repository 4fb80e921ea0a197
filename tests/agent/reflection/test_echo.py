"""An echo says an observation again, long enough to be no chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.likeness import echoes, of_the_same, says_again


@pytest.mark.parametrize(
    ("text", "observation"),
    [
        ("As you said: I LIVE in Berlin!", "I live in Berlin."),
        ("Since you live in Berlin, try the zoo.", "The user lives in Berlin."),
        ("you work at the Charite hospital", "I work at the Charité hospital"),
        ("x " + "word " * 40, "word " * 30),
    ],
)
def test_the_same_words_are_an_echo(text: str, observation: str) -> None:
    assert echoes(text, observation)


@pytest.mark.parametrize(
    ("text", "observation"),
    [
        ("I am ok", "I am ok"),
        ("You don't live in Berlin", "I live in Berlin."),
        ("I live in Berlingen by the lake", "I live in Berlin"),
        ("cats", "I have two cats"),
        ("Do I live in Berlin, and since when?", "I live in Berlin"),
        ("", ""),
    ],
)
def test_too_short_negated_or_other_words_are_none(text: str, observation: str) -> None:
    assert not echoes(text, observation)


@pytest.mark.parametrize(
    ("text", "known", "meaning", "again"),
    [
        ("I hate coriander!", "I hate coriander.", None, True),
        ("I do not hate coriander", "I hate coriander.", 0.9, False),
        ("there is no way I eat coriander", "I never eat coriander", 0.85, True),
        ("I hate coriander, so does Ben", "I hate coriander.", 0.9, False),
        ("I have 3 cats", "I have 2 cats", 0.99, False),
        ("I moved to Porto", "I live in Lisbon", 0.8, False),
        ("I live in Lisbon", "I moved to Lisbon", 0.5, False),
    ],
)
def test_what_has_another_name_number_or_denial_is_not_said_again(
    text: str, known: str, meaning: float | None, again: bool
) -> None:
    assert says_again(text, known, meaning) is again


@pytest.mark.parametrize(
    ("text", "known", "about", "same"),
    [
        ("I moved to Rome", "My brother lives in Rome", ("you",), False),
        ("My brother moved to Rome", "My brother lives in Oslo", ("you",), True),
        ("He moved to Rome", "My brother lives in Oslo", ("you",), True),
        ("My sister left Siemens", "I work at Siemens", ("you",), False),
        ("I left Siemens", "Ada works at Siemens", ("you", "Ada"), False),
        ("Ada left Siemens", "Ada works at Siemens", ("you", "Ada"), True),
        ("I live alone now", "I live with my girlfriend", ("you",), True),
    ],
)
def test_what_is_told_of_one_changes_nothing_of_another(
    text: str, known: str, about: tuple[str, ...], same: bool
) -> None:
    assert of_the_same(text, known, about) is same


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_texts_can_be_compared(text: str, observation: str) -> None:
    assert echoes(text, observation) in (True, False)
