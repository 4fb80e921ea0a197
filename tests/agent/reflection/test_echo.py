"""An echo says an observation again, long enough to be no chance."""

from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.likeness import echoes, of_the_same, says_again
from tests.agent.scored import score, tables

TABLES = tables(__file__)


def test_the_same_words_are_an_echo_and_too_short_negated_or_other_words_are_none() -> None:
    score(TABLES["echoes"], lambda text, observation, is_it: echoes(text, observation) is is_it)
    assert echoes("x " + "word " * 40, "word " * 30)


def test_what_has_another_name_number_or_denial_is_not_said_again() -> None:
    def right(text: str, known: str, again: bool, meaning: float | None = None) -> bool:
        return says_again(text, known, meaning) is again

    score(TABLES["again"], right)


def test_what_is_told_of_one_changes_nothing_of_another() -> None:
    score(TABLES["same"], lambda text, known, about, same: of_the_same(text, known, about) is same)


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_texts_can_be_compared(text: str, observation: str) -> None:
    assert echoes(text, observation) in (True, False)
