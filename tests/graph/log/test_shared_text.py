"""A quotation of what was erased is found in any spelling, and one that is kept too is none."""

import pytest

from graph.log.byte_search import kept_of, shared

ERASED = "Along the garboard plank, port side. Mara thinks the planks\nonly need to take up water."


@pytest.mark.parametrize(
    "text",
    [
        "planks only need to take up",
        "GARBOARD   Plank\n\tPORT",
        "(?i).*garboard.*plank.*",
        "garboard plan",
        "a note: the Garbóard-plank it was",
        "need_to_take_up",
    ],
)
def test_a_piece_is_found_in_any_case_and_spacing(text: str) -> None:
    assert set(shared([text, "a harmless one"], ["x", ERASED])) == {text}


@pytest.mark.parametrize("text", ["", "plank", "the planks", "Mara only", "water side port plank", "take  up"])
def test_what_is_short_or_otherwise_put_together_is_no_piece(text: str) -> None:
    assert shared([text], [ERASED]) == {}


def test_four_short_words_are_a_piece() -> None:
    assert shared(["so I am at a"], ["I am at a."]) == {"so I am at a": {" i am at a "}}
    assert shared(["I am at"], ["I am at a."]) == {}
    assert shared(["I am at b"], ["I am at a."]) == {}


def test_a_piece_goes_not_from_one_erased_text_to_the_next() -> None:
    assert shared(["plank port"], ["the garboard plank", "port side"]) == {}


def test_halves_that_are_kept_do_not_make_the_whole_one_kept() -> None:
    (pieces,) = shared(["planks only need to take up water"], [ERASED]).values()
    assert kept_of(pieces, ["The planks only need to", "only need to take up water"]) == set()
    assert kept_of(pieces, ["So the PLANKS, only, need to take-up water!"]) == pieces
