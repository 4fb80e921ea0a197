"""A rehearsal says what an append would do to log and graph, and leaves both as they are."""

import pytest

from graph.errors import InvalidEvent
from graph.memory import Memory
from tests.graph.conftest import bad
from tests.graph.deeds import delete, hide, move, pin
from tests.graph.talk import said, talk
from tests.graph.teach import observed


def everything(memory: Memory) -> list[tuple[object, ...]]:
    with memory.readings.snapshot() as db:
        rows = db.execute("SELECT seq, hash, text, salt FROM events").fetchall()
        return [*rows, *db.execute("SELECT rowid FROM words WHERE words MATCH 's1'")]


def test_what_would_be_is_told_and_nothing_is_stored_and_what_follows_is_numbered_as_if_it_had_not_been(
    whole: Memory,
) -> None:
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
