"""The face of the memory: the lock, the log that is the truth, and the graph that follows it.

Invariants: whoever has a `Memory` holds the lock. `append` returns when the log is durable; the graph is then applied
too, or the answer says that it is behind. Conversations are always read from the log. All methods block and may be
called from any thread.
"""

import atexit
import contextlib
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from graph import contents
from graph.console.graph_copy import FollowedGraph
from graph.console.workers import QueryWorkers
from graph.doctor import examine_graph, examine_log, examine_words, weigh
from graph.errors import MemoryFailure
from graph.events import Event, Recalled, SessionDeleted, TextErased
from graph.events.codec import Stored
from graph.history.history import History
from graph.history.past import Past, Pasts
from graph.ids import as_datetime
from graph.kuzu import rebuild, room
from graph.kuzu.follower import Follower
from graph.kuzu.truncation import WITNESS, examine_witness
from graph.log.erasing import ERASING
from graph.log.lock import MemoryLock
from graph.log.log import Log, Stream, Told, untold
from graph.memory_view import MemoryView
from graph.reader import LogReader
from graph.readings.memory import MemoryReadings
from graph.recall.search import Recall
from graph.sqlite import LOG as FILE
from graph.sqlite import RESTORING
from graph.transfer.backup import Backups, forget_cut_off, remove
from graph.transfer.merging import Batch, ExportedEvent, Merge
from graph.upkeep import Purge, recover
from graph.values import ASSISTANT, Check, Progress, Recorded, Speaker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Memory(MemoryView):
    """A memory opened for writing. `Memory.open` makes one; close it.

    Besides the parts of what can be asked: `history` (what a change would do, what people changed, marks), `purge` (of
    what was erased) and `backups`.
    """

    def __init__(self, folder: Path, lock: MemoryLock, log: Log, reader: LogReader) -> None:
        self._graph = Follower(folder, reader)
        self._apart = QueryWorkers(folder, FollowedGraph(self._graph))
        recall = Recall(folder / FILE, self._graph)
        super().__init__(
            MemoryReadings(reader.snapshot, recall.in_world, recall.later), recall, self._graph, self._apart
        )
        self._folder = folder
        self._lock = lock
        self._log = log
        self._reader = reader
        self._writing = threading.Lock()
        self._closed = False
        self._pasts = Pasts(folder)
        self.history = History(log, self._writing, self._applied, self)
        self.purge = Purge(folder, log, self._writing, reader, self._graph, self._apart)
        self.backups = Backups(folder, reader.snapshot)
        self._pending = contents.UnembeddedContents()
        self.appended: Callable[[], None] = lambda: None  # called after each append, on the thread that appends
        self.starts = log.starts
        self.recovered = recover(log, reader)
        atexit.register(self.close)  # the engine aborts the process if its thread is still there at the end

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        command: str,
        brief: bool = False,
        waits_s: float | None = None,
        progress: Told = untold,
    ) -> "Memory":
        """Take the lock, open the log, finish what a crash left. The graph stays closed until `open_graph`.

        `progress` hears how many of how many events were read where the tables beside them have to be made anew. Who is
        `brief` promises to close it in a moment, so that others wait (`waits_s`) instead of being refused.

        Raises MemoryHeld, LogUnwritable, LogDamaged or LogNewer.
        """
        lock = MemoryLock.take(folder, command=command, brief=brief, waits_s=waits_s)
        try:
            with contextlib.suppress(OSError):
                rebuild.remove(folder, rebuild.NEW)  # on a full disk the cache gives way to the truth
                remove(folder / RESTORING)  # of a restore that was cut off
                forget_cut_off(folder)

            def told(done: int, total: int) -> None:
                lock.tell(done, total)
                progress(done, total)

            log = Log.open(folder, progress=told)
            try:
                return cls(folder, lock, log, LogReader(folder / FILE))
            except BaseException:
                log.close()
                raise
        except BaseException:
            lock.release()
            raise

    def append(self, *events: Event, ends_stream: str | None = None) -> list[Recorded]:
        """Store `events` in one transaction, and drop the side row of turn `ends_stream` in the same.

        Raises LogUnwritable or InvalidEvent, and then nothing is stored; trouble with the graph never raises.
        """
        with self._writing:
            stored = self._log.append(events, ends_stream=ends_stream)
            head = self._log.head
        return self._applied(stored, head)

    def _applied(self, stored: list[Stored], head: int) -> list[Recorded]:
        """Let the graph follow what was stored, outside the lock."""
        erasing = any(isinstance(each.event, (*ERASING, SessionDeleted, TextErased)) for each in stored)
        if erasing:
            self._pasts.erased()
        behind = not self._graph.follow(head)
        if erasing:
            self._apart.erased()
        self.appended()
        return [Recorded(each.seq, each.id, as_datetime(each.at), graph_behind=behind) for each in stored]

    def merge(self, batch: Sequence[ExportedEvent], merge: Merge) -> list[Recorded]:
        """Take in some events of an export, in the order of their numbers, in one transaction.

        Raises LogUnwritable: then none is in.
        """
        with self._writing:
            with self._log.merging() as (db, store):
                stored = Batch(db, store, merge).run(batch)
            head = self._log.head
        return self._applied(stored, head) if stored else []

    def stream(
        self,
        turn: str,
        *,
        session: str,
        parent: str | None,
        model: str | None,
        text: str,
        recalled: tuple[Recalled, ...] = (),
        voice: Speaker = ASSISTANT,
    ) -> None:
        """Keep what a streaming reply has so far; after a crash it is a truncated turn.

        Raises LogUnwritable, or InvalidEvent where none but the cast of a story could say it, or it could not.
        """
        with self._writing:
            self._log.stream(Stream(turn, session, parent, model, text, recalled, voice))

    def erase(self, *events: int) -> None:
        """Erase the texts of events for good, by sequence number. Raises LogUnwritable or InvalidEvent."""
        self.append(TextErased(events=events))

    def past(
        self, when: datetime | int, progress: Callable[[Progress], object] = lambda _: None
    ) -> AbstractContextManager[Past]:
        """The memory as it was at an aware time, or right after an event, to be asked and not written to.

        Entering it replays the log up to there, which takes a while; the memory can be used meanwhile. Raises
        NothingThen before the first event, NotFound for no event's number, or GraphFailure (NoRoom).
        """
        return self._pasts.opened(when, progress)

    def open_graph(self, progress: Callable[[Progress], None]) -> None:
        """Open the graph and bring it to the log's head, rebuilding it if need be; the log can be used meanwhile.

        `progress` is called on the graph's own thread, here and whenever the graph has to be renewed later.
        Raises GraphFailure (the chat goes on without the graph), LogDamaged, or EventsMissing: told once when the graph
        had seen events that the log has lost; the graph is open then.
        """
        self._graph.open(progress)

    def rebuild(self, progress: Callable[[Progress], None]) -> None:
        """Make graph and word index anew from the log; the old graph is set aside, and damaged vectors are dropped.

        Raises GraphFailure, LogDamaged or LogUnwritable.
        """
        with self._writing:
            self._log.rebuild_tables(lambda done, total: progress(Progress("rebuilding", done, total)))
            self._log.rebuild_words()
            self._log.drop_unsound()
            self._pending = contents.UnembeddedContents()  # what had such a vector has none now
        self.recall.forget()
        self._graph.rebuild(progress)
        (self._folder / WITNESS).unlink(missing_ok=True)  # the user has seen to it

    def doctor(self, *, deep: bool = True) -> list[Check]:
        """Examine log, word index, permissions and, if it is open, the graph. `deep` reads everything there is."""
        checks = examine_log(self._reader, self._folder, deep=deep)
        if deep:
            with self._writing:
                checks += examine_words(self._log)
        return weigh(checks + examine_witness(self._folder, self._reader) + self._examine_graph(deep=deep))

    def head(self) -> int:
        return self._log.head

    def unembedded(self, model: str, limit: int) -> list[tuple[bytes, str]]:
        """Content hash and text of what was said and has no vector of `model`, newest first, each text once."""
        with self._reader.snapshot() as db:
            return self._pending.find(db, model, limit)

    def keep_vectors(self, model: str, vectors: "Sequence[tuple[bytes, NDArray[np.floating]]]") -> None:
        """Keep vectors by content hash, all or none; what was erased meanwhile is left out.

        Raises LogUnwritable, or InvalidVector for NaN, infinity, zero, or a dimension that is not the model's.
        """
        with self._writing:
            self._log.keep_vectors(model, vectors)

    def forget_embedder(self, model: str) -> None:
        """Delete a model's vectors. Raises LogUnwritable; some may be gone then, and the rest goes the next time."""
        more = True
        while more:
            with self._writing:
                more = self._log.forget_embedder(model)

    def _examine_graph(self, *, deep: bool) -> list[Check]:
        try:
            if deep:
                return self._graph.inspect(lambda store, at: examine_graph(store, at, self._reader))
            return [Check("graph", self._graph.ready, "it follows the log" if self._graph.ready else "it is behind")]
        except MemoryFailure as e:
            full = room.left(self._folder) < room.TO_OPEN
            advice = room.ADVICE if full else "Run `clew rebuild`: the graph is rebuilt, nothing is lost."
            return [Check("graph", False, str(e), advice)]

    def end_soon(self) -> None:
        """Tell whoever wants the memory that it is closed in a moment."""
        self._lock.end_soon()

    def close(self) -> None:
        """Let go of everything, the lock last. Closing twice is no harm."""
        with self._writing:
            if self._closed:
                return
            self._closed = True
            atexit.unregister(self.close)
            self._pasts.close()
            self._apart.close()
            self._graph.close()
            self.recall.close()
            self._reader.close()
            self._log.close()
            self._lock.release()
