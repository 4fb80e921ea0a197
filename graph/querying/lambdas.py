"""Finds the expressions of x that the engine answers with other rows than there are, or goes down with.

One that looks at more than its x, as in `x > t.index`, may stand anywhere but in the list that another one is about.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from graph.querying.functions import WITH_LAMBDAS
from graph.querying.lexing import KEYWORDS, Sort, Token
from graph.querying.trees import Group, Item, apart, flat, is_in, is_name, is_sign, is_word

QUANTIFIERS = ("ALL", "ANY", "NONE", "SINGLE")


def unanswered(items: Sequence[Item]) -> tuple[Token, str] | None:
    """The first token that goes wrong, and what to say instead; None where there is none."""
    for listed, (_, said) in _gone_through(items):
        for token in flat(said):
            if token.sort is Sort.PARAMETER:
                return token, f"{token.text} is not known in here: say WITH {token.text} AS {token.text[1:]} before"
        for _, body in _gone_through(listed):
            if (name := next(_captured(body), None)) is not None:
                why = "The engine would mix up rows here: put the list that is made with {} into a WITH before"
                return name, why.format(name.text)
    return None


def _gone_through(items: Sequence[Item]) -> Iterator[tuple[Sequence[Item], tuple[Sequence[Token], Sequence[Item]]]]:
    """Of each expression of x, at any depth: the list it is about, and its names with what it says of them."""
    for before, item in pairwise([None, *items]):
        if not isinstance(item, Group):
            continue
        if is_in(item, "(") and isinstance(before, Token) and before.text.lower() in WITH_LAMBDAS:
            listed, *expressions = apart(item.items) or [[]]
            said = [each for piece in expressions for each in piece]
            arrow = next((at for at, each in enumerate(said) if is_sign(each, ">") and is_sign(said[at - 1], "-")), 0)
            yield listed, (flat(said[: arrow - 1]), said[arrow + 1 :])
        elif is_in(item, "(") and is_word(before, *QUANTIFIERS) and len(item.items) > 2:
            where = next((at for at, each in enumerate(item.items) if is_word(each, "WHERE")), len(item.items))
            yield item.items[2:where], (flat(item.items[:1]), item.items[where + 1 :])
        yield from _gone_through(item.items)


def _captured(said: tuple[Sequence[Token], Sequence[Item]]) -> Iterator[Token]:
    """The names that are none of its own."""
    own = {each.text for each in said[0]}
    tokens = [Token(Sort.SIGN, "", 0), *flat(said[1]), Token(Sort.SIGN, "", 0)]
    for (before, token), (_, after) in pairwise(pairwise(tokens)):
        is_other = is_name(token) and token.text not in own and token.upper not in KEYWORDS
        if is_other and before.text != "." and before.upper != "AS" and after.text not in ("(", ":"):
            yield token
