"""The tokens of a query with what stands in brackets put together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from graph.querying.lexing import Sort, Token

DEEPEST = 30  # brackets inside brackets: the engine's parser takes exponentially long, and cannot be stopped
CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Brackets, and what stands in them."""

    open: Token
    items: tuple["Item", ...]
    close: Token


Item = Token | Bracketed


def tree_of(tokens: Sequence[Token]) -> list[Item] | None:
    """The tokens by their brackets; None where these do not fit together, or go too deep."""
    levels: list[tuple[Token | None, list[Item]]] = [(None, [])]
    for token in tokens:
        if token.sort is Sort.SIGN and token.text in CLOSING.values():
            levels.append((token, []))
            if len(levels) > DEEPEST + 1:
                return None
        elif token.sort is Sort.SIGN and token.text in CLOSING:
            opening, items = levels.pop()
            if opening is None or opening.text != CLOSING[token.text]:
                return None
            levels[-1][1].append(Bracketed(opening, tuple(items), token))
        else:
            levels[-1][1].append(token)
    return levels[0][1] if len(levels) == 1 else None


def flat(items: Sequence[Item]) -> list[Token]:
    """The tokens, one after the other."""
    return list(_flat(items))


def _flat(items: Sequence[Item]) -> Iterator[Token]:
    for item in items:
        if isinstance(item, Bracketed):
            yield from (item.open, *_flat(item.items), item.close)
        else:
            yield item


def apart(items: Sequence[Item]) -> list[list[Item]]:
    """What stands between commas; nothing of nothing."""
    pieces: list[list[Item]] = [[]] if items else []
    for item in items:
        if is_sign(item, ","):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return pieces


def together(pieces: Sequence[Sequence[Token]], items: Sequence[Item]) -> list[Token]:
    """What was made of the pieces of items, with the commas that were between."""
    commas = [each for each in items if is_sign(each, ",")]
    return [
        token
        for at, piece in enumerate(pieces)
        for token in (*(commas[at - 1 : at] if at else ()), *piece)
    ]  # fmt: skip


def is_sign(item: Item | None, *texts: str) -> TypeGuard[Token]:
    return isinstance(item, Token) and item.sort is Sort.SIGN and item.text in texts


def is_word(item: Item | None, *words: str) -> TypeGuard[Token]:
    """Whether this is one of these words, in any case."""
    return isinstance(item, Token) and item.sort is Sort.WORD and item.upper in words


def is_name(item: Item | None) -> TypeGuard[Token]:
    """Whether this is a word, or something in backticks."""
    return isinstance(item, Token) and item.sort in (Sort.WORD, Sort.QUOTED)


def is_in(item: Item | None, bracket: str) -> TypeGuard[Bracketed]:
    """Whether these are brackets of this sort, by how they open."""
    return isinstance(item, Bracketed) and item.open.text == bracket
