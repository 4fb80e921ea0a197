"""People's queries, in processes of their own: each has a private copy of the graph, and can be ended any time.

What it says is taken apart here and nowhere else. It is killed when it does not answer in time, and when whoever asked
does not want to know any more: then nothing it may be doing matters.

Invariants:
- A process answers while the graph stands where it stood when it was copied, then another takes its place.
- One query at a time runs on a copy of one sort (all of the graph, or what is live and seen in a project, "" for none);
  others wait, and whoever stops waiting, or stops its own query, ends nobody else's. Of what is live there is one copy
  at a time.
- A copy has a name for as long as it takes to open it. What a clew that was killed left of one goes when the memory is
  opened again.
- Whenever something is erased, every process ends, and a copy that is being made is thrown away.
"""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from graph.console.error_messages import refusal
from graph.console.lexing import WORLD
from graph.console.regexes import not_a_regex
from graph.console.transport import unpacked
from graph.errors import FULL, EngineEnded, GraphFailure, NoRoom, QueryFailed, QueryTimeout
from graph.ids import new_id
from graph.kuzu import room

START_S = 60.0  # a machine that is busy with other things
PATIENCE_S = 1.0  # beyond the time a query may take
LOOK_EVERY_S = 0.02  # whether somebody still wants to know
LAST_WORDS_S = 5.0  # that the system takes to end a process that was killed
TOO_MUCH = (
    "Stopped: the query needs more memory than one may take. Nothing was changed. Ask for less: name what is to be "
    "matched, count instead of collecting, or put a LIMIT before what multiplies."
)
KILLED = "The query ended its engine ({why}). Nothing was changed; the chat is not affected."


USUALLY = "as it does of a time outside of the years 1 to 9999, or of a null that has no type"


class ProcessIdle(Exception):
    """The process had ended before it began with what it was asked: nobody had asked for a while, or it was killed."""


Stopped = Callable[[], GraphFailure | None]


class QueryProcess:
    """A running process. `kill` is for any thread, `ask` for one at a time."""

    def __init__(self, copy: Path, *, live_in: str | None) -> None:
        sort = ["live", live_in] if live_in is not None else ["all"]
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "graph.console.worker", str(copy), *sort],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MALLOC_ARENA_MAX": "2"},  # each takes 64 MB of the address space it is given
            start_new_session=True,  # Ctrl-C is for us; we end the child
        )
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reading = threading.Thread(target=self._read, name="clew-query", daemon=True)
        self._reading.start()

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    @property
    def pid(self) -> int:
        return self._child.pid

    def ready(self, stopped: Stopped) -> None:
        """Wait until the copy is open and has no name any more. Raises GraphFailure."""
        try:
            told = self._next(time.monotonic() + START_S, stopped)
        except TimeoutError:
            self.kill()
            told = {"failed": f"it was not ready after {START_S:g} s"}
        if told is None or "ready" not in told:
            why = told["failed"] if told is not None else _ending(self._child.returncode)
            raise GraphFailure(f"The engine for queries could not begin: {why}. Nothing was changed; ask again.")

    def ask(self, request: dict[str, Any], stopped: Stopped) -> Iterator[dict[str, Any]]:
        """All that is found, until it is done.

        Raises QueryFailed, QueryTimeout, what `stopped` gives, or Idle; after any but the first it has ended.
        """
        timeout_s = request["timeout_s"]
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(request).encode() + b"\n")
            self._child.stdin.flush()
        except (OSError, ValueError) as e:  # a pipe that is broken, or closed since
            raise ProcessIdle from e
        deadline, begun = time.monotonic() + timeout_s + PATIENCE_S, False
        while True:
            try:
                told = self._next(deadline, stopped)
            except TimeoutError:
                self.kill()
                raise too_long(timeout_s) from None
            if told is None:
                if (why := stopped()) is not None:
                    raise why
                if not begun:
                    raise ProcessIdle
                if _signal(self._child.returncode) == "SIGALRM":
                    raise too_long(timeout_s)
                raise EngineEnded(KILLED.format(why=_ending(self._child.returncode)))
            if "begun" in told:
                begun = True
                continue
            if "done" in told:
                return
            if "failed" in told:
                raise self._failure(told, request)
            yield told

    def _failure(self, told: dict[str, Any], request: dict[str, Any]) -> QueryFailed:
        match told["why"]:
            case "time":
                return too_long(request["timeout_s"])
            case "memory":
                self.kill()  # it may have lost more than it knows
                return EngineEnded(TOO_MUCH)
            case "regex":
                values = {name: unpacked(value) for name, value in request["parameters"].items()}
                return not_a_regex(request["query"], values, told["failed"])
            case "size":
                return QueryFailed(f"A value of the answer is too large to be shown: {told['failed']}")
            case _:
                given = {name: value for name, value in request["parameters"].items() if f"${name}" != WORLD}
                before = request["lines_before"]
                return refusal(told["failed"], request["query"], request["statement"], given, lines_before=before)

    def kill(self) -> None:
        """End it now, and wait until it is gone."""
        self._child.kill()
        self._reading.join(LAST_WORDS_S)

    def _next(self, deadline: float, stopped: Stopped) -> dict[str, Any] | None:
        """The next thing it says, None when it has ended. Raises TimeoutError."""
        while True:
            if (why := stopped()) is not None:
                self.kill()
                raise why
            try:
                line = self._lines.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                if time.monotonic() > deadline:
                    raise TimeoutError from None
                continue
            return None if line is None else json.loads(line)

    def _read(self) -> None:
        """Take what it says as it comes, so that it never waits for us; and see it off when it ends."""
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._lines.put(line)
        self._child.wait()
        for end in (self._child.stdin, self._child.stdout):
            assert end is not None
            with suppress(OSError):  # of what it was still to be told
                end.close()
        self._lines.put(None)


def too_long(timeout_s: float) -> QueryTimeout:
    """What is said of a query that was not over in time."""
    return QueryTimeout(f"Stopped: the query took too long, more than {timeout_s:g} s. Nothing was changed.")


def _ending(code: int) -> str:
    """How a process ended, for people."""
    match _signal(code):
        case "":
            return f"it ended with {code}"
        case "SIGKILL":
            return "it was killed, perhaps for want of memory"
        case "SIGABRT" | "SIGSEGV" | "SIGBUS":
            return f"it broke down: {USUALLY}"
        case other:
            return f"it got {other}"


def _signal(code: int) -> str:
    """The name of the signal that ended a process, if one did."""
    return signal.Signals(-code).name if code < 0 else ""


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
                except ProcessIdle as e:
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
                told = f"The graph could not be copied for the query: {e}."
                if e.errno in FULL:
                    raise NoRoom(f"{told} {_FREE}") from e
                raise GraphFailure(f"{told} Nothing was changed. Try again in a moment.") from e
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
