"""What an OPTIONAL MATCH did not find, in functions of three arguments: the engine takes its null on to later rows.

They have null at a place in a batch of rows, and where the next batch has no null at all they do not look at it again.
So `regexp_replace(k.kind, '_', ' ')` is null for whom there is a kind, after somebody for whom there is none; which of
them comes first is up to the engine's threads. A copy of an argument, as coalesce() makes it, is looked at.
"""

from collections.abc import Sequence
from itertools import pairwise

from graph.console.lambdas import varies
from graph.console.lexing import KEYWORDS, Bracketed, Item, Sort, Token, apart, flat, is_in, is_sign, is_word, together

OF_THREE = frozenset((
    "ARRAY_SLICE", "LIST_SLICE", "LPAD", "MAKE_DATE", "REGEXP_EXTRACT", "REGEXP_EXTRACT_ALL", "REGEXP_REPLACE", "RPAD",
    "SPLIT_PART", "SUBSTR", "SUBSTRING",
))  # fmt: skip


def looked_at(items: Sequence[Item]) -> list[Token]:
    """The tokens of a query that is translated, with copies in the arguments of these functions, and of cuts."""
    optional = any(is_word(one, "OPTIONAL") and is_word(other, "MATCH") for one, other in pairwise(flat(items)))
    return _looked_at(items) if optional else flat(items)


def _looked_at(items: Sequence[Item]) -> list[Token]:
    made: list[Token] = []
    begins: list[int] = []  # of each item, where in `made` the value begins that ends with it
    for at, item in enumerate(items):
        before = items[at - 1] if at else None
        inherited = bool(begins) and (is_sign(item, ".") or is_sign(before, ".") or _is_behind(before, item))
        begins.append(begins[-1] if inherited else len(made))
        if not isinstance(item, Bracketed):
            made.append(item)
            continue
        pieces = [_looked_at(each) for each in apart(item.items)]
        if inherited and is_word(before, *OF_THREE) and len(pieces) > 2:
            pieces = [_copy(each) for each in pieces]
        elif inherited and is_in(item, "[") and any(is_sign(each, ":") for each in item.items):
            made[begins[-1] :] = _copy(made[begins[-1] :])
        made += [item.open, *together(pieces, item.items), item.close]
    return made


def _is_behind(before: Item | None, item: Item) -> bool:
    """Whether brackets belong to what stands before them: a call, or a place in a list."""
    if isinstance(before, Token):
        known = before.upper not in KEYWORDS and before.sort is not Sort.SIGN
        return known and (is_in(item, "[") or (is_in(item, "(") and before.sort is Sort.WORD))
    return before is not None and is_in(item, "[")


def _copy(said: Sequence[Token]) -> list[Token]:
    if not varies(said):
        return list(said)
    start, end = said[0].place, said[-1].end - 1  # no blank may stand before a cut
    return [Token(Sort.WORD, "coalesce", start), Token(Sort.SIGN, "(", start), *said, Token(Sort.SIGN, ")", end)]
