"""Restoring a backup: what it brings back, what stays erased, what it refuses, and where it may be killed."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from types import ModuleType

import pytest

from graph.errors import LogDamaged, LogNewer, LogUnwritable, MemoryMissing, NotABackup
from graph.kuzu.truncation import WITNESS
from graph.log.migrations import NEWEST
from graph.memory import Memory
from graph.sqlite import GRAPH, LOG, RESTORING
from graph.transfer import backup, restoring
from graph.transfer.backup import backups_of, copy_log, making_copies
from graph.transfer.restoring import Restoring, install, prepared
from tests.graph.conftest import Open, change, with_graph
from tests.graph.deeds import delete, drop, hide
from tests.graph.talk import NOON, said, talk
from tests.graph.teach import forget, observed

STAMP = "2026-11-21T030405Z"
FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.sqlite"


NO_LOG_HAS = r"not a complete backup.*has what no log of clew has \((?:trigger|view|table) \w+\)"
# What would run, or be asked, whatever is written or read afterwards.
ARMED = (
    "CREATE TRIGGER extra AFTER INSERT ON events BEGIN UPDATE meta SET value = 1 WHERE key = 'starts'; END",
    "CREATE TRIGGER extra AFTER INSERT ON meta BEGIN DELETE FROM events; END",
    "CREATE TRIGGER extra BEFORE DELETE ON purging BEGIN SELECT RAISE(IGNORE); END",
    "CREATE VIEW extra AS SELECT text FROM events",
    "CREATE VIRTUAL TABLE extra USING fts5 (text)",
)


# What would be in the way of whatever is stored or deleted afterwards, or has no effect where it has to.
OTHERWISE = (
    "CREATE UNIQUE INDEX extra ON events ((1)) WHERE seq > 1000",
    "CREATE INDEX extra_too ON events (hex(zeroblob(3000)))",
    "CREATE TABLE extra_table (text TEXT)",
)
NOT_OURS = (
    ("DROP TRIGGER words_of_erased",),
    ("DROP TRIGGER words_of_said", "CREATE TRIGGER words_of_said AFTER INSERT ON meta BEGIN SELECT 1; END"),
    (
        "CREATE TABLE other AS SELECT * FROM purging",
        "DROP TABLE purging",
        "CREATE TABLE purging (seq INTEGER PRIMARY KEY, text TEXT NOT NULL CHECK (text <> 'x')) STRICT",
    ),
)


def restore(folder: Path, file: Path) -> tuple[Restoring, Path | None]:
    with prepared(folder, file) as ready:
        return ready, install(folder, ready, stamp=STAMP)


def backed_up(memory: Memory, folder: Path, file: Path, turns: int = 4) -> None:
    """Talk, copy the log, and close."""
    talk(memory, turns)
    copy_log(folder, file)
    memory.close()


def wrong(memory: Memory) -> dict[str, str]:
    return {check.name: check.detail for check in memory.doctor() if not check.ok}


def texts(memory: Memory) -> list[str | None]:
    return [turn.text for turn in memory.readings.thread("s")]


@pytest.mark.restarts
def test_it_is_what_it_was_and_what_it_became_is_kept(whole: Memory, opening: Open, folder: Path, file: Path) -> None:
    talk(whole, 4)
    copy_log(folder, file)
    whole.append(said("later", parent="s3"))
    whole.close()
    ready, kept = restore(folder, file)
    assert (ready.there.turns, ready.here and ready.here.turns) == (4, 5)
    assert (ready.another, ready.damaged, ready.erased) == (False, None, 0)
    memory = with_graph(opening)  # no events are missing
    assert texts(memory) == ["s0", "s1", "s2", "s3"]
    assert wrong(memory) == {}
    memory.close()
    assert kept == backups_of(folder) / f"before-restore-{STAMP}.sqlite"
    restore(folder, kept)
    memory = with_graph(opening)
    assert texts(memory) == ["s0", "s1", "s2", "s3", "later"]
    assert wrong(memory) == {}
    assert not (folder / WITNESS).exists()


@pytest.mark.restarts
def test_what_was_erased_since_stays_so_and_all_of_it(memory: Memory, opening: Open, folder: Path, file: Path) -> None:
    talk(memory, 4)
    talk(memory, 2, "other")
    memory.append(said("secret", parent="s3", text="zugspitze"))
    memory.append(observed("o", "s0", "secret", text="likes zugspitze"), observed("p", "s1", text="eats kumquat"))
    [recorded] = memory.append(said("half", parent="s3", text="marzipan"))
    copy_log(folder, file)
    memory.append(delete("secret"), forget("p"), drop("other"))
    memory.erase(recorded.seq)
    memory.append(hide("s2"))
    memory.close()
    ready, _ = restore(folder, file)
    assert ready.erased == 4
    data = (folder / LOG).read_bytes()
    for word in (b"zugspitz", b"kumquat", b"marzipan"):
        assert word not in data
    memory = with_graph(opening)
    assert memory.readings.turn("secret").text is None
    assert memory.readings.turn("half").text is None
    assert memory.readings.memories(now=NOON) == []
    assert not memory.readings.turn("s2").hidden
    assert [session.id for session in memory.readings.sessions()] == ["s"]
    assert wrong(memory) == {}


def test_what_is_no_whole_backup_changes_nothing(memory: Memory, folder: Path, file: Path, tmp_path: Path) -> None:
    backed_up(memory, folder, file, 300)
    before, whole = (folder / LOG).read_bytes(), file.read_bytes()
    middle = len(whole) // 2

    def made(name: str, data: bytes, statement: str = "") -> Path:
        (tmp_path / name).write_bytes(data)
        if statement:
            with closing(sqlite3.connect(tmp_path / name, isolation_level=None)) as db:
                db.execute(statement)
        return tmp_path / name

    edit = "UPDATE events SET structure = replace(structure, 'you', 'sam') WHERE seq = 6"
    refused: list[tuple[Path, type[Exception], str]] = [
        (made("cut", whole[:middle]), NotABackup, "cut is cut short"),
        (made("holed", whole[:middle] + os.urandom(4096) + whole[middle + 4096 :]), NotABackup, "Nothing was changed"),
        (made("text", b"words " * 100), NotABackup, "is not a backup"),
        (made("empty", b""), NotABackup, "is not a backup"),
        (made("edited", whole, edit), NotABackup, r"not a complete backup.*damaged \(chain: Event 6"),
        (made("foreign", b"", "CREATE TABLE words (word TEXT)"), NotABackup, "another program's database"),
        (made("newer", whole, f"PRAGMA user_version = {NEWEST + 1}"), LogNewer, "written by a newer clew"),
        *((made(f"armed{at}", whole, each), NotABackup, NO_LOG_HAS) for at, each in enumerate(ARMED)),
        (tmp_path, NotABackup, "is not a file"),
        (tmp_path / "none", MemoryMissing, r"File not found: .*--list"),
        (folder / LOG, NotABackup, "is the log itself"),
    ]
    for path, error, says in refused:
        with pytest.raises(error, match=says), prepared(folder, path):
            raise AssertionError(path)
    assert (folder / LOG).read_bytes() == before
    assert not list(folder.glob(f"{RESTORING}*"))


@pytest.mark.restarts
def test_a_backup_whose_log_is_made_otherwise_is_refused_and_what_is_beside_it_goes(
    opening: Open, folder: Path, tmp_path: Path
) -> None:
    memory = opening()
    talk(memory, 4)
    memory.close()

    def armed(*statements: str) -> Path:
        shutil.copyfile(folder / LOG, tmp_path / "armed.sqlite")
        with closing(sqlite3.connect(tmp_path / "armed.sqlite", isolation_level=None)) as db:
            for each in statements:
                db.execute(each)
        return tmp_path / "armed.sqlite"

    for statements in NOT_OURS:
        with (
            pytest.raises(NotABackup, match=r"its schema is not that of a log of clew|what no log of clew has"),
            prepared(folder, armed(*statements)),
        ):
            raise AssertionError(statements)
    restore(folder, armed(*OTHERWISE))
    with closing(sqlite3.connect(folder / LOG)) as db:
        assert not db.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'extra%'").fetchall()
    memory = with_graph(opening)
    assert wrong(memory) == {}
    memory.append(said("more", parent="s3"))
    assert len(memory.readings.thread("s")) == 5


@pytest.mark.parametrize("version", range(1, NEWEST))
@pytest.mark.restarts
def test_a_backup_of_every_earlier_version_is_brought_to_the_newest(opening: Open, folder: Path, version: int) -> None:
    folder.mkdir(mode=0o700)
    ready, kept = restore(folder, FIXTURES / f"log-v{version}.sqlite")
    assert (ready.version, ready.there.version, kept) == (version, NEWEST, None)
    memory = with_graph(opening)
    assert wrong(memory) == {}
    assert not list(FIXTURES.glob("*-*.sqlite-*"))  # nothing is left beside a backup
    assert memory.readings.counts()["events"] >= ready.there.head > 0  # a reply that was cut off ends now


def test_the_backup_of_another_memory_is_told_apart(memory: Memory, folder: Path, file: Path, tmp_path: Path) -> None:
    backed_up(memory, folder, file, 2)
    other = Memory.open(tmp_path / "other", command="test")
    talk(other, 4)
    other.close()
    with prepared(tmp_path / "other", file) as ready:
        assert ready.another


def test_a_damaged_log_is_kept_as_it_is_and_gives_way(memory: Memory, opening: Open, folder: Path, file: Path) -> None:
    backed_up(memory, folder, file, 300)
    data = bytearray((folder / LOG).read_bytes())
    data[4096:40960] = bytes(36864)
    (folder / LOG).write_bytes(data)
    with pytest.raises(LogDamaged):
        opening()
    ready, kept = restore(folder, file)
    assert ready.damaged is not None
    assert ready.erased is None
    assert kept is not None
    assert kept.read_bytes() == bytes(data)
    assert kept.name.startswith("damaged-")
    assert len(opening().readings.thread("s")) == 300


@pytest.mark.restarts
def test_a_log_that_opens_but_not_as_written_gives_way(whole: Memory, opening: Open, folder: Path, file: Path) -> None:
    backed_up(whole, folder, file)
    change(folder, "UPDATE events SET text = 'never said' WHERE seq = 3")
    ready, kept = restore(folder, file)
    assert ready.damaged is None
    assert kept is not None
    assert kept.name.startswith("damaged-")
    with closing(sqlite3.connect(kept)) as db:
        assert db.execute("SELECT text FROM events WHERE seq = 3").fetchone() == ("never said",)
    memory = with_graph(opening)
    assert texts(memory) == ["s0", "s1", "s2", "s3"]
    assert wrong(memory) == {}


def test_a_log_that_another_program_reads_stays(memory: Memory, folder: Path, file: Path) -> None:
    talk(memory, 2)
    copy_log(folder, file)
    memory.append(said("later", parent="s1"))
    memory.close()
    with closing(sqlite3.connect(folder / LOG)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchone()
        with pytest.raises(LogUnwritable, match=r"Another program is reading this memory.*Nothing was changed"):
            restore(folder, file)
    assert not (folder / RESTORING).exists()


STEPS = ("copy_file", "examine", "migrate", "erase_again", "scrub", "keep", "settle", "forget_graph", "sync")


@pytest.mark.process
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", STEPS)
def test_killed_at_any_step_the_old_or_the_new_memory_opens(
    whole: Memory, opening: Open, folder: Path, file: Path, name: str, after: bool
) -> None:
    talk(whole, 4)
    whole.append(said("secret", parent="s3", text="zugspitze"))
    copy_log(folder, file)
    whole.append(delete("secret"), said("later", parent="s3"))
    whole.close()
    die_at(name, after=after, work=lambda: restore(folder, file))
    memory = with_graph(opening)
    found = texts(memory)
    assert found in (["s0", "s1", "s2", "s3"], ["s0", "s1", "s2", "s3", "later"], ["s0", "s1", "s2", "s3", None])
    assert wrong(memory) == {}
    assert memory.readings.turn("secret").text is None
    assert not list(folder.glob(f"{RESTORING}*"))
    assert not list(backups_of(folder).glob("*.part*"))
    kept = list(backups_of(folder).glob("before-restore-*.sqlite"))
    assert "later" in found or kept
    memory.close()
    restore(folder, file)
    assert "later" not in texts(opening())


@pytest.mark.process
def test_a_copy_cut_off_goes_and_one_being_made_stays(whole: Memory, opening: Open, folder: Path, file: Path) -> None:
    backed_up(whole, folder, file)
    die_at("scrub", after=False, work=lambda: restore(folder, file), of=backup)
    (left,) = backups_of(folder).glob("before-restore-*.sqlite.part")
    assert left.stat().st_size
    with making_copies(left.parent):
        opening().close()
        assert left.exists()
    opening()
    assert not left.exists()


def test_who_makes_a_copy_waits_for_one_that_clears_up(tmp_path: Path) -> None:
    with ExitStack() as clearing:
        assert clearing.enter_context(making_copies(tmp_path, alone=True))
        threading.Timer(0.2, clearing.close).start()
        with (
            making_copies(tmp_path) as held,
            making_copies(tmp_path) as beside,
            making_copies(tmp_path, alone=True) as no,
        ):
            assert (held, beside, no) == (True, True, False)


def die_at(name: str, *, after: bool, work: Callable[[], object], of: ModuleType = restoring) -> None:
    """Do some work in a process that dies as if killed, before or after it calls a function of a module."""
    child = os.fork()
    if child == 0:
        real = getattr(of, name)

        def deadly(*given: object, **named: object) -> object:
            if after:
                real(*given, **named)
            os._exit(9)

        setattr(of, name, deadly)
        try:
            work()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.mark.restarts
def test_no_graph_is_missed_that_there_is_no_log_of(whole: Memory, opening: Open, folder: Path, file: Path) -> None:
    backed_up(whole, folder, file)
    (folder / LOG).unlink()
    with pytest.raises(LogDamaged, match="missing"):
        opening()
    _, kept = restore(folder, file)
    assert kept is None
    memory = with_graph(opening)
    assert texts(memory) == ["s0", "s1", "s2", "s3"]
    assert (folder / GRAPH).exists()
