"""A copy of the log in one file, made beside a running chat and looked over, and which backups there are.

Invariants:
- Copying only reads, in one snapshot of a connection of its own: no append waits for it, in whatever process.
- The copy is made under another name beside its target and gets its own only when it is whole, examined and on the
  disk. So there is no half copy, and what goes wrong leaves what was there.
- Texts that wait in the log to be purged, and the words of them in its indexes, are not in the copy.
- Whoever makes a copy holds its folder, so that what a killed one left there is told from what is being made.

Invariant: every backup made by a person is noted in `made.json` when it is made, so that a deletion can say which of
them still hold what goes. A note of a file that is gone, or is something else by now, is passed by.
"""

import contextlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock

from graph import contents
from graph.doctor import examine_copy
from graph.errors import FULL, CopyFailed, LogDamaged, LogNewer, MemoryFailure, NotABackup
from graph.ids import as_datetime
from graph.log.migrations import version_of
from graph.reader import LogReader
from graph.sqlite import LOG, open_at_rest, open_reader

PART = ".part"
PAGES = 512  # copied at a time, 2 MB: between two of them a copy can be stopped, and is written out
LONGEST_CLEARING_S = 2
COMPANIONS = ("", "-journal", "-wal", "-shm")
INDEXES = ("words", "learned")
SAFE = "Your memory is not affected, and no partial copy was left."

Stopping = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Copied:
    """What a log, or a copy of one, holds: `head` is the last event, of time `until`; None for an empty one."""

    path: Path
    log: str
    version: int
    head: int
    sessions: int
    turns: int
    size: int
    until: datetime | None


class CopyStopped(Exception):
    """A copy was asked to end: nothing is left of it."""


def copy_log(folder: Path, target: Path, *, replace: bool = False, stopping: Stopping = lambda: False) -> Copied:
    """Copy the log of `folder` into the file `target`, examined and durable; needs no lock.

    Raises CopyFailed, MemoryMissing, LogDamaged or CopyStopped; then nothing is left of it and what was there stays.
    """
    source = folder / LOG
    LogReader.open(folder).close()
    _refuse_target(source, target, replace=replace)
    part = target.with_name(target.name + PART)
    with making_copies(target.parent), removed(part), _copying(target):
        copy_file(source, part, stopping=stopping)
        scrub(part)
        found = examine(part, stopping=stopping)
        sync(part)
        if not replace and os.path.lexists(target):  # it came meanwhile
            _refuse_target(source, target, replace=False)
        part.replace(target)
        sync(target.parent)
    return Copied(target, found.log, found.version, found.head, found.sessions, found.turns, found.size, found.until)


@contextmanager
def making_copies(place: Path, *, alone: bool = False) -> Iterator[bool]:
    """Hold a folder in which copies are made, beside others or `alone`; False where that cannot be had now.

    Beside others it is waited for: who is alone there only clears up. The system lets go of it with the process,
    however that ends.
    """
    with contextlib.ExitStack() as held:
        try:
            folder = os.open(place, os.O_RDONLY)
            held.callback(os.close, folder)
            _hold(folder, alone=alone)
        except OSError:  # somebody has it, or this disk knows no such thing
            yield False
        else:
            yield True


def _hold(folder: int, *, alone: bool) -> None:
    """Raises OSError where the folder cannot be held."""
    import fcntl

    until = time.monotonic() + (0 if alone else LONGEST_CLEARING_S)
    while True:
        try:
            return fcntl.flock(folder, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.02)


def copy_file(source: Path, part: Path, *, stopping: Stopping = lambda: False, at_rest: bool = False) -> None:
    """Copy a log as it stands now, with what is still in its write-ahead log, into a new file private to the user.

    Nothing is left beside one that is `at_rest`: nobody writes it meanwhile.
    """
    remove(part)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def step(status: int, remaining: int, total: int) -> None:
        if stopping():
            raise CopyStopped
        sync(part)  # all of it at the end would keep the log's own writes waiting

    shared = source.with_name(source.name + "-shm")
    with (
        _gone_after(shared) if at_rest and not shared.exists() else contextlib.nullcontext(),
        contextlib.closing((open_at_rest if at_rest else open_reader)(source)) as log,
        contextlib.closing(_plain(part)) as copy,
    ):
        log.execute("BEGIN")
        log.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # from here on it is one snapshot
        log.backup(copy, pages=PAGES, progress=step)
        log.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE").fetchone()  # one file, also while it is read
        copy.commit()


def scrub(part: Path) -> None:
    """Leave nothing in a copy of what waits to be purged: its text, and its words in the indexes."""
    with contextlib.closing(_plain(part)) as copy:
        if not _has_purging(copy) or copy.execute("SELECT 1 FROM purging LIMIT 1").fetchone() is None:
            return
        contents.teach(copy)
        copy.execute("BEGIN IMMEDIATE")
        copy.execute("DELETE FROM purging")
        for index in INDEXES:
            copy.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        copy.execute("COMMIT")


def examine(path: Path, *, stopping: Stopping = lambda: False) -> Copied:
    """Open a copy and read all of it: chain, texts, words. Raises NotABackup, LogNewer or CopyStopped."""
    reader = LogReader(path)
    try:
        _refuse_newer(reader)
        for check in examine_copy(reader):
            if stopping():
                raise CopyStopped
            if not check.ok:
                raise NotABackup(f"{path.name} is damaged ({check.name}: {check.detail}).")
        return about(reader, path)
    finally:
        reader.close()


def _refuse_newer(reader: LogReader) -> None:
    """Raise LogNewer for a log of a newer clew; what else is wrong with it the checks tell."""
    try:
        reader.head()
    except LogNewer:
        raise
    except LogDamaged:
        return


def about(reader: LogReader, path: Path) -> Copied:
    """What a log holds, without reading all of it. Raises LogDamaged or LogNewer."""
    counts = reader.counts()
    with reader.snapshot() as db:
        version = version_of(db)
        log: str = db.execute("SELECT value FROM meta WHERE key = 'log'").fetchone()[0]
        last = db.execute("SELECT seq, at FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    head, until = (last[0], as_datetime(last[1])) if last is not None else (0, None)
    return Copied(path, log, version, head, counts["sessions"], counts["turns"], path.stat().st_size, until)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: Path) -> None:
    """Remove a log's file and what SQLite left beside it."""
    for companion in COMPANIONS:
        path.with_name(path.name + companion).unlink(missing_ok=True)


@contextmanager
def _gone_after(path: Path) -> Iterator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def removed(part: Path) -> Iterator[None]:
    """Whatever happens inside, nothing of `part` is left after it."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            remove(part)


def _plain(path: Path) -> sqlite3.Connection:
    """A connection to a copy nobody else knows: without a journal, as a half copy is thrown away."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = MEMORY").fetchone()
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA secure_delete = ON").fetchone()
    db.execute("PRAGMA temp_store = MEMORY")
    return db


def _has_purging(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'purging'").fetchone() is not None


def _refuse_target(source: Path, target: Path, *, replace: bool) -> None:
    """Raise CopyFailed for a target that cannot be one."""
    if target.is_dir():
        raise CopyFailed(f"{target} is a folder. Nothing was copied. Name a file in it.")
    if not target.parent.is_dir():
        raise CopyFailed(f"Folder not found: {target.parent}. Nothing was copied. Create it first, or name another.")
    if os.path.lexists(target):
        if target.exists() and source.exists() and target.samefile(source):
            raise CopyFailed(f"{target} is the log itself. Nothing was copied. Name another file.")
        if not target.is_file():
            raise CopyFailed(f"{target} is not a regular file. Nothing was copied. Name another one.")
        if not replace:
            raise CopyFailed(f"{target} already exists. Nothing was copied. Name another file, or use --force.")


@contextmanager
def _copying(target: Path) -> Iterator[None]:
    """Errors of making the copy as CopyFailed; those of the log it is made of as they are."""
    try:
        yield
    except NotABackup as e:
        raise CopyFailed(f"The copy does not match the log: {e} {SAFE} Run `clew doctor`.") from e
    except sqlite3.DatabaseError as e:
        full = getattr(e, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
        raise CopyFailed(_why(target, "the disk is full" if full else str(e), full=full)) from e
    except OSError as e:
        full = e.errno in FULL
        raise CopyFailed(_why(target, e.strerror or str(e), full=full)) from e


def _why(target: Path, why: str, *, full: bool) -> str:
    then = "Free some space, or name a file on another disk." if full else "Choose a writable folder."
    return f"{target} could not be written: {why}. {SAFE} {then}"


def main(argv: list[str]) -> int:
    """Copy a log in a process of its own, at a low priority: reading all of it would keep a chat's threads waiting."""
    if hasattr(os, "nice"):
        os.nice(10)
    os.umask(0o077)
    try:
        copy_log(Path(argv[0]), Path(argv[1]))
    except MemoryFailure as error:
        sys.stderr.write(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


BACKUPS, MADE = "backups", "made.json"
AUTOMATIC, BEFORE_RESTORE, DAMAGED, MANUAL = "auto-", "before-restore-", "damaged-", "clew-"
ENDING = ".sqlite"

_EVENTS = "SELECT seq, id FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a log: `automatic` if clew made it by itself; `head` is None where it is not noted."""

    path: Path
    at: datetime
    automatic: bool
    size: int
    head: int | None = None


def backups_of(folder: Path) -> Path:
    """The folder of the backups of the memory in `folder`."""
    return folder.parent / BACKUPS


def stamp_of(now: datetime) -> str:
    """A time as the names of backups have it: UTC, to the second."""
    return f"{now.astimezone(UTC):%Y-%m-%dT%H%M%SZ}"


def note(folder: Path, copied: Copied, now: datetime) -> None:
    """Note a backup that a person made. Raises OSError."""
    place = backups_of(folder)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = {"path": str(copied.path.absolute()), "at": now.isoformat(), "log": copied.log, "head": copied.head}
    with FileLock(place / (MADE + ".lock"), mode=0o600):
        kept = [each for each in noted(folder) if each["path"] != new["path"] and Path(each["path"]).exists()]
        part = place / (MADE + ".new")
        with open(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump([*kept, new], file, indent=1)
        part.replace(place / MADE)


def noted(folder: Path) -> list[dict[str, str]]:
    """The notes there are; none where they cannot be read."""
    try:
        found = json.loads((backups_of(folder) / MADE).read_text(encoding="utf-8"))
        return [each for each in found if isinstance(each, dict) and isinstance(each.get("path"), str)]
    except (OSError, ValueError, TypeError):
        return []


def listed(folder: Path) -> list[Backup]:
    """All backups that are still there, the newest first."""
    found: dict[Path, Backup] = {}
    notes = {Path(each["path"]): each for each in noted(folder)}
    for path in [*notes, *sorted(backups_of(folder).glob("*" + ENDING))]:
        with contextlib.suppress(OSError, ValueError, TypeError):
            about, told = path.stat(), notes.get(path, {})
            at = datetime.fromisoformat(told["at"]) if told else datetime.fromtimestamp(about.st_mtime, UTC)
            head = int(told["head"]) if told else None
            found[path] = Backup(path, at, is_automatic(path, folder) and not told, about.st_size, head)
    return sorted(found.values(), key=lambda each: each.at, reverse=True)


def is_automatic(path: Path, folder: Path) -> bool:
    """Whether clew made a backup by itself: it may remove or rewrite it."""
    return path.parent == backups_of(folder) and path.name.startswith((AUTOMATIC, BEFORE_RESTORE, DAMAGED))


def forget_cut_off(folder: Path) -> None:
    """Remove copies that were cut off: all words are in them. Not while one is being made. Raises OSError."""
    with making_copies(backups_of(folder), alone=True) as alone:
        for left in backups_of(folder).glob(f"*{ENDING}{PART}") if alone else ():
            remove(left)


class Backups:
    """The copies that a person made of a memory."""

    def __init__(self, folder: Path, snapshot: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._folder, self._snapshot = folder, snapshot

    def holding(self, seqs: Collection[int]) -> list[str]:
        """The backups outside the home that hold the texts of some of these events, by their paths.

        Those in the home are purged with the memory. One that is noted and cannot be read now counts: it may hold them.
        """
        wanted = json.dumps(sorted(seqs))
        with self._snapshot() as db:
            here = set(db.execute(_EVENTS, (wanted,)))
        made = [each.path for each in listed(self._folder) if each.path.parent != backups_of(self._folder)]
        return [str(path) for path in sorted(made) if here & _texts(path, wanted, otherwise=here)]


def _texts(path: Path, wanted: str, *, otherwise: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """Which of the events have their text in a backup; `otherwise` where that cannot be told."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True)) as db:
            return set(db.execute(_EVENTS, (wanted,)))
    except sqlite3.DatabaseError:
        return otherwise
