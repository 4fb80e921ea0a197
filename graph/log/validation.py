"""Refuses what stands in the log's place and is not the log, before anything is changed.

Invariant: a graph is only ever made after the log has been created whole. So a missing or empty log beside a graph is
no new memory; it was lost, and starting over in its place would make the loss complete.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from graph.errors import LogDamaged, MemoryFailure
from graph.log.migrations import APPLICATION_ID, version_of
from graph.sqlite import GRAPH, LOG, open_at_rest


def refuse_stranger(folder: Path) -> None:
    """Look at the log's file before it is opened to be read or written. Raises LogDamaged."""
    path = folder / LOG
    if os.path.lexists(path) and not path.is_file():
        kind = "a folder" if path.is_dir() else "a broken link" if path.is_symlink() else "a special file"
        raise LogDamaged(
            f"{path} is {kind}, not a log. Nothing was changed. "
            "Move it away and put the log or a backup there, or choose another home folder with --home."
        )
    if not path.exists() or path.stat().st_size == 0:
        _refuse_beside_graph(folder)
    elif _is_foreign(path):
        raise LogDamaged(
            f"{path} is another program's database, not clew's log. Nothing was changed. "
            "Move it away and put a backup of the log there, or choose another home folder with --home."
        )


def refuse_emptied(db: sqlite3.Connection, folder: Path) -> None:
    """Look at an open log that has nothing in it: beside a graph it cannot be new. Raises LogDamaged or LogNewer."""
    if version_of(db) == 0:
        _refuse_beside_graph(folder)


def _refuse_beside_graph(folder: Path) -> None:
    if (folder / GRAPH).exists():
        raise LogDamaged(
            f"The log {folder / LOG} is missing or empty, but a graph built from it still exists. Nothing was "
            f"changed. Put the log or a backup of it back. If you have none: make a copy of {folder}, as the "
            f"graph still contains your messages, then move {GRAPH} away to start over."
        )


def _is_foreign(path: Path) -> bool:
    """Whether it is another program's database, or nobody's with tables in it; a log still being made has none.

    Asked of SQLite: closing a handle of one's own would take away the locks that this process has on the file.
    """
    try:
        with closing(open_at_rest(path, but_wal=True)) as db:
            application: int = db.execute("PRAGMA application_id").fetchone()[0]
            if application == 0 and version_of(db) == 0:
                return bool(db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
    except (sqlite3.DatabaseError, MemoryFailure):  # no database: whoever opens it next says why
        return False
    return application != APPLICATION_ID
