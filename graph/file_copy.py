"""Copies a file inside the kernel, which shares its blocks with the copy where the disk can."""

import os
import shutil
from pathlib import Path

PIECE = 1 << 30


def copied(source: Path, into: Path) -> None:
    """Copy a file, for nobody else to read. Raises OSError, and then what there is of the copy is its caller's."""
    with source.open("rb") as file, open(os.open(into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        try:
            while _some(file.fileno(), copy.fileno()):
                pass
        except OSError:  # a file system that cannot, or not from there to here
            file.seek(0)
            copy.seek(0)
            shutil.copyfileobj(file, copy)


def _some(source: int, into: int) -> int:
    if not hasattr(os, "copy_file_range"):  # of Linux
        raise OSError("copy_file_range")
    return os.copy_file_range(source, into, PIECE)
