"""Files written whole beside their place and moved over it, for their owner alone; one that fails is none."""

import os
from collections.abc import Iterator
from pathlib import Path

from tui.text import one_line


class ExportFailed(Exception):
    """A file that was not written; nothing is left of it, and what was there before is as it was."""


def path_of(said: str, folder: Path) -> Path:
    """The place that a person means by a name; one that is not absolute is in `folder`. Raises ExportFailed."""
    if "\0" in said:
        raise ExportFailed("That is not a valid file name. Choose another one.")
    try:
        return folder / Path(said).expanduser()
    except RuntimeError as error:  # of a user who is not there
        raise ExportFailed(f"There is no folder {one_line(said)}. Name another one.") from error


def write(path: Path, parts: Iterator[bytes]) -> int:
    """Write a file whole, or not at all; 0600. Raises ExportFailed. Blocking."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    size = 0
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for part in parts:
                    size += file.write(part)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        why = error.strerror or str(error)
        raise ExportFailed(f"{one_line(str(path))} was not written: {why}. Name another place.") from error
    return size
