"""KV states on disk, one file a session, model and voice: bounded in all, oldest out first, checked before use.

A file is written whole beside its place and then renamed into it. It begins with MAGIC, the header's length and digest;
then come the header (JSON: which model, which session, the tokens, the payload's size, and a note of the caller's), the
payload and its digest. A file that is anything else is removed and taken for missing: this is a cache, and no failure
of it is worth a word to the user. One process at a time uses a folder (whoever holds the memory does).

What is kept, and how much: with the default model a state takes 23 KB a token, and each token that need not be read
again spares 4 to 6 ms on two cores. A chat of 600 tokens would cost 14 MB of disk for 3 s, which pass unseen, as a chat
that is opened is read in the background while the user reads it, too: it is not kept. One of 4,000 tokens is (92 MB):
it answers after .45 s instead of 18 (`python -m bench.resume`). The time is what this machine took, so that a model on
a GPU, which reads a chat as fast as a disk does, keeps little, and a large one on a processor much (150 KB and 60 ms a
token). Only the chat used last is opened at every start, the others ever less often. Hence the bound where the user
sets none: what one chat takes that fills the context, whatever the model; that is one such chat, or some eight of the
smallest that are kept (190 MB). In a story each voice has a prompt of its own: there it is as much for each of them.
"""

import os
import shutil
import struct
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ValidationError

from models.machine import available_memory
from models.protocols import KVState

MAGIC = b"clewkv1\n"
DIGEST = 32  # bytes of BLAKE2b
START = struct.Struct(f"<8sQ{DIGEST}s")
CHUNK = 1 << 20
LARGEST_HEADER = 1 << 26
RESERVE = 512 << 20  # bytes of the disk that are left to others
SPARES_S = 0.25  # seconds that a state must spare: less is not noticed
FETCHED = 200e6  # bytes a second that come off a disk, are checked and go into the model; measured, in any case
SUFFIX, UNFINISHED = ".kv", ".new"


class Damaged(Exception):
    """The file is not what was written."""


class Header(BaseModel, frozen=True):
    """What the payload is; `size` in bytes."""

    session: str
    model: str
    voice: str | None = None  # in a story, whose it is
    tokens: tuple[int, ...]
    size: int
    note: Any


@dataclass(frozen=True, slots=True)
class StoredState:
    """A state on disk of which only the header was read: its tokens, and what the caller noted."""

    path: Path
    header: Header
    digest: bytes


def worth_keeping(tokens: int, size: int, reading_s: float | None) -> bool:
    """Whether a state of `size` bytes spares enough time; `reading_s` a token, None where it is not known yet."""
    return reading_s is None or tokens * reading_s - size / FETCHED >= SPARES_S


class KVStates:
    """The states in `folder`, at most `limit` bytes.

    0: none. None: what a full context of the one saved last takes, and as much for each other voice of its session.

    All methods block, in any thread, and never raise.
    """

    def __init__(self, folder: Path, *, limit: int | None) -> None:
        self._folder = folder
        self.limit = limit
        self._lock = threading.Lock()

    def save(
        self, session: str, model: str, state: KVState, note: Any, *, context: int = 0, voice: str | None = None
    ) -> bool:
        """Keep a session's state; False if there is no room for it. `note` must be JSON, `context` is the model's."""
        with self._lock:
            path = self._path(session, model, voice)
            size = len(state.data)
            header = Header(session=session, model=model, voice=voice, tokens=state.tokens, size=size, note=note)
            data = header.model_dump_json().encode()
            try:
                needed = START.size + len(data) + size + DIGEST
                full = needed * max(context, len(state.tokens)) // max(1, len(state.tokens))
                full *= len({path, *self._folder.glob(f"{session}-{model[:16]}-*{SUFFIX}")}) if voice is not None else 1
                if not self._make_room(path, needed, full if self.limit is None else self.limit):
                    return False
                _write(path, data, state.data)
            except OSError:
                return False
            return True

    def find(self, session: str, model: str, voice: str | None = None) -> StoredState | None:
        """The header of a session's state for a model; None if there is none, or none that is whole."""
        with self._lock:
            kept = self._header(self._path(session, model, voice))
            if kept is None:
                return None
            if (kept.header.session, kept.header.model, kept.header.voice) != (session, model, voice):
                self._remove(kept.path)
                return None
            return kept

    def read(self, kept: StoredState) -> KVState | None:
        """The state itself, checked. It counts as used now, so that others leave before it."""
        if kept.header.size > available_memory() // 2:
            return None
        with self._lock:
            try:
                with kept.path.open("rb") as file:
                    data = _payload(file, kept)
                os.utime(kept.path)
            except Damaged:
                self._remove(kept.path)
                return None
            except OSError:
                return None
            return KVState(kept.header.tokens, data)

    def forget(self, session: str) -> None:
        """Remove all states of a session."""
        with self._lock:
            for path in self._files():
                if path.name.partition("-")[0] == session:
                    self._remove(path)

    def forget_mentioning(self, words: Collection[str]) -> None:
        """Remove all states whose header has one of `words` in it, such as the id of a turn that was erased."""
        with self._lock:
            for path in self._files():
                kept = self._header(path)
                if kept is None or mentions(kept.header.note, words):  # what cannot be read may have them
                    self._remove(path)

    def kept(self) -> list[StoredState]:
        """The headers of all states that are whole."""
        with self._lock:
            return [kept for kept in map(self._header, self._files()) if kept is not None]

    def tidy(self, sessions: Collection[str]) -> None:
        """Remove the states of all other sessions, and what a crash left unfinished."""
        with self._lock:
            for path in self._files():
                if path.name.partition("-")[0] not in sessions:
                    self._remove(path)
            for path in self._folder.glob(f"*{UNFINISHED}"):
                self._remove(path)

    def remove(self, kept: StoredState) -> None:
        """Remove one that turned out to be of no use."""
        with self._lock:
            self._remove(kept.path)

    def _path(self, session: str, model: str, voice: str | None) -> Path:
        whose = "" if voice is None else f"-{blake2b(voice.encode(), digest_size=8).hexdigest()}"
        return self._folder / f"{session}-{model[:16]}{whose}{SUFFIX}"

    def _files(self) -> list[Path]:
        """The states, the one used longest ago first."""
        return sorted(self._folder.glob(f"*{SUFFIX}"), key=_used)

    def _header(self, path: Path) -> StoredState | None:
        try:
            with path.open("rb") as file:
                return _read_header(file, path)
        except Damaged:
            self._remove(path)
        except OSError:
            pass
        return None

    def _make_room(self, path: Path, needed: int, limit: int) -> bool:
        """Have `needed` bytes to spare under the limit and on the disk, `path` not counted: it is replaced."""
        if needed > limit:
            return False
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        others = [other for other in self._files() if other != path]
        total = sum(map(_size, others))
        while total + needed > limit:
            oldest = others.pop(0)
            total -= _size(oldest)
            self._remove(oldest)
        return shutil.disk_usage(self._folder).free >= needed + RESERVE

    def _remove(self, path: Path) -> None:
        with suppress(OSError):
            path.unlink()


def mentions(note: Any, words: Collection[str]) -> bool:
    """Whether a JSON value has one of `words` in it as a string or a key."""
    match note:
        case str():
            return note in words
        case dict():
            return any(mentions(each, words) for pair in note.items() for each in pair)
        case list() | tuple():
            return any(mentions(each, words) for each in note)
        case _:
            return False


def _write(path: Path, header: bytes, payload: memoryview) -> None:
    unfinished = path.with_suffix(UNFINISHED)
    try:
        with open(unfinished, "wb", opener=_private) as file:
            digest = blake2b(header, digest_size=DIGEST).digest()
            file.write(START.pack(MAGIC, len(header), digest))
            file.write(header)
            with ThreadPoolExecutor(1) as other:  # summing takes as long as writing
                summed = other.submit(_sum, digest, payload)
                for chunk in _chunks(payload):
                    file.write(chunk)
            file.write(summed.result())
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _read_header(file: IO[bytes], path: Path) -> StoredState:
    start = file.read(START.size)
    if len(start) < START.size:
        raise Damaged
    magic, length, digest = START.unpack(start)
    if magic != MAGIC or length > LARGEST_HEADER:
        raise Damaged
    data = file.read(length)
    if blake2b(data, digest_size=DIGEST).digest() != digest:
        raise Damaged
    try:
        header = Header.model_validate_json(data)
    except ValidationError as error:
        raise Damaged from error
    if os.fstat(file.fileno()).st_size != START.size + length + header.size + DIGEST:
        raise Damaged
    return StoredState(path, header, digest)


def _payload(file: IO[bytes], kept: StoredState) -> memoryview:
    if _read_header(file, kept.path).digest != kept.digest:
        raise Damaged
    data = memoryview(bytearray(kept.header.size))
    sums = blake2b(kept.digest, digest_size=DIGEST)
    for chunk in _chunks(data):
        if file.readinto(chunk) != len(chunk):  # type: ignore[attr-defined]
            raise Damaged
        sums.update(chunk)
    if file.read() != sums.digest():
        raise Damaged
    return data


def _sum(header: bytes, payload: memoryview) -> bytes:
    """The digest of a payload that belongs to the header with this digest."""
    sums = blake2b(header, digest_size=DIGEST)
    for chunk in _chunks(payload):
        sums.update(chunk)
    return sums.digest()


def _chunks(data: memoryview) -> Iterator[memoryview]:
    for at in range(0, len(data), CHUNK):
        yield data[at : at + CHUNK]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
