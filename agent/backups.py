"""The backups that clew makes by itself: one a day while a chat is open and something was said, the last five kept.

A backup is made by a process of its own at a low priority, so that reading and hashing a whole memory keeps neither a
reply nor the screen waiting. One that fails is told of once, and tried again a day later or at the next start.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graph.errors import MemoryFailure
from graph.reader import LogReader
from graph.sqlite import open_at_rest, reading
from graph.transfer.backup import (
    AUTOMATIC,
    BEFORE_RESTORE,
    DAMAGED,
    ENDING,
    MADE,
    MANUAL,
    PART,
    backups_of,
    forget_cut_off,
    remove,
    stamp_of,
)

from .background import Worker
from .events import Notice, Warned
from .home import Home

KEPT = 5
EVERY = timedelta(days=1)
SETTLE_S = 60.0  # after a start, which has enough to do
LOOK_S = 600.0  # between two looks at the clock


class Nightly:
    """Makes the automatic backups of a memory until it is closed."""

    def __init__(self, home: Home, tell: Callable[[Notice], None]) -> None:
        self._home = home
        self._tell = tell
        self._worker = Worker("The automatic backup", self._run, tell)
        self._told = False

    def start(self) -> None:
        """Begin to look, a while after now, whether a backup is due."""
        self._worker.start()

    async def close(self) -> None:
        """End it; a backup that is being made is given up and nothing of it is left."""
        await self._worker.close()

    async def look(self) -> Path | None:
        """Make a backup if one is due, and tell if that fails; the new one."""
        try:
            if not await asyncio.to_thread(due, self._home.memory, datetime.now(UTC)):
                return None
            made = await self._make()
        except (MemoryFailure, OSError) as error:
            self._failed(str(error))
            return None
        if made is not None:
            self._told = False
            await asyncio.to_thread(tidy, self._home.memory)
        return made

    async def _run(self) -> None:
        await asyncio.sleep(SETTLE_S)
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S if not self._told else EVERY.total_seconds())

    async def _make(self) -> Path | None:
        place = backups_of(self._home.memory)
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = place / f"{AUTOMATIC}{stamp_of(datetime.now(UTC))}{ENDING}"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "graph.transfer.backup", str(self._home.memory), str(target)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, said = await process.communicate()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            with contextlib.suppress(OSError):
                remove(target.with_name(target.name + PART))
            raise
        if process.returncode == 0:
            return target
        self._failed(said.decode(errors="replace").strip().splitlines()[-1] if said.strip() else "it was stopped")
        return None

    def _failed(self, why: str) -> None:
        if not self._told:
            self._told = True
            self._tell(Warned(f"The automatic backup failed: {why} Your chats are not affected."))


def due(memory: Path, now: datetime) -> bool:
    """Whether the newest automatic backup is older than a day, and something was said since. Raises MemoryFailure."""
    *_, newest = [None, *automatic(memory, now)]
    if newest is None or _is_ahead(newest, now):
        head = 0
    elif now - datetime.fromtimestamp(newest.stat().st_mtime, UTC) < EVERY:
        return False
    else:
        head = _head(newest)
    reader = LogReader.open(memory)
    try:
        return reader.head() > head
    finally:
        reader.close()


def automatic(memory: Path, now: datetime | None = None) -> list[Path]:
    """The automatic backups there are, the oldest first; before them those of a clock that was ahead once."""
    moment = now or datetime.now(UTC)
    return sorted(
        backups_of(memory).glob(f"{AUTOMATIC}*{ENDING}"), key=lambda path: (not _is_ahead(path, moment), path)
    )


def _is_ahead(path: Path, now: datetime) -> bool:
    """Whether a backup is of a day that is still to come: no other would be made until then."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) > now + EVERY


def tidy(memory: Path) -> None:
    """Keep the newest automatic backups, and nothing that a backup which was cut off left behind. Raises OSError."""
    for old in automatic(memory)[:-KEPT]:
        old.unlink(missing_ok=True)
    forget_cut_off(memory)


def files_of(memory: Path) -> list[Path]:
    """Every file that clew made among the backups: what `clew erase` removes."""
    patterns = (*(f"{kind}*{ENDING}*" for kind in (AUTOMATIC, BEFORE_RESTORE, DAMAGED, MANUAL)), f"{MADE}*")
    made = [path for pattern in patterns for path in backups_of(memory).glob(pattern)]
    return sorted(path for path in made if os.path.lexists(path))


def _head(backup: Path) -> int:
    """The last event of a backup, 0 for one that cannot be read."""
    try:
        with reading(backup), contextlib.closing(open_at_rest(backup, but_wal=True)) as db:
            head: int = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            return head
    except MemoryFailure:
        return 0
