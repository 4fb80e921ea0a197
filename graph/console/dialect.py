"""Makes the Cypher that people know into that of the engine, token by token, before the wall looks at it.

Three sorts of things are mended: what the engine has under another name (`type(r)`, `!=`, `[x IN list | …]`); what it
has and answers wrongly (`date_trunc('week', …)`, `collect()` of nothing); and what a pattern means (no relationship
comes twice in one MATCH, a walk without an end goes to the end). What cannot be mended is refused, with the way to
write it.

Invariant: what comes out is looked at as if somebody had typed it; nothing gets past `graph.console.grammar` by being
rewritten. Each token keeps the place of what it stands for in the query, so that errors point there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, pairwise

from graph.console.functions import AGGREGATES, WITH_LAMBDAS
from graph.console.lambdas import QUANTIFIERS, copied, looks_into, property_of, renamed, unanswered, varies
from graph.console.lexing import (
    CLAUSES,
    KEYWORDS,
    MOST_TOKENS,
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
    refused,
    text_of,
    together,
    tokens_of,
    tree_of,
)
from graph.console.patterns import Rel, Step, chain_of, is_chain, may_be_one, names_of, rels_of
from graph.console.renames import RELATIONSHIPS, compared_label, now_called, relationship
from graph.console.unfound import looked_at
from graph.errors import Refused

MILLISECONDS = frozenset(("at", "first_seen", "last_at", "started_at"))  # properties
OF_TIME = frozenset(("CURRENT_DATE", "CURRENT_TIMESTAMP", "DATE", "DATETIME", "LOCALDATETIME", "TIMESTAMP"))
COMPARED = frozenset(("=", "<>", "!=", "<", ">", "<=", ">="))
_DAYS = "['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']"
_WEEKDAY = f"list_position({_DAYS}, dayname($t))"
_MONDAY = f"(date_trunc('day', $t) - to_days({_WEEKDAY} - 1))"
_THURSDAY = f"(date_trunc('day', $t) + to_days(4 - {_WEEKDAY}))"
_DAY_OF_YEAR = "(CAST($t AS DATE) - CAST(date_trunc('year', $t) AS DATE) + 1)"
_WEEK = f"((CAST({_THURSDAY} AS DATE) - CAST(date_trunc('year', {_THURSDAY}) AS DATE)) / 7 + 1)"
_PARTS = {  # of a time: what the engine has under no name, or answers 0 for
    **dict.fromkeys(("week", "weeks", "w"), _WEEK),
    **dict.fromkeys(("dayofweek", "isodow", "weekday"), _WEEKDAY),
    "dow": f"({_WEEKDAY} % 7)",
    **dict.fromkeys(("dayofyear", "doy", "ordinalday"), _DAY_OF_YEAR),
}
_PIECES = r"regexp_extract_all($a + $b, '(?s)(.*?)\\Q' + $q + '\\E', 1)"  # the engine's own leaves empty ones out
_SPLIT = f"(CASE WHEN $a IS NULL THEN null ELSE {_PIECES} END)"
# A backslash ends what \Q begins, or is halved; in what is put in it is doubled.
_QUOTED = r"regexp_replace($a, '\\x5c', '\\\\E\\\\x5c\\\\Q', 'g')"
_DOUBLED = r"regexp_replace($a, '\\x5c', '\\\\\\\\', 'g')"
_SEPARATED = frozenset(("replace", "split", "split_part", "str_split", "string_split", "string_to_array"))
_FILLED = "CASE WHEN size($a) > 0 THEN $a END"  # an empty list brings an error, a null none

# By name and number of arguments, which are $a, $b, $c; $t is the first as a time.
TEMPLATES: dict[tuple[str, int], str] = {
    ("date", 0): "current_date()",
    ("datetime", 0): "current_timestamp()",
    ("elementid", 1): "id($a)",
    ("head", 1): f"list_extract({_FILLED}, 1)",
    ("isempty", 1): "(size($a) = 0)",
    ("last", 1): f"list_extract({_FILLED}, -1)",
    ("list_any_value", 1): "list_extract(CASE WHEN size(list_filter($a, _v -> _v IS NOT NULL)) > 0 THEN "
    "list_filter($a, _v -> _v IS NOT NULL) END, 1)",
    ("localdatetime", 0): "current_timestamp()",
    ("replace", 3): r"regexp_replace($a, '\\Q' + $q + '\\E', $c, 'g')",
    ("round", 1): "round($a, 0)",
    ("split_part", 3): f"list_to_string('', list_slice({_PIECES}, $c, $c))",
    ("substring", 2): "substr($a, $b + 1, 2147483647)",
    ("substring", 3): "substr($a, $b + 1, $c)",
    ("tail", 1): "list_slice($a, 2, -1)",
    ("timestamp", 0): "to_epoch_ms(current_timestamp())",
    ("toboolean", 1): "to_bool($a)",
    ("tofloat", 1): "to_double($a)",
    ("tostring", 1): r"(CASE WHEN typeof($a) = 'BOOL' THEN lower(to_string($a)) WHEN typeof($a) = 'DOUBLE' THEN "
    r"regexp_replace(to_string($a), '(\\.\\d+?)0+$', '\\1') ELSE to_string($a) END)",
    ("type", 1): "label($a)",
    ("weekday", 1): _WEEKDAY,
    **{(name, 1): _PARTS[name] for name in ("dayofweek", "dayofyear", "week")},
    **{(name, 1): f"date_part('{name}', $t)" for name in ("year", "quarter", "month", "day")},
    **{(name, 1): f"date_part('{name}', $t)" for name in ("hour", "minute", "second")},
    **{(name, 1): f"{name}($t)" for name in ("century", "dayname", "last_day", "monthname")},
    **{(name, 2): _SPLIT for name in ("split", "str_split", "string_split", "string_to_array")},
    **{
        (name, 1): r"CAST(nullif(regexp_extract(CAST($a AS STRING), '^\\s*[-+]?\\d+'), '') AS INT64)"
        for name in ("toint", "tointeger")
    },
}  # fmt: skip
_SPANS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WEEKS = ("week", "weeks", "w")
_OF_PARTS = frozenset(("date_trunc", "datetrunc", "date_part", "datepart"))
_NO_FUNCTIONS = KEYWORDS - {"COUNT", "EXISTS"}  # words before brackets that belong to no function
_ISO = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", re.IGNORECASE
)


def translated(query: str) -> list[Token]:
    """The tokens of the query as the engine is to get it. Raises Refused for what no query has, or would go wrong."""
    tokens = tokens_of(query)
    if tokens and tokens[-1].text == ";":
        tokens.pop()
    tree = tree_of(tokens)
    if tree is None or not tokens or tokens[0].upper == "CALL":
        return tokens
    if (old := compared_label(tokens)) is not None:
        raise refused(query, old.place, now_called(text_of(old), RELATIONSHIPS[text_of(old)]))
    counts = any((a.upper, b.text) in (("COUNT", "{"), ("SIZE", "(")) for a, b in pairwise(tokens))
    made = _Translation(query, {each.text.strip("`").lower() for each in tokens}, counts).clauses(tree)
    tree = tree_of(made) or []
    if (wrong := unanswered(tree)) is not None:
        token, why = wrong
        raise refused(query, token.place, why)
    return looked_at(tree)


@cache
def _template(text: str) -> tuple[Token, ...]:
    return tuple(tokens_of(text))


@dataclass(slots=True)
class _Clause:
    """A word that begins one, and what follows it."""

    word: Token
    items: list[Item]


@dataclass(slots=True)
class _Translation:
    """One walk over a query, which knows the names that are taken, and what they stand for."""

    query: str
    taken: set[str]
    counts: bool  # whether how often a pattern is there is asked, as far as one can see
    walks: set[str] = field(default_factory=set)  # the names of relationships of more than one step
    nodes: dict[str, bool] = field(default_factory=dict)  # the names of nodes and relationships: may it be nothing?
    times: set[str] = field(default_factory=set)  # the names of times in milliseconds
    maps: set[str] = field(default_factory=set)  # the names of what is no node, whatever its properties are called
    names: set[str] = field(default_factory=set)  # of values, that WITH and UNWIND gave
    paths: set[str] = field(default_factory=set)  # the names of paths
    carried: set[str] = field(default_factory=set)  # of these those that went through a WITH
    own: frozenset[str] = frozenset()  # in what is said of an x: its name
    returned: Sequence[Item] = ()  # what RETURN is followed by
    mixed: bool = False  # whether this projection has aggregates of DISTINCT values and others
    lists: list[list[Token]] | None = None  # in a projection: those that an expression of x is about

    # Clauses

    def clauses(self, items: Sequence[Item]) -> list[Token]:
        """A query, or the inside of EXISTS { } and COUNT { }."""
        head, clauses = _clauses(items)
        made = self.expression(head)
        star = next((each for clause in clauses if (each := _star(clause)) is not None), None)
        optional = False
        while clauses:
            clause = clauses.pop(0)
            match clause.word.upper:
                case "MATCH":
                    where = clauses.pop(0) if clauses and clauses[0].word.upper == "WHERE" else None
                    made += self._match(clause, where, star, optional=optional)
                case "RETURN" | "WITH":
                    order = clauses.pop(0) if clauses and clauses[0].word.upper == "ORDER" else None
                    made += self._projection(clause, order)
                    bounded = bool(clauses) and clauses[0].word.upper in ("SKIP", "LIMIT")
                    if order is not None and clause.word.upper == "WITH" and not bounded:
                        made += self._made("SKIP 0", order.word.place)  # without one the engine does not order
                case "UNWIND" if len(clause.items) > 2 and isinstance(name := clause.items[-1], Token):
                    if any(each.sort is Sort.PARAMETER or each.text == "{" for each in flat(clause.items)[:2]):
                        self.maps.add(name.text)
                    self.names.add(name.text)
                    made += [clause.word, *self.expression(clause.items)]
                case _:
                    made += [clause.word, *self.expression(clause.items)]
            optional = clause.word.upper == "OPTIONAL"
            if clause.word.upper == "UNION":
                self.nodes = {}
        return made

    def _match(self, clause: _Clause, where: _Clause | None, star: Token | None, *, optional: bool) -> list[Token]:
        parts = [self._part(each, number) for number, each in enumerate(apart(clause.items))]
        for _, steps, _ in parts:
            for known in names_of(steps):
                self.nodes.setdefault(known, optional)
        conditions = self._unlike([step for _, steps, _ in parts for step in steps], star)
        pieces = [[*before, *self._chain(steps), *after] for before, steps, after in parts]
        for steps in (steps for _, steps, _ in parts if self.counts and len(steps) == 1):
            if isinstance(node := steps[0], Bracketed) and node.items and is_name(name := node.items[0]):
                # Else the engine may leave out a node of which there is nothing to count.
                template = "AND $a.id IS NOT NULL" if conditions else "$a.id IS NOT NULL"
                conditions += self._made(template, name.place, a=[name])
        made = [clause.word, *together(pieces, clause.items)]
        place = where.word.place if where is not None else made[-1].place
        if conditions:
            made += self._made("WHERE $a", place, a=conditions)
            if where is not None:
                made += self._made("AND ($a)", place, a=self.expression(where.items))
        elif where is not None:
            made += [where.word, *self.expression(where.items)]
        return made

    def _part(self, items: list[Item], number: int) -> tuple[list[Token], list[Step], list[Token]]:
        """One path of a MATCH: its name, the steps of its chain, and what stands behind, which is none of it."""
        before: list[Token] = []
        if len(items) > 1 and is_sign(items[1], "="):
            before, items = flat(items[:2]), items[2:]
            self.paths.add(before[0].text)
        modes = {"SHORTESTPATH": "SHORTEST", "ALLSHORTESTPATHS": "ALL SHORTEST"}
        if len(items) > 1 and is_word(items[0], *modes) and is_in(items[1], "("):
            steps, rest = chain_of(items[1].items, number)
            rels = list(rels_of(steps))
            if not rest and len(rels) == 1 and rels[0].star is not None:
                rels[0].mode = self._made(modes[items[0].upper], rels[0].place)
                return before, steps, flat(items[2:])
        steps, rest = chain_of(items, number)
        return before, steps, flat(rest)

    def _projection(self, clause: _Clause, order: _Clause | None) -> list[Token]:
        sorts = set(_aggregates([*clause.items, *(order.items if order is not None else ())]))
        before, self.mixed = self.mixed, len(sorts) > 1
        around, self.lists = self.lists, [] if _star(clause) is None else None
        self.returned = clause.items if clause.word.upper == "RETURN" else ()
        made = [clause.word, *self.expression(clause.items)]
        if clause.word.upper == "WITH":
            made = self._paths_carried(made)
        if self.lists:  # row by row: the engine mixes up the values of x, or goes down, where there are many
            sizes = [token for each in self.lists for token in self._made(", size($a)", clause.word.place, a=each)][1:]
            row = [self._new_name(clause.word.place)]
            made = [*self._made("UNWIND [[$a]] AS $b", clause.word.place, a=sizes, b=row), *made]
        self.lists = around
        if order is not None:
            grouped = bool(sorts) or (bool(clause.items) and is_word(clause.items[0], "DISTINCT"))
            if grouped and _star(clause) is None:
                self._check_keys(order.items, clause.items)
            made += [order.word, *self._keys(order.items, _aliases(clause.items) if grouped else {})]
        self.mixed = before
        if clause.word.upper == "WITH" and _star(clause) is None:
            self._named(clause.items)
            self.nodes = {name: self.nodes[old] for name, old in _carried(clause.items) if old in self.nodes}
        return made

    def _keys(self, items: list[Item], named: Mapping[tuple[str, ...], Token]) -> list[Token]:
        """What rows are ordered by: where they are grouped, what is returned has no name any more but its own."""
        pieces: list[list[Token]] = []
        for key in apart(items[1:]):
            last = 1 if key and is_word(key[-1], "ASC", "ASCENDING", "DESC", "DESCENDING") else 0
            asked = _by_alias(key[: len(key) - last], named)
            pieces.append([*self.expression(asked), *flat(key[len(key) - last :])])
        made = together(pieces, items)
        for at, (before, token) in enumerate(pairwise(made), start=1):
            if token.text == ",":  # no blank may stand before it
                made[at] = replace(token, place=min(token.place, before.end))
        return [*flat(items[:1]), *made]

    def _paths_carried(self, made: list[Token]) -> list[Token]:
        """The engine has no name for a path that is carried on by its name alone."""
        whole = Token(Sort.SIGN, ",", 0)
        carried: list[Token] = []
        for before, token, after in zip([whole, *made], made, [*made[1:], whole], strict=False):
            is_alone = before.upper in (",", "WITH", "DISTINCT") and after.text == ","
            carried += (
                self._made("$a AS $a", token.place, a=[token]) if is_alone and token.text in self.paths else [token]
            )
        return carried

    def _check_keys(self, keys: Sequence[Item], returned: Sequence[Item]) -> None:
        pieces = apart(returned[1:] if returned and is_word(returned[0], "DISTINCT") else returned)
        named = {tuple(each.text for each in flat(piece)): Token(Sort.WORD, "", 0) for piece in pieces}
        aliases = _aliases(returned)
        others = self.nodes.keys() - {each.text for each in aliases.values()}
        for before, token in pairwise([None, *flat(_by_alias(keys, {**named, **aliases}))]):
            if is_name(token) and token.text in others and not is_sign(before, "."):
                why = "ORDER BY knows only what is returned here: return this too, AS a name, and order by the name"
                raise self._wrong(token, why)

    # Patterns

    def _unlike(self, steps: Sequence[Step], star: Token | None = None) -> list[Token]:
        """The condition that keeps a pattern from going over one relationship twice; who it is about gets a name."""
        made: list[Token] = []
        rels = list(rels_of(steps))
        for one, other in combinations(rels, 2):
            if not may_be_one(one, other, rels):
                continue
            for rel in (one, other):
                if rel.name is None:
                    if star is not None:
                        raise self._wrong(star, "Say what is to be returned instead of *, or name the relationships")
                    rel.name = self._new_name(rel.place)
            walk, step = (one, other) if one.star is not None else (other, one)
            if step.star is not None:
                both = "list_concat(properties(rels($a), '_ID'), properties(rels($b), '_ID'))"
                template = f"size(list_distinct({both})) = length($a) + length($b)"
            elif walk.star is not None:  # list_transform would read the walks of other rows
                template = "NOT list_contains(properties(rels($a), '_ID'), id($b))"
            else:
                template = "id($a) <> id($b)"
            a, b = ([replace(each.name, place=one.place)] for each in (walk, step) if each.name is not None)
            made += self._made(f"AND {template}" if made else template, one.place, a=a, b=b)
        return made

    def _chain(self, steps: Sequence[Step]) -> list[Token]:
        return [token for step in steps for token in (self._rel(step) if isinstance(step, Rel) else self._node(step))]

    def _node(self, group: Bracketed) -> list[Token]:
        """Tables that are meant one or the other are told apart by a colon here."""
        made = [group.open]
        for item in group.items:
            if isinstance(item, Bracketed):
                made += self.expression([item])
            elif item.text == "|":
                made.append(replace(item, text=":"))
            elif item.text != ":" or made[-1].text != ":":
                made.append(item)
        return [*made, group.close]

    def _rel(self, rel: Rel) -> list[Token]:
        inside: list[Token] = [rel.name] if rel.name is not None else []
        for number, type in enumerate(rel.types):
            self._check_name(type)
            inside += [Token(Sort.SIGN, "|" if number else ":", type.place - 1), type]
        inside += [*self._walk(rel), *self.expression(rel.properties)]
        if rel.group is not None:
            inside = [rel.group.open, *inside, rel.group.close]
        elif inside:
            inside = self._made("[$a]", rel.place, a=inside)
        return [*rel.before, *inside, *rel.after]

    def _walk(self, rel: Rel) -> list[Token]:
        """The star of a walk, with how it goes and how far."""
        if rel.star is None:
            return []
        if rel.name is not None:
            self.walks.add(rel.name.text)
        mode = {each.upper for each in rel.mode}
        shortest = mode & {"SHORTEST", "WSHORTEST"}
        if shortest and rel.filter:
            raise self._wrong(
                rel.filter[0],
                "The engine does not keep a SHORTEST path to a condition like this: ask it of the path p, as in "
                "WHERE all(n IN nodes(p) WHERE …), or leave SHORTEST out",
            )
        if not shortest and rel.cycles:
            if rel.most is None:
                raise self._wrong(
                    rel.star,
                    "A walk that can return to its start needs an end: say how far, as in *1..5, or follow one "
                    "relationship in one direction, as in -[:REPLIES_TO*]->",
                )
            if rel.least == 0 and rel.most > 0:
                raise self._wrong(rel.star, "A walk that can return to its start needs at least one step: say *1..")
        if rel.mode:
            return [rel.star, *rel.mode, *rel.range, *rel.filter]
        if rel.cycles:
            return [rel.star, *self._made("TRAIL", rel.star.place), *rel.range, *rel.filter]
        if rel.most is None and rel.least == 1 and rel.is_of_replies and not rel.filter:
            return [rel.star, *self._made("SHORTEST", rel.star.place)]  # the only way, in far less memory
        return [rel.star, *rel.range, *rel.filter]

    def _asked(self, steps: Sequence[Step], word: str = "") -> list[Token]:
        """A pattern in an expression: as a condition, or for COUNT how often it is there."""
        conditions = self._unlike(steps)
        chain = self._chain(steps)
        start, end = chain[0].place, chain[-1].place
        if conditions:
            return self._made(f"{word or 'EXISTS'} {{ MATCH $a WHERE $b }}", start, end, a=chain, b=conditions)
        return self._made(f"{word} {{ MATCH $a }}", start, end, a=chain) if word else chain

    def _subquery(self, word: Token, group: Bracketed) -> list[Token]:
        """The inside of EXISTS { } or COUNT { }: it begins with MATCH, and returns nothing."""
        items = list(group.items)
        if items and not is_word(items[0], "MATCH", "OPTIONAL"):
            items.insert(0, Token(Sort.WORD, "MATCH", group.open.place))
        head, clauses = _clauses(items)
        if clauses and clauses[-1].word.upper == "RETURN":
            returned = clauses[-1].items
            fewer = any(True for _ in _aggregates(returned)) or is_word(next(iter(returned), None), "DISTINCT")
            if word.upper == "EXISTS" or not fewer:
                clauses.pop()
        kept = [*head, *(item for each in clauses for item in (each.word, *each.items))]
        around, self.lists = (self.lists, dict(self.nodes)), None
        made = [group.open, *self.clauses(kept), group.close]
        self.lists, self.nodes = around
        return made

    # Expressions

    def expression(self, items: Sequence[Item]) -> list[Token]:
        """Anything that has a value, and several of them with commas between."""
        made: list[Token] = []
        cases: list[bool] = []  # of each CASE that is open: does it ask for a condition at every WHEN?
        at = 0
        while at < len(items):
            item, rest = items[at], items[at:]
            before, after = items[at - 1] if at else None, items[at + 1] if at + 1 < len(items) else None
            taken = 1
            if isinstance(item, Bracketed):
                if is_chain(items, at):
                    steps, behind = chain_of(rest, 0)
                    taken = len(rest) - len(behind)
                    made += self._asked(steps)
                else:
                    made += self._group(item, before)
            elif is_sign(item, "!="):
                made.append(replace(item, text="<>"))
            elif is_sign(before, ".") or not is_name(item):
                made.append(item)
            elif is_in(after, "(") and item.sort is Sort.WORD and item.upper not in _NO_FUNCTIONS:
                taken = 2
                if item.upper == "LABELS" and len(after.items) == 1:
                    taken = self._labels(items, at, made)
                else:
                    made += self._call(item, after)
            elif is_in(after, "(") and is_word(item, *QUANTIFIERS) and is_word(next(iter(after.items[1:]), None), "IN"):
                made += self._quantified(item, after)
                taken = 2
            elif is_in(after, "{") and item.upper in ("EXISTS", "COUNT"):
                made += [item, *self._subquery(item, after)]
                taken = 2
            elif is_in(after, "{") and item.upper not in KEYWORDS and is_sign(next(iter(after.items), None), "."):
                made += self._map_of(item, after)
                taken = 2
            elif is_sign(after, ":") and len(rest) > 2 and is_name(rest[2]):
                taken = self._labelled(rest, made)
            elif (time := self._time_compared(items, at))[0]:
                taken = time[0]
                made += self._made(time[1], item.place, a=flat(rest[:taken]))
            elif item.upper == "WHEN" and cases and cases[-1]:
                taken = _then(rest)
                made += [item, *self._condition(rest[1:taken])]
            else:
                if item.upper == "CASE":
                    cases.append(is_word(after, "WHEN"))
                elif item.upper == "END" and cases:
                    cases.pop()
                made.append(item)
            at += taken
        return made

    def _group(self, group: Bracketed, before: Item | None) -> list[Token]:
        inside = group.items
        if group.open.text == "{":
            return [group.open, *together([self._entry(each) for each in apart(inside)], inside), group.close]
        if group.open.text == "[" and _is_operand(before):
            return [group.open, *self._subscript(inside, group.close), group.close]
        if group.open.text == "[" and len(inside) > 2 and is_name(inside[0]) and is_word(inside[1], "IN"):
            return self._comprehension(group)
        if group.open.text == "[" and inside and is_chain(inside, 0):
            raise self._wrong(
                group.open, "A pattern cannot stand in a list here: MATCH it, and collect() what it finds"
            )
        return [group.open, *self.expression(inside), group.close]

    def _entry(self, items: Sequence[Item]) -> list[Token]:
        """A key of a map with its value."""
        keyed = 2 if len(items) > 1 and is_sign(items[1], ":") else 0
        return [*flat(items[:keyed]), *self.expression(items[keyed:])]

    def _map_of(self, name: Token, group: Bracketed) -> list[Token]:
        """`t {.id, .text, more: 1}`"""
        pieces: list[list[Token]] = []
        for entry in apart(group.items):
            if len(entry) == 2 and is_sign(entry[0], ".") and is_name(entry[1]):
                pieces.append(self._made("$b: $a.$b", entry[0].place, a=[name], b=[entry[1]]))
            elif len(entry) > 2 and is_sign(entry[1], ":"):
                pieces.append(self._entry(entry))
            else:
                raise self._wrong(name, f"Say what the map is to have: {{id: {name.text}.id, …}}")
        return [group.open, *together(pieces, group.items), group.close]

    def _subscript(self, inside: Sequence[Item], close: Token) -> list[Token]:
        """A place in a list, which counts from 1 here; `a..b`, which counts from 0 and leaves b out, is Cypher's."""
        cut = next((at for at, each in enumerate(inside) if is_sign(each, "..")), None)
        if cut is None:
            if len(inside) == 1 and flat(inside)[0].text == "0":
                raise self._wrong(flat(inside)[0], "Lists count from 1 here: say [1] for what is first")
            return self.expression(inside)
        place = flat(inside)[0].place
        first, end = self.expression(inside[:cut]), self.expression(inside[cut + 1 :])
        begins = _bound(first, "$a", below="$a", above="$a + 1") or "1"
        ends = _bound(end, "$b", below="$b - 1", above="$b") or "-1"
        # No blank may stand before a colon or the end.
        return self._made(f"({begins}):({ends})", place, close.place - 1, a=first, b=end)

    def _comprehension(self, group: Bracketed) -> list[Token]:
        """`[x IN list WHERE … | …]`"""
        inside = self._own_name(group.items)
        name = flat(inside[:1])
        bar = next((at for at, each in enumerate(inside) if is_sign(each, "|")), len(inside))
        where = next((at for at, each in enumerate(inside[:bar]) if is_word(each, "WHERE")), bar)
        start, end, listed = group.open.place, group.close.place, self.expression(inside[2:where])
        condition, into = (self._inside(each, name[0]) for each in (inside[where + 1 : bar], inside[bar + 1 :]))
        made = self._list(listed)
        if into and (one := property_of(listed, name[0], condition, into)) is not None:
            made = self._made("properties($a, $b)", start, end, a=listed, b=[one[0]])
            condition, into = one[1]
        elif self.lists is None and not self.own and varies(listed) and looks_into([*condition, *into], name[0]):
            raise self._wrong(name[0], "The engine would mix up rows here: build this list in an earlier WITH")
        if condition:
            made = self._made("list_filter($a, $b -> $c)", start, end, a=made, b=name, c=condition)
        if into and [each.text for each in into] != [name[0].text]:
            made = self._made("list_transform($a, $b -> $c)", start, end, a=made, b=name, c=copied(into, *name))
        return made if condition or into else self._made("($a)", start, end, a=made)

    def _quantified(self, word: Token, group: Bracketed) -> list[Token]:
        """`any(x IN list WHERE …)`: with many values at a time the engine's own goes down."""
        inside = self._own_name(group.items)
        [name] = flat(inside[:1])
        where = next((at for at, each in enumerate(inside) if is_word(each, "WHERE")), len(inside))
        start, end, listed = word.place, group.close.place, self.expression(inside[2:where])
        condition, copy = self._inside(inside[where + 1 :], name), self._list(listed)
        one = property_of(listed, name, condition)
        made = self._made("properties($a, $b)", start, end, a=listed, b=[one[0]]) if one is not None else copy
        if one is None and (self.lists is not None or not varies(listed) or looks_into(condition, name)):
            before, after = flat(inside[:2]), [*flat(inside[where : where + 1]), *condition]
            return [word, group.open, *before, *copy, *after, group.close]
        condition = one[1][0] if one is not None else condition
        chosen = self._made("size(list_filter($a, $b -> $c))", start, end, a=made, b=[name], c=condition)
        template = {"ANY": "($a > 0)", "NONE": "($a = 0)", "SINGLE": "($a = 1)", "ALL": "($a = size($b))"}[word.upper]
        return self._made(template, start, end, a=chosen, b=made)

    def _list(self, listed: list[Token]) -> list[Token]:
        """The list that an expression of x is about: as a copy, as the engine looks for its values in the wrong row."""
        if not varies(listed):
            return listed
        if self.lists is not None and not any(one.text + other.text == "->" for one, other in pairwise(listed)):
            self.lists.append(listed)  # one with an expression of x in it has a list of its own
        return self._made("coalesce($a)", listed[0].place, listed[-1].place, a=listed)

    def _own_name(self, items: Sequence[Item]) -> Sequence[Item]:
        """`x IN list …` with another name for the x, where something else is called so."""
        if not isinstance(name := items[0], Token) or not self._is_given(name):
            return items
        new = self._new_name(name.place)
        begins = next((at for at, each in enumerate(items) if is_word(each, "WHERE") or is_sign(each, "|")), len(items))
        return [new, *items[1:begins], *renamed(items[begins:], name.text, new.text)]

    def _is_given(self, name: Token) -> bool:
        """Whether something is called so, as far as one can tell."""
        return name.text in self.names or name.text in self.nodes or name.text in self.walks

    def _inside(self, said: Sequence[Item], *names: Token) -> list[Token]:
        """What is said of x."""
        around = self.lists, self.own
        self.lists, self.own = None, self.own.union(each.text for each in names)
        made = self.expression(said)
        self.lists, self.own = around
        return made

    def _labelled(self, items: Sequence[Item], made: list[Token]) -> int:
        """`t:Turn` where it is asked and not matched; how many tokens it takes."""
        taken = 3
        while taken + 1 < len(items) and is_sign(items[taken], "|") and is_name(items[taken + 1]):
            taken += 2
        name, *tables = flat(items[:taken:2])
        for number, each in enumerate(tables):
            self._check_name(each)
            listed = _text(each.text.strip("`"), each.place)
            made += self._made("OR label($a) = $b" if number else "(label($a) = $b", name.place, a=[name], b=[listed])
        made += self._made(")", tables[-1].place)
        return taken

    def _condition(self, items: Sequence[Item]) -> list[Token]:
        """The engine loses rows where a yes or no that is nothing but looked up stands behind WHEN."""
        made, bare = self.expression(items), list(items)
        while len(bare) == 1 and is_in(bare[0], "("):
            bare = list(bare[0].items)
        looked_up = all(
            is_sign(each, ".")
            or (isinstance(each, Token) and each.sort in (Sort.QUOTED, Sort.PARAMETER))
            or (is_name(each) and (each.upper not in KEYWORDS or is_sign(before, ".")))
            for before, each in pairwise([None, *bare])
        )
        if bare and (looked_up or is_word(bare[0], "CASE")):
            return self._made("($a) = true", made[0].place, made[-1].place, a=made)
        return made

    def _time_compared(self, items: Sequence[Item], at: int) -> tuple[int, str]:
        """How many items the time takes in `t.at >= date(…)`, and what it becomes: the property is in milliseconds.

        What it is compared with is a time, or a day in quotes, on either side. None of a day is midnight: what is to be
        equal to one is on it.
        """
        taken = self._of_time(items[at:])
        sign, said = (items[at + taken], items[at + taken + 1 :]) if at + taken + 1 < len(items) else (None, [])
        if not taken or not is_sign(sign, *COMPARED) or not _is_said_time(said[0], said[1] if len(said) > 1 else None):
            sign, said = items[at - 1] if at > 1 else None, items[max(0, at - 3) : max(0, at - 1)]
            on_left = bool(said) and (_is_said_time(said[-1], None) or (len(said) > 1 and _is_said_time(*said)))
            if not taken or not is_sign(sign, *COMPARED) or not on_left:
                return 0, ""
        days = any(is_word(each, "DATE") for each in said[:2])
        days |= any(isinstance(each, Token) and _DAY.fullmatch(text_of(each)) is not None for each in said[:2])
        is_day = days and is_sign(sign, "=", "<>", "!=")
        return taken, "CAST(epoch_ms($a) AS DATE)" if is_day else "epoch_ms($a)"

    def _of_time(self, items: Sequence[Item]) -> int:
        """How many items a time in milliseconds takes that stands at the beginning: `t.at`, or the name of one."""
        name = items[0]
        if len(items) > 2 and is_sign(items[1], "."):
            return 3 if _is_time(items[2]) and isinstance(name, Token) and name.text not in self.maps else 0
        return 1 if isinstance(name, Token) and name.text in self.times else 0

    def _named(self, items: Sequence[Item]) -> None:
        """Remember which names a projection gives to times, and to maps of its own."""
        named = list(_given(items))
        self.names.update(name for name, _ in named)
        times = {name for name, said in named if said and self._of_time(said) == len(said)}
        self.maps |= {name for name, said in named if is_in(said[0], "{")}
        self.times = times
        paths = {name for name, [first, *more] in named if is_name(first) and not more and first.text in self.paths}
        self.carried |= paths
        self.paths |= paths

    # Functions

    def _labels(self, items: Sequence[Item], at: int, made: list[Token]) -> int:
        """`labels(t)[0]` and `'Turn' IN labels(t)`: here it is one, and no list; how many items it takes."""
        word, group = items[at : at + 2]
        before, behind = items[at - 1] if at else None, items[at + 2] if at + 2 < len(items) else None
        assert isinstance(word, Token)
        assert isinstance(group, Bracketed)
        name = flat(group.items)
        label = self._label(name, word.place, group.close.place)
        if isinstance(behind, Bracketed) and [each.text for each in flat([behind])] == ["[", "0", "]"]:
            made += label
            return 3
        if is_word(before, "IN"):
            made[-1] = Token(Sort.SIGN, "=", made[-1].place)
        elif (
            items is not self.returned
            or not (before is None or is_sign(before, ",") or is_word(before, "DISTINCT"))
            or not (behind is None or is_sign(behind, ",") or is_word(behind, "AS"))
        ):
            raise self._wrong(word, f"A node has one label here: say label({name[0].text}), which is a text")
        made += label
        return 2

    def _label(self, name: list[Token], start: int, end: int) -> list[Token]:
        """The engine names the table of what an OPTIONAL MATCH did not find, where there is only one."""
        optional = len(name) == 1 and name[0].text not in self.own and self.nodes.get(name[0].text, False)
        template = "(CASE WHEN id($a) IS NOT NULL THEN label($a) END)" if optional else "label($a)"
        return self._made(template, start, end, a=name)

    def _call(self, word: Token, group: Bracketed) -> list[Token]:
        """A function with its arguments."""
        name, start, end, inside = word.text.lower(), word.place, group.close.place, group.items
        if name in ("size", "exists") and inside and is_chain(inside, 0):
            steps, behind = chain_of(inside, 0)
            if not behind:
                return self._asked(steps, "COUNT" if name == "size" else "EXISTS")
        if name in ("shortestpath", "allshortestpaths"):
            return [word, *flat([group])]  # which has a place in MATCH, and is refused here
        if special := self._special(name, group, start):
            return special
        if name in WITH_LAMBDAS and inside:
            return self._lambda(word, group)
        given = [self.expression(each) for each in apart(inside)]
        if name in AGGREGATES and len(given) == 1 and (template := self._aggregate(name, given)):
            return self._made(template, start, end, a=given[0])
        if name in _OF_PARTS and len(given) == 2:
            return self._of_part(word, end, given)
        template = TEMPLATES.get((name, len(given)), "")
        if not template or not all(given):
            return [word, group.open, *together(given, inside), group.close]
        if name == "split" and given[1][0].text in ("''", '""'):
            template = "string_split($a, $b)"  # into its characters
        if name == "replace":
            given[2] = self._escaped(_DOUBLED, given[2])
        values = {
            key: value if len(value) == 1 else self._made("($a)", value[0].place, value[-1].place, a=value)
            for key, value in zip("abc", given, strict=False)
        }
        quoted = self._escaped(_QUOTED, given[1]) if name in _SEPARATED else []
        return self._made(template, start, end, **values, q=quoted, t=self._as_time(given[0]) if given else [])

    def _escaped(self, template: str, text: list[Token]) -> list[Token]:
        """What a template makes of a text, if there may be a backslash in it."""
        if len(text) == 1 and text[0].sort is Sort.STRING and "\\" not in text_of(text[0]):
            return text
        return self._made(template, text[0].place, text[-1].place, a=text)

    def _lambda(self, word: Token, group: Bracketed) -> list[Token]:
        """`list_transform(list, x -> …)` and the like, as somebody typed them."""
        listed, *others = apart(group.items)
        pieces = [self._list(self.expression(listed))]
        for said in others:
            arrow = next((at for at, each in enumerate(said) if is_sign(each, ">")), 0)
            names = [each for each in flat(said[:arrow]) if is_name(each)]
            pieces.append([*flat(said[: arrow + 1]), *copied(self._inside(said[arrow + 1 :], *names), *names)])
        return [word, group.open, *together(pieces, group.items), group.close]

    def _special(self, name: str, group: Bracketed, start: int) -> list[Token]:
        """What depends on how its arguments are written."""
        end, inside = group.close.place, group.items
        keyed = _map(inside)
        match name:
            case "exists" if len(inside) == 3 and is_sign(inside[1], "."):
                return self._made("($a IS NOT NULL)", start, end, a=flat(inside))
            case "label" | "type" if len(inside) == 1:
                return self._label(self.expression(inside), start, end)
            case "size" if len(inside) == 1 and is_name(inside[0]) and inside[0].text in self.walks:
                return self._made("length($a)", start, end, a=flat(inside))
            case "length" if len(inside) == 1 and is_name(inside[0]) and inside[0].text in self.carried:
                return self._made("size(rels($a))", start, end, a=flat(inside))
            case "reduce":
                return self._reduce(group, start)
            case "datetime" | "localdatetime" if list(keyed) == ["epochmillis"]:
                return self._made("epoch_ms($a)", start, end, a=self.expression(keyed["epochmillis"]))
            case "datetime" | "localdatetime" if inside and not keyed:
                given = self.expression(inside)
                template = "timestamp($a)" if given[0].sort in (Sort.STRING, Sort.PARAMETER) else "($a)"
                return self._made(template, start, end, a=self._as_time(given))
            case "date" if keyed.keys() == {"year", "month", "day"}:
                year, month, day = (self.expression(keyed[each]) for each in ("year", "month", "day"))
                return self._made("make_date($a, $b, $c)", start, end, a=year, b=month, c=day)
            case "date" if inside and not keyed and flat(inside)[0].sort not in (Sort.STRING, Sort.PARAMETER):
                return self._made("CAST($a AS DATE)", start, end, a=self._as_time(self.expression(inside)))
            case "duration" if span := _span(inside, keyed):
                return self._made("interval($a)", start, end, a=[_text(span, start)])
        return []

    def _aggregate(self, name: str, given: list[list[Token]]) -> str:
        """The engine has null for the list, or the sum, of nothing; and mixes DISTINCT with others wrongly."""
        if self.mixed and given[0] and given[0][0].upper == "DISTINCT" and name in ("collect", "count"):
            del given[0][0]
            is_node = name == "count" and len(given[0]) == 1 and given[0][0].text in self.nodes
            listed = f"list_distinct(coalesce(collect({'id($a)' if is_node else '$a'}), []))"  # whole nodes are large
            return listed if name == "collect" else f"size({listed})"
        return {"collect": "coalesce(collect($a), [])", "sum": "coalesce(sum($a), 0)"}.get(name, "")

    def _of_part(self, word: Token, end: int, given: list[list[Token]]) -> list[Token]:
        """date_trunc() and date_part(): the engine takes a week for a day, or for nothing."""
        [part, *others], time = given[0], self._as_time(given[1])
        if others or part.sort is not Sort.STRING:
            raise self._wrong(part, f"Say in quotes which part of a time: {word.text}('month', …)")
        name = text_of(part).lower()
        if word.upper in ("DATE_PART", "DATEPART"):
            template = _PARTS.get(name, "")
        else:
            template = _MONDAY if name in _WEEKS else ""
        return self._made(template or f"{word.text}($a, $t)", word.place, end, a=[part], t=time)

    def _reduce(self, group: Bracketed, start: int) -> list[Token]:
        """`reduce(sum = 0, x IN list | sum + x)`"""
        pieces = apart(group.items)
        if len(pieces) != 2 or len(pieces[0]) < 3 or len(pieces[1]) < 5:
            return []
        (so_far, equals, *first), (name, of, *rest) = pieces
        if isinstance(so_far, Token) and self._is_given(so_far):
            old, so_far = so_far, self._new_name(so_far.place)
            rest = renamed(rest, old.text, so_far.text)
        name, of, *rest = self._own_name([name, of, *rest])
        bar = next((at for at, each in enumerate(rest) if is_sign(each, "|")), 0)
        if not bar or not is_sign(equals, "=") or not is_word(of, "IN") or not is_name(so_far) or not is_name(name):
            return []
        end, listed, said = group.close.place, self.expression(rest[:bar]), self._inside(rest[bar + 1 :], so_far, name)
        copy = self._list(listed)
        if (one := property_of(listed, name, said)) is not None:
            copy, [said] = self._made("properties($a, $b)", start, end, a=listed, b=[one[0]]), one[1]
        begun = self._made("list_prepend($a, $b)", start, end, a=copy, b=self.expression(first))
        template = "list_reduce($a, ($b, $c) -> $d)"
        return self._made(template, start, end, a=begun, b=[so_far], c=[name], d=copied(said, so_far, name))

    def _check_name(self, table: Token) -> None:
        """What has another name now is found by that alone."""
        if (now := relationship(table)) is not None:
            raise self._wrong(table, now_called(table.text, now))

    # Making tokens

    def _made(self, template: str, start: int, end: int | None = None, **values: list[Token]) -> list[Token]:
        """The tokens of a template, with values for its $names; all of it stands for what is between two places."""
        made: list[Token] = []
        tokens = _template(template)
        for at, token in enumerate(tokens):
            if token.sort is Sort.PARAMETER and token.text[1:] in values:
                made += values[token.text[1:]]
            else:
                made.append(replace(token, place=start if end is None or at + 1 < len(tokens) else end))
        if len(made) > MOST_TOKENS:
            raise refused(self.query, start, "This would become too long a query: take it apart with WITH")
        return made

    def _as_time(self, value: list[Token]) -> list[Token]:
        """A time: what is a number of milliseconds is made one."""
        if value and self._of_time(value) == len(value):
            return self._made("epoch_ms($a)", value[0].place, value[-1].place, a=value)
        return value

    def _new_name(self, place: int) -> Token:
        name = next(each for number in range(1, len(self.taken) + 2) if (each := f"_r{number}") not in self.taken)
        self.taken.add(name)
        return Token(Sort.WORD, name, place)

    def _wrong(self, token: Token, why: str) -> Refused:
        return refused(self.query, token.place, why)


def _clauses(items: Sequence[Item]) -> tuple[list[Item], list[_Clause]]:
    """What stands before the first clause, and the clauses."""
    head: list[Item] = []
    clauses: list[_Clause] = []
    before: Item | None = None
    for item in items:
        is_part = is_sign(before, ".", ":", "|") or is_word(before, "AS")
        is_part |= is_word(item, "WITH") and is_word(before, "STARTS", "ENDS")
        if is_word(item, *CLAUSES) and not is_part:
            clauses.append(_Clause(item, []))
        else:
            (clauses[-1].items if clauses else head).append(item)
        before = item
    return head, clauses


def _star(clause: _Clause) -> Token | None:
    """The * of a projection that takes everything along."""
    if clause.word.upper not in ("RETURN", "WITH"):
        return None
    items = clause.items[1:] if clause.items and is_word(clause.items[0], "DISTINCT") else clause.items
    return next((piece[0] for piece in apart(items) if piece and is_sign(piece[0], "*")), None)


def _aggregates(items: Sequence[Item]) -> Iterator[bool]:
    """Of each aggregate of a projection: whether it is of DISTINCT values."""
    for before, item in pairwise([None, *items]):
        if not isinstance(item, Bracketed) or (item.open.text == "{" and is_word(before, "EXISTS", "COUNT")):
            continue
        if item.open.text == "(" and isinstance(before, Token) and before.text.lower() in AGGREGATES:
            yield bool(item.items) and is_word(item.items[0], "DISTINCT")
        yield from _aggregates(item.items)


def _aliases(items: Sequence[Item]) -> dict[tuple[str, ...], Token]:
    """The names that are given, by what they are given to."""
    pieces = apart(items[1:] if items and is_word(items[0], "DISTINCT") else items)
    return {
        tuple(each.text for each in flat(piece[:-2])): piece[-1]
        for piece in pieces
        if len(piece) > 2 and is_word(piece[-2], "AS") and isinstance(piece[-1], Token)
    }


def _given(items: Sequence[Item]) -> Iterator[tuple[str, Sequence[Item]]]:
    """The names that a WITH gives or carries on, each with what to; of the latest or the first of times: with that."""
    for piece in apart(items[1:] if items and is_word(items[0], "DISTINCT") else items):
        said = piece[:-2] if len(piece) > 2 and is_word(piece[-2], "AS") else piece
        if piece and said and isinstance(piece[-1], Token):
            inside = (
                said[1].items if len(said) == 2 and is_word(said[0], "MAX", "MIN") and is_in(said[1], "(") else said
            )
            yield piece[-1].text, inside


def _is_said_time(said: Item, called: Item | None) -> bool:
    """Whether this is a day in quotes, or `date(…)` and the like."""
    if isinstance(said, Token) and said.sort is Sort.STRING:
        return _DAY.match(text_of(said)) is not None
    if is_word(said, *OF_TIME) and is_in(called, "("):
        return bool(called.items) or said.upper != "TIMESTAMP"
    return False


def _by_alias(items: Sequence[Item], named: Mapping[tuple[str, ...], Token]) -> list[Item]:
    """What rows are ordered by, with the names of what is returned for it."""
    made: list[Item] = []
    at = 0
    while at < len(items):
        for end in range(len(items), at, -1) if not made or not is_sign(made[-1], ".") else ():
            alias = named.get(tuple(each.text for each in flat(items[at:end])))
            if alias is not None:
                made.append(replace(alias, place=flat(items[at:end])[0].place))
                at = end
                break
        else:
            item = items[at]
            made.append(
                replace(item, items=tuple(_by_alias(item.items, named))) if isinstance(item, Bracketed) else item
            )
            at += 1
    return made


def _carried(items: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """The names that a WITH carries on as they are, each with what it was called before."""
    for piece in apart(items[1:] if items and is_word(items[0], "DISTINCT") else items):
        if len(piece) in (1, 3) and is_name(piece[0]) and is_name(piece[-1]):
            yield piece[-1].text, piece[0].text


def _is_operand(item: Item | None) -> bool:
    """Whether an expression may end with this."""
    if isinstance(item, Token):
        return item.upper not in KEYWORDS - {"END"} and item.sort not in (Sort.SIGN, Sort.NUMBER)
    return item is not None


def _bound(said: Sequence[Token], value: str, *, below: str, above: str) -> str:
    """One end of a cut of a list, which counts from the end where it is below 0."""
    match [(each.sort, each.text) for each in said]:
        case []:
            return ""
        case [(Sort.NUMBER, _)]:
            return above
        case [(Sort.SIGN, "-"), (Sort.NUMBER, _)]:
            return below
        case _:
            return f"CASE WHEN ({value}) < 0 THEN ({value}) {below[2:]} ELSE ({value}) {above[2:]} END"


def _is_time(item: Item) -> bool:
    return is_name(item) and item.text.strip("`").lower() in MILLISECONDS


def _then(items: Sequence[Item]) -> int:
    """The place of the THEN that belongs to the WHEN at the beginning."""
    cases = 0
    for at, (before, item) in enumerate(pairwise(items), start=1):
        if is_sign(before, "."):
            continue
        if is_word(item, "THEN") and not cases:
            return at
        cases += is_word(item, "CASE") - is_word(item, "END")
    return len(items)


def _map(items: Sequence[Item]) -> dict[str, list[Item]]:
    """The keys of a map that is all there is, in small letters, with their values."""
    if len(items) != 1 or not is_in(items[0], "{"):
        return {}
    pieces = apart(items[0].items)
    return {flat(each[:1])[0].text.lower(): each[2:] for each in pieces if len(each) > 2 and is_sign(each[1], ":")}


def _span(items: Sequence[Item], keyed: Mapping[str, list[Item]]) -> str:
    """A span of time that is written as a map, or as ISO 8601 has it, as the engine has it; or nothing."""
    amounts: dict[str, str] = {}
    if keyed and keyed.keys() <= set(_SPANS):
        amounts = {name: "".join(each.text for each in flat(value)) for name, value in keyed.items()}
    elif len(items) == 1 and isinstance(items[0], Token) and items[0].sort is Sort.STRING:
        found = _ISO.fullmatch(text_of(items[0]))
        amounts = dict(zip(_SPANS, found.groups(), strict=True)) if found is not None else {}
    if "weeks" in amounts and (amounts["weeks"] or "").isdigit():
        amounts["days"] = str(7 * int(amounts.pop("weeks")) + int(amounts.get("days") or 0))
    told = [f"{amount} {name}" for name, amount in amounts.items() if amount]
    return " ".join(told) if all(each.split()[0].isdigit() for each in told) else ""


def _text(words: str, place: int) -> Token:
    """A text as a query has it."""
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return Token(Sort.STRING, f"'{escaped}'", place)
