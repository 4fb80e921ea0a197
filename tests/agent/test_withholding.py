"""Which messages ask to be kept out of memory, and which only speak of remembering."""

from agent.withholding import asks_to_withhold, asks_to_withhold_earlier
from tests.agent.scored import score, tables

TABLES = tables(__file__)


def test_a_wish_not_to_be_remembered_is_heard_and_what_only_speaks_of_remembering_is_remembered() -> None:
    score(TABLES["itself"], lambda text, heard: asks_to_withhold(text) is heard)
    assert asks_to_withhold("x" * 50_000 + "\nKeep this out of memory.")


def test_a_wish_that_stands_alone_or_names_it_means_the_message_before_and_other_words_leave_that_as_it_is() -> None:
    score(TABLES["earlier"], lambda text, heard: asks_to_withhold_earlier(text) is heard)
