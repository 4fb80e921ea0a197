"""Takes from this process, for good, what it has no use for: files, room, connections, endless memory.

`confine_to` keeps its threads, also those that begin later, to one folder (of Linux, where the kernel has it: elsewhere
nothing happens). `confine` is for when everything is open that will be needed: from then on no file or connection can
be opened, no byte written to one, and what memory it may still take is bounded. `confine_reading` is for what still has
to load parts of itself: it may read those folders, and open no connection, no other process and no thread (of Linux
too). None
needs a privilege, and none can be taken back. What these limits do not reach is said where it is: nothing here is
promised that is not kept.
"""

import ctypes
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

MEMORY_BYTES = 384 << 20  # that it may take beyond what it has
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # of landlock(7), the same for all machines of today
_EVERY_DEED = (1 << 13) - 1  # of its first version: read, write, make, remove, run
_LATER_DEEDS = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}  # since which version: link elsewhere, cut off, ask a device
_APART, _APART_SINCE = 1 | 2, 6  # from sockets without a file, and from signals to others
_VERSION = 1  # what is asked for in the place of a ruleset
_READING = 1 << 2 | 1 << 3  # files and folders
_BENEATH = 1
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
# seccomp(2), by machine: its name there, and the numbers of socket, ptrace, process_vm_readv, process_vm_writev; kill,
# tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo; truncate, fchmod, fchmodat, fchown, fchownat, utimensat; those of
# extended attributes that set or remove; those of keyrings, and of memory, semaphores and messages that are shared;
# prlimit64, setpriority, ioprio_set, those of sched that set, migrate_pages, move_pages, perf_event_open, bpf, kcmp,
# userfaultfd; clone; and, on the first, their forerunners.
_MACHINES = {
    "x86_64": (
        0xC000003E,
        (
            *(41, 101, 310, 311, 62, 200, 234, 129, 297, 76, 91, 268, 93, 260, 280),
            *(188, 189, 190, 197, 198, 199, 248, 249, 250, 29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240, 241),
            *(302, 141, 251, 142, 144, 203, 314, 256, 279, 298, 321, 312, 323, 56),
            *(57, 58, 90, 92, 94, 132, 235, 261),
        ),
    ),
    "aarch64": (
        0xC00000B7,
        (
            *(198, 117, 270, 271, 129, 130, 131, 138, 240, 45, 52, 53, 55, 54, 88),
            *(5, 6, 7, 14, 15, 16, 217, 218, 219, *range(180, 182), *range(186, 198)),
            *(261, 140, 30, 118, 119, 122, 274, 238, 239, 241, 280, 272, 282, 220),
        ),
    ),
}
# pidfd_send_signal, io_uring_setup, pidfd_open, clone3, pidfd_getfd, process_madvise, process_mrelease, fchmodat2
_EVERYWHERE = (424, 425, 434, 435, 438, 440, 448, 452)
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # instructions of a filter
_OTHER_CALLS = 463  # from here on they are newer than this list: setxattrat and what came after it, and those of x32
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000 | 13  # with EACCES


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64), ("connections", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def confine_to(folder: Path) -> bool:
    """Let nothing outside of `folder` be opened, made or removed from now on; False where the system cannot do that."""
    return _beneath({folder: _EVERY_DEED})


def confine_reading(folders: Iterable[Path]) -> tuple[bool, bool]:
    """Let nothing but what is in these be read from now on, nothing be written or run, and no connection be opened.

    Whether the system keeps all other files from it, and connections and other processes.
    """
    if sys.platform == "win32":
        return False, False
    import resource  # before that cannot be found any more

    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    return _beneath({each: _READING for each in folders if each.is_dir()}), _without_others()


def _beneath(allowed: Mapping[Path, int]) -> bool:
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
    deeds_known = _EVERY_DEED | sum(deed for since, deed in _LATER_DEEDS.items() if since <= version)
    rules = _Ruleset(deeds_known, 0, _APART if version >= _APART_SINCE else 0)
    size = ctypes.sizeof(rules) if version >= _APART_SINCE else ctypes.sizeof(ctypes.c_uint64)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    try:
        for folder, deeds in allowed.items():
            beneath = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = _Beneath(deeds_known if deeds == _EVERY_DEED else deeds, beneath)
                if libc.syscall(_ADD_RULE, ruleset, _BENEATH, ctypes.byref(rule), 0) != 0:
                    return False
            finally:
                os.close(beneath)
        return bool(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _without_others() -> bool:
    """Refuse this thread connections, other processes and beginning any of its own; False where that cannot be done."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES or sys.maxsize < 1 << 32:
        return False
    name, calls = _MACHINES[platform.machine()]
    refused = (*calls, *_EVERYWHERE)
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 0, len(refused) + 2, name), (_LOAD, 0, 0, 0)]
    steps.append((_AT_LEAST, len(refused), 0, _OTHER_CALLS))
    steps += [(_EQUAL, len(refused) - 1 - at, 0, call) for at, call in enumerate(refused)]
    steps[-1] = (_EQUAL, 0, 1, refused[-1])
    steps += [(_RETURN, 0, 0, _REFUSED), (_RETURN, 0, 0, _ALLOWED)]
    program = _Program(len(steps), (_Instruction * len(steps))(*(_Instruction(*each) for each in steps)))
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
        and libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0
    )


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
