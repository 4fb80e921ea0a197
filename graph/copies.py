"""Erases in a copy of the log what was erased in the log itself since the copy was made.

The copy is opened as a log and told the same: its own erasing events say what is gone and why, so that it verifies, and
a memory that is restored from it knows.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from graph import purging
from graph.absence import INDEXES
from graph.ids import now_ms
from graph.log import TAIL, Log, check_chain
from graph.migrations import migrate
from graph.restoring import erase_again
from graph.sqlite import open_writer, writing


def purge_copy(path: Path, folder: Path) -> int:
    """Erase in the copy at `path` what is erased in the log of `folder`; how many of its events lost their text.

    Raises LogDamaged for what is no log that can be read, and LogUnwritable.
    """
    with writing(path), closing(open_writer(path)) as copy:
        migrate(copy)
        check_chain(copy, last=TAIL)
        erase_again(copy, path, folder)
        return _purge(Log(copy, path, now_ms), copy)


def _purge(log: Log, copy: sqlite3.Connection) -> int:
    """Nobody else has the file open: all of it at once."""
    waiting = purging.waiting(copy)
    if waiting:
        for index in INDEXES:
            copy.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        log.drop_vectors(purging.leftover_vectors(copy))
        log.blank(waiting)
        copy.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        log.forget_purged(waiting)
    copy.execute("PRAGMA journal_mode = DELETE").fetchone()  # one file, as it was made
    return len(waiting)
