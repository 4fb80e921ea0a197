"""Opens the log for reading, with or without the lock, with a graph or without; also one of an earlier version.

A reader may be of the past: it then sees nothing that followed one event.
"""

import queue
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graph.contents import teach
from graph.errors import MemoryMissing, NotFound
from graph.events import Event
from graph.events.codec import Stored
from graph.log.log import hash_before
from graph.log.migrations import READ_OLD, version_of
from graph.log.validation import refuse_emptied, refuse_stranger
from graph.readings.conversation import Readings
from graph.readings.rows import EVENT, event_of
from graph.sqlite import LOG as FILE
from graph.sqlite import bound, open_reader, reading


class LogReader(Readings):
    """The conversation as the log has it. Thread-safe; `LogReader.open` needs no lock."""

    def __init__(self, path: Path, *, until: int | None = None) -> None:
        self._path = path
        self._until = until
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._closed = False

    @classmethod
    def open(cls, folder: Path) -> "LogReader":
        """Read the log of `folder`. Raises MemoryMissing, LogDamaged or LogNewer."""
        path = folder / FILE
        refuse_stranger(folder)
        if not path.is_file() or path.stat().st_size == 0:
            raise MemoryMissing(folder)
        reader = cls(path)
        with reader.snapshot() as db:
            refuse_emptied(db, folder)
            if version_of(db) == 0:
                raise MemoryMissing(folder)
        return reader

    def events(self, *, after: int = 0, limit: int) -> list[Stored]:
        """Up to `limit` events that follow number `after`, as the projection reads them."""
        with self.snapshot() as db:
            rows = db.execute(f"{EVENT} WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))
            return [event_of(row) for row in rows]

    @property
    def size(self) -> int:
        """The bytes of the log's file, all of it."""
        return self._path.stat().st_size

    def last_by(self, at: int) -> int:
        """The number of the last event by a time, in UTC milliseconds; 0 if there was none yet."""
        with self.snapshot() as db:
            row = db.execute("SELECT seq FROM events WHERE at <= ? ORDER BY seq DESC LIMIT 1", (at,)).fetchone()
            return row[0] if row is not None else 0

    def stored_at(self, seq: int) -> int:
        """When an event was stored, in UTC milliseconds. Raises NotFound."""
        with self.snapshot() as db:
            row = db.execute("SELECT at FROM events WHERE seq = ?", (seq,)).fetchone()
            if row is None:
                raise NotFound(f"There is no event {seq}.")
            at: int = row[0]
            return at

    def event(self, seq: int) -> Event:
        """One event by its number. Raises NotFound."""
        with self.snapshot() as db:
            row = db.execute(f"{EVENT} WHERE seq = ?", (seq,)).fetchone()
            if row is None:
                raise NotFound(f"There is no event {seq}.")
            return event_of(row).event

    def link(self, seq: int) -> bytes:
        """The chain hash of event `seq` (of the log itself for 0), empty past the end."""
        with self.snapshot() as db:
            return hash_before(db, seq + 1)

    def close(self) -> None:
        """Close the connections; one that a call is using is closed by that call."""
        self._closed = True
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""
        with reading(self._path):
            try:
                db = self._idle.get_nowait()
            except queue.Empty:
                db = _opened(self._path, self._until)
            try:
                db.execute("BEGIN")
                yield db
                db.execute("ROLLBACK")
            except BaseException:
                db.close()
                raise
            self._idle.put(db)
            if self._closed:
                self.close()


def _opened(path: Path, until: int | None) -> sqlite3.Connection:
    """A connection to read with; in a log of a version before, a view stands in for the columns that are new."""
    db = open_reader(path)
    teach(db)
    if until is not None:  # of a memory that is open, and so of the newest version
        bound(db, until)
        return db
    new = READ_OLD.get(version_of(db))
    if new is not None:
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute(f"CREATE TEMP VIEW events AS SELECT *, {new} FROM main.events")
    return db


# The first of these tables counts bytes of blobs without reading them; the others are FTS5's own.
_VECTORS = "SELECT coalesce(sum(length(vector)), 0) FROM vectors"
_INDEXES = ("words_data", "learned_data")


def vectors_and_words(reader: LogReader) -> tuple[int, int]:
    """Bytes of the vectors, and of the indexes of what was said and learned; nothing but the log is looked at."""
    with reader.snapshot() as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        vectors = db.execute(_VECTORS).fetchone()[0] if "vectors" in tables else 0
        words = sum(
            db.execute(f"SELECT coalesce(sum(length(block)), 0) FROM {name}").fetchone()[0]
            for name in _INDEXES
            if name in tables
        )
        return vectors, words
