"""The last chat of a log is read within a moment, without the tables beside the events, and is what they will say."""

from pathlib import Path

from hypothesis import given

from graph.events import SessionUnarchived
from graph.last_chat import last_chat
from graph.memory import Memory
from graph.values import Turn
from tests.examples import histories
from tests.graph.conftest import change, fresh
from tests.graph.deeds import archive, begin, delete, drop, hide, pin, titled, what_if
from tests.graph.histories import STEPS, history
from tests.graph.talk import said, talk
from tests.graph.teach import observed


def told(memory: Memory, limit: int = 1_000) -> list[Turn]:
    last = memory.readings.last_session()
    return memory.readings.thread(last, limit=limit) if last is not None else []


@histories(40)
@given(STEPS)
def test_it_is_what_the_whole_log_says(steps: list[tuple[int, int, int]]) -> None:
    with fresh() as memory:
        memory.append(*history(steps).events)
        expected = told(memory)
        memory.close()
        change(memory._folder, "DELETE FROM projected", "DELETE FROM turns")
        assert last_chat(memory._folder, 1_000) == expected


def test_what_was_learned_and_what_others_said_is_not_in_its_way(memory: Memory, folder: Path) -> None:
    talk(memory, 4)
    memory.append(observed("m1", "s0"), hide("s1"), delete("s2"), titled("s", "called so", "s0"))
    talk(memory, 2, session="t")
    memory.append(archive("t"))
    assert [turn.id for turn in last_chat(folder, 9)] == ["s0", "s1", "s3"]
    assert last_chat(folder, 1_000) == told(memory)
    assert [turn.id for turn in last_chat(folder, 1)] == ["s3"]


def test_what_is_pinned_in_a_what_if_or_in_another_chat_is_not_in_its_way(memory: Memory, folder: Path) -> None:
    talk(memory, 2)
    memory.append(what_if("w", "s", "s0"), pin("s0", world="w"))
    memory.append(said("s2", "s", parent="s1"))
    assert [turn.id for turn in last_chat(folder, 9)] == ["s0", "s1", "s2"]
    assert last_chat(folder, 9) == told(memory)
    talk(memory, 2, session="t")
    memory.append(pin("t0", world="w"), said("w1", "w", parent="s0"))
    assert [turn.id for turn in last_chat(folder, 9)] == ["s0", "w1"], "the what-if's own is the last"


def test_where_nobody_spoke_it_is_one_that_was_brought_along_or_none(memory: Memory, folder: Path) -> None:
    assert last_chat(folder, 9) == []
    memory.append(begin("old", client="import"), said("o1", "old", said_at=5))
    assert [turn.id for turn in last_chat(folder, 9)] == ["o1"]
    assert last_chat(folder, 9) == told(memory)
    talk(memory, 2)
    talk(memory, 2, session="t")
    memory.append(archive("t"), drop("t"), SessionUnarchived(session="t"))
    assert [turn.id for turn in last_chat(folder, 9)] == ["s0", "s1"], "one that is deleted stays away"
