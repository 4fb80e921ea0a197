"""The tables beside the events: derived, found where they differ, made anew where they are not of the log."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.errors import LogUnwritable
from graph.events import codec
from graph.events.conversation import TurnSaid
from graph.log.log import Log
from graph.memory import Memory
from graph.projection import schema, sqlite_tables
from graph.reader import LogReader
from tests.graph.conftest import bad, change, ignore
from tests.graph.deeds import fork, hide, move, titled
from tests.graph.talk import reply, said, talk
from tests.tables import each


def rows(folder: Path) -> dict[str, list[Any]]:
    """All that the tables hold, but for what they are of."""
    with closing(sqlite3.connect(folder / "log.sqlite")) as db:
        names = [name for name in sqlite_tables._NAMES if name != "projected"]
        return {name: sorted(db.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}


@pytest.fixture
def chat(memory: Memory) -> Memory:
    talk(memory, 4)
    memory.append(reply("other", parent="s2"), fork("f", "s", "s1"), titled("s", "called so", "s0"), hide("s1"))
    return memory


DAMAGES = (
    "UPDATE turns SET live = 0 WHERE id = 's2'",
    "UPDATE turns SET parent = NULL WHERE id = 's2'",
    "DELETE FROM turns WHERE id = 's3'",
    "DELETE FROM links",
    "DELETE FROM subjects WHERE kind = 'turn.hidden'",
    "UPDATE sessions SET head = 's0'",
    "INSERT INTO imports VALUES ('chat:1', 's')",
    "INSERT INTO links VALUES ('ABOUT', 'x', 'y', 'y', 'Entity', 1, 1, 1)",
)


def test_tables_that_were_changed_by_hand_are_found_and_made_anew(chat: Memory, folder: Path) -> None:
    before = rows(folder)

    def is_found_and_mended(damage: str) -> None:
        change(folder, damage)
        (found,) = [check for check in chat.doctor() if not check.ok and check.name == "tables"]
        assert "clew rebuild" in found.advice
        chat._log.rebuild_tables()
        assert "tables" not in bad(chat)
        assert rows(folder) == before

    each(DAMAGES, is_found_and_mended)


OTHERWISE = (
    "UPDATE projected SET version = version + 1",  # of a newer clew
    "UPDATE projected SET version = version - 1",
    "UPDATE projected SET seq = seq - 1",  # an older clew appended, and knew nothing of them
    "UPDATE projected SET link = x'00'",  # of another log
    "DELETE FROM projected",
    "DROP TABLE turns",
)


def test_tables_of_another_version_or_log_are_remade_at_the_next_opening_and_told(chat: Memory, folder: Path) -> None:
    before = rows(folder)
    chat.close()

    def are_made_anew(otherwise: str) -> None:
        change(folder, "UPDATE sessions SET head = NULL", otherwise)
        told: list[tuple[int, int]] = []
        with closing(Memory.open(folder, command="test", progress=lambda *step: told.append(step))) as memory:
            assert [turn.id for turn in memory.readings.thread("s")] == ["s0", "s1", "s2", "other"]
            assert rows(folder) == before
            assert told == [(1, memory.head())]

    each(OTHERWISE, are_made_anew)


def test_who_only_reads_a_log_without_tables_has_them_in_memory_until_they_are_made(chat: Memory, folder: Path) -> None:
    chat.close()
    change(folder, "UPDATE projected SET version = version - 1", "DELETE FROM turns")
    before = (folder / "log.sqlite").read_bytes()
    with closing(LogReader.open(folder)) as reader:
        assert [turn.id for turn in reader.thread("s")] == ["s0", "s1", "s2", "other"]
        assert reader.session("s").name == "called so"
        assert (folder / "log.sqlite").read_bytes() == before
        assert reader.tables() is not None
        with closing(Memory.open(folder, command="test")) as memory:
            memory.append(said("new", parent="other"))
            assert [turn.id for turn in reader.thread("s")][-1] == "new"
            assert reader.tables() is None


def test_a_full_disk_in_the_middle_leaves_everything_and_the_next_opening_goes_on(chat: Memory, folder: Path) -> None:
    before = rows(folder)
    chat.close()
    change(folder, "DELETE FROM projected")

    class Full(Exception):
        """Stands for whatever stops the work half-way."""

    def full(done: int, total: int) -> None:
        raise Full

    with pytest.raises(Full):
        Memory.open(folder, command="test", progress=full)
    with closing(sqlite3.connect(folder / "log.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM turns").fetchone() == (len(before["turns"]),)
    with closing(Memory.open(folder, command="test")):
        assert rows(folder) == before


def test_without_room_the_log_says_so_and_stays(chat: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.append(*(said(f"n{number}", parent="other") for number in range(400)))
    chat.close()
    change(folder, "DELETE FROM projected", "DELETE FROM turns", "DELETE FROM subjects", "VACUUM")
    opened = Log.__init__

    def cramped(self: Log, db: sqlite3.Connection, *more: Any) -> None:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
        opened(self, db, *more)

    monkeypatch.setattr(Log, "__init__", cramped)
    with pytest.raises(LogUnwritable, match=r"disk is full.*Earlier data is safe"):
        Memory.open(folder, command="test")
    monkeypatch.undo()
    with closing(Memory.open(folder, command="test")) as memory:
        assert memory.readings.turn("n399").text == "n399"


def test_a_failed_append_writes_no_event_or_row(chat: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, head = rows(folder), chat.head()

    def fails(db: sqlite3.Connection, seq: int, link: bytes) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as failing:
        failing.setattr(sqlite_tables, "note", fails)
        with pytest.raises(LogUnwritable):
            chat.append(said("lost", parent="other"), move("s", "s0"))
    assert chat.head() == head
    assert rows(folder) == before
    chat.append(said("kept", parent="other"))
    assert bad(chat) == []


@pytest.fixture
def louder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of `turn.said` that writes its speaker otherwise."""
    newest = TurnSaid.version
    monkeypatch.setattr(TurnSaid, "version", newest + 1)

    def renamed(structure: dict[str, Any]) -> dict[str, Any]:
        return {"speaker": structure["speaker"].upper(), **{k: v for k, v in structure.items() if k != "speaker"}}

    monkeypatch.setitem(codec.UPCASTERS, ("turn.said", newest), renamed)
    monkeypatch.setattr(schema, "TABLES", schema.TABLES + 1)
    monkeypatch.setattr(sqlite_tables, "TABLES", schema.TABLES)


def test_an_events_new_shape_is_seen_by_readings(chat: Memory, folder: Path, request: pytest.FixtureRequest) -> None:
    chat.append(said("mine", parent="other", speaker="anna", text="mine"))
    chat.close()
    request.getfixturevalue("louder")
    with closing(Memory.open(folder, command="test")) as memory:
        branch = memory.readings.tree("s")
        while branch:
            last, branch = branch[-1], branch[-1].children
        events = [stored.event for stored in memory._reader.events(limit=99)]
        assert {
            memory.readings.turn("mine").speaker,
            memory.readings.thread("s")[-1].speaker,
            memory.readings.recent("turn", 1)[0].speaker,
            memory.readings.exchange("mine").turn.speaker,
            memory.readings.search("mine")[0].turn.speaker,
            last.speaker,
            [event.speaker for event in events if isinstance(event, TurnSaid)][-1],
        } == {"ANNA"}
        assert "ANNA" in memory.readings.speakers()
        assert memory.readings.about("anna").said == 1
        memory.open_graph(ignore)
        assert memory.query("MATCH (t:Turn {id: 'mine'}) RETURN t.speaker AS s") == [{"s": "ANNA"}]
        assert bad(memory) == []
