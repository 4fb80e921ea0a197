"""Says why the engine does not run a query: its words as a sentence with what to do, and the place.

Its drawing of the place, its grammar's inner names and what was put before or after the query are left out.
"""

import re
from collections.abc import Mapping
from typing import Any

from graph.console.dialect import translated
from graph.console.lexing import line_and_column, place_in, tokens_of
from graph.console.suggestions import plainly
from graph.errors import QueryFailed

_NO_MATCH = re.compile(r"Cannot match a built-in function for given function (\S+?)\(([^()]*)\)")
_ARGUMENTS = re.compile(r"Function (\S+) did not receive correct arguments:\s*Actual:\s*\(([^()]*)\)")
_EXPECTED = re.compile(r"Expected:\s*(?:DISTINCT )?(\([^()]*\))")
_OF_A_VALUE = re.compile(r"(?:Could not convert|Given:) \"(.*?)\"", re.DOTALL)
# What a value of another type would mend.
_OF_A_TYPE = re.compile(
    r"Cannot compare types|correct arguments|built-in function|has data type|non-negative integer|Conversion exception"
)
_PLAIN = (
    (
        r"Lambda paramName (\S+) cannot found",
        r"\1 cannot be used in this list expression: compute it in an earlier WITH",
    ),
    (r"Variable (\S+) already exists", r"The name \1 is already taken here: use another one"),
    (
        r"Cannot bind LIST_(?:AP|PRE)PEND",
        "reduce() needs a first value of the same type as the items of the list: make a list of such values first, "
        "as in [n IN nodes(p) | n.id]",
    ),
    (r"Cast failed\. (.*) is not in \w+ range", r"'\1' is not a number in the range of its type"),
    (r"Multiple result column", "The same value is returned twice: return it once, or give each a name with AS"),
    (r"List extract takes 1-based position", "Lists count from 1 here: say [1] for the first item"),
    (r"index=(-?\d+) is out of range", r"There is no item [\1] in this list: ask for its size() first"),
    (r"Cannot bind \S* ?as node pattern", "A pattern cannot be counted in ORDER BY: return it AS n, and ORDER BY n"),
)
_SORTS = ((bool, "true or false"), (int, "a whole number"), (float, "a number"), (str, "a text"), (dict, "a map"))


def mended(words: str) -> str:
    """What the engine said, without long lists of types and the errors of its workings."""
    if "codec can't decode" in words:
        return "A function made something that is no text: initcap() does so of letters like ß. Say lower() or upper()"
    if "bad_function_call" in words:
        return "The engine cannot take something computed for a condition here: compare it, as in … = true"
    for pattern, sentence in _PLAIN:
        if (said := re.search(pattern, words, re.DOTALL)) is not None:
            return said.expand(sentence)
    if found := _NO_MATCH.search(words) or _ARGUMENTS.search(words):
        name, types = found[1], " and ".join(each.strip() for each in found[2].split(",")) or "nothing"
        if not name[0].isalpha():
            return (
                f"{name} does not go with {types}: put brackets around what belongs together, as in (a {name} b), or "
                "say CAST(x AS INT64), CAST(x AS STRING)"
            )
        expected = _EXPECTED.search(words)
        example = f"; it takes, for example, {expected[1]}" if expected is not None else ""
        return f"{name.lower()}() does not accept {types}{example}"
    return words


def value_meant(words: str, parameters: Mapping[str, Any]) -> str:
    """The name of the parameter that an error of types is about, as far as one can tell; or nothing."""
    if _OF_A_TYPE.search(words) is None:
        return ""
    if found := re.search(r"\$(\w+) has data type", words):
        return found[1]
    if found := _OF_A_VALUE.search(words):
        return next((name for name, value in parameters.items() if str(value) == found[1]), "")
    return next(iter(parameters)) if len(parameters) == 1 else ""


def sort_of(value: Any) -> str:
    """What sort of value was given, in words."""
    if isinstance(value, list):  # as it is packed
        return {"time": "a time", "date": "a date"}.get(value[0], "a list")
    return next((name for sort, name in _SORTS if isinstance(value, sort)), "null")


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
