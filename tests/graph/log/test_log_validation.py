"""What stands in the log's place and is no log is refused, and nothing is changed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph.errors import LogDamaged, MemoryMissing
from graph.log.log import Log
from graph.memory import Memory
from graph.reader import LogReader
from graph.sqlite import GRAPH, LOG
from tests.graph.conftest import Open, with_graph
from tests.graph.talk import talk
from tests.tables import each


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


def empty_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")


def test_a_log_that_is_gone_or_empty_beside_its_graph_is_no_new_memory(whole: Memory, folder: Path) -> None:
    talk(whole, 2)
    whole.close()
    for left in (Path.unlink, Path.touch, empty_database):
        (folder / LOG).unlink(missing_ok=True)
        (folder / LOG).touch()
        left(folder / LOG)
        refused(folder, "missing or empty.*backup.*copy")


OF_OTHERS = (
    "CREATE TABLE theirs (x)",
    "PRAGMA application_id = 7",
    "PRAGMA user_version = 1",
    "CREATE TABLE events (x); PRAGMA user_version = 1",
    "; ".join(f"CREATE TABLE t{n} ({', '.join(f'column_number_{m}' for m in range(30))})" for n in range(40)),
)


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    def is_refused(numbered: tuple[int, str]) -> None:
        folder = tmp_path / str(numbered[0])
        folder.mkdir()
        with closing(sqlite3.connect(folder / LOG)) as db:
            db.executescript(numbered[1])
        refused(folder, "another program")

    each(enumerate(OF_OTHERS), is_refused)


def test_a_folder_or_a_link_to_nothing_in_the_logs_place_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (folder / LOG).mkdir()
    refused(folder, "is a folder")
    (folder / LOG).rmdir()
    (folder / LOG).symlink_to(tmp_path / "unmounted")
    refused(folder, "broken link")
    assert not (tmp_path / "unmounted").exists()


def test_a_first_start_cut_short_before_its_first_transaction_is_still_a_first_start(tmp_path: Path) -> None:
    for begun in (Path.touch, empty_database):
        folder = tmp_path / begun.__name__
        folder.mkdir()
        begun(folder / LOG)
        with pytest.raises(MemoryMissing):
            LogReader.open(folder)
        with closing(Log.open(folder)) as log:
            assert log.head == 0


@pytest.mark.restarts
def test_a_log_behind_a_link_is_a_log(whole: Memory, folder: Path, tmp_path: Path, opening: Open) -> None:
    talk(whole, 2)
    whole.close()
    (folder / LOG).rename(tmp_path / "elsewhere.sqlite")
    (folder / LOG).symlink_to(tmp_path / "elsewhere.sqlite")
    memory = with_graph(opening)
    assert memory.head() == 3
