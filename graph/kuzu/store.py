"""The graph's database: one open graph, its one writing connection, its readers, and its checkpoints.

Who wants to be alone holds newcomers back, so that it gets its turn; if those inside do not leave in time, it lets
everybody on and tries again later.

Invariants (all measured, see the design notes on Kuzu):
- One transaction at a time writes, on the thread that owns the store; readers run beside it on their own connections.
- Checkpoints are ours, made while no reader is inside: an automatic one that meets a reader blocks for seconds.
- A connection is closed only when no query runs on it: interrupt, wait, then close.
- After a write or a checkpoint failed, and where there is no room to write, the engine is never closed: its
  destructor would write again, and spins for ever holding the interpreter. The store is then kept until the process
  ends; whoever owned it rebuilds the file.
- Every error of the engine becomes ours here and nowhere else.
"""

import ctypes
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graph.errors import GraphFailure, NoRoom, QueryFailed, QueryTimeout
from graph.kuzu import engine, room
from graph.projection.schema import META, VERSION, statements
from graph.sqlite import GRAPH

PIECE = 1 << 30


def copied(source: Path, into: Path) -> None:
    """Copy a file, for nobody else to read. Raises OSError, and then what there is of the copy is its caller's."""
    with source.open("rb") as file, open(os.open(into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        try:
            while _some(file.fileno(), copy.fileno()):
                pass
        except OSError:  # a file system that cannot, or not from there to here
            file.seek(0)
            copy.seek(0)
            shutil.copyfileobj(file, copy)


def _some(source: int, into: int) -> int:
    if not hasattr(os, "copy_file_range"):  # of Linux
        raise OSError("copy_file_range")
    return os.copy_file_range(source, into, PIECE)


class ReadWriteLock:
    """Shared passage for readers of the graph, exclusive passage for checkpoints and for replacing it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._closed = False

    @property
    def held_back(self) -> bool:
        """Whether newcomers wait because somebody is or wants to be alone."""
        return self._closed

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Go through together with others."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, *, timeout_s: float | None = None) -> Iterator[bool]:
        """Go through alone. Yields False, and holds nobody back, if others were still inside after `timeout_s`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._closed = True
            empty = self._changed.wait_for(lambda: self._inside == 0, timeout_s)
            if not empty:
                self._closed = False
                self._changed.notify_all()
        try:
            yield empty
        finally:
            if empty:
                with self._changed:
                    self._closed = False
                    self._changed.notify_all()


FILE = GRAPH
BUFFER_POOL_BYTES = 256 << 20
MAX_BYTES = 1 << 36  # of address space; the engine's default maps 8 TB and fails under a limit
READER_THREADS = 2
MOST_IDLE = 2  # connections that wait for the next query
CHECKPOINT_EVERY = 400  # transactions; about 10 MB of write-ahead log
CHECKPOINT_PATIENCE_S = 0.02


class GraphStore:
    """An open `graph.kuzu`. Writing methods are for its one owner thread; `query` is for any."""

    def __init__(self, database: engine.Database, path: Path) -> None:
        self.spoilt = False  # a write failed: the file is not to be trusted, the engine not to be closed
        self._path = path
        self._folder = path.parent
        self._database = database
        self._writer = database.connect(threads=1)
        self._gate = ReadWriteLock()
        self._busy: set[engine.Connection] = set()
        self._idle: list[engine.Connection] = []  # with what they have prepared, for the next who read
        self._busy_changed = threading.Lock()
        self._closing = False
        self._unchecked = 0
        self._checkpoints = 0

    @classmethod
    def open(cls, path: Path) -> "GraphStore":
        """Open a graph that exists. Raises GraphFailure if the engine cannot."""
        with engine_errors("opening the graph"):
            return cls(engine.Database(path, pool_bytes=BUFFER_POOL_BYTES, most_bytes=MAX_BYTES), path)

    @classmethod
    def create(cls, path: Path) -> "GraphStore":
        """Make an empty graph of this version. Raises GraphFailure."""
        store = cls.open(path)
        try:
            for statement in statements():
                store.execute(statement)
            store.execute(f"CREATE (:`{META.name}` {{id: 0, version: {VERSION}, applied: 0, link: ''}})")
        except BaseException:
            store.close()
            raise
        return store

    def applied(self) -> tuple[int, int, str]:
        """Schema version, the last event applied, and the chain's hash there. Raises GraphFailure."""
        rows = self.execute("MATCH (m:Meta {id: 0}) RETURN m.version, m.applied, m.link")
        if len(rows) != 1:
            raise GraphFailure("The graph does not say what it holds.")
        match rows[0]:
            case [int() as version, int() as applied, str() as link]:
                return version, applied, link
        raise GraphFailure(f"The graph does not say what it holds, but {rows[0]}.")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One write transaction: committed at the end, rolled back on any error. Raises GraphFailure."""
        with self._engine_writes():
            self._writer.begin()
            try:
                yield
                self._writer.commit()
            except BaseException:
                self._writer.roll_back()
                raise
            self._unchecked += 1

    def execute(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """Run a statement on the writing connection and return its rows; with parameters it is kept prepared.

        Raises GraphFailure.
        """
        with self._engine_writes():
            return self._writer.execute(cypher, parameters, keep=parameters is not None).rows()

    def copy(
        self,
        table: str,
        columns: Mapping[str, Sequence[Any]],
        types: Mapping[str, str],
        *,
        ends: tuple[str, str] | None = None,
    ) -> None:
        """Load rows, given by column, into a table. Raises GraphFailure.

        `ends` are the node tables that the rows lead from and to, where the relationship may lead to several.
        """
        rows = engine.columns(columns, types)
        with self._engine_writes():
            self._writer.copy(table, rows, ends=ends)

    def query(self, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float) -> list[dict[str, Any]]:
        """Read, beside the writer. Raises QueryFailed, or QueryTimeout when time is up or the store closes."""
        with self._gate.shared(), self._reader() as connection, engine_errors("the query"):
            result = connection.execute(cypher, parameters, timeout_s=timeout_s, keep=True)
            names = result.columns
            return [dict(zip(names, row, strict=True)) for row in result.rows()]

    def size(self) -> int:
        """Bytes of the file and its write-ahead log."""
        return sum(path.stat().st_size for path in (self._path, engine.wal_of(self._path)) if path.exists())

    def copy_file(self, into: Path) -> int:
        """Copy the file without its write-ahead log; the number of checkpoints so far. Raises OSError.

        Writers go on: between two checkpoints only the write-ahead log grows.
        """
        with self._gate.shared():
            copied(self._path, into)
            return self._checkpoints

    def copy_log(self, into: Path, *, since: int) -> bool:
        """Copy what was written since the file was copied at `into`; False where there was a checkpoint meanwhile.

        For the owner's thread: then nothing is being written. Raises OSError.
        """
        if self._checkpoints != since:
            return False
        if (wal := engine.wal_of(self._path)).exists():
            copied(wal, engine.wal_of(into))
        return True

    def checkpoint_if_due(self) -> None:
        """Checkpoint after enough transactions, if the readers let us. Raises GraphFailure."""
        if self._unchecked >= CHECKPOINT_EVERY:
            with self._gate.alone(timeout_s=CHECKPOINT_PATIENCE_S) as alone:
                if alone:
                    self.checkpoint()

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file; nobody may be reading. Raises GraphFailure, or NoRoom before it."""
        room.require(self._folder, room.TO_FOLLOW)
        with self._engine_writes():
            self._checkpoints += 1  # before it begins: what is copied meanwhile is of no use
            self._writer.checkpoint()
            self._unchecked = 0

    def close(self, *, fold: bool = True, readers_s: float = 0.0) -> None:
        """Stop the readers, those that come to no end by themselves within `readers_s`, fold in what is left, and close
        the file if that can be done safely.

        Folding takes longer than the rest, and is left out for a file that another takes the place of: what was written
        since the last checkpoint then stays in the write-ahead log beside it.
        """
        closed = False
        if readers_s:
            with self._gate.alone(timeout_s=readers_s) as closed:
                if closed:
                    self._interrupt_readers()  # nobody is inside: it is for those who come later
                    self._close_alone(fold=fold)
        while not closed:
            self._interrupt_readers()  # again and again: one that has not quite begun does not hear it
            with self._gate.alone(timeout_s=CHECKPOINT_PATIENCE_S) as closed:
                if closed:
                    self._close_alone(fold=fold)

    def _interrupt_readers(self) -> None:
        with self._busy_changed:
            self._closing = True
            for connection in self._busy:
                connection.interrupt()

    def _close_alone(self, *, fold: bool) -> None:
        try:
            room.require(self._folder, room.TO_FOLLOW)  # the engine's own closing writes too
            if self.spoilt:
                pass  # it is left alone
            elif not fold:
                with self._engine_writes():
                    self._writer.leave_log()
            elif self._unchecked:
                self.checkpoint()
        except (NoRoom, OSError):  # or the folder is gone, as when somebody deletes clew's home beneath it
            self._keep_for_ever()  # what was committed is in the write-ahead log, for the next opening
            return
        except GraphFailure:
            pass  # the log has everything, and `spoilt` tells the owner
        if self.spoilt:
            self._keep_for_ever()
            return
        with suppress(*engine.ERRORS):  # the log has everything; the next opening looks at the file anew
            while self._idle:
                self._idle.pop().close()
            self._writer.close()
            self._database.close()

    def _keep_for_ever(self) -> None:
        """One reference too many, which outlives even the interpreter's end: no destructor of the engine runs."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    @contextmanager
    def _engine_writes(self) -> Iterator[None]:
        """Errors as GraphFailure, and remembered."""
        with engine_errors("writing the graph"):
            try:
                yield
            except engine.ERRORS:
                self.spoilt = True
                raise

    @contextmanager
    def _reader(self) -> Iterator[engine.Connection]:
        with self._busy_changed:
            if self._closing:
                raise QueryTimeout("The memory is closing.")
            connection = self._idle.pop() if self._idle else self._database.connect(threads=READER_THREADS)
            self._busy.add(connection)
        again = False
        try:
            yield connection
            again = True
        finally:
            with self._busy_changed:
                self._busy.discard(connection)
                again = again and not self._closing and len(self._idle) < MOST_IDLE
                if again:
                    self._idle.append(connection)
            if not again:
                connection.close()


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """The engine's errors as GraphFailure."""
    try:
        yield
    except engine.SeveralStatements as e:
        raise QueryFailed(str(e)) from e
    except engine.ERRORS as e:
        text = str(e).strip()
        if engine.why(e) == "time":
            raise QueryTimeout(f"Stopped: {doing} took too long ({text}).") from e
        if doing == "the query":
            raise QueryFailed(f"The graph cannot answer this: {text}") from e
        raise GraphFailure(f"Problem while {doing}: {text}. Everything is safe in the log.") from e
