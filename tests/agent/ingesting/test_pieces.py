"""Pieces hold all the words of a document, none too long, each under the headings that lead to it."""

from hypothesis import given
from hypothesis import strategies as st

from agent.ingesting.sections import DEEPEST, LONGEST, Section, pieces

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


def test_a_section_without_words_gives_no_piece() -> None:
    assert list(pieces([Section(("Empty",), ()), Section((), ("  \n ",))])) == []


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
