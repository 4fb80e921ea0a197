"""How an observation is told: its trend drawn, its filters cycled, its words cut and harmless."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from graph.events import ObservationKind
from graph.values import Observation, Proof, Story, Wanted
from tests.agent.reflection.told import known
from tui.memories import observations, words
from tui.memory_controller import looks_like_id

NOW = datetime(2026, 6, 11, 12, 0, tzinfo=UTC)


def belief(number: int, text: str | None, **more: Any) -> Observation:
    """An observation in use, said once; `more` changes any part of it."""
    at = NOW - timedelta(days=365, minutes=-number)
    plain = known(f"OBS{number:07}", text, origin="model", trend="stable", sources=(), about=())
    return replace(plain, **{"at": at, "first_seen": at, "times": (at,), **more})


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def test_a_trend_is_drawn_a_bar_a_month_the_newest_last() -> None:
    assert words.sparkline([], NOW) == "▁▁▁▁▁▁"
    assert words.sparkline([ago(170), ago(31), ago(1), ago(2), ago(3)], NOW) == "▂▁▁▁▂▄"
    assert words.sparkline([ago(1)] * 50 + [ago(400)], NOW) == "▁▁▁▁▁█"
    assert words.sparkline([ago(-3)], NOW) == "▁▁▁▁▁▂"


def test_a_filter_goes_round_and_comes_back_to_none_and_one_on_someone_who_is_gone_is_let_go() -> None:
    kinds = [ObservationKind.FACT, ObservationKind.PLAN]
    there = observations.There(["Ada", "Noor"], ["crete"], kinds, ["knows", "works_with"])
    for key, steps in (("S", 6), ("K", 3), ("R", 3), ("W", 3), ("J", 2), ("T", 6), ("P", 3)):
        seen = [Wanted()]
        for _ in range(steps):
            seen.append(observations.cycled(seen[-1], key, there))
        assert seen[-1] == Wanted(), key
        assert len(set(seen)) == steps, key
    gone = Wanted(about="Nobody")
    assert observations.cycled(gone, "W", observations.There(["Ada"])).about is None


def test_the_kinds_to_filter_by_are_those_there_are_and_people_those_that_the_most_is_about() -> None:
    found = [belief(1, "a", kind=ObservationKind.PLAN), belief(2, "b"), belief(3, "c", kind=ObservationKind.PLAN)]
    assert observations.kinds_of(found) == [ObservationKind.FACT, ObservationKind.PLAN]
    found = [belief(1, "x", about=("Ada", "Berlin")), belief(2, "y", about=("Berlin",))]
    assert observations.people_of(found) == ["Berlin", "Ada"]


def test_the_filters_stay_on_one_line_however_narrow() -> None:
    wanted = Wanted(kind=ObservationKind.PLAN, about="A" * 200, text="[red]\x1b[2J" * 50)
    for width in (120, 60, 30, 10, 1):
        line = observations.described(wanted, width)
        assert line.cell_length <= max(width, 1)
        assert "\x1b" not in line.plain
        assert "\n" not in line.plain


def test_what_a_revision_corrects_is_told_as_that_below_its_own_proof() -> None:
    old, new = (
        belief(1, "Lives in Lyon"),
        replace(belief(2, "Lives in Porto"), corrected=("t1",), supersedes=belief(1, "").id),
    )
    said = [
        Proof(id, "turn", "DERIVED_FROM", NOW, True, "you", "s", text, role)
        for id, text, role in (("t1", "Lyon!", "user"), ("t2", "Porto!", "note"))
    ]
    story = Story(new, (old, new), {old.id: (said[0],), new.id: (said[0], said[1])})
    assert [proof.text for proof in words.proofs(story)] == ["Porto!", "Lyon!"]
    told = words.detail(story, 0, NOW, 60)[0].plain
    assert "you (corrected since): “Lyon!”" in told
    assert told.count("corrected since") == 1
    assert "your correction: “Porto!”" in told


def test_the_detail_of_a_huge_or_erased_observation_is_bounded() -> None:
    for text in ("[b]" * 100_000, None, "\x1b]0;x\x07"):
        story = Story(belief(1, text, about=("x" * 10_000,)), (belief(1, text),), {})
        for width in (100, 20, 1):
            content, line = words.detail(story, 0, NOW, width)
            assert len(content.plain) < 6_000
            assert "\x1b" not in content.plain
            assert line == 0


def test_a_row_names_the_program_that_proposed_it() -> None:
    _, facts = words.row(belief(1, "The user keeps bees", proposed_by="Helper\x1b (over MCP)"), 60, NOW)
    assert "fact · proposed by Helper␛ (over MCP) · " in facts.plain


def test_what_may_be_an_id_and_what_is_a_word() -> None:
    assert all(map(looks_like_id, ("01JABC", "0OBS1234")))
    assert not any(map(looks_like_id, ("Berlin", "01J", "my sister")))
