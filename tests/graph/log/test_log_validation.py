"""What stands in the log's place and is no log is refused, and nothing is changed."""

import sqlite3
from pathlib import Path

import pytest

from graph.errors import LogDamaged, MemoryMissing
from graph.log.log import Log
from graph.memory import Memory
from graph.reader import LogReader
from graph.sqlite import GRAPH, LOG
from tests.graph.conftest import Open, ignore
from tests.graph.talk import talk


def contents(folder: Path) -> dict[str, bytes]:
    names = (LOG, GRAPH)
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


def refused(folder: Path, match: str) -> None:
    before = contents(folder)
    for opens in (LogReader.open, lambda folder: Memory.open(folder, command="test")):
        with pytest.raises(LogDamaged, match=match) as told:
            opens(folder)
        assert "Nothing was changed" in str(told.value)
    assert contents(folder) == before


@pytest.mark.parametrize("left", [None, b""])
def test_a_log_that_is_gone_beside_its_graph_is_no_new_memory(whole: Memory, folder: Path, left: bytes | None) -> None:
    talk(whole, 2)
    whole.close()
    (folder / LOG).unlink()
    if left is not None:
        (folder / LOG).write_bytes(left)
    refused(folder, "missing or empty.*backup.*copy")


def test_an_empty_database_in_the_logs_place_beside_its_graph_is_refused(whole: Memory, folder: Path) -> None:
    talk(whole, 2)
    whole.close()
    (folder / LOG).unlink()
    db = sqlite3.connect(folder / LOG)
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    refused(folder, "missing or empty")


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE theirs (x)",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 1",
        "CREATE TABLE events (x); PRAGMA user_version = 1",
        "; ".join(f"CREATE TABLE t{n} ({', '.join(f'column_number_{m}' for m in range(30))})" for n in range(40)),
    ],
)
def test_the_database_of_another_program_is_refused(folder: Path, made: str) -> None:
    folder.mkdir()
    db = sqlite3.connect(folder / LOG)
    db.executescript(made)
    db.close()
    refused(folder, "another program")


def test_a_folder_or_a_link_to_nothing_in_the_logs_place_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (folder / LOG).mkdir()
    refused(folder, "is a folder")
    (folder / LOG).rmdir()
    (folder / LOG).symlink_to(tmp_path / "unmounted")
    refused(folder, "broken link")
    assert not (tmp_path / "unmounted").exists()


@pytest.mark.parametrize("wal", [False, True])
def test_a_first_start_cut_short_before_its_first_transaction_is_still_a_first_start(folder: Path, wal: bool) -> None:
    folder.mkdir()
    (folder / LOG).touch()
    if wal:
        db = sqlite3.connect(folder / LOG)
        db.execute("PRAGMA journal_mode = WAL")
        db.close()
    with pytest.raises(MemoryMissing):
        LogReader.open(folder)
    log = Log.open(folder)
    assert log.head == 0
    log.close()


@pytest.mark.restarts
def test_a_log_behind_a_link_is_a_log(whole: Memory, folder: Path, tmp_path: Path, opening: Open) -> None:
    talk(whole, 2)
    whole.close()
    (folder / LOG).rename(tmp_path / "elsewhere.sqlite")
    (folder / LOG).symlink_to(tmp_path / "elsewhere.sqlite")
    memory = opening()
    memory.open_graph(ignore)
    assert memory.head() == 3
