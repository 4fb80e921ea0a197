"""Taking turns at a memory: who holds it for long is named at once, who for a moment is waited for, and locks hold."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from graph.errors import SERVE, MemoryHeld
from graph.log.byte_search import forms_of, look
from graph.log.lock import MemoryLock, holder
from graph.memory import Memory
from graph.reader import LogReader
from graph.sqlite import LOG
from graph.transfer.backup import copy_log
from tests.graph.deeds import begin
from tests.graph.talk import said


def named(folder: Path) -> tuple[str, bool] | None:
    """Who holds the memory, and whether only for a moment."""
    name = holder(folder)
    return (name.command, name.brief) if name is not None else None


def test_a_brief_holder_and_one_that_ends_soon_are_waited_for(folder: Path) -> None:
    brief = MemoryLock.take(folder, command="clew (mcp)", brief=True)
    assert named(folder) == ("clew (mcp)", True)
    letting_go = threading.Timer(0.3, brief.release)  # longer than who holds it for good is waited for
    letting_go.start()
    taken = MemoryLock.take(folder, command="clew (chat)")
    letting_go.join()
    assert named(folder) == ("clew (chat)", False)
    taken.end_soon()
    assert named(folder) == ("clew (chat)", True)
    letting_go = threading.Timer(0.3, taken.release)
    letting_go.start()
    MemoryLock.take(folder, command="clew (ask)").release()
    letting_go.join()


def test_a_brief_holder_that_does_not_let_go_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.log.lock._BRIEF_S", 0.2)
    brief = MemoryLock.take(folder, command="clew (mcp)", brief=True)
    with pytest.raises(MemoryHeld, match=r"clew \(mcp\)"):
        MemoryLock.take(folder, command="clew (chat)")
    brief.release()


def test_who_waits_for_a_brief_holder_is_told_at_once_of_one_that_keeps_it(folder: Path) -> None:
    brief = MemoryLock.take(folder, command="clew (ask)", brief=True)
    told: list[str] = []

    def wait() -> None:
        with pytest.raises(MemoryHeld) as held:
            MemoryLock.take(folder, command="clew (import)", brief=True, waits_s=600)
        told.append(str(held.value))

    waiting = threading.Thread(target=wait)
    waiting.start()
    stored = json.loads((folder / "holder.json").read_text())
    (folder / "holder.json").write_text(json.dumps(stored | {"command": "clew (chat)", "brief": False}))
    waiting.join()
    assert "`clew (chat)`" in told[0]
    assert "Close that one first" in told[0]
    brief.release()


def test_one_that_keeps_it_is_not_waited_for_and_of_a_service_it_is_told_how_it_is_ended(folder: Path) -> None:
    kept = MemoryLock.take(folder, command="clew (chat)")
    with pytest.raises(MemoryHeld, match=r"clew \(chat\)"):
        MemoryLock.take(folder, command="clew (ask)", waits_s=600)  # more than a test may take
    kept.release()
    kept = MemoryLock.take(folder, command=SERVE)
    with pytest.raises(MemoryHeld, match=r"`clew serve` \(process \d+\).*`clew serve --stop`"):
        MemoryLock.take(folder, command="clew (ask)")
    kept.release()


def test_the_name_that_an_earlier_clew_left_is_read(folder: Path) -> None:
    taken = MemoryLock.take(folder, command="clew (chat)")
    stored = json.loads((folder / "holder.json").read_text())
    del stored["brief"]
    (folder / "holder.json").write_text(json.dumps(stored))
    assert named(folder) == ("clew (chat)", False)
    taken.release()


ELSEWHERE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("SELECT count(*) FROM events").fetchone()
db.close()
"""


def copied(folder: Path) -> None:
    copy_log(folder, folder.parent / "copy.sqlite")


def opened(folder: Path) -> None:
    LogReader.open(folder).close()


def looked(folder: Path) -> None:
    assert [path.name for path, _ in look(folder, forms_of({"hello"}))] != []


@pytest.mark.process
@pytest.mark.restarts
@pytest.mark.parametrize("does", [copied, opened, looked])
def test_another_program_opening_and_closing_it_takes_nothing(tmp_path: Path, does: Callable[[Path], None]) -> None:
    folder = tmp_path / "memory"
    with closing(Memory.open(folder, command="test")) as memory:
        memory.append(begin("s"), said("one", "s", text="hello there"))
        does(folder)
        before = (folder / f"{LOG}-wal").stat()
        assert before.st_size > 0
        subprocess.run([sys.executable, "-c", ELSEWHERE, str(folder / LOG)], check=True)
        assert (folder / f"{LOG}-wal").stat().st_ino == before.st_ino
        memory.append(said("two", "s", parent="one", text="again"))
    with closing(Memory.open(folder, command="test")) as memory:
        assert [turn.id for turn in memory.readings.thread("s")] == ["one", "two"]


def test_what_was_looked_through_is_let_go_of_with_the_memory(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with closing(Memory.open(folder, command="test")) as memory:
        memory.append(begin("s"), said("one", "s", text="hello there"))
        looked(folder)
    held = [os.path.realpath(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")]
    assert [each for each in held if each.startswith(str(folder))] == []
