"""Opens the log for reading, with or without the lock, with a graph or without; also one of an earlier version.

A reader may be of the past: it then sees nothing that followed one event. Where the tables beside the events are not
those of the log, because it was written by another version, or is to be read as it was, they are made in memory.
"""

import queue
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from graph.contents import teach
from graph.errors import MemoryMissing, NotFound
from graph.events import Event
from graph.events.codec import SELECT_EVENT, Stored, event_of
from graph.log.log import hash_before
from graph.log.migrations import version_of
from graph.log.validation import refuse_emptied, refuse_stranger
from graph.projection.sqlite_tables import TablesInMemory, are_current, are_whole, event_at
from graph.readings.conversation import Readings
from graph.sqlite import LOG as FILE
from graph.sqlite import bound, open_reader, reading


class LogReader(Readings):
    """The conversation as the log has it. Thread-safe; `LogReader.open` needs no lock."""

    def __init__(self, path: Path, *, until: int | None = None, tables: TablesInMemory | None = None) -> None:
        """Of all that is in the log, of what came up to event `until`, or of what `tables` alone tell of."""
        self._path = path
        self._until = until
        self._given = tables
        self._idle: queue.LifoQueue[_Connection] = queue.LifoQueue()
        self._closed = False
        self._making = threading.Lock()
        self._tables: TablesInMemory | None = None
        self._whole: bool | None = None  # whether those in the file have their columns; looked at once

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
            rows = db.execute(f"{SELECT_EVENT} WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))
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
            row = db.execute(f"{SELECT_EVENT} WHERE seq = ?", (seq,)).fetchone()
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
                self._idle.get_nowait().db.close()
            except queue.Empty:
                break
        with self._making:
            tables, self._tables = self._tables or self._given, None
        if tables is not None:
            tables.close()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""
        with reading(self._path):
            used = self._begun()
            try:
                yield used.db
                used.db.execute("ROLLBACK")
            except BaseException:
                used.db.close()
                raise
            self._idle.put(used)
            if self._closed:
                self.close()

    @contextmanager
    def events_only(self) -> Iterator[sqlite3.Connection]:
        """A reading connection of one's own in which nothing but the events is to be looked at."""
        with reading(self._path), closing(_opened(self._path, self._until)) as db:
            db.execute("BEGIN")
            yield db

    def tables(self) -> TablesInMemory | None:
        """The tables in memory that readings look at, None where those in the file are the log's."""
        with reading(self._path):
            used = self._begun()
            used.db.execute("ROLLBACK")
        self._idle.put(used)
        return used.tables

    def _begun(self) -> "_Connection":
        """A connection in a snapshot of which the tables are."""
        while True:
            try:
                used = self._idle.get_nowait()
            except queue.Empty:
                used = _Connection(_opened(self._path, self._until), None)
            try:
                used.db.execute("BEGIN")
                tables = self._tables_of(used.db)
                if tables is used.tables:
                    return used
                used.db.close()
                fresh = _Connection(_opened(self._path, self._until), tables)
                if tables is not None:
                    tables.attach(fresh.db)
                self._idle.put(fresh)
            except BaseException:
                used.db.close()
                raise

    def _are_whole(self, db: sqlite3.Connection) -> bool:
        if self._whole is None:
            self._whole = are_whole(db)
        return self._whole

    def _tables_of(self, db: sqlite3.Connection) -> TablesInMemory | None:
        """The tables of a snapshot, made if need be; None where they are in the file, or there is no log yet."""
        if self._given is not None or version_of(db) == 0:
            return self._given
        seq, link = db.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone() or (0, b"")
        if self._until is None and self._are_whole(db) and are_current(db, seq, link or hash_before(db, 1)):
            return None
        with self._making:
            if self._tables is None or self._tables.seq != seq:
                events = map(event_of, db.execute(f"{SELECT_EVENT} ORDER BY seq"))
                self._tables = TablesInMemory(events, partial(event_at, db), seq)
            return self._tables


@dataclass(frozen=True, slots=True)
class _Connection:
    """A connection, and the tables in memory that it looks at in place of those in the file."""

    db: sqlite3.Connection
    tables: TablesInMemory | None


def _opened(path: Path, until: int | None) -> sqlite3.Connection:
    """A connection to read with."""
    db = open_reader(path)
    teach(db)
    if until is not None:
        bound(db, until)
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
