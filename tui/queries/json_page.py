"""The rows as JSON, line by line: a list that is as long as it must be and draws what is in view."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.content import Content

from tui.queries.export import unique
from tui.text import MUTED, one_line, plain, spaced
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from graph.querying.console import Answer

MOST_ROWS = 500
MOST_ITEMS = 100  # of a list or a structure
LONGEST = 2_000  # characters of a text
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A line of the text, and of which row it is; -1 of none."""

    place: int
    text: str
    row: int


def lines_of(answer: "Answer") -> list[JsonLine]:
    """The first rows of an answer as lines of JSON; what is too long for a screen is cut, and says so."""
    names = unique(answer.columns)
    lines: list[JsonLine] = []
    for number, row in enumerate(answer.rows[:MOST_ROWS]):
        told = {name: _short(value, DEEPEST) for name, value in zip(names, row, strict=True)}
        for line in json.dumps(told, ensure_ascii=False, indent=2).split("\n"):
            lines.append(JsonLine(len(lines), line, number))
    if len(answer.rows) > MOST_ROWS:
        more = len(answer.rows) - MOST_ROWS
        there = "row is" if more == 1 else "rows are"
        rest = f"… {spaced(more)} more {there} here; x writes all to a file"
        lines.append(JsonLine(len(lines), rest, -1))
    return lines


def _short(value: Any, depth: int) -> Any:
    match value:
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]}… ({spaced(len(value))} characters)"
        case Mapping() | list() | tuple() if depth <= 0:
            return "…"
        case Mapping():
            kept = {name: _short(each, depth - 1) for name, each in list(value.items())[:MOST_ITEMS]}
            return {**kept, "…": f"{len(value) - MOST_ITEMS} more"} if len(value) > MOST_ITEMS else kept
        case list() | tuple():
            items = [_short(each, depth - 1) for each in value[:MOST_ITEMS]]
            return [*items, f"… {len(value) - MOST_ITEMS} more"] if len(value) > MOST_ITEMS else items
        case _:
            return value


class JsonPage(LongList[JsonLine]):
    """The lines; Enter reads the row of the chosen one whole."""

    def __init__(self) -> None:
        super().__init__(_painted, lambda line: str(line.place), height=1, id="query-json")


def _painted(line: JsonLine, width: int) -> Sequence[Content]:
    text = line.text.rstrip()
    blank = len(text) - len(text.lstrip())
    name, colon, value = text.strip().partition('": ')
    if not colon or not name.startswith('"'):
        return [plain(" " * blank + one_line(text), MUTED if line.row < 0 else "")]
    return [
        plain(" " * blank)
        + plain(f"{one_line(name)}{colon.rstrip()} ", "$secondary")
        + plain(one_line(value[: 4 * max(1, width)]))
    ]
