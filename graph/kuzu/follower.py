"""Keeps the graph behind the log: one thread that owns the store, follows appends, and rebuilds what it cannot use.

Invariants:
- The thread always reads events from the log, whether it applies one append, catches up after a crash, or starts anew:
  there is one way into the graph.
- The number of the last event applied is in the same transaction as what the event did.
- A purge builds a new graph on its caller's thread, while this one goes on with the old; then they change places, and
  whoever asks meanwhile waits for that moment.
- An append waits for the graph only while the graph keeps up; while it catches up or rebuilds, nobody waits.
- On a disk that is nearly full the graph waits as it is, and goes on with the first append that finds room again.
- Trouble with the graph never reaches the log: the graph is rebuilt, and if that fails too it stays closed until the
  next opening. What is of the moment (no more files may be opened, the log cannot be read just now) rebuilds nothing.
- A bug ends neither the thread for good nor anybody's wait: another thread goes on with the graph closed.
"""

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from graph.errors import SURPRISES, EventsMissing, GraphFailure, LogUnreadable, MemoryFailure, NoRoom, QueryTimeout
from graph.events import TextErased
from graph.kuzu import engine, rebuild, rebuild_worker, room
from graph.kuzu.opening import OPENING, PURGE, mark, open_trusted, unmark
from graph.kuzu.overlay import follow
from graph.kuzu.store import GraphStore
from graph.kuzu.truncation import hear, missing
from graph.reader import LogReader
from graph.values import Progress

BATCH = 128  # events in one transaction while catching up

# Following an event costs about as much as folding 60 in a rebuild, which also has a fixed price.
FOLLOWING_COST = 60
REBUILD_PRICE = 100

SWAP_PATIENCE_S = 10.0  # how long a reader waits for a new graph that only has to take the place of the old one
READERS_MOMENT_S = 1.0  # what readers of the old one have left to come to their end

CLOSING_PATIENCE_S = 20.0  # the engine was seen to hang for good over a damaged file; quitting must not

MEANWHILE = "Try again in a moment. The chat still works meanwhile."
BEHIND = f"The graph is being opened or rebuilt. {MEANWHILE}"
STOPPED = f"The graph stopped because of a bug. {MEANWHILE}"
LOOK_EVERY_S = 0.02  # whether whoever waits still wants to know

Tell = Callable[[Progress], None]
Stopped = Callable[[], GraphFailure | None]
Result = TypeVar("Result")


class FollowerState(Enum):
    """What the graph is doing."""

    CLOSED = "closed"
    BEHIND = "behind"  # opening, catching up or rebuilding
    FOLLOWING = "following"
    WAITING = "waiting"  # for room on the disk
    FAILED = "failed"


class Follower:
    """The graph of a memory. `open` starts it; all public methods are for any thread."""

    def __init__(self, folder: Path, reader: LogReader) -> None:
        self._folder = folder
        self._reader = reader
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._life = threading.Lock()  # no job is queued behind the one that ends the thread
        self._stopping = threading.Event()
        self._changed = threading.Condition()  # guards the five below
        self._state = FollowerState.CLOSED
        self._why = f"The graph is not open yet. {MEANWHILE}"
        self._wanted = 0
        self._applied = 0
        self._store: GraphStore | None = None  # replaced by the thread only
        self._swapping = False  # a purge's new graph takes the place of the old one just now
        self._tell: Tell = lambda progress: None
        self._building = threading.Lock()  # whoever writes the new graph beside the one in use
        self._built = False  # a purge's new graph is whole, and waits to take the place of the old one

    @property
    def ready(self) -> bool:
        """Whether the graph has everything and follows."""
        return self._state is FollowerState.FOLLOWING

    def open(self, tell: Tell) -> None:
        """Open, catch up or rebuild; returns when the graph follows. `tell` is called on the graph's thread.

        Raises GraphFailure (the log goes on without it), LogDamaged, or EventsMissing, once and with the graph open.
        """
        self._tell = tell
        with self._life:
            if self._thread is None or not self._thread.is_alive():
                self._begin()
        self._do(self._open)

    def rebuild(self, tell: Tell) -> None:
        """Make the graph anew from the log, also where none was open. Raises GraphFailure or LogDamaged."""
        if self._thread is None:
            mark(self._folder, OPENING)  # the old one is not even tried
            self.open(tell)
        else:
            self._tell = tell
            self._do(self._rebuild)

    def purge(self, tell: Tell) -> None:
        """Leave no file with a text that was erased in the graph: it is made anew beside the one in use.

        `tell` is called on the caller's thread. Raises GraphFailure or LogDamaged; then it is still to be done.
        """
        with self._life:  # nobody opens it meanwhile
            if self._thread is None:
                rebuild.discard(self._folder)
                return
        if self._do(self._needs_purge):
            with self._building:
                self._built = False
                rebuild_worker.build(self._folder, self._reader, lambda progress: self._unless_closing(tell, progress))
                self._built = True
            self._do(self._replace)
        self._do(self._clear)

    def follow(self, seq: int) -> bool:
        """Tell that the log now ends at `seq`, and wait until that is applied; False if the graph is behind."""
        with self._changed:
            self._wanted = max(self._wanted, seq)
            if self._state is FollowerState.WAITING:
                self._jobs.put(self._resume)
            if self._state is not FollowerState.FOLLOWING:
                return False
            self._jobs.put(self._catch_up)
            self._changed.wait_for(lambda: self._applied >= seq or self._state is not FollowerState.FOLLOWING)
            return self._applied >= seq

    def query(self, cypher: str, parameters: Mapping[str, Any] | None, *, timeout_s: float) -> list[dict[str, Any]]:
        """Read the graph as it is. Raises GraphFailure while it is not open, QueryFailed or QueryTimeout."""
        while True:
            with self._changed:
                self._swapped()
                store = self._opened()
            try:
                return store.query(cypher, parameters, timeout_s=timeout_s)
            except QueryTimeout:
                if self._store is store or self._stopping.is_set():
                    raise  # else it was closed beneath the query, and another has taken its place, or will not

    def steady(self) -> tuple[GraphStore, int]:
        """The open graph, which does nothing but follow or wait, and the last event it has. Raises GraphFailure."""
        with self._changed:
            self._swapped()
            if self._state is FollowerState.BEHIND:
                raise GraphFailure(BEHIND)
            if self._store is None:
                raise GraphFailure(self._why)
            return self._store, self._applied

    def inspect(self, look: Callable[[GraphStore, int], Result], stopped: Stopped = lambda: None) -> Result:
        """Run `look` with the store and the number it is at, while nothing is applied.

        Raises GraphFailure, or what `stopped` gives while that has not begun or is not over.
        """
        return self._do(lambda: look(self._opened(), self._applied), stopped)

    def close(self) -> None:
        """Stop following and close the graph; also while another thread is opening it."""
        with self._life:
            self._stopping.set()
            self._jobs.put(None)
        if self._thread is not None:
            self._thread.join(CLOSING_PATIENCE_S)

    def _begin(self) -> None:
        """Start the thread; holding `_life`."""
        if not self._stopping.is_set():
            self._thread = threading.Thread(target=self._run, name="clew-graph", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        ended = False
        try:
            while (job := self._jobs.get()) is not None:
                job()
            ended = True
        finally:
            self._let_go(FollowerState.CLOSED, "The memory is closed.") if ended else self._go_on()

    def _go_on(self) -> None:
        """After a bug: with the graph closed, on another thread, which takes what waits for this one."""
        self._let_go(FollowerState.FAILED, STOPPED)
        with self._life:
            self._begin()
        self._tell_failed(STOPPED)

    def _stop(self, why: str) -> None:
        """Close the graph until it is opened again, and tell."""
        self._let_go(FollowerState.FAILED, why)
        self._tell_failed(why)

    def _tell_failed(self, why: str) -> None:
        if not self._stopping.is_set():
            self._tell(Progress("failed", 0, 0, why))

    def _do(self, work: Callable[[], Result], stopped: Stopped = lambda: None) -> Result:
        """Run `work` on the graph's thread and return what it does. Raises what `stopped` gives meanwhile."""
        done: Future[Result] = Future()

        def job() -> None:
            try:
                done.set_result(work())
            except MemoryFailure as e:
                done.set_exception(e)
            finally:
                if not done.done():  # a bug ends the thread; nobody may wait for it for ever
                    done.set_exception(GraphFailure(STOPPED))

        with self._life:
            if self._thread is None or not self._thread.is_alive() or self._stopping.is_set():
                raise GraphFailure(self._why)
            self._jobs.put(job)
        while True:
            try:
                return done.result(LOOK_EVERY_S)
            except TimeoutError:
                if (why := stopped()) is not None:
                    raise why from None
                if not self._thread.is_alive():
                    raise GraphFailure(self._why) from None

    def _open(self) -> None:
        self._say(Progress("opening", 0, 0))
        self._let_go(FollowerState.BEHIND, BEHIND)
        with self._failing():
            heard = hear(self._folder, self._reader)
            store = open_trusted(self._folder, self._reader)
            head = self._reader.head()
            if store is not None:
                self._take(store, head)
            if store is None or head - self._applied > REBUILD_PRICE + head // FOLLOWING_COST:
                self._renew()
            self._apply_all()
        if heard is None and (heard := hear(self._folder, self._reader)) is not None:
            raise missing(heard)  # once, and with the graph following

    def _rebuild(self) -> None:
        with self._failing():
            self._renew()
            self._apply_all()

    def _catch_up(self) -> None:
        """Apply what appends brought; a graph that cannot take it is rebuilt."""
        if self._store is None:
            return  # it was closed since that was asked for, and whoever waited is told
        try:
            self._apply_all()
            self._opened().checkpoint_if_due()
        except NoRoom as e:
            with self._changed:  # the store stays open for queries
                self._state, self._why = FollowerState.WAITING, str(e)
                self._changed.notify_all()
        except (LogUnreadable, OSError) as e:
            self._stop(str(e))
        except (MemoryFailure, *SURPRISES) as e:
            self._let_go(FollowerState.BEHIND, str(e))
            try:
                self._rebuild()
            except MemoryFailure as failure:
                self._stop(str(failure))

    def _needs_purge(self) -> bool:
        """Whether the graph's files may hold what was erased; one that could not be opened is let go of at once."""
        if self._store is None:
            rebuild.discard(self._folder)
            return False
        return (self._folder / PURGE).exists()

    def _replace(self) -> None:
        """Put the graph that was built beside this one in its place, if none was made anew meanwhile."""
        if not self._built:
            return
        self._swap(True)
        try:
            with self._failing():
                self._put_in_place()
                self._apply_all()
        finally:
            self._swap(False)

    def _swap(self, swapping: bool) -> None:
        with self._changed:
            self._swapping = swapping
            self._changed.notify_all()

    def _swapped(self) -> None:
        """Wait until no graph takes the place of another; holding `_changed`."""
        self._changed.wait_for(lambda: not self._swapping, SWAP_PATIENCE_S)

    def _clear(self) -> None:
        """Remove the graph that is set aside, and half a new one."""
        with self._building:
            rebuild.remove(self._folder, rebuild.ASIDE)
            rebuild.remove(self._folder, rebuild.NEW)

    def _resume(self) -> None:
        """Go on where the disk was full, if it is not any more."""
        if self._state is not FollowerState.WAITING or room.left(self._folder) < room.TO_OPEN:
            return
        if self._store is not None:
            self._catch_up()
            return
        try:
            self._open()
        except (NoRoom, EventsMissing):
            return  # it waits on; it follows what there is
        except MemoryFailure as failure:
            self._stop(str(failure))

    def _renew(self) -> None:
        with self._changed:
            self._state = FollowerState.BEHIND
            self._changed.notify_all()
        with self._building:
            self._built = False
            rebuild.build(self._folder, self._reader, self._say)
        self._put_in_place()

    def _put_in_place(self) -> None:
        """Go on with the graph that was just built."""
        self._let_go(FollowerState.BEHIND, BEHIND, fold=False)
        self._built = False
        rebuild.install(self._folder)
        if (self._folder / PURGE).exists():
            rebuild.remove(self._folder, rebuild.ASIDE)
        unmark(self._folder, PURGE)
        unmark(self._folder, OPENING)
        store = open_trusted(self._folder, self._reader)
        if store is None:
            raise GraphFailure("The graph was rebuilt but cannot be opened. The chat still works.")
        self._take(store, self._reader.head())

    def _apply_all(self) -> None:
        """Apply batches until the graph has all that is wanted; from then on it follows."""
        store = self._opened()
        while True:
            with self._changed:
                if self._applied >= self._wanted:
                    if self._state is not FollowerState.FOLLOWING:
                        self._state = FollowerState.FOLLOWING
                        break
                    return
                lag = self._wanted - self._applied
            if lag > BATCH:
                self._say(Progress("catching up", self._applied, self._wanted))
            self._apply_batch(store)
        self._say(Progress("ready", self._applied, self._applied))

    def _apply_batch(self, store: GraphStore) -> None:
        room.require(self._folder, room.TO_FOLLOW)
        events = self._reader.events(after=self._applied, limit=BATCH)
        if any(isinstance(stored.event, TextErased) for stored in events):
            mark(self._folder, PURGE)
        follow(store, events, self._reader)
        with self._changed:
            self._applied = events[-1].seq
            self._changed.notify_all()

    def _opened(self) -> GraphStore:
        store = self._store
        if store is None:
            raise GraphFailure(self._why)
        return store

    def _take(self, store: GraphStore, wanted: int) -> None:
        with self._changed:
            self._store, self._applied = store, store.applied()[1]
            self._wanted = max(self._wanted, wanted)

    def _let_go(self, state: FollowerState, why: str, *, fold: bool = True) -> None:
        with self._changed:
            store, self._store = self._store, None
            self._state, self._why = state, why
            self._changed.notify_all()
        if store is not None:
            store.close(fold=fold, readers_s=READERS_MOMENT_S if self._swapping else 0.0)
            if store.spoilt:
                with suppress(OSError):  # a full disk; then the engine's own checks have to do
                    mark(self._folder, OPENING)

    def _say(self, progress: Progress) -> None:
        self._unless_closing(self._tell, progress)

    def _unless_closing(self, tell: Tell, progress: Progress) -> None:
        """Report progress; the moment at which long work notices that the memory is closing."""
        if self._stopping.is_set():
            raise GraphFailure("The memory is closing.")
        tell(progress)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Whatever goes wrong inside closes the graph and is its reason from then on."""
        try:
            yield
        except (MemoryFailure, OSError, *engine.ERRORS, *SURPRISES) as e:
            why = str(e) if isinstance(e, MemoryFailure | OSError) else f"{type(e).__name__}: {e}"
            self._let_go(FollowerState.WAITING if isinstance(e, NoRoom) else FollowerState.FAILED, why)
            if isinstance(e, MemoryFailure):
                raise
            raise GraphFailure(f"The graph cannot be saved ({why}). The chat still works.") from e
