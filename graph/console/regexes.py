"""The regular expressions of a query: the engine finds nothing by one that is none, and does not say so."""

from collections.abc import Iterator, Mapping
from typing import Any

from graph.console.lexing import Sort, Token, refused, text_of, tokens_of
from graph.errors import Refused

_FUNCTIONS = frozenset(
    (
        "regexp_extract",
        "regexp_extract_all",
        "regexp_full_match",
        "regexp_matches",
        "regexp_replace",
        "regexp_split_to_array",
    )
)


def regexes_of(query: str, parameters: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Those that are written in the query, or given to it, each with its place; what is computed is left out."""
    tokens = tokens_of(query)
    starts = [*_after_signs(tokens), *_second_arguments(tokens)]
    return [(regex, tokens[at].place) for at in starts if (regex := _value(tokens[at:], parameters))]


def not_a_regex(query: str, parameters: Mapping[str, Any], number: int) -> Refused:
    """What is said of one that is none, by its place in the list."""
    regex, place = regexes_of(query, parameters)[number]
    why = f"{regex!r} is not a valid regular expression"
    if regex.startswith(("*", "?", "+")):
        plain = regex.strip("*?+")
        why += f": {regex[0]} stands behind what it repeats. For a part of a text say CONTAINS {plain!r}"
    return refused(query, place, why)


def _after_signs(tokens: list[Token]) -> Iterator[int]:
    return (at + 1 for at, token in enumerate(tokens[:-1]) if token.text == "=~")


def _second_arguments(tokens: list[Token]) -> Iterator[int]:
    for at, token in enumerate(tokens[:-1]):
        if token.sort is not Sort.WORD or token.text.lower() not in _FUNCTIONS or tokens[at + 1].text != "(":
            continue
        depth = 0
        for place in range(at + 1, len(tokens)):
            depth += (tokens[place].text in "([{") - (tokens[place].text in ")]}")
            if not depth:
                break
            if depth == 1 and tokens[place].text == "," and place + 1 < len(tokens):
                yield place + 1
                break


def _value(tokens: list[Token], parameters: Mapping[str, Any]) -> str:
    """Texts with + between, up to what ends them; nothing where there is anything else among them."""
    made = ""
    for at, token in enumerate(tokens):
        if at % 2:
            if token.text != "+":
                return "" if token.text in (".", "[") else made
            continue
        value = text_of(token) if token.sort is Sort.STRING else parameters.get(token.text[1:])
        if token.sort not in (Sort.STRING, Sort.PARAMETER) or not isinstance(value, str):
            return ""
        made += value
    return made
