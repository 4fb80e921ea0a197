"""The fold of a tie: what sets it, what moves it, and how far."""

from datetime import UTC, datetime

import pytest

from agent.story.ties import amount, folded, in_words, ties_of
from graph.values import Member, StageLine

MARA, ADA = Member("m", "Mara", "host"), Member("a", "Ada", "you")


def line(seq: int, text: str, by: str = "model", after: str = "t", aspect: str = "trust") -> StageLine:
    return StageLine("m>a", aspect, text, None, by, seq, datetime(2026, 1, 1, tzinfo=UTC), after)


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ([], 0),
        ([line(1, "+4", after="1"), line(2, "+4", after="2")], 8),
        ([line(1, "+4"), line(2, "+4")], 4),  # at most 4 a turn
        ([line(1, "-9")], -4),
        ([line(1, "+4"), line(2, "-2")], 2),
        ([line(1, "=99", by="user"), line(2, "+4", after="2")], 100),
        ([line(1, "=250", by="user")], 100),
        ([line(1, "+4"), line(2, "=-30", by="user"), line(3, "-4", after="3")], -34),
        ([line(1, "+9", by="user")], 9),
        ([line(1, "a lot"), line(2, "")], 0),
    ],
)
def test_a_value_is_folded_from_its_changes(changes: list[StageLine], value: int) -> None:
    assert folded(changes) == value


@pytest.mark.parametrize(
    ("text", "number"),
    [("=30", 30), ("=-30", -30), ("+2", 2), ("-2", -2), ("2", 2), ("--2", None), ("", None), ("²", None)],
)
def test_an_amount_is_a_whole_number(text: str, number: int | None) -> None:
    assert amount(text) == number


def test_only_what_moved_is_told_in_words() -> None:
    tie, back = ties_of([MARA, ADA], [line(1, "=45", by="user"), line(2, "=-30", by="user", aspect="affinity")])
    assert in_words(tie) == "dislikes and trusts Ada"
    assert in_words(back) == ""
