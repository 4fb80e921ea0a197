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

from tui.files import ExportFailed, path_of, write
from tui.text import clean, one_line, shown

if TYPE_CHECKING:
    from graph.console.console import Answer

ROWS = (".csv", ".json")
PICTURES = (".svg", ".png")


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
    path = path_of(name, folder)
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
