"""Makes two statements of one, its first rows and how many it has; and what the columns of an answer are called.

Both are built from the tokens of a statement that was checked. Where one cannot be (of parts put together by UNION, or
with a LIMIT that is computed), the statement is run as it is, and all its rows are there at once, in bounded memory.

The engine calls `[t.text]` LIST_CREATION(t.text,), and `type(r)` by all the types there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from graph.console.functions import AGGREGATES
from graph.console.lexing import Sort, Token, tokens_of

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_TAIL = ("ORDER", "SKIP", "LIMIT")


@dataclass(frozen=True, slots=True)
class Paged:
    """A statement for the first rows, and one that counts them all, whose count `total` makes into that of rows."""

    first: str
    counted: str | None = None
    skip: int = 0
    limit: int | None = None

    def total(self, counted: int) -> int:
        """How many rows the statement has, of what was counted before its SKIP and LIMIT."""
        rows = max(0, counted - self.skip)
        return rows if self.limit is None else min(rows, self.limit)


def paged(statement: str, rows: int) -> Paged:
    """The two statements for at most so many first rows."""
    tokens = tokens_of(statement)
    outer = _outer(tokens)
    returns = [at for at in outer if tokens[at].upper == "RETURN"]
    if not returns or tokens[0].upper == "CALL" or any(tokens[at].upper == "UNION" for at in outer):
        return Paged(statement)
    tail = [at for at in outer if at > returns[-1] and tokens[at].upper in _TAIL]
    words = [tokens[at].upper for at in tail]
    if words != sorted(set(words), key=_TAIL.index):
        return Paged(statement)
    ends = dict(zip(words, (*tail[1:], len(tokens)), strict=False))
    places = dict(zip(words, tail, strict=True))
    skip, limit = (_number(tokens, places, ends, word) for word in ("SKIP", "LIMIT"))
    if skip is None or limit is None:
        return Paged(statement)
    items = tokens[returns[-1] + 1 : tail[0] if tail else len(tokens)]
    head = statement[: tokens[returns[-1]].place]
    return Paged(
        _cut(statement, tokens, places, limit, rows),
        f"{head}{_counting(statement, items)}RETURN count(*)",
        max(0, skip),
        None if limit < 0 else limit,
    )


def _outer(tokens: list[Token]) -> list[int]:
    """The places of words that stand in no brackets and are no property or other name."""
    found, deep = list[int](), 0
    for at, token in enumerate(tokens):
        if token.text in _OPENING:
            deep += 1
        elif token.text in _CLOSING:
            deep -= 1
        elif deep == 0 and token.sort is Sort.WORD and (at == 0 or tokens[at - 1].upper not in (".", "AS")):
            found.append(at)
    return found


def _number(tokens: list[Token], places: dict[str, int], ends: dict[str, int], word: str) -> int | None:
    """The number that follows SKIP or LIMIT; -1 where it does not stand there, None for anything but a number."""
    if word not in places:
        return -1
    said = tokens[places[word] + 1 : ends[word]]
    return int(said[0].text) if len(said) == 1 and said[0].text.isdigit() else None


def _cut(statement: str, tokens: list[Token], places: dict[str, int], limit: int, rows: int) -> str:
    if limit < 0:
        return f"{statement.rstrip()} LIMIT {rows}"
    number = tokens[places["LIMIT"] + 1]
    return f"{statement[: number.place]}{min(limit, rows)}{statement[number.end :]}"


def _counting(statement: str, items: list[Token]) -> str:
    """The clause that makes the rows which are counted; none where every row before RETURN is one after it."""
    distinct = bool(items) and items[0].upper == "DISTINCT"
    grouped = any(
        token.sort is Sort.WORD and token.text.lower() in AGGREGATES and after.text == "("
        for token, after in pairwise(items)
    )
    if not distinct and not grouped:
        return ""
    made = [
        "*" if item == "*" else f"{item} AS _{number}"
        for number, item in enumerate(_apart(statement, items[1:] if distinct else items))
    ]
    return f"WITH {'DISTINCT ' if distinct else ''}{', '.join(made)} "


def _apart(statement: str, items: list[Token]) -> list[str]:
    """What is returned, piece by piece, without the names it is given."""
    pieces: list[list[Token]] = [[]]
    deep = 0
    for token in items:
        deep += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.text == "," and deep == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    for piece in pieces:
        if len(piece) > 2 and piece[-2].upper == "AS":
            del piece[-2:]
    return [statement[piece[0].place : piece[-1].end] for piece in pieces if piece]


_ENDS = ("ORDER", "SKIP", "LIMIT", "UNION")


def headings(cypher: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns by their aliases, or as they were written; as the engine calls them where there are others."""
    written = returned(cypher)
    if len(written) != len(columns) or any(said == "*" for said, _ in written):
        return columns
    return tuple(alias or said for said, alias in written)


def returned(cypher: str) -> list[tuple[str, str]]:
    """What is returned, each as it is written, with its alias; empty if it has none."""
    return [_named(cypher, each) for each in _items(tokens_of(cypher))]


def _items(tokens: list[Token]) -> Iterator[list[Token]]:
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
    return " ".join(cypher[item[0].place : item[-1].end].split()), alias
