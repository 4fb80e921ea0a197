"""An echo says an observation again, long enough to be no chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.likeness import echoes, says_again


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
    ("text", "known", "again"),
    [
        ("I really hate coriander.", "I hate coriander.", True),
        ("Actually I don't hate coriander any more, I like it now.", "I hate coriander.", False),
        ("I no longer hate coriander", "I hate coriander.", False),
        ("I never liked fish", "I don't like fish", True),
        ("Do I hate coriander?", "I hate coriander.", False),
    ],
)
def test_a_dislike_that_is_denied_is_not_said_again(text: str, known: str, again: bool) -> None:
    assert says_again(text, known) is again


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_texts_can_be_compared(text: str, observation: str) -> None:
    assert echoes(text, observation) in (True, False)
