"""Keeps what native code prints off the screen: file descriptors 1 and 2 go to a log, Python goes on elsewhere.

llama.cpp and its libraries write to the descriptors from C, also where a log callback is set (a bad grammar, an
assertion, a GPU driver). A face calls `guard_descriptors` first thing; from then on `sys.stdout` and `sys.stderr` (and
their dunder twins, which Textual draws on) are new descriptors of the same terminal or pipe. A child process that
should speak to the terminal ($EDITOR, a pager) must be given `stdout=sys.stdout, stderr=sys.stderr`.
"""

import io
import os
import sys
from pathlib import Path
from typing import TextIO

LOG_BYTES = 1 << 20  # what an earlier run left beyond this is cut off
_GUARDED: list[tuple[TextIO, TextIO]] = []


def guard_descriptors(log_file: Path) -> None:
    """Send descriptors 1 and 2 to `log_file`, mode 0600; a second call does nothing.

    What an earlier run left in it is dropped if it is more than LOG_BYTES. A log that cannot be written is no reason
    not to start: what is printed then goes nowhere.
    """
    if _GUARDED:
        return
    log = _open(log_file)
    sys.stdout.flush()
    sys.stderr.flush()
    out, err = _apart(sys.stdout, 1), _apart(sys.stderr, 2)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    for name, stream in (("stdout", out), ("stderr", err)):
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    _GUARDED.append((out, err))


def _open(log_file: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
    try:
        log_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if log_file.exists() and log_file.stat().st_size > LOG_BYTES:
            os.truncate(log_file, 0)
        return os.open(log_file, flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _apart(stream: TextIO, descriptor: int) -> TextIO:
    """The same stream on a descriptor of its own; a stream that was not on `descriptor` (captured) stays."""
    try:
        if stream.fileno() != descriptor:
            return stream
    except (OSError, io.UnsupportedOperation):
        return stream
    # Above the small numbers, which shells and libraries take for their own.
    import fcntl

    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    return open(
        copy,
        "w",
        encoding=stream.encoding,
        errors=stream.errors,
        buffering=1,
        newline=None,
        closefd=True,
    )
