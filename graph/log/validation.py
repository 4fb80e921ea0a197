"""Refuses what stands in the log's place and is not the log, before anything is changed.

Invariant: a graph is only ever made after the log has been created whole. So a missing or empty log beside a graph is
no new memory; it was lost, and starting over in its place would make the loss complete.
"""

import os
import sqlite3
from pathlib import Path

from graph.errors import LogDamaged
from graph.log.migrations import APPLICATION_ID, version_of
from graph.sqlite import GRAPH, LOG, bytes_of

_MAGIC = b"SQLite format 3\x00"
_HEADER = 105  # the file's header, and of the first page how many tables there are


def refuse_stranger(folder: Path) -> None:
    """Look at the log's file without opening it in SQLite. Raises LogDamaged."""
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
    """Whether the header names another program, or none and there are tables; a log still being made has neither."""
    try:
        header = next(bytes_of(path, _HEADER), b"")
    except OSError:  # whoever opens it next says why
        return False
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        return False
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    leaf, tables = header[100] == 0x0D, int.from_bytes(header[103:105], "big")
    return application != APPLICATION_ID and (application != 0 or version != 0 or not leaf or tables != 0)
