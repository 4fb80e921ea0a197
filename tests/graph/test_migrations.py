"""Logs of every earlier version open, complete; `fixtures/` has one file for each."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from graph.memory import Memory
from graph.migrations import MIGRATIONS, NEWEST, migrate, version_of
from tests.graph.conftest import Open, ignore

FIXTURES = Path(__file__).parent / "fixtures"


def test_there_is_a_fixture_for_every_version() -> None:
    assert sorted(path.name for path in FIXTURES.glob("*.sqlite")) == [f"log-v{n}.sqlite" for n in range(1, NEWEST + 1)]


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_a_log_of_an_earlier_version_opens_with_every_word(folder: Path, opening: Open, version: int) -> None:
    folder.mkdir(mode=0o700)
    shutil.copyfile(FIXTURES / f"log-v{version}.sqlite", folder / "log.sqlite")
    memory: Memory = opening()
    memory.open_graph(ignore)
    assert [(turn.id, turn.text) for turn in memory.thread("s")] == [
        ("q1", "What is a clew?"),
        ("a1", "A ball of thread."),
        ("q2", None),
        ("a2", "I cannot say."),
    ]
    assert memory.session("s").name == "Thread"
    assert [turn.text for turn in memory.thread("f")][-1] == "And in the maze?"
    assert memory.search_words("maze") == ["f1"]
    assert memory.recovered == 1
    assert [check for check in memory.doctor() if not check.ok] == []


def test_a_step_that_fails_leaves_the_version_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = sqlite3.connect(tmp_path / "log.sqlite", isolation_level=None)
    migrate(db)

    def half(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (way INTEGER)")
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("graph.migrations.MIGRATIONS", (*MIGRATIONS, half))
    monkeypatch.setattr("graph.migrations.NEWEST", NEWEST + 1)
    with pytest.raises(sqlite3.OperationalError):
        migrate(db)
    assert version_of(db) == NEWEST
    assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").fetchone() == (0,)
    db.close()
