"""Values of an answer in a cell of its table, in a cell read whole, and in order.

A value may be a hundred kilobytes of text or a tree of structures: a cell looks at no more of it than it shows.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from textual.content import Content

from graph.relations import kinds
from tui.drawing.cells import kind_of
from tui.text import MUTED, one_line, plain, spaced

NULL = "∅"
LONGEST = 240  # characters of a value that a cell may show
NUMBER = "$text-warning"
TITLES = ("text", "name", "title", "id")  # what a node is called by, the first that it has
TIMES = ("at", "started_at", "last_at", "first_seen")  # columns of UTC milliseconds
_EARLIEST, _LATEST = 1_000_000_000_000, 10_000_000_000_000  # ms: what looks like a time is from 2001 on


class CellTime(int):
    """A time of a column of times: a number in order, in a file and read whole, the time here in its cell."""

    __slots__ = ()


def is_node(value: Any) -> bool:
    """Whether it is a node, as the console gives one."""
    return isinstance(value, Mapping) and "_label" in value and "_src" not in value


def is_relationship(value: Any) -> bool:
    return isinstance(value, Mapping) and "_src" in value and "_dst" in value


def is_path(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"_nodes", "_rels"}


def title_of(node: Mapping[str, Any], most: int = LONGEST) -> str:
    """A node in a few words: what it says, else what it is called."""
    said = next((node[name] for name in TITLES if node.get(name) not in (None, "")), "")
    return one_line(str(said)[: 4 * most])[:most]


def brief(value: Any, most: int = LONGEST) -> str:
    """A value in at most so many characters of one line."""
    match value:
        case None:
            return NULL
        case bool():
            return "true" if value else "false"
        case str():
            return _shortened(one_line(value[: 4 * most]), most, longer=len(value) > 4 * most)
        case CellTime():
            return f"{_local(value):%Y-%m-%d %H:%M:%S}"
        case int() | float():
            return f"{value}"
        case _ if is_path(value):
            return _shortened(_path(value, most), most)
        case _ if is_node(value):
            return _shortened(_node(value, most), most)
        case _ if is_relationship(value):
            return _arrow(value, back=False)
        case Mapping():
            named = ((f"{one_line(str(name)[:most])}: ", each) for name, each in value.items())
            return _joined("{", "}", named, most)
        case Sequence():
            return _joined("[", "]", (("", each) for each in value), most)
        case _:
            return _shortened(one_line(str(value)), most)


def _node(node: Mapping[str, Any], most: int) -> str:
    return f"{kind_of(str(node['_label'])).sign} {title_of(node, most) or node['_label']}"


def name_of(relationship: Mapping[str, Any]) -> str:
    """What a relationship is called; how two stand to each other is told in words: "works with"."""
    kind = kinds().get(str(relationship.get("kind")))
    if relationship.get("_label") != "RELATES" or kind is None:
        return str(relationship.get("_label", ""))
    return kind.verb(polarity=relationship.get("polarity") is not False, until=relationship.get("until"))


def _arrow(rel: Mapping[str, Any], *, back: bool) -> str:
    name = one_line(name_of(rel))
    if rel.get("_label") == "RELATES":
        return f"←{name}—" if back else f"—{name}→"
    return f"<-[{name}]-" if back else f"-[{name}]->"


def _path(path: Mapping[str, Any], most: int) -> str:
    nodes, rels = path["_nodes"] or (), path["_rels"] or ()
    if not nodes:
        return " ".join(_arrow(each, back=False) for each in rels[:20]) or "()"
    parts = [_node(nodes[0], most // 3)]
    for place, rel in enumerate(rels[:10]):
        back = place < len(nodes) and rel.get("_src") != nodes[place].get("_id")
        parts.append(_arrow(rel, back=back))
        if place + 1 < len(nodes):
            parts.append(_node(nodes[place + 1], most // 3))
    return " ".join(parts)


def _joined(opening: str, closing: str, parts: Any, most: int) -> str:
    said = opening
    for number, (before, value) in enumerate(parts):
        if len(said) >= most:
            return _shortened(said, most, longer=True)
        inner = f'"{brief(value, most)}"' if isinstance(value, str) else brief(value, most)
        said += f"{', ' if number else ''}{before}{inner}"
    return _shortened(said + closing, most)


def _shortened(text: str, most: int, *, longer: bool = False) -> str:
    return f"{text[: most - 1]}…" if len(text) > most or longer else text


def cell(value: Any) -> Content:
    """A value as a cell of the table shows it, on one line."""
    match value:
        case None:
            return plain(NULL, MUTED)
        case str():
            return plain(brief(value))
        case bool() | int() | float():
            return plain(brief(value), NUMBER)
        case _ if is_node(value):
            kind = kind_of(str(value["_label"]))
            return plain(f"{kind.sign} ", f"${kind.colour}") + plain(title_of(value) or str(value["_label"]))
        case _:
            return plain(brief(value), MUTED if is_relationship(value) else "")


def is_right(value: Any) -> bool:
    """Whether a value stands at the right edge of its column."""
    return isinstance(value, (int, float)) and not isinstance(value, (bool, CellTime))


def whole(column: str, value: Any) -> str:
    """A value to read: text as it is, all else as JSON with its lines; of a time what day it is."""
    match value:
        case None:
            return f"{NULL}\n\nThere is no value here (null)."
        case str():
            return value
        case int() if not isinstance(value, bool) and (told := moment(column, value)):
            return f"{value}\n\n{told}"
        case _:
            return json.dumps(value, ensure_ascii=False, indent=2)


def moment(column: str, value: int) -> str:
    """When a value of a column of times was, here; empty where it is none."""
    if not isinstance(value, CellTime) and (column.rpartition(".")[2] not in TIMES or not _is_time(value)):
        return ""
    return f"{_local(value):%A, %-d %B %Y, %H:%M:%S}"


def _is_time(value: Any) -> bool:
    return isinstance(value, int) and _EARLIEST < value < _LATEST


def _local(value: int) -> datetime:
    return datetime.fromtimestamp(value / 1000, UTC).astimezone()


def order_of(value: Any) -> tuple[int, Any]:
    """What sorts a value among others of any type: numbers, then words, then the rest by its words, then nulls."""
    match value:
        case None:
            return 3, ""
        case bool() | int() | float():
            return 0, value
        case str():
            return 1, value.casefold()
        case _:
            return 2, brief(value).casefold()


def spread(
    columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], times: frozenset[int] = frozenset()
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The rows as a table reads best: nodes that stand alone with what they say and are in columns beside them.

    `times` are the places of columns of times.
    """
    if len(columns) != 1 or not rows or not all(is_node(row[0]) for row in rows):
        return columns, _timed(rows, times)
    names = list(dict.fromkeys(name for row in rows for name, value in row[0].items() if value is not None))
    names = [name for name in names if not name.startswith("_")]
    names.sort(key=lambda name: TITLES.index(name) if name in TITLES[:-1] else len(TITLES))
    beside = [(row[0], *(row[0].get(name) for name in names)) for row in rows]
    within = frozenset(place + 1 for place, name in enumerate(names) if name in TIMES)
    return (columns[0], *(f"{columns[0]}.{name}" for name in names)), _timed(beside, within)


def _timed(rows: Sequence[tuple[Any, ...]], times: frozenset[int]) -> list[tuple[Any, ...]]:
    """The rows with the times among their values told apart from other numbers."""
    if not times:
        return list(rows)
    return [
        tuple(CellTime(each) if place in times and _is_time(each) else each for place, each in enumerate(row))
        for row in rows
    ]


def rows_of(count: int) -> str:
    """So many rows, in words."""
    return f"{spaced(count)} {'row' if count == 1 else 'rows'}"
