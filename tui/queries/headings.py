"""What the columns of an answer are called, and which are times: as the RETURN of the query says it."""

import re
from collections.abc import Iterator

from graph.querying.lexing import Token, tokens_of
from tui.queries.cells import TIMES

_ENDS = ("ORDER", "SKIP", "LIMIT", "UNION")
_TIME = re.compile(rf"(?:(?:min|max)\(\s*)?(?:\w+\.)?(?:{'|'.join(TIMES)})\)?", re.IGNORECASE)


def headings(cypher: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns by their aliases, and the others as they were written; as the engine calls them where that differs.

    The engine calls `[t.text]` LIST_CREATION(t.text,).
    """
    written = _items(cypher)
    if len(written) != len(columns) or any(said == "*" for said, _ in written):
        return columns
    return tuple(alias or said for said, alias in written)


def times(cypher: str, columns: tuple[str, ...]) -> frozenset[int]:
    """The places of the columns that hold times."""
    written = _items(cypher)
    said = [each for each, _ in written]
    if len(written) != len(columns) or "*" in said:
        said = list(columns)
    return frozenset(place for place, each in enumerate(said) if _TIME.fullmatch(each))


def _items(cypher: str) -> list[tuple[str, str]]:
    """What is returned, each as it is written, with its alias."""
    return [_named(cypher, each) for each in _returned(tokens_of(cypher))]


def _returned(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each item of the first RETURN that is not within another clause."""
    depth, item, within = 0, list[Token](), False
    for token in tokens:
        if within and depth == 0 and (token.upper in _ENDS or token.text in (",", ";")):
            yield item
            item, within = [], token.text == ","
            if not within:
                return
            continue
        depth += (token.text in "([{") - (token.text in ")]}")
        if within:
            if item or token.upper != "DISTINCT":
                item.append(token)
        elif depth == 0 and token.upper == "RETURN":
            within = True
    if item:
        yield item


def _named(cypher: str, item: list[Token]) -> tuple[str, str]:
    """An item as it is written, on one line, and its alias; empty if it has none."""
    alias = ""
    if len(item) > 2 and item[-2].upper == "AS":
        alias, item = item[-1].text.strip("`"), item[:-2]
    if not item:
        return "", alias
    return " ".join(cypher[item[0].place : item[-1].place + len(item[-1].text)].split()), alias
