"""The child's half of a download: how a process that streams one file talks with the one that keeps it.

stdout: a line {"size", "sha256"} (null if unknown). Then, once stdin has brought a line with the offset the parent
already has, a line {"offset"} (0 if the server cannot resume) and the raw bytes from there. Instead of either line,
{"error"}: "not found", "denied", "offline" or "unreachable". A child that dies without a word counts as "unreachable",
and whatever it printed to stderr is thrown away: an address must never reach a screen or a log.
"""

from __future__ import annotations

import json
import os
import sys

CHUNK = 1 << 18


def describe(size: int | None, sha256: str | None) -> None:
    """The first line: what there is to fetch."""
    _tell({"size": size, "sha256": sha256})


def asked_offset() -> int:
    """How many bytes the parent already has; ends the process if it wants none."""
    line = sys.stdin.readline()
    if not line:
        raise SystemExit(0)
    return int(line)


def begin(offset: int) -> None:
    """The second line: the bytes that follow start at `offset`."""
    _tell({"offset": offset})


def send(data: bytes) -> None:
    """All of `data`; ends the process if the parent is gone."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(1, view) :]
    except BrokenPipeError:
        raise SystemExit(0) from None


def fail(error: str) -> int:
    """Why there is nothing; the exit status to leave with."""
    _tell({"error": error})
    return 1


def resumed_at(status: int, content_range: str | None, asked: int) -> int | None:
    """Where a response's bytes start: 0 for a whole file, `asked` for the rest of one, None if it is neither."""
    if status == 200:
        return 0
    start = (content_range or f"bytes {asked}").removeprefix("bytes ").partition("-")[0].strip()
    return asked if status == 206 and start == str(asked) else None


def range_header(offset: int) -> dict[str, str]:
    """The headers that ask for the bytes from `offset` on, uncompressed."""
    return {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})


def _tell(line: dict[str, object]) -> None:
    send(json.dumps(line).encode() + b"\n")
