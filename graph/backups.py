"""Which backups there are: those a person made, wherever they lie, and those that clew makes by itself in its folder.

Invariant: every backup made by a person is noted in `made.json` when it is made, so that a deletion can say which of
them still hold what goes. A note of a file that is gone, or is something else by now, is passed by.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock

from graph.copying import PART, Copied, making_copies, remove

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


class BackedUp:
    """The part of the Memory that knows the copies a person made of it."""

    _folder: Path

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        raise NotImplementedError

    def backups_holding(self, seqs: Collection[int]) -> list[str]:
        """The backups outside the home that hold the texts of some of these events, by their paths.

        Those in the home are purged with the memory. One that is noted and cannot be read now counts: it may hold them.
        """
        wanted = json.dumps(sorted(seqs))
        with self.snapshot() as db:
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
