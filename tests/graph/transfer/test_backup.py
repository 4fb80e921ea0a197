"""Copies of the log: made beside whoever writes, whole or not at all, and without what waits to be purged."""

import errno
import os
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from graph.errors import CopyFailed, LogDamaged, MemoryMissing
from graph.memory import Memory
from graph.sqlite import LOG
from graph.transfer import backup
from graph.transfer.backup import PART, CopyStopped, copy_log
from tests.graph.conftest import change
from tests.graph.deeds import delete
from tests.graph.talk import said, talk

NOW = datetime(2026, 11, 21, 3, 4, 5, tzinfo=UTC)


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [str(row) for row in db.execute("SELECT * FROM events ORDER BY seq")]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "copy.sqlite"


def test_a_copy_has_every_event_and_vector_of_the_log_that_is_open(memory: Memory, folder: Path, target: Path) -> None:
    talk(memory, 6)
    [(hash, _), *_] = memory.unembedded("m", 1)
    memory.keep_vectors("m", [(hash, np.ones(4, dtype=np.float32))])
    copied = copy_log(folder, target)
    assert (copied.head, copied.sessions, copied.turns) == (7, 1, 6)
    assert dump(target) == dump(folder / LOG)
    with closing(sqlite3.connect(target)) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in target.parent.iterdir()) == ["copy.sqlite", "memory"]


def test_appends_go_on_while_it_is_copied_and_are_not_in_the_copy(
    memory: Memory, folder: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(memory, 40)
    monkeypatch.setattr(backup, "PAGES", 1)
    steps: list[int] = []

    def stopping() -> bool:
        steps.append(memory.append(said(f"beside {len(steps)}", parent="s39"))[0].seq)
        return False

    copied = copy_log(folder, target, stopping=stopping)
    assert copied.head == 41
    assert len(steps) > 10
    assert memory.head() == steps[-1]


def test_a_writer_in_another_thread_is_not_kept_waiting_by_an_error(memory: Memory, folder: Path, target: Path) -> None:
    talk(memory, 2)
    ended = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            try:
                memory.append(said(f"t{number}", parent="s1"))
            except LogDamaged as error:
                failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    heads = [copy_log(folder, target, replace=True).head for _ in range(5)]
    ended.set()
    writer.join()
    assert failed == []
    assert heads == sorted(heads)


def test_what_waits_to_be_purged_is_not_in_a_copy(memory: Memory, folder: Path, target: Path) -> None:
    talk(memory, 2)
    memory.append(said("gone", parent="s1", text="limpetword"))
    with closing(sqlite3.connect(folder / LOG, isolation_level=None)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS purging (seq INTEGER PRIMARY KEY, text TEXT)")
        memory.append(delete("gone"))
        db.execute("INSERT OR REPLACE INTO purging VALUES (4, ?)", ("limpetword " * 3000,))
    copy_log(folder, target)
    assert b"limpet" not in target.read_bytes()
    with closing(sqlite3.connect(target)) as db:
        assert db.execute("SELECT count(*) FROM purging").fetchone() == (0,)
    with closing(sqlite3.connect(folder / LOG)) as db:
        assert db.execute("SELECT count(*) FROM purging WHERE seq = 4").fetchone() == (1,)


def test_a_target_that_cannot_be_one_is_refused_and_stays(memory: Memory, folder: Path, tmp_path: Path) -> None:
    talk(memory, 2)
    there = tmp_path / "there.sqlite"
    there.write_text("mine")
    link = tmp_path / "link.sqlite"
    link.symlink_to(folder / LOG)
    for target, replace, says in (
        (there, False, "already exists.*--force"),
        (tmp_path, False, "is a folder"),
        (tmp_path / "no" / "copy", False, "Folder not found"),
        (folder / LOG, True, "is the log itself"),
        (link, True, "is the log itself"),
    ):
        with pytest.raises(CopyFailed, match=says):
            copy_log(folder, target, replace=replace)
    assert there.read_text() == "mine"
    copy_log(folder, there, replace=True)
    assert dump(there) == dump(folder / LOG)


def test_on_a_full_disk_nothing_is_left_and_what_was_there_stays(
    memory: Memory, folder: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(memory, 2)
    target.write_text("the one before")

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(backup, "sync", full)
    with pytest.raises(CopyFailed, match=r"No space left on device.*no partial copy was left.*another disk"):
        copy_log(folder, target, replace=True)
    assert target.read_text() == "the one before"
    assert not target.with_name(target.name + PART).exists()
    memory.append(said("on", parent="s1"))


def test_a_copy_stopped_or_damaged_leaves_nothing(memory: Memory, folder: Path, target: Path, tmp_path: Path) -> None:
    talk(memory, 3)
    with pytest.raises(CopyStopped):
        copy_log(folder, target, stopping=lambda: True)
    memory.close()
    change(folder, "UPDATE events SET text = 'never said' WHERE seq = 3")
    with pytest.raises(CopyFailed, match=r"texts: 1 changed.*clew doctor"):
        copy_log(folder, target)
    with pytest.raises(MemoryMissing):
        copy_log(tmp_path / "none", target)
    assert [path.name for path in target.parent.iterdir()] == ["memory"]


def test_copies_that_hold_a_text_are_named_until_they_are_gone(memory: Memory, folder: Path, tmp_path: Path) -> None:
    talk(memory, 2)
    early, late = tmp_path / "early.sqlite", tmp_path / "late.sqlite"
    backup.note(folder, copy_log(folder, early), NOW)
    [later] = memory.append(said("more", parent="s1"))
    backup.note(folder, copy_log(folder, late), NOW)
    assert memory.backups.holding([2]) == [str(early), str(late)]
    assert memory.backups.holding([later.seq]) == [str(late)]
    assert memory.backups.holding([99]) == []
    late.unlink()
    assert memory.backups.holding([later.seq]) == []
    early.write_bytes(b"not readable any more" * 100)
    assert memory.backups.holding([2]) == [str(early)]
    memory.append(delete("s0"))
    assert memory.backups.holding([2]) == []


def test_what_clew_makes_by_itself_is_listed_as_such(memory: Memory, folder: Path, tmp_path: Path) -> None:
    talk(memory, 2)
    place = backup.backups_of(folder)
    place.mkdir(mode=0o700)
    copy_log(folder, place / f"{backup.AUTOMATIC}2026-01-01T000000Z.sqlite")
    manual = place / "clew-2026.sqlite"
    backup.note(folder, copy_log(folder, manual), NOW)
    found = {each.path.name: each for each in backup.listed(folder)}
    assert found["auto-2026-01-01T000000Z.sqlite"].automatic
    assert not found["clew-2026.sqlite"].automatic
    assert (found["clew-2026.sqlite"].at, found["clew-2026.sqlite"].head) == (NOW, 3)
    assert memory.backups.holding([2]) == []  # what is in the home is purged with it
