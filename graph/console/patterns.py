"""The patterns of a query: nodes, and the relationships between them; which could be one and the same.

In Cypher no relationship comes twice in one MATCH; the engine leaves that to whoever asks. Where two may be the same a
condition is needed; where the direction tells that they are not, none is, and the engine stays fast.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from graph.console.lexing import Bracketed, Item, Sort, Token, flat, is_in, is_name, is_sign, is_word
from graph.projection.schema import RELS

_TABLES = {each.name.upper(): {(each.start, end) for end in each.ends} for each in RELS}


@dataclass(slots=True)
class Rel:
    """A relationship of a pattern, or a walk over several: `-[name:TYPE|TYPE* mode 1..3 (filter) {properties}]->`."""

    part: int  # of the MATCH, which has several with commas between
    before: list[Token]  # the arrow up to the brackets
    group: Bracketed | None = None
    after: list[Token] = field(default_factory=list)
    name: Token | None = None
    types: list[Token] = field(default_factory=list)
    star: Token | None = None
    mode: list[Token] = field(default_factory=list)
    range: list[Token] = field(default_factory=list)
    filter: list[Token] = field(default_factory=list)
    properties: list[Item] = field(default_factory=list)

    @property
    def place(self) -> int:
        return self.before[0].place

    @property
    def direction(self) -> str:
        """ "<", ">", or nothing."""
        signs = "".join(each.text for each in (*self.before, *self.after))
        return signs.strip("-") if signs.count("<") + signs.count(">") == 1 else ""

    @property
    def named(self) -> frozenset[str]:
        """The names of its types, in capitals."""
        return frozenset(each.text.strip("`").upper() for each in self.types)

    @property
    def cycles(self) -> bool:
        """Whether a walk over it may come to where it was."""
        return not self.direction or may_cycle(self.named)

    @property
    def is_of_replies(self) -> bool:
        """Whether there is one way at most from one node to another: each message replies to one."""
        return self.named == {"REPLIES_TO"} and bool(self.direction)

    @property
    def least(self) -> int | None:
        """The fewest steps; None where that is no number."""
        if not self.range or self.range[0].text == "..":
            return 1
        return int(self.range[0].text) if self.range[0].text.isdigit() else None

    @property
    def most(self) -> int | None:
        """The most steps; None where it is not said."""
        last = self.range[-1].text if self.range else ""
        return int(last) if last.isdigit() else None


Step = Rel | Bracketed


def rels_of(steps: Sequence[Step]) -> Iterator[Rel]:
    return (each for each in steps if isinstance(each, Rel))


def names_of(steps: Sequence[Step]) -> Iterator[str]:
    """The names of its nodes and of its relationships; those of walks are left out."""
    for step in steps:
        named = step.name if isinstance(step, Rel) and step.star is None else None
        first = step.items[0] if isinstance(step, Bracketed) and step.items else named
        if is_name(first):
            yield first.text


def may_be_one(one: Rel, other: Rel, rels: Sequence[Rel]) -> bool:
    """Whether two of the relationships of a MATCH may be, or share, one in the graph."""
    if one.named and other.named and not one.named & other.named:
        return False
    if any(token.upper in ("SHORTEST", "WSHORTEST") for rel in (one, other) for token in rel.mode):
        return False  # these ways are what was asked
    first, last = (next(at for at, each in enumerate(rels) if each is rel) for rel in (one, other))
    between = rels[first : last + 1]
    if one.part != other.part or not one.direction or any(each.direction != one.direction for each in between):
        return True
    if len(between) == 2 and not one.star and not other.star:
        return False  # the second begins where the first ends, and none ends where it begins
    named = [each.named for each in between]
    return not all(named) or may_cycle(frozenset().union(*named))


@cache
def may_cycle(types: frozenset[str]) -> bool:
    """Whether one can come back to a table along relationships of these types; within one all lead to what is older."""
    if not types or not types <= _TABLES.keys():
        return True
    leads = {pair for each in types for pair in _TABLES[each] if pair[0] != pair[1]}
    while leads:
        going = {each for each in leads if each[1] in {start for start, _ in leads}}
        if going == leads:
            return True
        leads = going
    return False


def is_chain(items: Sequence[Item], at: int) -> bool:
    """Whether a pattern of one relationship at least begins here, in an expression."""
    if not is_in(items[at], "(") or not _is_node(items[at]):
        return False
    end = _arrow_end(items, at + 1)
    return end is not None and is_in(items[end], "(") and _is_node(items[end])


def _is_node(item: Item) -> bool:
    inside = item.items if isinstance(item, Bracketed) else ()
    if not inside or (len(inside) == 1 and (is_name(inside[0]) or is_in(inside[0], "{"))):
        return True
    return is_sign(inside[0], ":") or (is_name(inside[0]) and (is_sign(inside[1], ":") or is_in(inside[1], "{")))


def _arrow_end(items: Sequence[Item], at: int) -> int | None:
    """The place behind an arrow that begins here; None where there is none."""
    start, signs = at, 0
    if at < len(items) and is_sign(items[at], "<"):
        at += 1
    while at < len(items) and (is_sign(items[at], "-") or (is_in(items[at], "[") and signs == 1)):
        signs += is_sign(items[at], "-")
        at += 1
    if at < len(items) and is_sign(items[at], ">"):
        at += 1
    tokens = [each for each in items[start:at] if isinstance(each, Token)]
    bracketed = len(tokens) < at - start
    joined = all(a.place + 1 == b.place for a, b in pairwise(tokens))
    return at if signs == 2 and at < len(items) and (bracketed or joined) else None


def chain_of(items: Sequence[Item], part: int) -> tuple[list[Step], list[Item]]:
    """Nodes and relationships by turns, and what stands behind them."""
    steps: list[Step] = []
    at = 0
    while at < len(items):
        item = items[at]
        if not is_in(item, "("):
            break
        steps.append(item)
        end = _arrow_end(items, at + 1)
        if end is None or not is_in(items[end], "("):
            at += 1
            break
        steps.append(_rel(items[at + 1 : end], part))
        at = end
    return steps, list(items[at:])


def _rel(items: Sequence[Item], part: int) -> Rel:
    cut = next((at for at, each in enumerate(items) if isinstance(each, Bracketed)), None)
    if cut is None:  # -->
        middle = next(at for at, each in enumerate(items) if is_sign(each, "-")) + 1
        return Rel(part, flat(items[:middle]), None, flat(items[middle:]))
    group = items[cut]
    assert isinstance(group, Bracketed)
    rel = Rel(part, flat(items[:cut]), group, flat(items[cut + 1 :]))
    inside = list(group.items)
    if inside and is_name(inside[0]):
        rel.name = inside[0]
        del inside[0]
    while len(inside) > 1 and is_sign(inside[0], ":", "|"):
        named = 2 if is_sign(inside[1], ":") else 1
        type = inside[named] if len(inside) > named else None
        if not is_name(type):
            break
        rel.types.append(type)
        del inside[: named + 1]
    if inside and is_sign(inside[0], "*"):
        rel.star = inside[0]
        _walk(rel, inside[1:])
    else:
        rel.properties = inside
    return rel


def _walk(rel: Rel, items: list[Item]) -> None:
    """What stands behind the star."""
    while items and is_word(items[0], "ALL", "SHORTEST", "WSHORTEST", "TRAIL", "ACYCLIC"):
        weighted = 2 if is_word(items[0], "WSHORTEST") else 1
        rel.mode += flat(items[:weighted])
        items = items[weighted:]
    while items and isinstance(items[0], Token) and (items[0].sort is Sort.NUMBER or items[0].text == ".."):
        rel.range.append(items[0])
        items = items[1:]
    if items and is_in(items[0], "("):
        rel.filter = flat(items[:1])
        items = items[1:]
    rel.properties = items
