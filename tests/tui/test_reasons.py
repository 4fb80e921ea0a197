"""Why something was recalled, in words a person reads."""

from datetime import UTC, datetime, timedelta
from typing import get_args

from graph.events import Recalled, Strategy
from graph.values import Boost, Hit, Reason, Step
from tui.reasons import FOUND_BY, shared, shared_stored, who, why, why_stored
from tui.text import when

AT = datetime(2025, 6, 3, 14, 2, tzinfo=UTC)


def hit(
    *reasons: Reason, boosts: tuple[Boost, ...] = (), path: tuple[Step, ...] = (), role: str = "user", by: str = "you"
) -> Hit:
    return Hit("turn", "T", "S", "Crete", role, by, "Tide pools", AT, 1.0, reasons, boosts, path)


def test_the_reasons_come_with_their_ranks_the_best_first_and_then_what_lifted_it() -> None:
    ranked = (Reason("semantic", 3, 0.7), Reason("lexical", 1, 3.2), Reason("graph", 4, 0.1))
    boosts = (Boost("recency", 0.1), Boost("speaker", 0.1), Boost("opening", 0.01))
    told = "by its words (rank 1), by its meaning (rank 3), next to a match; recent, you are named"
    assert why(hit(*ranked, boosts=boosts)) == told
    found = hit(Reason("lexical", 11, 1), boosts=(Boost("speaker", 0.1), Boost("moon_phase", 0.1)), by="Ada\x1b[2J")
    assert why(found) == "by its words (rank 11); Ada␛[2J is named, moon phase"
    for boost, ending in (("time", "from the time asked about"), ("beside_time", "near the time asked about")):
        assert why(hit(Reason("lexical", 1, 1), boosts=(Boost(boost, 1.5),))).endswith(ending)
    assert why(hit()) == ""
    assert set(FOUND_BY) == set(get_args(Strategy)), "every strategy has words"


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
    reply, new = (Step("REPLIES_TO", "T0"),), (Step("NEW_ONE", "T0"),)
    after = (Step("lexical", "T0"), Step("REPLIES_TO", "T1"), Step("REPLIES_TO", "T"))
    before = (Step("lexical", "T0"), Step("REPLIED_TO", "T1"), Step("REPLIED_TO", "T"))
    chat = (Step("semantic", "T0"), Step("IN_SESSION", "S"))
    told = [why(hit(Reason("graph", 2, 0.1), path=path)) for path in (reply, new, after, before, chat)]
    assert told == [
        "answers a match", "next to a match", "soon after a match", "soon before a match", "in a chat with a match",
    ]  # fmt: skip


def test_people_are_named_as_on_the_screen_and_times_are_as_short_as_they_may_be() -> None:
    assert who("assistant", "assistant") == "clew"
    assert who("user", "Caroline") == "Caroline"
    assert who("note", "you") == who("note", "") == "your note"
    now = datetime(2025, 6, 4, 12, tzinfo=UTC)
    told = {days: when(now - timedelta(days), now) for days in (0, 1, 3, 30, 400)}
    assert told == {0: "12:00", 1: "yesterday", 3: "Sunday", 30: "5 May", 400: "30 Apr 2024"}
