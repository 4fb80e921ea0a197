"""How the log file is opened, also only up to one event, and how SQLite's errors become ours.

Invariants: the writer's connection is durable at each commit (WAL, synchronous FULL) and overwrites what it deletes
(secure_delete). Readers cannot write, and never wait for the writer.

Temporary views of the tables' own names hide what came later. SQLite looks for a name among what is temporary first,
and folds such a view into the query, so that every index goes on being used. The full-text indexes have no view: what
they find is joined with `events`, or counted up to a number that the asker gives.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from graph import whole_words
from graph.errors import LogDamaged, LogUnreadable, LogUnwritable, MemoryFailure

LOG = "log.sqlite"
GRAPH = "graph.kuzu"
RESTORING = LOG + ".restoring"  # a backup that is made ready to take the log's place


BUSY_TIMEOUT_S = 5.0
NOTHING_STORED = "Earlier data is safe, but this was not stored."

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_SCHEMA}
# Of our own fixed statements also: a table is missing; without a code: a text is none.
_DAMAGED_TO_READ = _DAMAGED | {0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_PRIMARY = 0xFF  # an extended result code carries its primary one in the low byte


def open_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes, in autocommit mode. Creates the file, private to the user."""
    with writing(path):
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
            db.execute("PRAGMA temp_store = MEMORY")
        except BaseException:
            db.close()
            raise
        return db


_kept: dict[Path, tuple[int, int]] = {}  # handles that stay open, with the inodes that they are of
_keeping = threading.Lock()


def bytes_of(path: Path, size: int) -> Iterator[bytes]:
    """A file of the log, piece by piece, as it lies on the disk, also while SQLite has it open here. Raises OSError.

    Its handle stays open: on POSIX, closing any handle of a file takes the locks away that this process has on it.
    Whoever else opened the log then, and closed it, would take themselves for the last, and remove what is written.
    """
    with _keeping:
        inode = path.stat().st_ino
        kept = _kept.get(path)
        if kept is not None and kept[1] != inode:  # another file is in its place: of the old one there are no locks
            os.close(kept[0])
        if kept is None or kept[1] != inode:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            _kept[path] = kept = handle, os.fstat(handle).st_ino
    at = 0
    while piece := os.pread(kept[0], size, at):
        yield piece
        at += len(piece)


def let_go(path: Path) -> None:
    """Close the handles of a log's files: nothing has it open in this process any more."""
    with _keeping:
        for kept in [each for each in _kept if each.parent == path.parent and each.name.startswith(path.name)]:
            os.close(_kept.pop(kept)[0])


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads, also where the folder cannot be written. Raises as `reading` does."""
    with reading(path):
        try:
            return _proven(_connect_readonly(path, "mode=ro"))
        except sqlite3.OperationalError as e:
            if _code(e) in _BUSY or not _is_whole_without_wal(path):
                raise
            # A reader of a WAL file has to create its -shm beside it; where it cannot, nobody else can write either.
            return _proven(_connect_readonly(path, "immutable=1"))


def open_at_rest(path: Path, *, but_wal: bool = False) -> sqlite3.Connection:
    """A connection that reads a file nobody writes, and leaves nothing beside it. Raises as `reading` does.

    What lies in a write-ahead log beside it is read too, which leaves a file more there, or passed by with `but_wal`.
    """
    if not but_wal and not _is_whole_without_wal(path):
        return open_reader(path)
    with reading(path):
        return _connect_readonly(path, "immutable=1")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Errors of writing `path` as LogUnwritable or LogDamaged."""
    try:
        yield
    except sqlite3.DatabaseError as e:
        if _code(e) in _DAMAGED:
            raise _unread(path, e) from e
        raise LogUnwritable(f"{_why_unwritable(path, e)} {NOTHING_STORED}") from e
    except OSError as e:
        raise LogUnwritable(
            f"{path.parent} cannot be written ({e.strerror}). Nothing was changed. Make it writable, or choose "
            "another home folder with --home."
        ) from e


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Errors of reading `path` as LogDamaged where that is what they say, else as LogUnreadable."""
    try:
        yield
    except sqlite3.DatabaseError as e:
        raise _unread(path, e) from e


def _connect_readonly(path: Path, how: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?{how}"
    db = sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    whole_words.teach(db)
    return db


def _proven(db: sqlite3.Connection) -> sqlite3.Connection:
    """The connection, if it can read; else it is closed. Raises sqlite3.DatabaseError."""
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.DatabaseError:
        db.close()
        raise
    return db


def _is_whole_without_wal(path: Path) -> bool:
    wal = path.with_name(path.name + "-wal")
    return path.exists() and (not wal.exists() or wal.stat().st_size == 0)


def says_damage(error: Exception) -> bool:
    """Whether what went wrong in reading says something against the file, and not only against this moment."""
    return not isinstance(error, sqlite3.DatabaseError) or _code(error) in _DAMAGED_TO_READ


def _code(e: sqlite3.DatabaseError) -> int:
    return int(getattr(e, "sqlite_errorcode", 0)) & _PRIMARY


def _unread(path: Path, e: sqlite3.DatabaseError) -> MemoryFailure:
    if says_damage(e):
        return LogDamaged(
            f"The log {path} cannot be read ({e}). It was not changed. Make a copy of it first, then restore a backup."
        )
    return LogUnreadable(f"The log {path} could not be read just now ({e}). It was not changed. {_then(_code(e))}")


def _then(code: int) -> str:
    """What to do about an error that is none of the file's."""
    if code in _BUSY:
        return "Another program is using it: try again in a moment."
    match code:
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH | sqlite3.SQLITE_READONLY:
            return "Make the file and its folder readable; if they are, too many files are open: try again in a moment."
        case sqlite3.SQLITE_NOMEM:
            return "There is no memory left: close other programs and try again."
        case _:
            return "Try again; if this stays, check the disk, and make a copy of the file first."


def _why_unwritable(path: Path, e: sqlite3.DatabaseError) -> str:
    match _code(e):
        case sqlite3.SQLITE_FULL:
            return f"The disk is full: {path} could not grow. Free some space and try again."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return (
                f"{path} cannot be written. Make it and its folder writable, or choose another home folder with --home."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"Another program is using {path}. Close it and try again."
        case _:
            return f"{path} could not be written ({e}). Check the disk and its free space."


BESIDE = ("events", "contents")  # by the number of their event


def bound(db: sqlite3.Connection, until: int) -> None:
    """Hide whatever followed event `until` from the queries of a fresh connection."""
    db.execute("PRAGMA temp_store = MEMORY")
    for table in BESIDE:
        db.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE seq <= {until:d}")
