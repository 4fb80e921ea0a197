"""A log that cannot be read just now is not called damaged: whoever put a backup in its place would lose words."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph.doctor import examine_log
from graph.errors import LogDamaged, LogUnreadable
from graph.memory import Memory
from graph.reader import LogReader
from graph.recall.lexical import Words
from tests.graph.conftest import Open, change, no_more_files
from tests.graph.talk import talk


def test_without_a_file_to_open_it_is_not_damaged_and_is_read_a_moment_later(memory: Memory, folder: Path) -> None:
    talk(memory, 2)
    with no_more_files(), pytest.raises(LogUnreadable, match="try again in a moment") as told:
        LogReader.open(folder)
    assert "backup" not in str(told.value)
    with closing(LogReader.open(folder)) as reader:
        assert reader.head() == memory.head()
    assert [check for check in examine_log(memory._reader, folder) if not check.ok] == []


def test_words_are_searched_again_where_their_connection_was_not_made_to_its_end(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(memory, 2)
    words = Words(folder / "log.sqlite")
    with monkeypatch.context() as patch:
        patch.setattr("graph.recall.lexical._TABLES", ("CREATE VIRTUAL TABLE temp.t USING no_such_module",))
        with pytest.raises(LogDamaged), words.snapshot():
            pass
    with words.snapshot() as db:
        assert db.execute("SELECT count(*) FROM temp.sqlite_schema").fetchone()[0]
    words.close()


def test_a_locked_log_is_locked_and_not_damaged(opening: Open, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(opening(), 2)
    opening().close()
    monkeypatch.setattr("graph.sqlite.BUSY_TIMEOUT_S", 0.0)
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LogUnreadable, match="Another program is using it"):
            LogReader.open(folder).head()


def test_a_table_that_is_missing_is_damage(opening: Open, folder: Path) -> None:
    talk(opening(), 2)
    opening().close()
    change(folder, "DROP TABLE events")
    with pytest.raises(LogDamaged):
        LogReader.open(folder).event(1)
