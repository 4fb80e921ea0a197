"""A message is cut into clauses, each a slice of it, verbatim."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.clauses import BUCKETS, Clause, buckets, clauses, contents, marks


def cut(text: str) -> list[str]:
    return [text[each.start : each.end] for each in clauses(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I live in Oslo.", ["I live in Oslo."]),
        (
            "sold the van in march, cycling everywhere these days, so which panniers hold up?",
            ["sold the van in march,", "cycling everywhere these days, so", "which panniers hold up?"],
        ),
        (
            "left teaching after 19 years. retraining as a welder.",
            ["left teaching after 19 years.", "retraining as a welder."],
        ),
        ("Ich wohne in Bonn und meine Frau ist Lehrerin.", ["Ich wohne in Bonn", "und meine Frau ist Lehrerin."]),
        ("", []),
    ],
)
def test_a_message_is_cut_where_something_else_begins(text: str, found: list[str]) -> None:
    assert cut(text) == found


def test_what_is_quoted_is_not_ones_own() -> None:
    text = 'Please translate: "I was born in Athens and I have two brothers."'
    assert [each.own for each in clauses(text) if "Athens" in text[each.start : each.end]] == [False]


def test_a_pasted_document_has_none() -> None:
    assert clauses("I live in Oslo. " * 200) == []


@given(st.text(max_size=400))
def test_of_any_text_they_are_slices_in_order_and_can_be_weighed(text: str) -> None:
    found = clauses(text)
    assert all(one.end <= other.start for one, other in pairwise(found))
    for each in found:
        assert each.opens <= each.start < each.end <= each.closes <= len(text)
        assert text[each.start : each.end].strip() == text[each.start : each.end]
        assert all(0 <= one < BUCKETS for one in buckets(text, each))
        assert len(marks(text, each)) == len(marks("a", Clause(0, 1, 0, 1, True)))
        assert contents(text, each)[0] in text
