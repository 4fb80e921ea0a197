"""Why something was recalled, in words a person reads."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from graph.events import Recalled, Strategy
from graph.values import Boost, Hit, Reason, Step
from tui.reasons import FOUND_BY, shared, shared_stored, who, why, why_stored
from tui.text import when

AT = datetime(2025, 6, 3, 14, 2, tzinfo=UTC)


def hit(
    *reasons: Reason, boosts: tuple[Boost, ...] = (), path: tuple[Step, ...] = (), role: str = "user", by: str = "you"
) -> Hit:
    return Hit("turn", "T", "S", "Crete", role, by, "Tide pools", AT, 1.0, reasons, boosts, path)


def test_every_strategy_has_words() -> None:
    assert set(FOUND_BY) == set(get_args(Strategy))


def test_the_reasons_come_with_their_ranks_the_best_first_and_then_what_lifted_it() -> None:
    found = hit(
        Reason("semantic", 3, 0.7),
        Reason("lexical", 1, 3.2),
        Reason("graph", 4, 0.1),
        boosts=(Boost("recency", 0.1), Boost("speaker", 0.1), Boost("opening", 0.01)),
    )
    assert why(found) == "by its words (rank 1), by its meaning (rank 3), next to a match; recent, you are named"


def test_a_rank_that_several_share_is_no_reason_for_one_of_them() -> None:
    hits = [hit(Reason("lexical", 1, 3.2), Reason("semantic", rank, 0.7)) for rank in (4, 2, 9)]
    assert [why(each, shared(hits)) for each in hits] == [
        "by its words, by its meaning (rank 4)",
        "by its words, by its meaning (rank 2)",
        "by its words, by its meaning (rank 9)",
    ]
    assert why(hits[0], shared(hits[:1])) == "by its words (rank 1), by its meaning (rank 4)"
    stored = [Recalled(id="T", score=1, ranks={"semantic": 2, "lexical": 1}) for _ in range(2)]
    assert why_stored(stored[0], None, shared_stored(stored)) == "by its words, by its meaning"
    assert why_stored(stored[0], None) == "by its words (rank 1), by its meaning (rank 2)"


def test_a_path_says_how_the_neighbour_led_here() -> None:
    found = hit(Reason("graph", 2, 0.1), path=(Step("REPLIES_TO", "T0"),))
    assert why(found) == "answers a match"
    assert why(hit(Reason("graph", 2, 0.1), path=(Step("NEW_ONE", "T0"),))) == "next to a match"


def test_a_longer_path_and_one_over_the_chat_are_told_as_what_they_are() -> None:
    after = (Step("lexical", "T0"), Step("REPLIES_TO", "T1"), Step("REPLIES_TO", "T"))
    before = (Step("lexical", "T0"), Step("REPLIED_TO", "T1"), Step("REPLIED_TO", "T"))
    chat = (Step("semantic", "T0"), Step("IN_SESSION", "S"))
    told = [why(hit(Reason("graph", 2, 0.1), path=path)) for path in (after, before, chat)]
    assert told == ["soon after a match", "soon before a match", "in a chat with a match"]


def test_near_the_time_is_not_from_it() -> None:
    assert why(hit(Reason("lexical", 1, 1), boosts=(Boost("time", 1.5),))).endswith("from the time asked about")
    assert why(hit(Reason("lexical", 1, 1), boosts=(Boost("beside_time", 0.5),))).endswith("near the time asked about")


def test_another_speaker_is_named_and_an_unknown_boost_is_its_name() -> None:
    found = hit(Reason("lexical", 11, 1), boosts=(Boost("speaker", 0.1), Boost("moon_phase", 0.1)), by="Ada\x1b[2J")
    assert why(found) == "by its words (rank 11); Ada␛[2J is named, moon phase"


def test_without_any_reason_there_is_nothing_to_say() -> None:
    assert why(hit()) == ""


def test_people_are_named_as_the_screen_names_them() -> None:
    assert who("assistant", "assistant") == "clew"
    assert who("user", "Caroline") == "Caroline"
    assert who("note", "you") == who("note", "") == "your note"


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(0), "12:00"),
        (timedelta(days=1), "yesterday"),
        (timedelta(days=3), "Sunday"),
        (timedelta(days=30), "5 May"),
        (timedelta(days=400), "30 Apr 2024"),
    ],
)
def test_times_are_as_short_as_they_may_be(ago: timedelta, words: str) -> None:
    now = datetime(2025, 6, 4, 12, tzinfo=UTC)
    assert when(now - ago, now) == words
