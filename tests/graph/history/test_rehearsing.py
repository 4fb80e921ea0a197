"""A rehearsal says what an append would do to log and graph, and leaves both as they are."""

import pytest

from graph.errors import InvalidEvent
from graph.memory import Memory
from tests.graph.talk import delete, hide, move, pin, said, talk
from tests.graph.teach import observed


def everything(memory: Memory) -> list[tuple[object, ...]]:
    with memory.readings.snapshot() as db:
        rows = db.execute("SELECT seq, hash, text, salt FROM events").fetchall()
        return [*rows, *db.execute("SELECT rowid FROM words WHERE words MATCH 's1'")]


def test_what_would_be_is_told_and_nothing_is_stored(whole: Memory) -> None:
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


def test_what_follows_a_rehearsal_is_numbered_as_if_there_had_been_none(whole: Memory) -> None:
    talk(whole, 2)
    whole.history.rehearse(hide("s0"))
    assert whole.append(said("t", parent="s1"))[0].seq == 4
    assert [check for check in whole.doctor() if not check.ok] == []


def test_what_could_not_be_stored_cannot_be_rehearsed_either(whole: Memory) -> None:
    talk(whole, 1)
    with pytest.raises(InvalidEvent):
        whole.history.rehearse(hide("s0"), hide("nobody"))
    assert whole.head() == 2


def test_a_rehearsal_needs_no_graph(memory: Memory) -> None:
    talk(memory, 1)
    assert memory.history.rehearse(hide("s0")).turns == {"s0": (True, False)}
    assert not memory.readings.turn("s0").hidden


def test_it_is_carried_out_only_where_it_still_does_what_was_rehearsed(whole: Memory) -> None:
    talk(whole, 2)
    told = whole.history.rehearse(hide("s1"))
    whole.append(pin("s0"))
    assert whole.history.carry_out(told, hide("s1")) is not None
    assert whole.readings.turn("s1").hidden
    assert whole.history.carry_out(told, hide("s1")) is None
    assert whole.head() == 5
