"""What of an answer leaves the query screen: a copied cell or row, all rows as a file, the drawing as a picture."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.subgraphs import Ref
from tui.files import ExportFailed
from tui.queries.cells import whole
from tui.queries.completing import tables_of
from tui.queries.export import Target, as_csv, target_of, unique, write_rows
from tui.queries.found import first_ref
from tui.queries.results import rows_of
from tui.text import one_line, size_of

if TYPE_CHECKING:
    from graph.querying.console import Answer


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
