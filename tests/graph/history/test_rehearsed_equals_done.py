"""What a change would do is what it then does, whatever came before; and telling it changes nothing."""

import tempfile
from typing import Any

from hypothesis import given

from graph.doctor import compare
from graph.events import TextErased
from graph.memory import Memory
from graph.values import RevisionStanding
from tests.examples import histories
from tests.graph.conftest import ignore
from tests.graph.lessons import LESSONS, Lessons
from tests.graph.projection.test_belief_histories import memory_of
from tests.graph.projection.test_rebuild_equals_live import folded, rows
from tests.graph.talk import delete, hide, move, reply, talk, what_if
from tests.graph.teach import observed

AT_ONCE = 3  # steps in one change


def standings(memory: Memory) -> tuple[dict[str, bool], dict[str, RevisionStanding]]:
    turns = {id: bool(row[0]) for id, row in rows(memory, "Turn", ["live"]).items()}
    found = rows(memory, "Observation", ["live", "current", "status"])
    return turns, {id: standing(*row) for id, row in found.items()}


def standing(live: Any, current: Any, status: Any) -> RevisionStanding:
    return RevisionStanding(live=live, current=current, status=status)


@histories(20)
@given(LESSONS)
def test_a_rehearsal_tells_what_the_change_then_does(steps: list[tuple[int, int, int]]) -> None:
    lessons = Lessons()
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        memory.open_graph(ignore)
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
        assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []


def test_a_rehearsed_delete_names_the_texts_it_would_erase_and_erases_none(whole: Memory) -> None:
    talk(whole, 2)  # events 2 and 3 are its turns
    (made,) = whole.append(observed("o", "s1"))
    assert whole.history.rehearse(delete("s1")).texts == (3, made.seq)
    assert whole.readings.turn("s1").text == "s1"
    assert whole.head() == made.seq


def test_what_rests_on_a_turn_of_main_in_a_what_if_is_told_of_a_hiding_and_not_of_a_rewind(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(what_if("w", "s", "s3"))
    whole.append(observed("o", "s2", world="w"))
    rewind = whole.history.rehearse(move("s", "s1"))
    assert rewind.turns == {"s2": (True, False), "s3": (True, False)}
    assert rewind.observations == {}
    hiding = whole.history.rehearse(hide("s2"))
    assert hiding.observations == {"o": (standing(True, True, "active"), standing(False, False, "active"))}


def test_a_turn_said_and_deleted_in_one_change_can_be_rehearsed(whole: Memory) -> None:
    talk(whole, 1)
    told = whole.history.rehearse(reply("r", parent="s0"), delete("r"), TextErased(events=(3,)))
    assert told.turns == {}
    assert told.texts == (3,)
