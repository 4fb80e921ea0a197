"""Says why the engine does not run a query, in its words and with the place, where it gives one or names what it means.

Its drawing of the place, its grammar's inner names and what was put before or after the query are left out.
"""

import re

from graph.errors import QueryFailed
from graph.querying.lexing import tokens_of
from graph.querying.nearness import plainly

_PLACE = re.compile(r"\(line: (\d+), offset: (\d+)\)")
_NAMED = re.compile(r"(?:Variable|property|Table|function) (\S+) (?:is not|does not|for )")


def refusal(words: str, statement: str, *, lines_before: int = 0) -> QueryFailed:
    """The error for what the engine said of a statement that had so many lines put before it."""
    found = _PLACE.search(words)
    if found is not None:
        lines = statement.split("\n")
        line = min(max(1, int(found[1]) - lines_before), len(lines))
        column = min(int(found[2]), len(lines[line - 1])) + 1
        if words.startswith("Parser exception"):
            return _failed("it cannot be read on from here", line, column)
        return _failed(words[: found.start()].strip(), line, column)
    named = _NAMED.search(words)
    place = None if named is None else _place_of(named[1], statement)
    if place is None:
        return QueryFailed(f"The graph cannot answer this: {plainly(words, statement)}")
    return _failed(plainly(words, statement).rstrip("."), *place)


def _failed(why: str, line: int, column: int) -> QueryFailed:
    told = f"The graph cannot answer this: {why} (line {line}, column {column})."
    return QueryFailed(told, line=line, column=column)


def _place_of(name: str, statement: str) -> tuple[int, int] | None:
    """The line and column at which something is named for the first time."""
    for token in tokens_of(statement):
        if token.text.strip("`").lower() == name.lower():
            line_start = statement.rfind("\n", 0, token.place) + 1
            return statement.count("\n", 0, token.place) + 1, token.place - line_start + 1
    return None
