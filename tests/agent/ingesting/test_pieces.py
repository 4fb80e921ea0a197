"""Pieces hold all the words of a document, none too long, each under the headings that lead to it."""

from hypothesis import given
from hypothesis import strategies as st

from agent.ingesting.sections import DEEPEST, LONGEST, Section, markdown, pieces

PARAGRAPHS = st.lists(st.text(st.sampled_from("ab .\n"), max_size=4000), max_size=5)


def test_short_paragraphs_stand_together_under_their_headings() -> None:
    (piece,) = pieces([Section(("Garden", "Tools"), ("A spade.", "A rake."))])
    assert (piece.headings, piece.text) == (2, "Garden\nTools\nA spade.\n\nA rake.")


def test_long_paragraphs_stand_alone() -> None:
    found = list(pieces([Section((), ("a" * 400, "b" * 400))]))
    assert [piece.text for piece in found] == ["a" * 400, "b" * 400]


def test_a_paragraph_that_is_too_long_is_cut_after_a_sentence() -> None:
    sentence = "The tide comes in twice a day. "
    found = list(pieces([Section((), (sentence * 100,))]))
    assert all(len(piece.text) <= LONGEST for piece in found)
    assert all(piece.text.endswith(".") for piece in found)


def test_headings_with_nothing_under_them_are_a_piece_and_those_above_others_none() -> None:
    text = "# Plan\n\n## Buy milk\n\n## Call Ada\n\n### At noon\n\nBefore she leaves.\n\n# Later\n"
    assert [(each.headings, each.text) for each in pieces(markdown(text))] == [
        (1, "Plan\nBuy milk"),
        (3, "Plan\nCall Ada\nAt noon\nBefore she leaves."),
        (0, "Later"),
    ]
    assert list(pieces([Section((), ("", "  \n"))])) == []


def test_only_the_innermost_headings_are_kept() -> None:
    (piece,) = pieces([Section(tuple("abcdefghij"), ("words",))])
    assert piece.headings == DEEPEST
    assert piece.text.startswith("e\n")


@given(PARAGRAPHS)
def test_no_letter_is_lost_and_no_piece_is_too_long(paragraphs: list[str]) -> None:
    found = list(pieces([Section((), tuple(paragraphs))]))
    assert all(0 < len(piece.text) <= LONGEST + 2 for piece in found)
    for letter in "ab.":
        assert sum(piece.text.count(letter) for piece in found) == sum(each.count(letter) for each in paragraphs)
