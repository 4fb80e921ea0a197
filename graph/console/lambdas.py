"""Finds the expressions of x that the engine answers with other rows than there are, or goes down with.

One that looks at more than its x, as in `x > t.index`, may stand anywhere but in the list that another one is about.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from graph.console.functions import AGGREGATES, WITH_LAMBDAS
from graph.console.lexing import KEYWORDS, Bracketed, Item, Sort, Token, apart, flat, is_in, is_name, is_sign, is_word

QUANTIFIERS = ("ALL", "ANY", "NONE", "SINGLE")
_OF_PATHS = ("NODES", "RELS", "RELATIONSHIPS")
_AS_PROPERTIES = {"label": "_LABEL", "id": "_ID"}


def property_of(listed: Sequence[Token], name: Token, *said: Sequence[Token]) -> tuple[Token, list[list[Token]]] | None:
    """The one property that is asked of each x of a path, and what is said of x with the bare name in its place.

    None where it is not one: the engine reads the properties of x wrongly where there are more than 2,048 values at a
    time, and those of a walk always, but makes the list of one property right.
    """
    if len(listed) != 4 or not is_word(listed[0], *_OF_PATHS) or listed[1].text != "(" or not is_name(listed[2]):
        return None
    asked: dict[str, Token] = {}
    made: list[list[Token]] = []
    for tokens in said:
        made.append([])
        at = 0
        while at < len(tokens):
            texts = [each.text for each in tokens[at : at + 4]]
            if texts[:2] == [name.text, "."] and len(texts) > 2 and (at == 0 or tokens[at - 1].text != "."):
                asked[texts[2].strip("`")] = tokens[at + 2]
                made[-1].append(tokens[at])
                at += 3
            elif texts[1:] == ["(", name.text, ")"] and texts[0].lower() in _AS_PROPERTIES:
                asked[_AS_PROPERTIES[texts[0].lower()]] = tokens[at]
                made[-1].append(tokens[at + 2])
                at += 4
            elif texts[0] == name.text:
                return None
            else:
                made[-1].append(tokens[at])
                at += 1
    if len(asked) != 1:
        return None
    [(property, token)] = asked.items()
    return Token(Sort.STRING, f"'{property}'", token.place), made


def copied(said: Sequence[Token], *names: Token) -> list[Token]:
    """What is said of x, with a copy of x as the value in a map: of x itself the engine puts in the first one only."""
    own, made = {each.text for each in names}, list[Token]()
    for at, token in enumerate(said):
        around = [each.text for each in said[max(0, at - 3) : at + 2]]
        if token.text in own and len(around) == 5 and around[2] == ":" and around[0] in "{," and around[4] in ",}":
            signs = [Token(Sort.WORD, "coalesce", token.place), Token(Sort.SIGN, "(", token.place)]
            made += [*signs, token, Token(Sort.SIGN, ")", token.place)]
        else:
            made.append(token)
    return made


def renamed(items: Sequence[Item], old: str, new: str) -> list[Item]:
    """What is said of x, with another name for it."""
    made: list[Item] = []
    for before, item, after in zip([None, *items], items, [*items[1:], None], strict=False):
        if isinstance(item, Bracketed):
            made.append(replace(item, items=tuple(renamed(item.items, old, new))))
        elif is_name(item) and item.text == old and not is_sign(before, ".") and not is_in(after, "("):
            is_key = is_sign(after, ":") and (before is None or is_sign(before, ","))
            made.append(item if is_key else replace(item, text=new))
        else:
            made.append(item)
    return made


def looks_into(said: Sequence[Token], name: Token) -> bool:
    """Whether anything is asked of an x but its value: a property, a label."""
    texts = [each.text.lower() for each in said]
    own = name.text.lower()
    return any(
        one == own and (after == "." or (before == "(" and called in ("id", "label")))
        for called, before, one, after in zip(["", "", *texts], ["", *texts], texts, [*texts[1:], ""], strict=False)
    )


def varies(listed: Sequence[Token]) -> bool:
    """Whether a list is another one for each row, and can be asked before rows are put together."""
    called = [(one.text.lower(), other.text == "(") for one, other in pairwise([*listed, Token(Sort.SIGN, "", 0)])]
    if any(is_call and name in AGGREGATES for name, is_call in called):
        return False
    return any(
        is_name(token) and not is_call and token.upper not in KEYWORDS
        for token, (_, is_call) in zip(listed, called, strict=True)
    )


def unanswered(items: Sequence[Item]) -> tuple[Token, str] | None:
    """The first token that goes wrong, and what to say instead; None where there is none."""
    for listed, (_, said) in _gone_through(items):
        for token in flat(said):
            if token.sort is Sort.PARAMETER:
                return token, f"{token.text} cannot be used here. Add WITH {token.text} AS {token.text[1:]} first"
        for _, body in _gone_through(listed):
            if (name := next(_captured(body), None)) is not None:
                why = "The engine would mix up rows here: build that list with {} in an earlier WITH"
                return name, why.format(name.text)
    return None


def _gone_through(items: Sequence[Item]) -> Iterator[tuple[Sequence[Item], tuple[Sequence[Token], Sequence[Item]]]]:
    """Of each expression of x, at any depth: the list it is about, and its names with what it says of them."""
    for before, item in pairwise([None, *items]):
        if not isinstance(item, Bracketed):
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
