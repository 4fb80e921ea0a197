"""The newest comes first by when it was said, and only what is live."""

from datetime import UTC, datetime, timedelta
from typing import Unpack

import pytest

from graph.ids import as_datetime
from graph.memory import Memory
from graph.readings.newest import NewestFilter
from tests.graph.deeds import archive, begin, delete, drop, fork, hide, move, taken
from tests.graph.talk import reply, said, talk


def turns(memory: Memory, **within: Unpack[NewestFilter]) -> list[str]:
    return [turn.id for turn in memory.readings.recent("turn", 50, **within)]


def exchanges(memory: Memory, **within: Unpack[NewestFilter]) -> list[tuple[str, str | None]]:
    found = memory.readings.recent("exchange", 50, **within)
    return [(each.turn.id, each.reply.id if each.reply is not None else None) for each in found]


def sessions(memory: Memory, **within: Unpack[NewestFilter]) -> list[str]:
    return [session.id for session in memory.readings.recent("session", 50, **within)]


def test_questions_come_with_their_answers_and_turns_of_tools_stay_out(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(said("q", parent="s1"), said("tool", parent="q", role="tool"), reply("a", parent="tool"))
    memory.append(said("open", parent="a"))
    assert exchanges(memory) == [("open", None), ("q", "a"), ("s0", "s1")]
    assert turns(memory) == ["open", "a", "q", "s1", "s0"]
    assert [turn.id for turn in memory.readings.recent("turn", 2)] == ["open", "a"]
    assert memory.readings.recent("turn", 0) == []
    assert memory.readings.recent("session", 0) == []
    assert memory.readings.recent("exchange", -1) == []
    memory.erase(4)
    assert exchanges(memory) == [("open", None), ("s0", "s1")], "what was erased is not shown"


def test_only_what_is_live_is_recent(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(reply("other", parent="s2"), hide("s0"), said("waits", queued=True))
    assert turns(memory) == ["other", "s2", "s1"]
    assert exchanges(memory) == [("s2", "other")]
    memory.append(move("s", "s3"))
    assert exchanges(memory) == [("s2", "s3")]  # of two answers the one on the path
    memory.append(hide("s3"))
    assert exchanges(memory) == [("s2", None)]
    memory.append(taken("waits", "s", parent="s3"), delete("s2"))
    assert turns(memory) == ["waits", "s1"]
    memory.append(move("s", None))
    assert turns(memory) == []


def test_a_fork_keeps_recent_what_its_origin_rewound_and_a_what_if_all_it_left_with(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(fork("f", "s", "s2"))
    memory.append(fork("w", "s", "s3", world="what-if"))
    memory.append(said("w0", "w", parent="s3"), move("s", "s0"))
    assert turns(memory) == ["s2", "s1", "s0"]
    assert turns(memory, world="what-if") == ["w0", "s3", "s2", "s1", "s0"]
    assert exchanges(memory, world="what-if") == [("w0", None), ("s2", "s3"), ("s0", "s1")]
    assert sessions(memory, world="what-if") == ["w", "s"]
    memory.append(said("later"))
    assert "later" not in turns(memory, world="what-if")
    memory.append(move("s", "s0"), drop("f"))
    assert turns(memory) == ["s0"]
    memory.append(drop("s"))
    assert turns(memory) == []
    assert turns(memory, world="what-if") == ["w0", "s3", "s2", "s1", "s0"]


def test_archived_sessions_stay_in_and_one_can_be_left_out(memory: Memory) -> None:
    for session in ("a", "b", "c", "gone"):
        talk(memory, 2, session)
    memory.append(archive("a"), drop("gone"), begin("e"))
    assert sessions(memory) == ["c", "b", "a"]
    assert sessions(memory, exclude_session="c") == ["b", "a"]
    assert exchanges(memory, exclude_session="c") == [("b0", "b1"), ("a0", "a1")]
    assert [session.id for session in memory.readings.recent("session", 2)] == ["c", "b"]


def test_time_is_when_it_was_said_the_beginning_included_and_the_end_not(memory: Memory) -> None:
    memory.append(begin("old", client="import", said_at=1_000))
    for number, before in enumerate([None, "t0", "t1", "t2"]):
        memory.append(said(f"t{number}", "old", parent=before, said_at=1_000 * (number + 1)))
    talk(memory, 1)
    assert turns(memory)[0] == "s0"
    assert turns(memory, since=as_datetime(2_000), until=as_datetime(4_000)) == ["t2", "t1"]
    assert turns(memory, since=as_datetime(2_000) + timedelta(microseconds=1), until=as_datetime(4_000)) == ["t2"]
    assert sessions(memory, until=as_datetime(4_000)) == ["old"]
    assert sessions(memory, since=as_datetime(4_001)) == ["s"]
    assert sessions(memory, until=as_datetime(1_000)) == []
    assert turns(memory, since=datetime.now(UTC) + timedelta(days=1)) == []
    with pytest.raises(ValueError, match="offset"):
        memory.readings.recent("turn", 5, since=datetime(2026, 1, 1))
