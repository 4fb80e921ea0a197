"""Takes from this process, for good, what a query has no use for: files, room, endless memory.

`confine_to` keeps its threads, also those that begin later, to one folder (of Linux, where the kernel has it: elsewhere
nothing happens). `confine` is for when everything is open that will be needed: from then on no file or connection can
be opened, no byte written to one, and what memory it may still take is bounded. Neither needs a privilege, and neither
can be taken back. What these limits do not reach is said where it is: nothing here is promised that is not kept.
"""

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

MEMORY_BYTES = 384 << 20  # that it may take beyond what it has
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # of landlock(7), the same for all machines of today
_EVERY_DEED = (1 << 13) - 1  # of its first version: read, write, make, remove, run
_BENEATH = 1
_NO_NEW_PRIVILEGES = 38


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def confine_to(folder: Path) -> bool:
    """Let nothing outside of `folder` be opened, made or removed from now on; False where the system cannot do that."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    rules = _Ruleset(_EVERY_DEED)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    if ruleset < 0:
        return False
    beneath = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Beneath(_EVERY_DEED, beneath)
        return bool(
            libc.syscall(_ADD_RULE, ruleset, _BENEATH, ctypes.byref(rule), 0) == 0
            and libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
            and libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
        )
    finally:
        os.close(beneath)
        os.close(ruleset)


def confine() -> None:
    """Open nothing more, write nothing, and take `MEMORY_BYTES` more at most.

    RLIMIT_NPROC stays as it is: the engine starts a thread for shortest paths, which a limit forbids to all but root.
    """
    if sys.platform == "win32":
        return
    import resource

    if (size := _size()) is not None:
        _limit(resource.RLIMIT_AS, size + MEMORY_BYTES)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, 0)  # what is open stays open


def _limit(which: int, most: int) -> None:
    """Set a limit, below the one that there may be already."""
    import resource

    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with suppress(ValueError, OSError):  # a system that does not know this limit, or not so low
        resource.setrlimit(which, (most, most))


def _size() -> int | None:
    """Bytes of address space in use; None where only Linux would say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
