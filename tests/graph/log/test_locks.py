"""Whoever else opens the log and closes it takes nothing of it away: clew's locks on it hold, whatever clew reads."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from graph.log.byte_search import forms_of, look
from graph.memory import Memory
from graph.reader import LogReader
from graph.sqlite import LOG
from graph.transfer.backup import copy_log
from tests.graph.deeds import begin
from tests.graph.talk import said

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
def test_another_program_that_opens_the_log_and_closes_it_takes_nothing_away(
    tmp_path: Path, does: Callable[[Path], None]
) -> None:
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
