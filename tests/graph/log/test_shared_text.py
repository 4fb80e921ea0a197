"""A quotation of what was erased is found in any spelling, and one that is kept too is none."""

from graph.log.byte_search import kept_of, shared

ERASED = "Along the garboard plank, port side. Mara thinks the planks\nonly need to take up water."


PIECES = (
    *("planks only need to take up", "GARBOARD   Plank\n\tPORT", "(?i).*garboard.*plank.*", "garboard plan"),
    *("a note: the Garbóard-plank it was", "need_to_take_up"),
)
NO_PIECES = ("", "plank", "the planks", "Mara only", "water side port plank", "take  up")


def test_a_piece_is_found_in_any_case_and_spacing_but_nothing_short_or_otherwise_put_together() -> None:
    found = shared([*PIECES, *NO_PIECES, "a harmless one"], ["x", ERASED])
    assert set(found) == set(PIECES)
    assert shared(["so I am at a"], ["I am at a."]) == {"so I am at a": {" i am at a "}}, "four short words are one"
    assert shared(["I am at", "I am at b"], ["I am at a."]) == {}
    assert shared(["plank port"], ["the garboard plank", "port side"]) == {}, "none goes from one text to the next"


def test_halves_that_are_kept_do_not_make_the_whole_one_kept() -> None:
    (pieces,) = shared(["planks only need to take up water"], [ERASED]).values()
    assert kept_of(pieces, ["The planks only need to", "only need to take up water"]) == set()
    assert kept_of(pieces, ["So the PLANKS, only, need to take-up water!"]) == pieces
