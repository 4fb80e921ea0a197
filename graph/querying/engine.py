"""One process that queries run in, as the memory sees it: started on a copy of the graph, asked, killed.

What it says is taken apart here and nowhere else. It is killed when it does not answer in time, and when whoever asked
does not want to know any more: then nothing it may be doing matters.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from graph.errors import EngineEnded, GraphFailure, QueryFailed, QueryTimeout
from graph.querying.lexing import WORLD
from graph.querying.plain import unpacked
from graph.querying.refusing import refusal
from graph.querying.regexes import not_a_regex

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


class Idle(Exception):
    """The process had ended before it began with what it was asked: nobody had asked for a while, or it was killed."""


Stopped = Callable[[], GraphFailure | None]


class QueryProcess:
    """A running process. `kill` is for any thread, `ask` for one at a time."""

    def __init__(self, copy: Path, *, live_in: str | None) -> None:
        sort = ["live", live_in] if live_in is not None else ["all"]
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "graph.querying.worker", str(copy), *sort],
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
            raise Idle from e
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
                    raise Idle
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
