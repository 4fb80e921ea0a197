"""What is stated by hand, as events."""

import pytest

from agent.errors import AgentError, EmptyMessage
from agent.memories import LONGEST, statement
from agent.notes import guess_kind, same
from graph.events import ObservationKind

KINDS = {
    "I like green tea": ObservationKind.PREFERENCE,
    "My favourite colour is blue": ObservationKind.PREFERENCE,
    "I'm going to move to Lyon in May": ObservationKind.PLAN,
    "I want to learn Basque": ObservationKind.PLAN,
    "My sister Ada lives in Crete": ObservationKind.RELATIONSHIP,
    "My name is Tom": ObservationKind.IDENTITY,
    "I am a carpenter": ObservationKind.IDENTITY,
    "I’m tired these days": ObservationKind.STATE,
    "The boiler was replaced in 2021": ObservationKind.FACT,
}


def test_the_words_of_a_statement_tell_what_it_is_about() -> None:
    assert {text: guess_kind(text) for text in KINDS} == KINDS


def test_a_statement_is_one_line_of_bounded_length() -> None:
    assert same("I live in  Lyon.", "i live in Lyon"), "case, spaces and the full stop make no other statement"
    assert not same("I live in Lyon", "I lived in Lyon")
    assert not same("x", None)
    assert statement(" I live\nin Lyon\x00 ") == "I live in Lyon\N{REPLACEMENT CHARACTER}"
    with pytest.raises(EmptyMessage):
        statement("  ")
    with pytest.raises(AgentError, match="501 characters"):
        statement("x" * (LONGEST + 1))
