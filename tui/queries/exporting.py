"""Rows as a file: all of them as JSON or CSV, written beside its place and moved over it, for their owner alone.

Invariants: a file that is there is not touched unless the person says so; one that could not be written whole is none.
"""

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.text import clean, one_line, shown

if TYPE_CHECKING:
    from graph.querying.console import Answer

ROWS = (".csv", ".json")
PICTURES = (".svg", ".png")


class ExportFailed(Exception):
    """A file that was not written; nothing is left of it, and what was there before is as it was."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where to write, and as what: `.csv`, `.json`, `.svg` or `.png`."""

    path: Path
    ending: str
    exists: bool


def target_of(said: str, folder: Path, *, drawn: bool = False) -> Target:
    """The file that a person means; a picture only where there is a drawing. Raises ExportFailed, saying what to do."""
    name = said.strip()
    if not name:
        raise ExportFailed("Enter a file name, such as answer.csv.")
    if "\0" in name:
        raise ExportFailed("That is not a valid file name. Choose another one.")
    try:
        path = Path(name).expanduser()
    except RuntimeError as error:  # of a user who is not there
        raise ExportFailed(f"There is no folder {one_line(name)}. Name another one.") from error
    path = path if path.is_absolute() else folder / path
    ending = path.suffix.lower()
    if ending in PICTURES and not drawn:
        raise ExportFailed("A picture is written of the drawing: press 2 first. Rows go to .csv or .json.")
    if ending not in (*ROWS, *PICTURES):
        kinds = ".csv, .json, .svg or .png" if drawn else ".csv or .json"
        raise ExportFailed(f"The file name must end in one of: {kinds}.")
    try:
        if path.is_dir():
            raise ExportFailed(f"{one_line(str(path))} is a folder. Name a file in it.")
        if not path.parent.is_dir():
            raise ExportFailed(
                f"There is no folder {one_line(str(path.parent))}. Create it first, or choose another one."
            )
        exists = os.path.lexists(path)
    except OSError as error:
        raise ExportFailed(f"{one_line(str(path))}: {error.strerror}. Name another file.") from error
    return Target(path, ending, exists)


def write_rows(target: Target, answer: "Answer") -> int:
    """Write the rows; how many bytes they took. Raises ExportFailed. Blocking."""
    parts = as_csv(answer) if target.ending == ".csv" else as_json(answer)
    return write(target.path, (part.encode("utf-8", "replace") for part in parts))


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


def as_csv(answer: "Answer") -> Iterator[str]:
    """RFC 4180 with a line of names. Nothing in it is obeyed by a terminal; null is empty; structures are JSON."""
    lines: list[str] = []
    writer = csv.writer(_Lines(lines))
    writer.writerow([shown(each) for each in answer.columns])
    for row in answer.rows:
        writer.writerow([_spelled(value) for value in row])
        yield "".join(lines)
        lines.clear()
    yield "".join(lines)  # the names, where there is no row


class _Lines:
    """A file for the writer of the standard library: what it writes is a part."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, text: str) -> int:
        self._lines.append(text)
        return len(text)


def _spelled(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return shown(value)
        case _:
            return shown(json.dumps(value, ensure_ascii=False))


def as_json(answer: "Answer") -> Iterator[str]:
    """A list of objects, a row on each line; a name that comes twice is told apart by its place."""
    names = unique(answer.columns)
    yield "[\n"
    for place, row in enumerate(answer.rows):
        comma = "," if place + 1 < len(answer.rows) else ""
        yield f"{json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False)}{comma}\n"
    yield "]\n"


def unique(columns: tuple[str, ...]) -> list[str]:
    """The names of columns, each once: a second `x` is `x_2`."""
    names: list[str] = []
    for each in map(clean, columns):
        name, number = each, 2
        while name in names:
            name, number = f"{each}_{number}", number + 1
        names.append(name)
    return names
