"""The names that relationships and properties of the graph had in earlier versions, and queries rewritten.

Invariants:
- An old name is never given to anything else, so that a query of any age means what it meant when it was written.
- Only names change. What is in strings and comments, every blank, and a query of which a single old name may be
  something else (the key of a map, the name of a list's item) stay as they are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from graph.console.lexing import (
    Bracketed,
    Item,
    Sort,
    Token,
    apart,
    flat,
    is_in,
    is_name,
    is_sign,
    is_word,
    text_of,
    tokens_of,
    tree_of,
)
from graph.console.patterns import Rel, chain_of
from graph.errors import Refused
from graph.projection.schema import META, NODES

RELATIONSHIPS = {"IN": "IN_SESSION"}  # by the old name in capitals
PROPERTIES = {  # by the old name in small letters
    "onto": "on_path_since",
    "spells": "past_on_path",
    "dead": "lost_sources",
    "later": "newer_revisions",
    "retired": "contradictions",
}
_SAME = ("=", "<>", "!=")
_OLD = re.compile(rf"\b(?:{'|'.join((*RELATIONSHIPS, *PROPERTIES))})\b", re.IGNORECASE)
_TABLES = {each.name: frozenset(each.names) for each in (*NODES, META)}


def now_called(name: str, now: str) -> str:
    """What to say of an old name."""
    return f"{name.strip('`')} is called {now} now"


def relationship(name: Token) -> str | None:
    """What a relationship is called now, by its old name; None of any other."""
    return RELATIONSHIPS.get(name.text.strip("`").upper())


def property_now(name: str, tables: Sequence[str] = ()) -> str | None:
    """What a property of one of these tables, or of any, is called now, by its old name; None of any other."""
    now = PROPERTIES.get(name.strip("`").lower())
    return now if now is not None and any(now in _TABLES.get(each, ()) for each in tables or _TABLES) else None


def compared_label(tokens: Sequence[Token]) -> Token | None:
    """The string with an old name that a label is compared with, as in `type(r) = 'IN'`: nothing has it any more."""
    for at, token in enumerate(tokens):
        if token.upper in ("LABEL", "TYPE") and [each.text for each in tokens[at + 1 : at + 4 : 2]] == ["(", ")"]:
            for each in _compared(tokens[max(0, at - 2) : at], tokens[at + 4 :]):
                if each.sort is Sort.STRING and text_of(each) in RELATIONSHIPS:
                    return each
    return None


def _compared(before: Sequence[Token], behind: Sequence[Token]) -> Iterator[Token]:
    """What is compared with what stands between, on either side, or in a list."""
    if len(before) == 2 and before[1].text in _SAME:
        yield before[0]
    if len(behind) > 1 and behind[0].text in _SAME:
        yield behind[1]
    elif behind and behind[0].upper == "IN":
        yield from takewhile(lambda each: each.text != "]", behind)


def renamed(query: str) -> str:
    """The query with the names of today; as it is where it has no old one, cannot be read, or is not certain."""
    if _OLD.search(query) is None:
        return query
    try:
        tree = tree_of(tokens_of(query))
    except Refused:
        return query
    if tree is None:
        return query
    names = _Names()
    names.look_at(tree)
    for token, now in sorted(names.changes(), key=lambda each: each[0].place, reverse=True):
        query = query[: token.place] + now + query[token.place + len(token.text) :]
    return query


@dataclass(slots=True)
class _Names:
    """One walk over a query that finds its old names, and what has them."""

    found: dict[Token, str] = field(default_factory=dict)  # what is certainly an old name, and what it is now
    asked: list[tuple[str, Token, str]] = field(default_factory=list)  # of whom, the old property, and what it is now
    nodes: set[str] = field(default_factory=set)  # the names of nodes
    others: set[str] = field(default_factory=set)  # the names that may be of anything
    unclear: bool = False

    def changes(self) -> Iterator[tuple[Token, str]]:
        """What to write for which token; nothing where one of them is not certain."""
        certain = self.nodes - self.others
        if self.unclear or any(owner not in certain for owner, _, _ in self.asked):
            return
        yield from self.found.items()
        yield from ((token, now) for _, token, now in self.asked)

    def look_at(self, items: Sequence[Item], open: str = "") -> None:
        """Look at what stands between brackets, or at a whole query."""
        for at, item in enumerate(items):
            before = items[at - 1] if at else None
            if isinstance(item, Bracketed):
                if item.open.text == "(":
                    self._pattern(items, at)
                self.look_at(item.items, item.open.text)
            elif is_name(item) and is_sign(before, "."):
                self._property(items, at, item)
            elif is_name(item):
                self._named(items, at, item, open)

    def _pattern(self, items: Sequence[Item], at: int) -> None:
        """A chain of nodes, or a single one that is certainly none of a function's brackets."""
        steps, _ = chain_of(items[at:], 0)
        for step in steps:
            if isinstance(step, Rel):
                self.found |= {each: now for each in step.types if (now := relationship(each)) is not None}
            elif len(steps) > 1 or is_word(items[at - 1] if at else None, "MATCH") or _has_label(step):
                self._node(step)

    def _node(self, group: Bracketed) -> None:
        if group.items and is_name(group.items[0]):
            self.nodes.add(group.items[0].text)
        for properties in (each for each in group.items if is_in(each, "{")):
            for key in (flat(each[:1])[0] for each in apart(properties.items) if each):
                if (now := property_now(key.text)) is not None:
                    self.found[key] = now

    def _property(self, items: Sequence[Item], at: int, name: Token) -> None:
        """`t.onto`: certain if `t` is a node, and nothing else."""
        now, owner = property_now(name.text), items[at - 2] if at > 1 else None
        if now is None or is_in(items[at + 1] if at + 1 < len(items) else None, "("):
            return
        if is_name(owner) and not is_sign(items[at - 3] if at > 2 else None, "."):
            self.asked.append((owner.text, name, now))
        else:
            self.unclear = True

    def _named(self, items: Sequence[Item], at: int, name: Token, open: str) -> None:
        """A name: is it given to something here, or asked whether it is of a table?"""
        before, after = items[at - 1] if at else None, [*items[at + 1 : at + 4], None, None, None]
        begins = before is None or is_sign(before, ",")
        if is_word(before, "AS"):
            self.others.add(name.text)
        elif begins and open in ("(", "[") and is_word(after[0], "IN"):
            of_nodes = is_word(after[1], "NODES") and is_in(after[2], "(")
            (self.nodes if of_nodes else self.others).add(name.text)
        elif is_sign(after[0], "-") and is_sign(after[1], ">"):
            self.others.add(name.text)
        elif is_sign(before, ":", "|") and (now := relationship(name)) is not None and name not in self.found:
            self._label(items, at, name, now, open)

    def _label(self, items: Sequence[Item], at: int, name: Token, now: str, open: str) -> None:
        """`r:IN` where it is asked and not matched."""
        start = at
        while start > 1 and is_sign(items[start - 1], ":", "|") and is_name(items[start - 2]):
            start -= 2
        is_list = open == "[" and not is_word(items[1] if len(items) > 1 else None, "IN")
        if start < at and is_sign(items[start + 1], ":") and open != "{" and not is_list:
            self.found[name] = now


def _has_label(group: Bracketed) -> bool:
    """Whether this is `(t:Turn)`, or `(:Turn)`."""
    return any(is_sign(each, ":") for each in group.items[: 2 if group.items and is_name(group.items[0]) else 1])
