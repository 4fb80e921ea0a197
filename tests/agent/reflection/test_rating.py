"""Little matters much: pivotal is only what changes a life."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.steps import rate


@pytest.mark.parametrize(
    ("said", "significance"),
    [
        ("I got married last week!", 3),
        ("My mother passed away in March.", 3),
        ("I was diagnosed with breast cancer.", 3),
        ("My dog died.", 2),
        ("I moved to Lisbon.", 2),
        ("I just got a new job!", 2),
        ("I'm a nurse.", 1),
        ("What's up?", 0),
        ("If I got married, I'd move.", 0),
        ("I got married, just kidding", 0),
        ("My neighbor says I got married", 0),
        ("My phone died.", 0),
        ("", 0),
    ],
)
def test_turns_are_rated_by_what_they_change(said: str, significance: int) -> None:
    assert rate(said) == significance


@given(st.text(max_size=300))
def test_any_text_has_a_rating(said: str) -> None:
    assert rate(said) in range(4)
