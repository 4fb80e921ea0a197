"""What a change would do to log and graph is what it then does, whatever came before; telling it changes nothing."""

import pytest
from hypothesis import given

from graph.errors import InvalidEvent
from graph.events import TextErased
from graph.memory import Memory
from graph.values import RevisionStanding
from tests.examples import histories
from tests.graph.conftest import bad, fresh
from tests.graph.deeds import delete, hide, move, pin, what_if
from tests.graph.lessons import LESSONS, Lessons
from tests.graph.projection.test_belief_histories import of
from tests.graph.projection.test_rebuild_equals_live import folded
from tests.graph.talk import reply, said, talk
from tests.graph.teach import observed

AT_ONCE = 3  # steps in one change


def standings(memory: Memory) -> tuple[dict[str, bool], dict[str, RevisionStanding]]:
    tables = folded(memory)
    turns = {id: bool(live) for id, (live,) in of(tables, "Turn", "live").items()}
    found = of(tables, "Observation", "live", "current", "status")
    return turns, {id: standing(*row) for id, row in found.items()}


def standing(live: bool, current: bool, status: str) -> RevisionStanding:
    return RevisionStanding(live=live, current=current, status=status)


@histories(20)
@given(LESSONS)
def test_a_rehearsal_tells_what_the_change_then_does(steps: list[tuple[int, int, int]]) -> None:
    lessons = Lessons()
    with fresh() as memory:
        done = 0
        for number, step in enumerate(steps):
            lessons.step(*step)
            if number % AT_ONCE or done == len(lessons.events):
                continue
            turns, observations = standings(memory)
            told = memory.history.rehearse(*lessons.events[done:])
            assert standings(memory) == (turns, observations)
            memory.append(*lessons.events[done:])
            done = len(lessons.events)
            turns_now, now = standings(memory)
            assert told.turns == {
                id: (turns.get(id, False), live) for id, live in turns_now.items() if turns.get(id, False) != live
            }
            changed = {id: both for id, both in told.observations.items() if both[0] != both[1]}
            assert changed == {id: (was, now[id]) for id, was in observations.items() if was != now[id]}
        assert bad(memory) == []


def test_a_rehearsed_delete_names_the_texts_it_would_erase_and_erases_none(memory: Memory) -> None:
    talk(memory, 2)  # events 2 and 3 are its turns
    (made,) = memory.append(observed("o", "s1"))
    assert memory.history.rehearse(delete("s1")).texts == (3, made.seq)
    assert memory.readings.turn("s1").text == "s1"
    assert memory.head() == made.seq
    told = memory.history.rehearse(reply("r", parent="s1"), delete("r"), TextErased(events=(5,)))
    assert (told.turns, told.texts) == ({}, (5,)), "also what is said and deleted in one change"


def test_what_rests_on_a_turn_of_main_in_a_what_if_is_told_of_a_hiding_and_not_of_a_rewind(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(what_if("w", "s", "s3"), observed("o", "s2", world="w"))
    rewind = memory.history.rehearse(move("s", "s1"))
    assert rewind.turns == {"s2": (True, False), "s3": (True, False)}
    assert rewind.observations == {}
    hiding = memory.history.rehearse(hide("s2"))
    assert hiding.observations == {"o": (standing(True, True, "active"), standing(False, False, "active"))}


def everything(memory: Memory) -> list[tuple[object, ...]]:
    with memory.readings.snapshot() as db:
        rows = db.execute("SELECT seq, hash, text, salt FROM events").fetchall()
        return [*rows, *db.execute("SELECT rowid FROM words WHERE words MATCH 's1'")]


def test_what_would_be_is_told_nothing_is_stored_and_what_follows_is_numbered_as_if_it_was_not(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("m", "s1", text="m of s1"))
    before = everything(whole)
    told = whole.history.rehearse(delete("s1"), move("s", "s2"))
    assert told.turns == {"s1": (True, False), "s3": (True, False)}
    assert {id: (was.current, now.current) for id, (was, now) in told.observations.items()} == {"m": (True, False)}
    assert told.texts == (3, 6)
    assert everything(whole) == before
    assert whole.head() == 6
    assert whole.query("MATCH (t:Turn) WHERE t.live RETURN count(*) AS live") == [{"live": 4}]
    assert whole.append(said("t", parent="s3"))[0].seq == 7
    assert bad(whole) == []


def test_it_is_carried_out_only_where_it_can_be_and_still_does_what_was_rehearsed(memory: Memory) -> None:
    talk(memory, 2)
    with pytest.raises(InvalidEvent):
        memory.history.rehearse(hide("s0"), hide("nobody"))
    assert memory.head() == 3
    told = memory.history.rehearse(hide("s1"))
    assert told.turns == {"s1": (True, False)}
    assert not memory.readings.turn("s1").hidden
    memory.append(pin("s0"))
    assert memory.history.carry_out(told, hide("s1")) is not None
    assert memory.readings.turn("s1").hidden
    assert memory.history.carry_out(told, hide("s1")) is None
    assert memory.head() == 5
