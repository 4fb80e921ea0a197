"""Names are told by the words around them, and few of them."""

from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.steps import named
from tests.agent.scored import score, tables

TABLES = tables(__file__)


def test_people_places_and_groups_are_named_and_days_languages_quotes_and_sentence_beginnings_are_no_names() -> None:
    score(
        TABLES["names"], lambda text, names: [[each.name, each.category] for each in named(text, ["Caroline"])] == names
    )
    score(TABLES["none"], lambda text: named(text, []) == [])


@given(st.text(max_size=300), st.lists(st.text(max_size=10), max_size=3))
def test_any_text_gives_names_that_stand_in_it(text: str, known: list[str]) -> None:
    assert all(found.name in text for found in named(text, known))
