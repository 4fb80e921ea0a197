"""What of a query that is kept are somebody's words, and not the language's: these may quote a message."""

import json
import re
from collections.abc import Iterator
from typing import Any

_WORDS = re.compile(
    r"""'((?:[^'\\]|\\.)*)'? | "((?:[^"\\]|\\.)*)"? | `([^`]*)`? | //([^\n\r]*) | /\*(.*?)(?:\*/|\Z)""", re.S | re.X
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_OF_CYPHER = ("cypher", "error")  # what is wrong with a query is told with its words in quotes


def quotations(line: bytes) -> set[str]:
    """The strings, comments and names of a query, its name and its parameters; all of a line that cannot be read."""
    try:
        values = json.loads(line)
        found = set[str]()
        for key in _OF_CYPHER:
            found.update(in_cypher(values.get(key, "")))
        return found | set(_texts({key: value for key, value in values.items() if key not in _OF_CYPHER}))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {line.decode(errors="replace")}


def in_cypher(text: str) -> Iterator[str]:
    """What stands in quotes and comments, also in those that nobody has closed yet."""
    for found in _WORDS.finditer(text):
        yield _ESCAPE.sub(_meant, next(part for part in found.groups() if part is not None))


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return " " if escape[2] in "nrtbf" else escape[2]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield from value
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case str() | int() | float():
            yield str(value)
