"""Names are told by the words around them, and few of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.steps import named


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My sister Anna lives in Berlin.", [("Anna", "person"), ("Berlin", "place")]),
        ("Anna is nice. I met Anna in Rome.", [("Anna", "person"), ("Rome", "place")]),
        ("My dog Rex is old.", [("Rex", "thing")]),
        ("I work at Siemens.", [("Siemens", "group")]),
        ("I moved to New York City in May.", [("New York City", "place")]),
        ("I went to the University of Oslo.", [("University of Oslo", "group")]),
        ("Caroline, hi", [("Caroline", "person")]),
        ("Paul's wife called.", [("Paul", "person")]),
    ],
)
def test_people_places_and_groups_are_named(text: str, names: list[tuple[str, str]]) -> None:
    assert [(found.name, found.category) for found in named(text, ["Caroline"])] == names


@pytest.mark.parametrize(
    "text",
    ["On Monday I speak German.", "Great Idea!", "I am in May.", 'He wrote "to Berlin".', "I", "https://Berlin.de"],
)
def test_days_languages_quotes_and_sentence_beginnings_are_no_names(text: str) -> None:
    assert named(text, []) == []


@given(st.text(max_size=300), st.lists(st.text(max_size=10), max_size=3))
def test_any_text_gives_names_that_stand_in_it(text: str, known: list[str]) -> None:
    assert all(found.name in text for found in named(text, known))
