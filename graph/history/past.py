"""The memory as it was: everything that can be asked, answered from the log up to one event.

Invariants:
- Nothing of it is kept: the log is read through views that hide what came later, and the graph is a temporary one, made
  anew from the log up to that event in a private folder beside the log's, which is gone when the past is left.
- Nothing said, learned or decided later is in any answer; what was erased since stays erased.
- Whenever something is erased, every past that is open ends, and its files with it: they may hold the words.
- The memory itself goes on meanwhile: a past has its own connections, graph and recall, and waits for nobody.
"""

import contextlib
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from graph.console.workers import QueryWorkers
from graph.errors import GraphFailure, NothingYet
from graph.ids import as_datetime, as_ms, new_id
from graph.kuzu import rebuild
from graph.kuzu.store import GraphStore
from graph.memory_view import MemoryView
from graph.reader import LogReader
from graph.readings.memory import MemoryReadings
from graph.recall.search import Recall
from graph.sqlite import LOG
from graph.values import Progress, Unreflected

FOLDER = "past"  # in the memory's; what a killed process left there goes at the next opening
ENDED = "Something was deleted permanently, which closed this view of the past. Nothing else is lost. Open it again."

Tell = Callable[[Progress], object]


class FrozenGraph:
    """The graph of a past: it stands where it is."""

    ready = True

    def __init__(self, store: GraphStore, seq: int) -> None:
        self._store: GraphStore | None = store
        self._seq = seq

    def query(self, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float) -> list[dict[str, Any]]:
        return self.standing()[0].query(cypher, parameters, timeout_s=timeout_s)

    def at(self) -> int:
        return self.standing()[1]

    def size(self) -> int:
        return self.standing()[0].size()

    def copy(self, into: Path, stopped: Callable[[], GraphFailure | None]) -> int:
        """Copy the graph to `into`: nobody writes to it. Raises GraphFailure or OSError."""
        store, seq = self.standing()
        store.copy_log(into, since=store.copy_file(into))
        return seq

    def standing(self) -> tuple[GraphStore, int]:
        if self._store is None:
            raise GraphFailure(ENDED)
        return self._store, self._seq

    def close(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()


class _PastReadings(MemoryReadings):
    def unreflected(self, limit: int) -> list[Unreflected]:
        """Nothing: what is over is not learned from."""
        return []


class Past(MemoryView):
    """A memory as it was right after event `seq`, stored `at`: it answers as a Memory does, and cannot be written to.

    Every method raises GraphFailure once something was erased for good.
    """

    def __init__(self, log: Path, folder: Path, reader: LogReader, store: GraphStore) -> None:
        self.seq = reader.head()
        self.at: datetime = as_datetime(reader.stored_at(self.seq))
        self._folder = folder
        self._reader = reader
        self._still = FrozenGraph(store, self.seq)
        self._apart = QueryWorkers(folder, self._still)
        recall = Recall(log, self._still, until=self.seq, tables=reader.tables())
        super().__init__(_PastReadings(self._snapshot, recall.in_world, recall.later), recall, self._still, self._apart)

    def _snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        self._still.standing()  # whoever still asks when it is over is told so
        return self._reader.snapshot()

    def close(self) -> None:
        """Let go of everything and remove the temporary files. Closing twice is no harm."""
        self._apart.close(ENDED)
        self._still.close()
        self.recall.close(ENDED)
        self._reader.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class Pasts:
    """The pasts of one memory that are open, or being opened. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / LOG
        self._folder = folder / FOLDER
        self._making = threading.Lock()  # one at a time: each takes as much memory as a rebuild
        self._changed = threading.Lock()  # guards the three below
        self._open: list[Past] = []
        self._erased = 0  # times that something was erased
        self._closed = False
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def opened(self, when: datetime | int, tell: Tell) -> Iterator[Past]:
        """The memory as it was at a time, or right after an event. Raises NothingThen, NotFound or GraphFailure."""
        past = self._make(when, tell)
        try:
            yield past
        finally:
            with self._changed:
                if past in self._open:
                    self._open.remove(past)
            past.close()

    def erased(self) -> None:
        """Something was erased: end what is open, and let what is being opened begin again."""
        with self._changed:
            self._erased += 1
            ending, self._open = self._open, []
        for past in ending:
            past.close()

    def close(self) -> None:
        """End all of them, also one that is being made."""
        with self._changed:
            self._closed = True
        with self._making:  # it breaks off at its next step
            self.erased()

    def _make(self, when: datetime | int, tell: Tell) -> Past:
        with contextlib.closing(LogReader(self._log)) as reader:
            until = event_at(reader, when)
        with self._making:
            while not self._closed:
                with self._changed:
                    erased = self._erased
                past = self._try(until, tell, erased)
                if past is not None:
                    return past
        raise GraphFailure("The memory is closing.")

    def _try(self, until: int, tell: Tell, erased: int) -> Past | None:
        """A past, or None where something was erased while it was made."""
        folder = self._folder / new_id()
        folder.mkdir(mode=0o700, parents=True)
        reader = LogReader(self._log, until=until)

        def breathe(progress: Progress) -> None:
            if self._closed:
                raise GraphFailure("The memory is closing.")
            if self._erased != erased:
                raise _BeginAgain
            tell(progress)

        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            undo.callback(reader.close)
            try:
                rebuild.build(folder, reader, breathe)
            except _BeginAgain:
                return None
            past = Past(self._log, folder, reader, GraphStore.open(folder / rebuild.NEW))
            undo.pop_all()
        with self._changed:
            if self._erased == erased:
                self._open.append(past)
                return past
        past.close()
        return None


class _BeginAgain(Exception):
    """Something was erased while a past was made."""


def event_at(reader: LogReader, when: datetime | int) -> int:
    """The number of the last event by a time, or of an event itself. Raises NothingThen, or NotFound for a number.

    `when` is aware, or the number of an event.
    """
    if isinstance(when, int):
        if when < 1:
            raise NothingYet(f"There was nothing at event {when} yet. {_first(reader)}")
        reader.stored_at(when)
        return when
    until = reader.last_by(as_ms(when))
    if until == 0:
        raise NothingYet(f"There was nothing at {_local(when)} yet. {_first(reader)}")
    return until


def _first(reader: LogReader) -> str:
    if reader.head() == 0:
        return "There are no messages yet. Start a chat with `clew`."
    first = as_datetime(reader.stored_at(1))
    after = first.replace(second=0, microsecond=0) + timedelta(minutes=1)
    return f"The first event is from {_local(first)}. Ask for {_local(after)} or later."


def _local(moment: datetime) -> str:
    """A moment for people: the clock on their wall, to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
