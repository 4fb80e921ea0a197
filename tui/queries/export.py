"""What an answer has to take along: rows as a file of JSON or CSV, and its nodes and paths as a Subgraph to draw.

Invariants: a node is drawn once however often it comes; a relationship is drawn where both its ends came back, and else
counted as left out. Words of a hidden turn are not drawn.

Invariants: a file that is there is not touched unless the person says so; one that could not be written whole is none.
"""

import asyncio
import csv
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.values import Edge, Node, Ref, Subgraph
from tui.files import ExportFailed, path_of, write
from tui.queries.cells import TIMES, TITLES, is_node, is_path, is_relationship, name_of, rows_of, title_of, whole
from tui.queries.completing import tables_of
from tui.text import clean, one_line, shown, size_of

if TYPE_CHECKING:
    from graph.console.console import Answer


MOST_NODES = 400  # that are looked at: a drawing of more is none
MOST_EDGES = 2_000
MOST_VALUES = 200_000  # of rows, lists and structures that are looked through
INNER = ("_id", "_label", "_src", "_dst")
LONGEST_TITLE = 120
HIDDEN = "(hidden)"


def ref_of(value: Any) -> Ref | None:
    """Which node a value of an answer is; None if it is none."""
    if not is_node(value) or value.get("id") is None:
        return None
    return Ref(str(value["_label"]), str(value["id"]))


def first_ref(value: Any) -> Ref | None:
    """The node that a value is, or the first that it holds."""
    return next((ref for each in _things(value, [MOST_VALUES]) if (ref := ref_of(each)) is not None), None)


def subgraph_of(rows: Sequence[Sequence[Any]]) -> Subgraph:
    """All that can be drawn of these rows; the nodes with the most relationships first."""
    nodes: dict[str, Node] = {}
    joined: dict[str, tuple[str, str, str]] = {}
    left_nodes: set[str] = set()
    budget = [MOST_VALUES]
    for row in rows:
        for value in row:
            for each in _things(value, budget):
                key = str(each.get("_id"))
                if is_relationship(each):
                    if len(joined) < MOST_EDGES:
                        joined[key] = (str(each["_src"]), str(each["_dst"]), name_of(each))
                elif key not in nodes and (ref := ref_of(each)) is not None:
                    if len(nodes) < MOST_NODES:
                        nodes[key] = node_of(ref, each)
                    else:
                        left_nodes.add(key)
    edges = [
        Edge(nodes[start].ref, nodes[end].ref, name)
        for start, end, name in joined.values()
        if start in nodes and end in nodes
    ]
    count = Counter(ref for edge in edges for ref in {edge.start, edge.end})
    ranked = sorted(nodes.values(), key=lambda node: -count[node.ref])
    return Subgraph(tuple(ranked), tuple(edges), len(left_nodes), len(joined) - len(edges))


def node_of(ref: Ref, value: Mapping[str, Any]) -> Node:
    """A node of an answer as it is drawn and walked from."""
    hidden = bool(value.get("hidden"))
    deleted = bool(value.get("deleted"))
    mark = "deleted" if deleted else "hidden" if hidden else _standing(value)
    kept = {
        name: each
        for name, each in value.items()
        if name not in INNER and each is not None and not (hidden and name in TITLES and name != "id")
    }
    said = HIDDEN if hidden else title_of(value, LONGEST_TITLE)
    return Node(ref, said or ref.id, _time_of(value), mark, _what_if(value), kept)


def _standing(value: Mapping[str, Any]) -> str:
    if value.get("withheld"):
        return "kept out"
    if value.get("live") is False:
        return "on another branch"
    match value.get("status"):
        case "candidate":
            return "under review"
        case "superseded":
            return "superseded"
        case "invalid":
            return "retired"
    return ""


def _what_if(value: Mapping[str, Any]) -> str | None:
    world = value.get("world")
    return str(world) if world not in (None, "main") else None


def _time_of(value: Mapping[str, Any]) -> datetime | None:
    at = next((value[name] for name in TIMES if isinstance(value.get(name), int)), None)
    if at is None or not 0 < at < 100_000_000_000_000:
        return None
    return datetime.fromtimestamp(at / 1000, UTC)


def _things(value: Any, budget: list[int]) -> Iterator[Mapping[str, Any]]:
    """The nodes and relationships in a value, in their order, as long as the budget lasts."""
    budget[0] -= 1
    if budget[0] < 0:
        return
    if is_path(value):
        for each in (*(value["_nodes"] or ()), *(value["_rels"] or ())):
            yield from _things(each, budget)
    elif is_node(value) or is_relationship(value):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _things(each, budget)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _things(each, budget)


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


async def wrong_with(said: str, *, drawn: bool) -> str | None:
    """Why a file cannot be written; None where it can. `drawn`: there is a drawing to write."""
    try:
        await asyncio.to_thread(target_of, said, Path.cwd(), drawn=drawn)
    except ExportFailed as error:
        return str(error)
    return None


async def written(target: Target, answer: "Answer") -> str:
    """Write the rows, and say what was written. Raises ExportFailed."""
    size = await asyncio.to_thread(write_rows, target, answer)
    return f"{rows_of(len(answer.rows))} in {one_line(str(target.path))} ({size_of(size)}){left_out(answer)}"


def left_out(answer: "Answer") -> str:
    """What there is beyond the rows of an answer, in words; nothing is left out silently."""
    if answer.total is not None and answer.total <= len(answer.rows):
        return ""
    if answer.cut == "bytes":
        why = "the rest is too large to show at once"
    elif answer.cut == "time":
        why = "the time ran out before the others came"
    elif answer.cut == "rows":
        why = "more cannot be shown at once"
    else:
        return ""
    there = f" of {rows_of(answer.total)}" if answer.total is not None else ""
    return f"; the first ones{there}: {why}. SKIP and LIMIT in the query get the others."


def as_text(rows: "Answer") -> str:
    """All rows that are here, to be copied: with a line of names."""
    return "".join(as_csv(rows))


def row_as_text(columns: tuple[str, ...], row: tuple[Any, ...]) -> str:
    """A row to be copied or read, as JSON."""
    return json.dumps(dict(zip(unique(columns), row, strict=True)), ensure_ascii=False, indent=2)


def cell_as_text(column: str, value: Any) -> str:
    """A cell to be copied: a text as it is, nothing where there is none."""
    return "" if value is None else value if isinstance(value, str) else whole("", value)


def ref_in(cypher: str, columns: Sequence[str], row: Sequence[Any], column: int) -> Ref | None:
    """The node that is meant by a cell: the one in it, the one whose id it is, else the first one of its row."""
    found = first_ref(row[column])
    if found is not None:
        return found
    variable, dot, name = columns[column].rpartition(".")
    if dot and (found := next((first_ref(each) for at, each in enumerate(row) if columns[at] == variable), None)):
        return found
    named = [(column, columns[column]), *enumerate(columns)]
    for place, each in named:
        owner, dot, name = each.rpartition(".")
        tables = tables_of(cypher, owner) if dot and name == "id" else []
        if len(tables) == 1 and isinstance(row[place], str):
            return Ref(tables[0], row[place])
    return next((ref for each in row if (ref := first_ref(each)) is not None), None)
