"""The steps beside the observations: names, significance, reinforcement."""

from dataclasses import replace

import pytest

from agent.reflection.steps import STEP, echoed, named, note_names, rate_turns
from graph.events import ObservationKind

from .told import known, material, no_vectors, said, shelf

TEA = known("tea", "I drink green tea every morning.", kind=ObservationKind.PREFERENCE)
AGAIN = said("t1", "As I said: i drink GREEN tea, every morning!")


def test_an_echo_makes_an_observation_a_little_surer() -> None:
    (event,) = echoed(shelf([TEA]), [AGAIN], world="main", project=None)
    assert (event.observation, event.by_turn, event.step, event.before) == ("tea", "t1", STEP, 0.8)
    assert event.after == pytest.approx(0.82)


def test_confidence_ends_at_one_and_goes_on_from_echo_to_echo() -> None:
    sure = replace(TEA, confidence=0.99)
    first, second = echoed(shelf([sure]), [AGAIN, replace(AGAIN, id="t2")], world="main", project=None)
    assert (first.after, second.before, second.after) == (1, 1, 1)


def test_a_negative_step_is_refused() -> None:
    with pytest.raises(ValueError, match="less sure"):
        echoed(shelf([TEA]), [AGAIN], world="main", project=None, step=-0.1)


def test_candidates_short_ones_and_those_of_its_own_words_do_not_move() -> None:
    for still in (
        replace(TEA, status="candidate"),
        replace(TEA, status="invalid"),
        replace(TEA, text="green tea"),
        replace(TEA, sources=("t1",)),
        replace(TEA, supports=("t1",)),
    ):
        assert echoed(shelf([still]), [AGAIN], world="main", project=None) == []


def test_of_other_projects_only_global_identity_and_preferences_move() -> None:
    boat = shelf([replace(TEA, project="boat"), replace(TEA, id="fact", kind=ObservationKind.FACT)])
    assert echoed(boat, [AGAIN], world="main", project="garden") == []
    assert [each.observation for each in echoed(boat, [AGAIN], world="main", project="boat")] == ["tea"]
    assert len(echoed(shelf([TEA]), [AGAIN], world="main", project="garden")) == 1


async def test_turns_are_rated_unless_somebody_did() -> None:
    about = material(said("t1", "ok"), said("t2", "hm"), said("t3", "a note", role="note"), said("t4", "I moved."))
    rated = await rate_turns(shelf(ratings={"t2": 3}), about, {"t4": 2}, no_vectors)
    assert [(each.turn, each.by, each.significance) for each in rated] == [("t1", "rule", 0), ("t4", "rule", 2)]


def test_a_name_that_is_known_keeps_its_entity_and_others_get_one_each() -> None:
    about = material(said("t1", "Ylva met me.", speaker="Ylva"), said("t2", "I met Ylva and Uwe.", speaker="Uwe"))
    events, ids = note_names(shelf(names={"Ylva": "her"}), about)
    assert ids["Ylva"] == "her"
    assert {(each.entity, each.by_turn) for each in events if each.text == "Ylva"} == {("her", "t1"), ("her", "t2")}
    assert len({each.entity for each in events}) == len(set(ids.values()))


def test_a_month_is_somebody_only_where_a_person_is_meant() -> None:
    told = "I met my sister May in May. We moved from May to June, to Lisbon. My friend Will and my wife April came."
    assert [(each.name, each.category) for each in named(told, [])] == [
        ("May", "person"),
        ("Lisbon", "place"),
        ("Will", "person"),
        ("April", "person"),
    ]
