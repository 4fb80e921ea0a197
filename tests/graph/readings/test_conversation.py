"""Sessions, threads and exchanges, as the log tells them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from graph.errors import Ambiguous, LogDamaged, LogNewer, MemoryMissing, NotFound
from graph.events import Sampling, SessionConfigured
from graph.ids import as_datetime, new_id
from graph.memory import Memory
from graph.reader import LogReader
from graph.readings.rows import NEWEST, TURN
from graph.values import Session, Turn
from tests.graph.deeds import archive, begin, delete, drop, fork, hide, move, pin, rename, taken, titled, unhide, unpin
from tests.graph.talk import reply, said, talk


def at(ms: int) -> datetime:
    return as_datetime(ms)


def ids(found: Sequence[Turn] | Sequence[Session]) -> list[str]:
    return [each.id for each in found]


def test_a_thread_is_the_path_to_the_head_oldest_first_and_read_in_pages_from_its_end(memory: Memory) -> None:
    talk(memory, 0, "empty")
    assert memory.readings.thread("empty") == []
    talk(memory, 10)
    page = memory.readings.thread("s", limit=4)
    assert ids(page) == ["s6", "s7", "s8", "s9"]
    assert ids(memory.readings.thread("s", before=page[0].id, limit=4)) == ["s2", "s3", "s4", "s5"]
    assert ids(memory.readings.thread("s", before="s2", limit=4)) == ["s0", "s1"]
    assert memory.readings.thread("s", before="s0") == []
    assert memory.readings.thread("s", limit=0) == []
    memory.append(reply("other", parent="s0"))
    assert ids(memory.readings.thread("s")) == ["s0", "other"], "a regenerated reply is an alternative"
    memory.append(move("s", "s1"))
    assert ids(memory.readings.thread("s")) == ["s0", "s1"], "and the head chooses"
    assert memory.readings.session("s").turns == 11
    memory.append(fork("f", "s", "s1"), said("new", "f", parent="s1"))
    indexes = [(turn.id, turn.session, turn.index) for turn in memory.readings.thread("f")]
    assert indexes == [("s0", "s", 0), ("s1", "s", 1), ("new", "f", 0)], "counted where they were said"


def test_a_queued_message_waits_off_the_path_until_it_is_taken_and_a_hidden_one_is_flagged(memory: Memory) -> None:
    talk(memory, 1)
    memory.append(said("later", parent="s0", queued=True))
    assert ids(memory.readings.thread("s")) == ["s0"]
    assert [(turn.id, turn.parent, turn.queued) for turn in memory.readings.waiting("s")] == [("later", None, True)]
    memory.append(reply("s1", parent="s0"), taken("later", "s", parent="s1"))
    assert memory.readings.waiting("s") == []
    last = memory.readings.thread("s")[-1]
    assert (last.id, last.parent, last.queued) == ("later", "s1", False)
    memory.append(hide("s0"))
    assert [turn.hidden for turn in memory.readings.thread("s")] == [True, False, False]
    memory.append(unhide("s0"))
    assert not any(turn.hidden for turn in memory.readings.thread("s"))


def test_sessions_come_newest_activity_first_archived_ones_when_asked_for_deleted_ones_never(memory: Memory) -> None:
    for session in ("a", "b", "c"):
        talk(memory, 2, session)
    memory.append(said("again", "a", parent="a1"))
    assert ids(memory.readings.sessions()) == ["a", "c", "b"]
    memory.append(archive("a"), drop("b"))
    assert ids(memory.readings.sessions()) == ["c"]
    assert ids(memory.readings.sessions(archived=True)) == ["a", "c"]
    assert memory.readings.session("b").deleted
    assert memory.readings.session("b").head is None
    assert [exchange.turn.session for exchange in memory.readings.exchanges()] == ["a", "c", "a"]
    assert memory.readings.counts() == {"events": 12, "turns": 7, "sessions": 2}


def test_the_users_name_beats_a_title_until_it_is_taken_back_and_the_last_settings_hold(memory: Memory) -> None:
    def named() -> tuple[str | None, bool]:
        return memory.readings.session("s").name, memory.readings.session("s").named_by_user

    talk(memory, 2)
    memory.append(titled("s", "Boats", "s0"))
    assert named() == ("Boats", False)
    memory.append(rename("s", "My boats"), titled("s", "Ships", "s1"))
    assert named() == ("My boats", True)
    memory.append(rename("s", None))
    assert named() == ("Ships", False)
    memory.append(hide("s1"))
    assert named() == ("Boats", False), "a title made from a hidden turn gives way to the one before"
    memory.append(SessionConfigured(session="s", model="old", text="Be brief."))
    memory.append(SessionConfigured(session="s", sampling=Sampling(temperature=0), text="Be kind."))
    session = memory.readings.session("s")
    assert (session.model, session.system_prompt) == (None, "Be kind.")
    assert session.sampling is not None
    assert session.sampling["temperature"] == 0


def test_exchanges_are_filtered_by_session_project_client_and_time(memory: Memory) -> None:
    memory.append(begin("p", project="boats"), said("p0", "p"), reply("p1", "p", parent="p0"))
    talk(memory, 4)
    memory.append(said("s4", parent="s3", client="ask"))
    assert [exchange.turn.id for exchange in memory.readings.exchanges()] == ["s4", "s2", "s0", "p0"]
    assert [exchange.turn.id for exchange in memory.readings.exchanges(session="s")] == ["s4", "s2", "s0"]
    assert [(e.turn.id, e.reply and e.reply.id, e.project) for e in memory.readings.exchanges(project="boats")] == [
        ("p0", "p1", "boats")
    ]
    assert [(e.turn.id, e.reply) for e in memory.readings.exchanges(client="ask")] == [("s4", None)]
    at = memory.readings.turn("s4").at
    assert "s4" in [e.turn.id for e in memory.readings.exchanges(since=at)]
    assert "s4" in [e.turn.id for e in memory.readings.exchanges(since=at.astimezone(timezone(timedelta(hours=9))))]
    assert memory.readings.exchanges(since=at + timedelta(milliseconds=1)) == []
    with pytest.raises(ValueError, match="offset"):
        memory.readings.exchanges(since=datetime(2026, 1, 1))


def test_exchanges_are_at_most_500_and_zero_is_none(memory: Memory) -> None:
    talk(memory, 1_010)
    assert len(memory.readings.exchanges()) == 50
    assert len(memory.readings.exchanges(limit=9_999)) == 500
    assert memory.readings.exchanges(limit=0) == []
    assert memory.readings.exchanges(limit=-1) == []


def test_an_exchange_is_found_by_either_turn_or_a_prefix_of_it(memory: Memory) -> None:
    memory.append(begin("s"))
    question, answer = "01ABCDEFGH", "01ABCDXYZ0"
    memory.append(said(question), reply(answer, parent=question), reply("01ZZZZZZ", parent=question))
    found = memory.readings.exchange(answer)
    assert (found.turn.id, found.reply and found.reply.id) == (question, answer)
    assert memory.readings.exchange(question).reply == memory.readings.turn("01ZZZZZZ")
    assert memory.readings.exchange("01abcd").turn.id == question  # both that begin so are of one exchange
    memory.append(said("01ABCDEFZZ", parent=answer))
    with pytest.raises(Ambiguous, match="more characters"):
        memory.readings.exchange("01ABCDEF")
    assert memory.readings.exchange("01ABCDEFZ").turn.id == "01ABCDEFZZ"
    for unknown in ("01ABC", "nothing-like-it", ""):
        with pytest.raises(NotFound):
            memory.readings.exchange(unknown)


def test_an_exchange_goes_through_the_turns_of_tools(memory: Memory) -> None:
    memory.append(begin("s"), said("q"))
    memory.append(said("tool-one", parent="q", role="tool"), said("tool-two", parent="tool-one", role="tool"))
    assert memory.readings.exchange("q").reply is None
    memory.append(reply("a", parent="tool-two"), reply("b", parent="q"), said("next", parent="a"))
    memory.append(reply("stray", parent="a"))
    for id, answer in {"q": "b", "a": "a", "b": "b", "tool-one": "a", "tool-two": "a"}.items():
        found = memory.readings.exchange(id)
        assert (found.turn.id, found.reply and found.reply.id) == ("q", answer)
    assert memory.readings.exchange("stray").turn.id == "stray"  # it answers no user
    memory.append(delete("b"))
    exchanges = [(found.turn.id, found.reply and found.reply.id) for found in memory.readings.exchanges()]
    assert exchanges == [("next", None), ("q", "a")]


def test_what_was_said_elsewhere_before_stands_where_it_was_said(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(begin("old", client="import", source="x", said_at=1_000))
    memory.append(said("o1", "old", said_at=3_000), reply("o2", "old", parent="o1", said_at=4_000))
    memory.append(said("o3", "old", said_at=2_000))
    old = memory.readings.session("old")
    assert (old.started_at, old.last_at) == (at(1_000), at(4_000))
    assert ids(memory.readings.sessions()) == ["s", "old"]
    assert [found.turn.id for found in memory.readings.exchanges()] == ["s0", "o1", "o3"]
    assert [found.turn.id for found in memory.readings.exchanges(since=at(3_000))] == ["s0", "o1"]
    assert [found.turn.id for found in memory.readings.exchanges(session="old", since=at(2_000))] == ["o1", "o3"]
    assert memory.readings.said(10) == ["s0", "o1", "o3"]
    assert ids(memory.readings.thread("old")) == ["o3"]  # a path is no order of times
    memory.append(said("now", "old", parent="o3"))
    assert ids(memory.readings.sessions()) == ["old", "s"]
    memory.append(begin("silent", said_at=1_500))
    assert ids(memory.readings.sessions()) == ["old", "s", "silent"], "as old as its beginning"
    assert memory.readings.session("silent").last_at == at(1_500)


def test_a_pin_holds_until_it_is_cleared(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(pin("s2"), pin("s0"), pin("s3"), unpin("s3"))
    assert [turn.pinned for turn in memory.readings.thread("s")] == [True, False, True, False]
    assert ids(memory.readings.pinned()) == ["s0", "s2"]
    memory.append(hide("s0"), move("s", "s1"))
    assert ids(memory.readings.pinned()) == []  # pins of what is not live sleep
    memory.append(unhide("s0"))
    assert ids(memory.readings.pinned()) == ["s0"]
    memory.append(fork("w", "s", "s1", world="what-if"))
    memory.append(said("w0", "w", parent="s1"), pin("w0"))
    assert ids(memory.readings.pinned()) == ["s0"]
    assert ids(memory.readings.pinned("what-if")) == ["s0", "w0"]
    memory.append(unpin("s0", world="what-if"), pin("s1", world="what-if"))
    assert ids(memory.readings.pinned("what-if")) == ["s1", "w0"]
    assert ids(memory.readings.pinned()) == ["s0"]  # each world has its own
    assert [turn.pinned for turn in memory.readings.thread("s")] == [True, False]


def test_lists_walk_their_index_and_sort_nothing(memory: Memory) -> None:
    plans = {
        "said.role = 'user'": "SCAN said USING INDEX turns_by_time",
        "said.at >= 5": "SEARCH said USING INDEX turns_by_time (at>?)",
        "said.session = 's'": "SEARCH said USING INDEX turns_by_session (session=?)",
    }
    with memory.readings.snapshot() as db:
        for condition, expected in plans.items():
            query = f"{TURN} WHERE {condition} {NEWEST} LIMIT 5"
            lines = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}") if row[1] == 0]
            assert lines[0] == expected
            assert not [line for line in lines if "TEMP B-TREE" in line]


def test_what_the_user_said_comes_newest_first_for_the_composer_with_its_time(memory: Memory) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    talk(memory, 6)
    memory.append(hide("s2"))
    assert memory.readings.said(10) == ["s4", "s0"]
    assert memory.readings.said(1) == ["s4"]
    assert memory.readings.said(0) == []
    assert before <= memory.readings.turn("s0").at <= datetime.now(UTC)
    assert memory.readings.turn("s0").at.utcoffset() == timedelta(0)


def test_a_reader_works_beside_the_holder_and_sees_each_commit(memory: Memory, folder: Path) -> None:
    talk(memory, 2)
    with closing(LogReader.open(folder)) as reader:
        assert ids(reader.thread("s")) == ["s0", "s1"]
        memory.append(said("new", parent="s1"))
        assert ids(reader.thread("s")) == ["s0", "s1", "new"]


def test_where_nothing_was_stored_there_is_no_memory_and_what_is_something_else_is_left_alone(folder: Path) -> None:
    with pytest.raises(MemoryMissing, match="Start a chat"):
        LogReader.open(folder)
    folder.mkdir()
    (folder / "log.sqlite").write_text("Dear diary, " * 1000)
    with pytest.raises(LogDamaged, match="not changed"):
        LogReader.open(folder)
    with pytest.raises(LogDamaged):
        Memory.open(folder, command="test")
    assert (folder / "log.sqlite").read_text().startswith("Dear diary")


def test_a_log_of_a_newer_clew_is_not_touched(memory: Memory, folder: Path) -> None:
    talk(memory, 1)
    memory.close()
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE events SET kind = 'dream.dreamt' WHERE seq = 2")
        with closing(LogReader.open(folder)) as reader, pytest.raises(LogNewer, match=r"dream\.dreamt"):
            reader.events(limit=10)
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(LogNewer, match="Update clew"):
        LogReader.open(folder)
    with pytest.raises(LogNewer, match="Update clew"):
        Memory.open(folder, command="test")


def test_ids_are_ulids_in_order() -> None:
    made = [new_id() for _ in range(100)]
    assert len(set(made)) == 100
    assert {len(id) for id in made} == {26}
