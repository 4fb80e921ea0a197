"""The values given for the `$names` of a query: which are missing or too many, and which the engine would spoil.

The engine takes the type of a list, and of the maps in it, from one of its items, and silently loses what does not
fit; a whole number beyond 64 bits and an empty map bring errors of its inner workings. All of that is refused here.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from difflib import get_close_matches
from functools import reduce
from itertools import pairwise
from typing import Any

from graph.console.dialect import MILLISECONDS
from graph.console.functions import NEVER_OF_NULL
from graph.console.lexing import WORLD, Sort, Token, refused, tokens_of
from graph.events import MAIN_WORLD

_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")
_COMPARED = ("<", ">", "<=", ">=")
MOST_CHARACTERS = 1_000_000
DEEPEST = 20  # lists and maps inside each other


def given(
    query: str, parameters: Mapping[str, Any] | None, *, world: str = MAIN_WORLD, needed: bool = True
) -> dict[str, Any]:
    """The values the engine is to get, `$world` among them where the query asks for it.

    Raises Refused with the place of the name, for one that is missing (unless not `needed`: the engine takes it for
    null) or cannot be given; for one too many too.
    """
    values = {WORLD[1:]: world, **(parameters or {})}
    asked: dict[str, Token] = {}
    tokens = tokens_of(query)
    for token in tokens:
        if token.sort is Sort.PARAMETER:
            asked.setdefault(token.text[1:], token)
    for name in parameters or {}:
        if name not in asked:
            raise refused(query, 0, _too_many(name, asked))
    for name, token in asked.items():
        if name not in values and needed:
            raise refused(query, token.place, f"${name} has no value: give it one")
        if why := _wrong(values.get(name)):
            raise refused(query, token.place, f"${name} cannot be {why}")
    for token in _untyped(tokens, {f"${name}" for name in asked if values.get(name) is None}):
        raise refused(query, token.place, f"{token.text} cannot be null here: the engine would not know of what")
    return {name: _milliseconds(values[name], tokens, token) for name, token in asked.items() if name in values}


def _milliseconds(value: Any, tokens: Sequence[Token], asked: Token) -> Any:
    """A day or a time as the property has it that it is compared with wherever it is asked, as in `t.at >= $since`."""
    if isinstance(value, str) and _DAY.fullmatch(value) is None:
        return value
    texts = ["", "", "", "", *(each.text for each in tokens), "", "", "", ""]
    for at in (at for at, text in enumerate(texts) if text == asked.text):
        after = texts[at + 1] in _COMPARED and texts[at + 3] == "." and texts[at + 4].lower() in MILLISECONDS
        before = texts[at - 1] in _COMPARED and texts[at - 3] == "." and texts[at - 2].lower() in MILLISECONDS
        if not before and not after:
            return value
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value
    if isinstance(time, date):
        midnight = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
        return round(midnight.replace(tzinfo=UTC).timestamp() * 1000)
    return value


def _untyped(tokens: Sequence[Token], nulls: Container[str]) -> Iterator[Token]:
    """Those that are null where the engine has to know the type, and goes down if it does not."""
    calls: list[str] = []
    for before, token in pairwise([Token(Sort.SIGN, "", 0), *tokens]):
        if token.text in ("(", "[", "{"):
            calls.append(before.text.lower() if token.text == "(" else "")
        elif token.text in (")", "]", "}") and calls:
            calls.pop()
        elif token.text in nulls and (before.upper == "IN" or (calls and calls[-1] in NEVER_OF_NULL)):
            yield token


def _too_many(name: str, asked: Mapping[str, Token]) -> str:
    near = get_close_matches(name, asked, n=1)
    if near:
        return f"There is no ${name} in this query; did you mean ${near[0]}?"
    others = f": it asks for {', '.join(f'${each}' for each in asked)}" if asked else ""
    return f"There is no ${name} in this query{others}"


def _wrong(value: Any) -> str:
    """Why a value cannot be given, as what follows "cannot be"; nothing if it can."""
    try:
        if not _sort_of(value, DEEPEST).told:
            return "a map with a key that is null: leave the key out"
    except _Unfit as error:
        return str(error)
    return f"longer than {MOST_CHARACTERS:,} characters" if _characters(value) > MOST_CHARACTERS else ""


class _Unfit(Exception):
    """A value that the engine would refuse or spoil."""


@dataclass(frozen=True, slots=True)
class _Sort:
    """The type of a value in words; of a list with that of its items, of a map with those of its keys."""

    name: str
    item: "_Sort | None" = None
    keys: Mapping[str, "_Sort"] = field(default_factory=dict)

    @property
    def told(self) -> bool:
        """Whether the engine learns a type from it: it stumbles over a map in which a value is never but null."""
        if self.item is not None:
            return self.item.told
        return not self.keys or all(each.name != NULL.name and each.told for each in self.keys.values())


NULL = _Sort("null")
WHOLE = _Sort("a whole number")
NUMBER = _Sort("a number")
PLAIN = ((bool, _Sort("true or false")), (int, WHOLE), (float, NUMBER), (str, _Sort("a text")))


def _sort_of(value: Any, depth: int) -> _Sort:
    """What sort of value this is. Raises _Unfit for one that cannot be given whatever stands beside it."""
    if depth < 0:
        raise _Unfit(f"nested more than {DEEPEST} deep")
    if value is None:
        return NULL
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _Unfit("a whole number of more than 64 bits")
    if isinstance(value, str) and any("\ud800" <= each <= "\udfff" for each in value):
        raise _Unfit("a text with half a character (a lone surrogate)")
    for plain, sort in PLAIN:
        if isinstance(value, plain):
            return sort
    match value:
        case datetime() if value.tzinfo is not None:
            raise _Unfit("a time with a zone: give UTC without one")
        case datetime():
            return _Sort("a time")
        case date():
            return _Sort("a date")
        case list() | tuple():
            item = reduce(_both, (_sort_of(each, depth - 1) for each in value), NULL)
            return _Sort("a list", item=item)
        case Mapping():
            if not value or not all(isinstance(each, str) and each for each in value):
                raise _Unfit("a map without keys, or with keys that are no names")
            keys = {each: _sort_of(value[each], depth - 1) for each in sorted(value)}
            return _Sort(f"a map of {', '.join(keys)}", keys=keys)
    raise _Unfit(f"of the type {type(value).__name__}")


def _both(one: _Sort, other: _Sort) -> _Sort:
    """The sort that values of both sorts have in one list. Raises _Unfit where there is none."""
    if NULL in (one, other):
        return other if one == NULL else one
    if {one.name, other.name} == {WHOLE.name, NUMBER.name}:
        return NUMBER
    if one.name != other.name:
        raise _Unfit(f"a list of both {one.name} and {other.name}")
    keys = {name: _both(one.keys[name], other.keys[name]) for name in one.keys}
    item = _both(one.item, other.item) if one.item and other.item else None
    return _Sort(one.name, item=item, keys=keys)


def _characters(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case Mapping():
            return sum(len(name) + _characters(each) for name, each in value.items())
        case list() | tuple():
            return sum(map(_characters, value)) + len(value)
        case _:
            return 8
