"""How much room the graph may still take, looked at before the engine writes: without room it hangs or aborts.

Measured: a checkpoint that fails for want of space leaves the engine spinning in its own destructor, or ends the
process. The graph is a cache, so it stops well before the disk is full and leaves the rest to the log.
"""

import shutil
import sys
from pathlib import Path

from graph.errors import NoRoom

TO_OPEN = 32 << 20  # also to build, and then what the log itself takes comes on top, twice
ADVICE = "Free some space, and the graph will catch up automatically."
TO_FOLLOW = 16 << 20  # more than the write-ahead log and its checkpoint take between two looks


def left(folder: Path) -> int:
    """Bytes that the largest of the graph's files in `folder` can still grow by."""
    free = shutil.disk_usage(folder).free
    if sys.platform == "win32":
        return free
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit == resource.RLIM_INFINITY:
        return free
    largest = max((path.lstat().st_size for path in folder.glob("graph.kuzu*")), default=0)
    return min(free, limit - largest)


def require(folder: Path, needed: int) -> None:
    """Raise NoRoom if fewer than `needed` bytes are left."""
    there = left(folder)
    if there < needed:
        raise NoRoom(
            f"The disk is nearly full: {max(there, 0) >> 20} MB are left for the graph, which needs {needed >> 20}. "
            f"Everything is safe in the log, and the chat works without the graph. {ADVICE}"
        )
