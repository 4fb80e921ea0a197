"""One process at a time holds a memory; whoever comes second learns at once who that is, or waits where it is brief.

Invariants: the operating system's lock on `lock` decides, and ends with its process however that dies. `holder.json`
only tells the name: it is written after the lock is taken and removed before it is let go, so one left by a crash is
never believed without asking the lock.
"""

import errno
import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from graph.errors import Holder, LogUnwritable, MemoryHeld

_LOCK, _HOLDER = "lock", "holder.json"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

# Long enough to outlast another process that is only asking `holder`, short enough to be "at once" for a person.
_PATIENCE_S = 0.1
# And for one that only asks something and lets go by itself, which others wait for.
_BRIEF_S = 8.0


class MemoryLock:
    """The lock on a memory's folder, held from `take` to `release`."""

    def __init__(self, lock: BaseFileLock, name: Path) -> None:
        self._lock = lock
        self._name = name

    @classmethod
    def take(cls, folder: Path, *, command: str, brief: bool = False, waits_s: float | None = None) -> "MemoryLock":
        """Take the lock; `command` is what others are told, `brief` promises to let go by oneself in a moment.

        A brief holder is waited for, and the next one too, `waits_s` in all (None: some seconds). Raises MemoryHeld, or
        LogUnwritable for the folder.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _file_lock(folder)
            _acquire(lock, folder, _BRIEF_S if waits_s is None else waits_s)
        except Timeout as e:
            raise MemoryHeld(_read_name(folder / _HOLDER)) from e
        except OSError as e:
            raise LogUnwritable(
                f"{folder} cannot be written ({e.strerror}). Nothing was changed. Make it writable, or choose "
                "another home folder with --home."
            ) from e
        taken = cls(lock, folder / _HOLDER)
        try:
            _write_name(folder / _HOLDER, Holder(os.getpid(), command, datetime.now(UTC), brief))
        except OSError as e:
            if e.errno in _FULL:  # the name is only told; without it there is no wrong one either
                for left in (taken._name, taken._name.with_suffix(".new")):
                    left.unlink(missing_ok=True)
                return taken
            taken.release()
            raise LogUnwritable(f"{folder} cannot be written ({e.strerror}). Nothing was changed.") from e
        return taken

    def tell(self, done: int, total: int) -> None:
        """Tell others how many events of how many are read."""
        name = _read_name(self._name)
        if name is not None:
            with suppress(OSError):  # they are told nothing, then
                _write_name(self._name, replace(name, done=done, total=total))

    def end_soon(self) -> None:
        """Tell others that it is let go of in a moment, so that they wait for that."""
        name = _read_name(self._name)
        if name is not None and not name.brief:
            with suppress(OSError):  # they are refused, then
                _write_name(self._name, replace(name, brief=True))

    def release(self) -> None:
        self._name.unlink(missing_ok=True)
        self._lock.release()


def holder(folder: Path) -> Holder | None:
    """Who holds the memory of `folder` now, None if nobody does (or nobody left a name)."""
    name = _read_name(folder / _HOLDER)
    if name is None:
        return None
    lock = _file_lock(folder)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return name
    except OSError:  # a folder that cannot be written is one that nobody can have locked
        return None
    lock.release()
    return None


def _acquire(lock: BaseFileLock, folder: Path, waits_s: float) -> None:
    """Raises Timeout or OSError."""
    until = time.monotonic() + waits_s
    while True:
        try:
            lock.acquire(timeout=_PATIENCE_S, poll_interval=_PATIENCE_S / 10)
            return
        except Timeout:
            if time.monotonic() >= until or not is_brief(_read_name(folder / _HOLDER)):
                raise


def is_brief(name: Holder | None) -> bool:
    """Whether who holds a memory lets go by itself; so may one that has no name yet."""
    return name is None or name.brief


def _file_lock(folder: Path) -> BaseFileLock:
    return FileLock(folder / _LOCK, mode=0o600, thread_local=False)


def _write_name(path: Path, who: Holder) -> None:
    whole = path.with_suffix(".new")
    with open(os.open(whole, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(who) | {"since": who.since.isoformat()}, file)
    whole.replace(path)


def _read_name(path: Path) -> Holder | None:
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        since = datetime.fromisoformat(written["since"])
        read = int(written.get("done", 0)), int(written.get("total", 0))
        return Holder(int(written["pid"]), str(written["command"]), since, written.get("brief") is True, *read)
    except (OSError, ValueError, KeyError, TypeError):
        return None
