"""What the columns of an answer are called: as the RETURN of the query says it.

The engine calls `[t.text]` LIST_CREATION(t.text,), and `type(r)` by all the types there are.
"""

from collections.abc import Iterator

from graph.querying.lexing import Token, tokens_of

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
