"""Says why the engine does not run a query, in its words and with the place, where it gives one or names what it means.

Its drawing of the place, its grammar's inner names and what was put before or after the query are left out.
"""

import re
from collections.abc import Mapping
from typing import Any

from graph.errors import QueryFailed
from graph.querying.dialect import translated
from graph.querying.lexing import line_and_column, place_in, tokens_of
from graph.querying.mending import mended, sort_of, value_meant
from graph.querying.nearness import plainly

_PLACE = re.compile(r"\(line: (\d+), offset: (\d+)\)")
_NAMED = re.compile(r"(?:Variable|property|Table|function) (\S+) (?:is not|does not|for )")


def refusal(
    words: str, query: str, statement: str, parameters: Mapping[str, Any], *, lines_before: int = 0
) -> QueryFailed:
    """The error for what the engine said of the statement made of a query, with so many lines put before it."""
    found = _PLACE.search(words)
    if found is not None:
        lines = statement.split("\n")
        line = min(max(1, int(found[1]) - lines_before), len(lines))
        place = sum(len(each) + 1 for each in lines[: line - 1]) + min(int(found[2]), len(lines[line - 1]))
        at = line_and_column(query, place_in(query, translated(query), place))
        if words.startswith("Parser exception"):
            return _failed("unexpected here", *at)
        return _failed(words[: found.start()].strip(), *at)
    named = _NAMED.search(words)
    named_at = None if named is None else _place_of(named[1], query)
    if named_at is None and (name := value_meant(words, parameters)):
        at = _place_of(f"${name}", query) or (1, 1)
        return _failed(f"${name} is {sort_of(parameters[name])}, which does not fit: {mended(words).rstrip('.')}", *at)
    if named_at is None:
        return QueryFailed(f"The graph cannot answer this: {plainly(mended(words), statement)}")
    return _failed(plainly(words, statement).rstrip("."), *named_at)


def _failed(why: str, line: int, column: int) -> QueryFailed:
    told = f"The graph cannot answer this: {why} (line {line}, column {column})."
    return QueryFailed(told, line=line, column=column)


def _place_of(name: str, query: str) -> tuple[int, int] | None:
    """The line and column at which something is named for the first time."""
    for token in tokens_of(query):
        if token.text.strip("`").lower() == name.lower():
            return line_and_column(query, token.place)
    return None
