"""Puts a backup in the log's place, and what was erased since stays erased.

Invariants:
- Until the last step only new files are made: the copy is taken, examined, brought to the newest version and rid of
  what was erased since, all under another name. One rename then makes it the log; the memory opens before and after it.
- What was there is kept in the backups before that rename: as a copy, or, where it is too damaged, as the very file.
- The graph and the marks beside it are of the old log and go before the rename, so that nobody misses in the new log
  what only the old one had. A write-ahead log never meets a file that it is not of.
"""

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from graph.errors import (
    CopyFailed,
    LogDamaged,
    LogUnreadable,
    LogUnwritable,
    MemoryFailure,
    MemoryMissing,
    NotABackup,
)
from graph.events import DocumentRemoved, Event, ObservationDeleted, SessionDeleted, TextErased, TurnDeleted
from graph.ids import now_ms
from graph.kuzu import rebuild
from graph.kuzu.opening import OPENING, PURGE
from graph.kuzu.truncation import WITNESS
from graph.log.log import Log
from graph.log.migrations import APPLICATION_ID, NEWEST, SCHEMA, foreign, migrate
from graph.projection.sqlite_tables import rebuild as rebuild_tables
from graph.reader import LogReader
from graph.sqlite import GRAPH, LOG, RESTORING, open_reader, open_writer, reading
from graph.transfer.backup import (
    BEFORE_RESTORE,
    COMPANIONS,
    DAMAGED,
    ENDING,
    Copied,
    about,
    backups_of,
    copy_file,
    copy_log,
    examine,
    removed,
    scrub,
    sync,
)

UNTOUCHED = "Nothing was changed."
AT_ONCE = 500  # events of erasing in one transaction

_MAGIC = b"SQLite format 3\x00"
_GONE = "SELECT id FROM events WHERE text IS NULL AND text_hash IS NOT NULL"
_DECIDED = """
SELECT DISTINCT kind, id FROM subjects
WHERE kind IN ('turn.deleted', 'observation.deleted', 'document.removed', 'session.deleted')
"""
_MAKES = {
    "turn.deleted": "SELECT 1 FROM turns WHERE id = ?",
    "observation.deleted": "SELECT 1 FROM observations WHERE series = ?",
    "document.removed": "SELECT 1 FROM documents WHERE id = ?",
    "session.deleted": "SELECT 1 FROM sessions WHERE id = ?",
}


@dataclass(frozen=True, slots=True)
class Restoring:
    """A backup that is ready to take the log's place, and what that changes.

    `here` is what there is now; None for no memory, or for one that cannot be read (then `damaged` says why). `erased`
    counts the deletions since the backup that were applied to it; None if they cannot be known.
    """

    file: Path
    there: Copied
    here: Copied | None
    damaged: str | None
    another: bool  # of another memory than the one that is here
    version: int  # of the file, before it was brought to the newest
    erased: int | None


@contextmanager
def prepared(folder: Path, file: Path) -> Iterator[Restoring]:
    """Make ready to restore `file`; whoever holds the memory's lock may then `install`. Nothing is left otherwise.

    Raises NotABackup, LogNewer, MemoryMissing (no such file) or CopyFailed (no room), and then nothing was changed.
    """
    part = folder / RESTORING
    refuse_other(file, folder)
    with removed(part):
        with _refusing(file):
            copy_file(file, part, at_rest=True)
            with contextlib.closing(open_reader(part)) as db:
                if others := foreign(db):
                    raise NotABackup(f"it has what no log of clew has ({', '.join(others)}).")
            found = examine(part)
        here, damaged = _here(folder)
        erased: int | None = 0
        with _refusing(file):
            with contextlib.closing(open_writer(part)) as db:
                migrate(db)
                _make_ours(db)
                if damaged is None and here is not None:
                    erased = erase_again(db, part, folder)
                elif damaged is not None:
                    erased = None
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                db.execute("PRAGMA journal_mode = DELETE").fetchone()
            scrub(part)
            there = examine(part) if erased or found.version < NEWEST else found
            sync(part)
        another = here is not None and here.log != there.log
        yield Restoring(file, there, here, damaged, another, found.version, erased)


SHADOWS = ("_data", "_idx", "_content", "_docsize", "_config")  # tables of an index of words, which SQLite makes


def _make_ours(db: sqlite3.Connection) -> None:
    """Leave nothing in the schema of a log that a new one would not have, so that it does what a new one does.

    What is derived and other goes: it is made anew at the next opening. Raises NotABackup where what is kept is other.
    """
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        migrate(new)
        rebuild_tables(new, (), lambda seq: None, lambda seq: None)  # type: ignore[arg-type, return-value]
        ours = _schema(new)
        there = _schema(db)
        other = [f"{ours[name][0]} {name}" for name in SCHEMA if not _is_same(name, db, there, new, ours)]
    if other:
        raise NotABackup(f"its schema is not that of a log of clew ({', '.join(other)}).")
    shadows = {f"{name}{ending}" for name in SCHEMA for ending in SHADOWS}
    tables_first = sorted(((type, name) for name, (type, _) in there.items()), reverse=True)
    for type, name in tables_first:
        kept = name in SCHEMA or name in shadows or name.startswith("sqlite_") or there[name] == ours.get(name)
        if not kept:
            db.execute(f'DROP {type} IF EXISTS "{name.replace(chr(34), 2 * chr(34))}"')


def _schema(db: sqlite3.Connection) -> dict[str, tuple[str, list[str]]]:
    """By name: what it is, and the words that it was made with."""
    rows = db.execute("SELECT name, type, sql FROM sqlite_schema")
    return {name: (type, re.findall(r"\w+|[^\w\s]", (sql or "").lower())) for name, type, sql in rows}


def _is_same(
    name: str,
    db: sqlite3.Connection,
    there: dict[str, tuple[str, list[str]]],
    new: sqlite3.Connection,
    ours: dict[str, tuple[str, list[str]]],
) -> bool:
    """Whether something of a log is as in a new one; a table that got columns later is written otherwise."""
    if name not in there:
        return False
    if there[name] == ours[name]:
        return True
    columns = f"SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo('{name}')"
    same = db.execute(columns).fetchall() == new.execute(columns).fetchall()
    return ours[name][0] == "table" and same and set(there[name][1]) <= set(ours[name][1])


def install(folder: Path, ready: Restoring, *, stamp: str) -> Path | None:
    """Let what is `prepared` take the log's place; where what was there is kept now, None if there was nothing.

    Raises CopyFailed or LogUnwritable: then the memory is what it was.
    """
    kept = keep(folder, ready, stamp=stamp)
    settle(folder, damaged=ready.damaged is not None)
    forget_graph(folder)
    (folder / RESTORING).replace(folder / LOG)
    sync(folder)
    return kept


def keep(folder: Path, ready: Restoring, *, stamp: str) -> Path | None:
    """Keep the log that is there: a copy of it, or where that cannot be made its very files under another name."""
    backups = backups_of(folder)
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / LOG).exists() or (folder / LOG).stat().st_size == 0:
        return None
    if ready.damaged is None:
        target = backups / f"{BEFORE_RESTORE}{stamp}{ENDING}"
        try:
            copy_log(folder, target, replace=True)
            return target
        except CopyFailed:  # it opens, but is not what was written; or there is no room for a copy
            settle(folder, damaged=False)
    target = backups / f"{DAMAGED}{stamp}{ENDING}"
    for companion in ("", "-wal"):
        source, aside = folder / (LOG + companion), target.with_name(target.name + companion)
        if source.exists():
            _second_name(source, aside)
    sync(backups)
    return target


def settle(folder: Path, *, damaged: bool) -> None:
    """Leave no write-ahead log beside the old log: it would be read into the new one. Raises LogUnwritable."""
    if damaged:  # it is kept with it
        for companion in COMPANIONS[1:]:
            (folder / (LOG + companion)).unlink(missing_ok=True)
        return
    if not (folder / LOG).exists():
        return
    with contextlib.closing(open_writer(folder / LOG)) as db:
        try:
            mode = db.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
        except sqlite3.OperationalError as e:
            raise LogUnwritable(
                f"Another program is reading this memory ({e}). {UNTOUCHED} Close it and try again."
            ) from e
    if mode != "delete":
        raise LogUnwritable(f"Another program is reading this memory. {UNTOUCHED} Close it and try again.")


def forget_graph(folder: Path) -> None:
    """Remove the graph of the old log and its marks; one set aside that knew more than any log stays."""
    rebuild.remove(folder, rebuild.NEW)
    rebuild.remove(folder, GRAPH)
    if not (folder / WITNESS).exists():
        rebuild.remove(folder, rebuild.ASIDE)
        (folder / PURGE).unlink(missing_ok=True)
    (folder / WITNESS).unlink(missing_ok=True)
    (folder / OPENING).unlink(missing_ok=True)


def erase_again(db: sqlite3.Connection, part: Path, folder: Path) -> int:
    """Delete from a log what was deleted from the one of `folder`, and every text that is gone there; how much."""
    reader = LogReader.open(folder)
    try:
        with reader.snapshot() as now:
            decided = now.execute(_DECIDED).fetchall()
            gone = [id for (id,) in now.execute(_GONE)]
    finally:
        reader.close()
    log = Log(db, part, now_ms)
    known = set(db.execute(_DECIDED).fetchall())
    events = [_again(kind, thing) for kind, thing in decided if _is_new(db, known, kind, thing)]
    for at in range(0, len(events), AT_ONCE):
        log.append(events[at : at + AT_ONCE])
    return len(events) + _erase_texts(db, log, gone)


def _is_new(db: sqlite3.Connection, known: set[tuple[str, str]], kind: str, thing: str) -> bool:
    if (kind, thing) in known or db.execute(_MAKES[kind], (thing,)).fetchone() is None:
        return False
    known.add((kind, thing))
    return True


def _again(kind: str, thing: str) -> Event:
    match kind:
        case "turn.deleted":
            return TurnDeleted(turn=thing)
        case "observation.deleted":
            return ObservationDeleted(series=thing)
        case "document.removed":
            return DocumentRemoved(document=thing)
        case _:
            return SessionDeleted(session=thing)


def _erase_texts(db: sqlite3.Connection, log: Log, ids: list[str]) -> int:
    """Erase what is left of texts that are gone elsewhere, by the ids of their events; how many there were."""
    wanted = set(ids)
    texts = db.execute("SELECT seq, id FROM events WHERE text IS NOT NULL")
    left = [seq for seq, id in texts if id in wanted]
    for at in range(0, len(left), AT_ONCE):
        log.append([TextErased(events=tuple(left[at : at + AT_ONCE]))])
    return len(left)


def refuse_other(file: Path, folder: Path) -> None:
    """Raise for a file that is no log of clew, told without opening it in SQLite."""
    if not os.path.lexists(file):
        raise CopyMissing(f"File not found: {file}. {UNTOUCHED} `clew backup --list` lists the backups.")
    if not file.is_file():
        raise NotABackup(f"{file} is not a file. {UNTOUCHED} `clew backup --list` lists the backups.")
    if (folder / LOG).exists() and file.samefile(folder / LOG):
        raise NotABackup(f"{file} is the log itself. {UNTOUCHED} `clew backup --list` lists the backups.")
    try:
        with file.open("rb") as opened:
            header = opened.read(100)
    except OSError as e:
        raise NotABackup(f"{file} cannot be read ({e.strerror}). {UNTOUCHED}") from e
    if not header.startswith(_MAGIC) or len(header) < 100:
        raise NotABackup(f"{file.name} is not a backup of clew's log. {UNTOUCHED} `clew backup --list` lists them.")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise NotABackup(f"{file.name} is another program's database. {UNTOUCHED}")
    pages, size = int.from_bytes(header[28:32], "big"), int.from_bytes(header[16:18], "big")
    if file.stat().st_size < pages * (65536 if size == 1 else size):
        raise NotABackup(f"{file.name} is cut short: its end is missing. {UNTOUCHED} Take another backup.")


class CopyMissing(MemoryMissing):
    """There is no such backup."""

    def __init__(self, message: str) -> None:
        MemoryFailure.__init__(self, message)


def _here(folder: Path) -> tuple[Copied | None, str | None]:
    """What the log that is there holds, or why it cannot be told."""
    try:
        reader = LogReader.open(folder)
    except MemoryMissing:
        return None, None
    except LogDamaged as e:
        return None, None if not (folder / LOG).exists() else str(e)
    try:
        found = about(reader, folder / LOG)
        with reader.snapshot() as db, reading(folder / LOG):
            if (worse := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                return None, str(worse)
        return found, None
    except (LogDamaged, LogUnreadable) as e:
        return None, str(e)
    finally:
        reader.close()


def _second_name(source: Path, aside: Path) -> None:
    """The same file under a second name; a copy where the disk knows no such thing."""
    aside.unlink(missing_ok=True)
    try:
        os.link(source, aside)
    except OSError:
        shutil.copyfile(source, aside)
        aside.chmod(0o600)
        sync(aside)


@contextmanager
def _refusing(file: Path) -> Iterator[None]:
    """What goes wrong with a file to restore, as an error that says that nothing was changed."""
    try:
        yield
    except NotABackup as e:
        raise NotABackup(f"{file.name} is not a complete backup: {e} {UNTOUCHED} Take another backup.") from e
    except sqlite3.DatabaseError as e:
        if getattr(e, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            raise CopyFailed(f"The disk is full. {UNTOUCHED} Free some space and try again.") from e
        raise NotABackup(f"{file.name} cannot be read ({e}). {UNTOUCHED} Take another backup.") from e
    except OSError as e:
        raise CopyFailed(f"{file.name} cannot be copied next to the log ({e.strerror}). {UNTOUCHED}") from e
