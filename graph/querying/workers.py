"""People's queries, in processes of their own: each has a private copy of the graph, and can be ended at any moment.

Invariants:
- A process answers while the graph stands where it stood when it was copied, then another takes its place.
- One query at a time runs on a copy of one sort (all of the graph, or what is live and seen in a project, "" for none);
  others wait, and whoever stops waiting, or stops its own query, ends nobody else's. Of what is live there is one copy
  at a time.
- A copy has a name for as long as it takes to open it. What a clew that was killed left of one goes when the memory is
  opened again.
- Whenever something is erased, every process ends, and a copy that is being made is thrown away.
"""

import shutil
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from graph import room
from graph.errors import GraphFailure, NoRoom, QueryFailed, QueryTimeout
from graph.ids import new_id
from graph.querying.engine import LOOK_EVERY_S, Idle, QueryProcess, Stopped

FOLDER = "apart"  # in the memory's, or in that of a past
CLOSING = "The memory is closing."
ERASED = "Something was deleted permanently while the query ran, which ended it. Nothing else is lost. Run it again."
CANCELLED = "The query was stopped. Nothing was changed."


class Source(Protocol):
    """A graph that can be copied."""

    def at(self) -> int:
        """The last event it has. Raises GraphFailure while it cannot be asked."""

    def size(self) -> int:
        """Bytes that a copy takes."""

    def copy(self, into: Path, stopped: Stopped) -> int:
        """Make a copy that is whole, at `into`; the last event it has. Raises GraphFailure, or OSError of the copy."""


class QueryWorkers:
    """The processes of one graph. Thread-safe; every method blocks."""

    def __init__(self, folder: Path, graph: Source) -> None:
        self._folder = folder / FOLDER
        self._graph = graph
        self._turns = {False: threading.Lock(), True: threading.Lock()}  # by whether only what is live
        self._made = threading.Lock()  # held while there is a copy on the disk
        self._changed = threading.Lock()  # guards the three below
        self._engines: dict[bool, tuple[QueryProcess, tuple[int, str | None]]] = {}
        self._erased = 0  # times that something was erased
        self._closed = ""  # why
        self._tidy()

    def ask(
        self, request: Mapping[str, Any], *, live_in: str | None, cancelled: threading.Event | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """What a statement finds, piece by piece. Raises QueryFailed, QueryTimeout or GraphFailure."""
        with self._turn(live_in is not None, cancelled) as stopped:
            for last in (False, True):
                engine = self._ready(live_in, stopped)
                try:
                    yield from engine.ask(dict(request), stopped)
                    return
                except Idle as e:
                    if last:
                        raise QueryFailed("The engine for queries ended. Nothing was changed; ask again.") from e
                except GeneratorExit:
                    engine.kill()  # nobody reads on
                    raise

    def prepare(self, *, live_in: str | None) -> None:
        """Have a process ready for a query to come. Raises GraphFailure."""
        with self._turn(live_in is not None, None) as stopped:
            self._ready(live_in, stopped)

    def erased(self) -> None:
        """Something was erased: end all processes; when this returns there is no copy that may have it."""
        with self._changed:
            self._erased += 1
            ending, self._engines = self._engines, {}
        for engine, _ in ending.values():
            engine.kill()
        with self._made:  # it breaks off
            pass

    def close(self, why: str = CLOSING) -> None:
        """End all processes, also one that is being started; whoever waits for an answer hears why."""
        with self._changed:
            self._closed = why
        self.erased()

    def pids(self) -> list[int]:
        """The processes there are, for whoever watches what they take."""
        with self._changed:
            return [engine.pid for engine, _ in self._engines.values() if engine.alive]

    @contextmanager
    def _turn(self, live_only: bool, cancelled: threading.Event | None) -> Iterator[Stopped]:
        """Wait for one's turn; yields what tells whether to go on."""
        erased = self._erased

        def stopped() -> GraphFailure | None:
            if self._closed:
                return QueryTimeout(self._closed)
            if cancelled is not None and cancelled.is_set():
                return QueryTimeout(CANCELLED)
            return None if self._erased == erased else QueryFailed(ERASED)

        turn = self._turns[live_only]
        while not turn.acquire(timeout=LOOK_EVERY_S):
            erased = self._erased
            if (why := stopped()) is not None:
                raise why
        erased = self._erased  # what was erased while it waited is not in what it will read
        try:
            yield stopped
        finally:
            turn.release()

    def _ready(self, live_in: str | None, stopped: Stopped) -> QueryProcess:
        """A process whose copy is the graph as it is, or what is to be seen of it."""
        at = self._graph.at()
        with self._changed:
            engine, of = self._engines.get(live_in is not None, (None, (0, None)))
        if engine is not None:
            if of == (at, live_in) and engine.alive:
                return engine
            self._forget(live_in is not None, engine)
        if (why := stopped()) is not None:
            raise why
        with self._made:
            return self._start(live_in, stopped)

    def _start(self, live_in: str | None, stopped: Stopped) -> QueryProcess:
        folder = self._folder / new_id()
        engine = None
        try:
            try:
                self._require_room()
                if self._folder.is_symlink():
                    raise GraphFailure(f"{self._folder} is a link. {_UNLINK}")
                folder.mkdir(mode=0o700, parents=True)
                path = folder / "copy.kuzu"
                of = self._graph.copy(path, stopped)
                if (why := stopped()) is not None:
                    raise why
                engine = QueryProcess(path, live_in=live_in)
            except OSError as e:
                raise NoRoom(f"The graph could not be copied for the query: {e}. {_FREE}") from e
            engine.ready(stopped)
            with self._changed:
                why = stopped()
                if why is None:
                    self._engines[live_in is not None] = engine, (of, live_in)
                    return engine
            raise why
        except BaseException:
            if engine is not None:
                engine.kill()
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                self._folder.rmdir()

    def _tidy(self) -> None:
        """Remove what was left of copies; a link in the folder's place goes, and what it leads to stays."""
        if self._folder.is_symlink():
            with suppress(OSError):
                self._folder.unlink()
        else:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _require_room(self) -> None:
        needed = self._graph.size() + room.TO_OPEN
        there = room.left(self._folder.parent)
        if there < needed:
            raise NoRoom(
                f"The disk is nearly full: {max(there, 0) >> 20} MB are left, and a query needs {needed >> 20} for a "
                f"copy of the graph. {_FREE}"
            )

    def _forget(self, live_only: bool, engine: QueryProcess) -> None:
        with self._changed:
            if self._engines.get(live_only, (None, (0, None)))[0] is engine:
                del self._engines[live_only]
        engine.kill()


_UNLINK = "Nothing was copied or changed, and the chat is not affected. Remove the link and ask again."
_FREE = "Nothing was changed, and the chat is not affected. Free some space and ask again."
