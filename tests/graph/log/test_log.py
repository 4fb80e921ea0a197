"""Appends, the chain, side rows and erasing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph.errors import InvalidEvent, LogDamaged
from graph.events import Event, Recalled, Role, TextErased
from graph.log.log import Log, check_chain
from graph.memory import Memory
from tests.graph.conftest import Open, bad, purge
from tests.graph.deeds import begin, delete, move, pin, taken, titled
from tests.graph.talk import reply, said, talk
from tests.tables import each


def raw(folder: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None))


def test_events_are_numbered_without_gap_all_or_nothing_each_with_the_hash_before(memory: Memory, folder: Path) -> None:
    talk(memory, 3)
    stored = memory.append(said("more", parent="s2"), reply("answer", parent="more"))
    assert [recorded.seq for recorded in stored] == [5, 6]
    with pytest.raises(InvalidEvent):
        memory.append(said("good", parent="s1"), said("bad", session="nowhere"))
    assert memory.head() == 6
    memory.append(said("good", parent="s1"))  # and the chain goes on from where it was
    with raw(folder) as db:
        assert check_chain(db) == 7


def test_no_two_appends_have_the_same_time_though_the_clock_stands_still_or_goes_back(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    log = Log.open(folder, clock=iter((5, 5, 3)).__next__)
    begun = begin("s")
    appends: list[list[Event]] = [[begun, said("a")], [said("b", parent="a")], [said("c", parent="b")]]
    assert [[stored.at for stored in log.append(events)] for events in appends] == [[5, 5], [6], [7]]
    log.close()


CONTRADICTING: list[Event] = [
    *(said("x", session="unknown"), said("s0"), said("x", parent="unknown"), said("x", parent="waiting"), begin("s")),
    *(taken("s0", "s", parent=None), taken("waiting", "s", parent="waiting")),
    *(move("s", "waiting"), move("s", "unknown"), delete("unknown"), pin("unknown")),
    *(TextErased(events=(99,)), TextErased(events=(0,))),
]
NO_TIMES = (253_402_300_800_000, -62_135_596_800_001, 1 << 62)  # that any calendar could show


def test_what_contradicts_the_log_or_json_cannot_say_is_refused(memory: Memory) -> None:
    def is_refused(row: tuple[Event, str]) -> None:
        event, why = row
        with pytest.raises(InvalidEvent, match=why):
            memory.append(event)
        assert memory.head() == before

    talk(memory, 2)
    memory.append(said("waiting", queued=True))
    before = memory.head()
    each([(event, "not stored") for event in CONTRADICTING], is_refused)
    for time in NO_TIMES:
        late: list[Event] = [said("a", said_at=time), begin("x", said_at=time)]
        each([(event, "no time between") for event in late], is_refused)
    for number in (float("nan"), float("inf")):
        packed = reply("r", parent="s0", recalled=[Recalled(id="s0", score=number)])
        each([(reply("r", parent="s0", total_ms=number), "infinite"), (packed, "infinite")], is_refused)


CHANGES = (
    "UPDATE events SET structure = replace(structure, 'user', 'note') WHERE seq = 2",
    "UPDATE events SET at = at + 1 WHERE seq = 3",
    "UPDATE events SET text_hash = x'00' WHERE seq = 3",
    "DELETE FROM events WHERE seq = 3",
    "UPDATE events SET version = 9 WHERE seq = 4",
)


def test_no_event_can_be_changed_unnoticed(memory: Memory, folder: Path) -> None:
    def is_noticed(change: str) -> None:
        db.execute("BEGIN")
        db.execute(change)
        with pytest.raises(LogDamaged, match="does not match the chain"):
            check_chain(db)
        db.execute("ROLLBACK")

    talk(memory, 5)
    with raw(folder) as db:
        each(CHANGES, is_noticed)
        assert check_chain(db) == 6
        assert check_chain(db, last=2) == 2
        db.execute("UPDATE events SET at = at + 1 WHERE seq = 5")
        with pytest.raises(LogDamaged, match="Event 5"):
            check_chain(db, last=2)
        assert check_chain(db, last=1) == 1, "what is before it was changed, and is not looked at"


def test_a_log_whose_last_events_do_not_chain_is_not_written_on(opening: Open, folder: Path) -> None:
    talk(opening(), 5)
    opening().close()
    with raw(folder) as db:
        db.execute("UPDATE events SET at = at + 1 WHERE seq = 4")
    with pytest.raises(LogDamaged, match=r"Event 4 .* backup"):
        Log.open(folder)


def test_erased_words_leave_no_byte_and_the_chain_verifies(memory: Memory, folder: Path) -> None:
    talk(memory, 2)
    memory.append(said("secret", parent="s1", text="the password is Xylophone"))
    memory.stream("partial", session="s", parent="secret", model=None, text="Xylophone, you say")
    memory.append(reply("answer", parent="secret", text="I forget it"), ends_stream="partial")
    memory.erase(4)
    assert memory.readings.turn("secret").text is None
    assert memory.readings.search_words("xylophone") == []
    assert memory.readings.search_words("forget") == ["answer"]
    assert bad(memory) == []
    purge(memory)
    memory.close()
    assert b"ylophone" not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_deleting_a_turn_erases_it_the_titles_made_of_it_and_the_results_of_tools_that_quote_it(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(titled("s", "About s0", "s0", "s1"))
    for id, role, quoted in (("t1", Role.TOOL, "s0"), ("t2", Role.TOOL, "s1"), ("r", Role.ASSISTANT, "s0")):
        memory.append(said(id, parent="s1", role=role, recalled=[{"id": "s1"}, {"id": quoted}]))
    assert len(memory.append(delete("s0"))) == 1
    assert [memory.readings.turn(id).text for id in ("t1", "t2", "r")] == [None, "t2", "r"]
    assert memory.readings.search_words("t1") == []
    assert [turn.text for turn in memory.readings.thread("s")] == ["s1", "r"]
    assert memory.readings.session("s").name is None
    assert memory.readings.exchanges() == []


def test_a_salt_hides_what_was_erased_from_guessing(memory: Memory, folder: Path) -> None:
    memory.append(begin("s"), said("a", text="yes"), said("b", parent="a", text="yes"))
    with raw(folder) as db:
        one, other = db.execute("SELECT text_hash FROM events WHERE text IS NOT NULL").fetchall()
        assert one != other
        memory.append(delete("a"))
        of_a = "SELECT text, salt FROM events WHERE seq = (SELECT seq FROM turns WHERE id = 'a')"
        assert db.execute(of_a).fetchall() == [(None, None)]


def test_a_side_row_grows_with_its_reply_and_outlives_a_crash(memory: Memory, folder: Path, opening: Open) -> None:
    talk(memory, 1)
    for text in ("Once", "Once upon", "Once upon a time"):
        memory.stream("r", session="s", parent="s0", model="m", text=text)
    with raw(folder) as db:
        assert db.execute("SELECT turn, text FROM streams").fetchall() == [("r", "Once upon a time")]
        memory.append(reply("r", parent="s0", text="Once upon a time."), ends_stream="r")
        assert db.execute("SELECT count(*) FROM streams").fetchone() == (0,)
    packed = Recalled(id="s0", score=0.5, ranks={"semantic": 3}, boosts={"pin": 0.1}, path=(("REPLIES_TO", "s0"),))
    memory.stream("r2", session="s", parent="s0", model="tiny", text="Once", recalled=(packed,))
    assert opening().readings.turn("r2").recalled == (packed,)


def test_words_find_digits_phrases_prefixes_and_accents(memory: Memory) -> None:
    memory.append(begin("s"), said("a", text="Port 8080 of the Café, version 0.11.3"))
    for query in ("8080", '"0.11.3"', "cafe", "versio*", '"port 8080"'):
        assert memory.readings.search_words(query) == ["a"]


def test_a_source_is_imported_once_also_after_it_was_erased(memory: Memory) -> None:
    memory.append(begin("s", client="import", source="chat:1", said_at=5))
    memory.append(said("a", source="chat:1:1", said_at=-62_000_000_000_000))
    memory.append(delete("a"))
    with pytest.raises(InvalidEvent, match="imported before"):
        memory.append(said("b", source="chat:1:1"))
    with pytest.raises(InvalidEvent, match="imported before"):
        memory.append(begin("s2", client="import", source="chat:1"))
    with pytest.raises(InvalidEvent, match="imported before"):
        memory.append(said("b", source="new"), said("c", source="new"))
    assert memory.readings.imported(["chat:1:1", "new", "chat:1"]) == {"chat:1": "s", "chat:1:1": "a"}
    assert memory.readings.imported([]) == {}
    many = [f"chat:{number}" for number in range(5_000)]
    assert memory.readings.imported(many) == {"chat:1": "s"}
