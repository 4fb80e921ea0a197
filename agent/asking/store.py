"""The queries that people ran and saved, in the home folder: two files of JSON; and whose words are in them.

Invariants:
- A reader sees whole lines. The history grows by one line at a time; the saved queries are written whole beside their
  file and moved over it. Two clews take turns by a lock, and a kill in the middle costs the line in the making alone.
- A damaged line is left out and counted. One of the saved queries stays in the file as it is, for whoever can mend it.
- A query that has names which the graph's tables had in an earlier version is read with those of today, and so is its
  file from then on, if the disk lets it. One that failed stays as it was: what is told of it is about its words.
- Nobody else may read the files (0600). The history has MOST entries at most.
"""

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from agent.asking.shelf import Ran, Saved
from agent.errors import QueriesUnwritable
from graph.console.renames import renamed
from graph.log.byte_search import Finder, Forms

_WORDS = re.compile(
    r"""'((?:[^'\\]|\\.)*)'? | "((?:[^"\\]|\\.)*)"? | `([^`]*)`? | //([^\n\r]*) | /\*(.*?)(?:\*/|\Z)""", re.S | re.X
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_OF_CYPHER = ("cypher", "error")  # what is wrong with a query is told with its words in quotes


def quotations(line: bytes) -> set[str]:
    """The strings, comments and names of a query, its name and its parameters; all of a line that cannot be read."""
    try:
        values = json.loads(line)
        found = set[str]()
        for key in _OF_CYPHER:
            found.update(in_cypher(values.get(key, "")))
        return found | set(_texts({key: value for key, value in values.items() if key not in _OF_CYPHER}))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {line.decode(errors="replace")}


def in_cypher(text: str) -> Iterator[str]:
    """What stands in quotes and comments, also in those that nobody has closed yet."""
    for found in _WORDS.finditer(text):
        yield _ESCAPE.sub(_meant, next(part for part in found.groups() if part is not None))


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return " " if escape[2] in "nrtbf" else escape[2]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield from value
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case str() | int() | float():
            yield str(value)


MOST = 500
SLACK = 100  # lines that the history may grow by before it is cut to MOST
LONGEST = 48_000  # bytes of one line
MOST_SAVED = 1_000
LONGEST_NAME = 80
PATIENCE_S = 2.0  # for another clew that writes just now
# Of a line that is not as this wrote it.
DAMAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredLines(Generic[T]):
    """What was read, and how many lines of the file say nothing that can be read."""

    entries: list[T]
    damaged: int


class QueryStore:
    """The history and the saved queries under `folder`. Blocking; from any thread, and from several processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.history_file = folder / "history.jsonl"
        self.saved_file = folder / "saved.jsonl"
        self._lock_file = folder / "lock"

    # -- history --------------------------------------------------------------------------------------------------

    def keep(self, ran: Ran) -> bool:
        """Add to the history; False where the disk refuses, or the query is too long to be kept."""
        try:
            line = _line(_of_ran(ran))
        except (ValueError, TypeError):  # a parameter that JSON does not have
            return False
        if len(line) > LONGEST:
            return False
        try:
            with self._alone():
                count = _append(self.history_file, line)
                if count > MOST + SLACK:
                    self._write(self.history_file, _lines_of(self.history_file)[-MOST:])
        except OSError:
            return False
        return True

    def history(self, limit: int = MOST) -> StoredLines[Ran]:
        """What was run, the newest first."""
        found = self._read(self.history_file, _as_ran)
        return StoredLines(found.entries[::-1][: max(0, min(limit, MOST))], found.damaged)

    # -- saved queries --------------------------------------------------------------------------------------------

    def saved(self) -> StoredLines[Saved]:
        """The saved queries by name."""
        found = self._read(self.saved_file, _as_saved)
        return StoredLines(sorted(found.entries, key=lambda each: each.name.casefold()), found.damaged)

    def save(self, saved: Saved) -> None:
        """Save a query; one of that name, in any case, is replaced. Raises QueriesUnwritable."""
        name = " ".join(saved.name.split())
        if not name or len(name) > LONGEST_NAME:
            raise QueriesUnwritable(f"The name of a query must have 1 to {LONGEST_NAME} characters. Nothing was saved.")
        if not saved.cypher.strip():
            raise QueriesUnwritable("There is no query to save. Write one first.")
        try:
            line = _line({"name": name, "cypher": saved.cypher, "parameters": dict(saved.parameters)})
        except (ValueError, TypeError) as error:
            raise QueriesUnwritable("A parameter has a type that cannot be saved. Nothing was saved.") from error
        if len(line) > LONGEST:
            raise QueriesUnwritable(f"This query is too long to be saved ({len(line):,} bytes). Nothing was saved.")
        self._change(name, line)

    def remove(self, name: str) -> bool:
        """Remove the saved query of that name, in any case; False where there is none. Raises QueriesUnwritable."""
        return self._change(" ".join(name.split()), None)

    def _change(self, name: str, line: bytes | None) -> bool:
        """Put a line in the place of the one of that name, or at the end; whether there was one."""
        try:
            with self._alone():
                lines = _lines_of(self.saved_file)
                at = next((at for at, each in enumerate(lines) if _is_named(each, name)), None)
                if line is None and at is None:
                    return False
                if at is None and len(lines) >= MOST_SAVED:
                    raise QueriesUnwritable(f"{MOST_SAVED:,} queries are already saved. Remove one first.")
                new = [] if line is None else [line]
                place = len(lines) if at is None else at
                self._write(self.saved_file, [*lines[:place], *new, *lines[place + 1 :]])
                return at is not None
        except OSError as error:
            raise QueriesUnwritable(
                f"{self.saved_file} cannot be written: {error.strerror or error}. The saved queries are unchanged."
            ) from error

    # -- what was deleted -----------------------------------------------------------------------------------------

    def forget(self, path: Path, words: Forms) -> int:
        """Take the lines out of one of the files here that hold one of some words; how many.

        Any other file here is what a kill left of a write: it goes. Raises OSError.
        """
        with self._alone():
            if path not in (self.history_file, self.saved_file):
                path.unlink(missing_ok=True)
                return 0
            finder = Finder(form for each in words.values() for form in each)
            lines = _lines_of(path, torn=True)
            kept = [line for line in lines if not finder.find([line])]
            self._write(path, kept)
            return len(lines) - len(kept)

    def texts(self) -> set[str]:
        """What people may have quoted, in any line of the files. Raises OSError."""
        files = (self.history_file, self.saved_file)
        lines = (line for path in (*files, *map(_beside, files)) for line in _lines_of(path, torn=True))
        return {text for line in lines for text in quotations(line)}

    def forget_texts(self, texts: Collection[str]) -> int:
        """Take the lines out that have one of `texts`, and what a kill left of a write; how many saved queries went.

        Raises OSError.
        """
        with self._alone():
            gone = 0
            for path in (self.history_file, self.saved_file):
                _beside(path).unlink(missing_ok=True)
                lines = _lines_of(path, torn=True)
                kept = [line for line in lines if quotations(line).isdisjoint(texts)]
                if len(kept) < len(lines):
                    self._write(path, kept)
                    gone += len(lines) - len(kept) if path == self.saved_file else 0
            return gone

    # -- inside ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One writer at a time. Raises OSError, also where another does not let go."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            end = time.monotonic() + PATIENCE_S
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= end:
                        raise
                    time.sleep(0.005)
            yield
        finally:
            os.close(descriptor)

    def _read(self, path: Path, make: Callable[[dict[str, Any]], T]) -> StoredLines[T]:
        """The entries of a file by the names of today."""
        try:
            lines = _lines_of(path)
        except OSError:
            return StoredLines([], 1)
        of_today = [_renamed(line) for line in lines]
        if of_today != lines:
            with suppress(OSError):  # the next one who reads tries again
                self._rename(path)
        return _entries(of_today, make)

    def _rename(self, path: Path) -> None:
        """Write a file with the names of today; what nobody can read in it stays as it is. Raises OSError."""
        with self._alone():
            if not path.is_symlink():  # in a folder of somebody else's, where nothing is written
                *whole, last = path.read_bytes().split(b"\n")
                self._write(path, [*(_renamed(line + b"\n") for line in whole), last])

    def _write(self, path: Path, lines: Sequence[bytes]) -> None:
        """All lines, beside the file and then over it."""
        beside = _beside(path)
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(lines)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except OSError:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _beside(path: Path) -> Path:
    """Where a file is written before it takes the place of the old one."""
    return path.with_name(f"{path.name}.part")


def _append(path: Path, line: bytes) -> int:
    """Add a line after the last whole one, or nothing; how many lines there are then. Raises OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        there = file.read()
        whole = there.rfind(b"\n") + 1  # what follows was being written when somebody killed clew
        try:
            file.seek(whole)
            file.truncate()
            if file.write(line) != len(line):
                raise OSError("the disk is full")
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                file.truncate(whole)
            raise
    return there.count(b"\n") + 1


def _lines_of(path: Path, *, torn: bool = False) -> list[bytes]:
    """The lines of a file, each with its end; without the one in the making, unless it is to be looked at too."""
    try:
        *whole, last = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    return [line + b"\n" for line in (*whole, *([last] if torn and last else []))]


def _renamed(line: bytes) -> bytes:
    """A line whose query has the names of today; of any other line itself."""
    try:
        values = json.loads(line)
        cypher = values["cypher"] if values.get("error") else renamed(values["cypher"])
        return line if cypher == values["cypher"] else _line(values | {"cypher": cypher})
    except DAMAGE:
        return line


def _entries(lines: Iterable[bytes], make: Callable[[dict[str, Any]], T]) -> StoredLines[T]:
    entries: list[T] = []
    damaged = 0
    for line in lines:
        try:
            entries.append(make(json.loads(line)))
        except DAMAGE:
            damaged += bool(line.strip())
    return StoredLines(entries, damaged)


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"


def _of_ran(ran: Ran) -> dict[str, Any]:
    values: dict[str, Any] = {"at": ran.at.astimezone(UTC).isoformat(timespec="milliseconds"), "cypher": ran.cypher}
    if ran.parameters:
        values["parameters"] = dict(ran.parameters)
    if ran.rows is not None:
        values["rows"] = ran.rows
    if ran.took_ms is not None:
        values["took_ms"] = round(ran.took_ms, 3)
    if ran.error:
        values["error"] = ran.error
    return values


def _as_ran(values: dict[str, Any]) -> Ran:
    at = datetime.fromisoformat(values["at"])
    rows, took_ms = values.get("rows"), values.get("took_ms")
    return Ran(
        _text(values["cypher"]),
        at if at.tzinfo else at.replace(tzinfo=UTC),
        dict(values.get("parameters") or {}),
        None if rows is None else int(rows),
        None if took_ms is None else float(took_ms),
        _text(values.get("error", "")),
    )


def _as_saved(values: dict[str, Any]) -> Saved:
    return Saved(_text(values["name"]), _text(values["cypher"]), dict(values.get("parameters") or {}))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _is_named(line: bytes, name: str) -> bool:
    try:
        return _as_saved(json.loads(line)).name.casefold() == name.casefold()
    except DAMAGE:
        return False
