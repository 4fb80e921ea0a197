"""What a query of the console may say: the clauses that read, and the functions that only compute.

Both are lists of what is allowed; a word that is in none of them is refused where a clause could begin. The second
wall, a read-only transaction, is no security boundary by itself: inside one the engine still reads and writes files,
attaches others and changes settings.
"""

import re
from dataclasses import dataclass, field
from typing import NoReturn

from graph.errors import Refused
from graph.querying.lexing import Sort, Token, refused, tokens_of, written

DEEPEST = 30  # brackets inside brackets: the engine's parser takes exponentially long, and cannot be stopped
DEEPEST_CASE = 5
LONGEST_RANGE = 100_000  # the engine makes a list of a range before it looks at the time


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BEGINNINGS = _words("MATCH OPTIONAL WITH UNWIND RETURN")
CLAUSES = BEGINNINGS | _words("WHERE ORDER SKIP LIMIT UNION")
OPERATORS = _words("AND OR XOR NOT IN IS STARTS ENDS CONTAINS AS BY ON")
OTHERS = _words(
    "ALL ANY NONE SINGLE DISTINCT CASE WHEN THEN ELSE END NULL TRUE FALSE ASC ASCENDING DESC DESCENDING EXISTS COUNT "
    "SHORTEST WSHORTEST TRAIL ACYCLIC"
)
KEYWORDS = CLAUSES | OPERATORS | OTHERS
ENDING = _words("NULL TRUE FALSE END")  # after which an expression is complete
# What writes, reaches out or changes a setting begins with one of these: refused wherever one stands bare.
REACHING = _words(
    "ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMIT COPY CREATE DELETE DETACH DROP EXPLAIN EXPORT FOREACH IMPORT "
    "INSTALL LOAD MERGE PROFILE REMOVE ROLLBACK SET TRUNCATE UNINSTALL UPDATE USE YIELD"
)

AGGREGATES = _words("avg collect count max min sum")
_OF_GRAPHS = (
    "cost end_node id is_acyclic is_trail keys label labels length nodes nullif offset properties relationships rels "
    "start_node"
)
_OF_NUMBERS = (
    "abs acos asin atan atan2 bitshift_left bitshift_right bitwise_and bitwise_or bitwise_xor cbrt ceil ceiling cos "
    "cot degrees even floor greatest least ln log log10 log2 negate pi pow radians round sign sin sqrt tan"
)
_OF_STRINGS = (
    "concat concat_ws contains ends_with initcap lcase left levenshtein lower ltrim md5 prefix regexp_extract "
    "regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array reverse right rtrim "
    "sha256 size split_part starts_with stem string string_split string_to_array str_split substr substring suffix "
    "tolower toupper trim ucase upper"
)
_OF_LISTS = (
    "array_contains array_distance array_extract array_has array_slice element_at list_any_value list_append list_cat "
    "list_concat list_contains list_distinct list_element list_extract list_filter list_has list_has_all "
    "list_indexof list_position list_prepend list_product list_reduce list_reverse list_reverse_sort list_slice "
    "list_sort list_sum list_to_string list_transform list_unique map map_extract map_keys map_values range "
    "struct_extract struct_pack cardinality"
)
_OF_TIMES = (
    "century current_date current_timestamp date datepart datetrunc date_part date_trunc dayname duration epoch_ms "
    "interval last_day make_date monthname timestamp to_days to_epoch_ms to_hours to_milliseconds to_minutes to_months "
    "to_seconds to_timestamp to_years"
)
_OTHER_FUNCTIONS = (
    "cast coalesce constant_or_null decode encode hash ifnull octet_length to_bool to_date to_double to_float "
    "to_int8 to_int16 to_int32 to_int64 to_int128 to_string typeof uuid"
)
FUNCTIONS = _words(
    " ".join((*AGGREGATES, _OF_GRAPHS, _OF_NUMBERS, _OF_STRINGS, _OF_LISTS, _OF_TIMES, _OTHER_FUNCTIONS))
)
BEFORE_BRACKETS = KEYWORDS - ENDING  # words that no function's name is: "WHERE (a OR b)"
SCHEMA = re.compile(r"(?:show_tables\(\)|table_info\('\w+'\))\Z", re.IGNORECASE)

_CLOSING = {")": "(", "]": "[", "}": "{"}


def checked(query: str) -> str:
    """The query as the engine is to get it. Raises Refused for what is wrong, or would do more than read."""
    tokens = tokens_of(query)
    if tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens:
        raise refused(query, 0, "There is no query here. Say one: MATCH (t:Turn) RETURN t.text LIMIT 10")
    if tokens[0].upper == "CALL":
        _check_schema(query, tokens)
    else:
        _Reading(query, tokens).check()
    return written(query, tokens)


def _check_schema(query: str, tokens: list[Token]) -> None:
    """The only calls there are: they list the tables, or the columns of one."""
    called = "".join(token.text for token in tokens[1:-2])
    if not SCHEMA.match(called) or [token.upper for token in tokens[-2:]] != ["RETURN", "*"]:
        raise refused(
            query,
            tokens[0].place,
            "Only CALL show_tables() RETURN * and CALL table_info('Turn') RETURN * may be called",
        )


@dataclass(slots=True)
class _Reading:
    """One walk over the tokens, which knows whether an expression is complete where it is."""

    query: str
    tokens: list[Token]
    at: int = 0
    complete: bool = False  # whether what stands before is a whole expression
    open: list[str] = field(default_factory=list)
    cases: int = 0
    counted: set[bool] = field(default_factory=set)  # of the aggregates of this projection: is it of distinct values?
    returned: bool = False

    def check(self) -> None:
        first = self.tokens[0]
        if first.sort is not Sort.WORD or first.upper not in BEGINNINGS:
            self._refuse_word(first)
        for at, token in enumerate(self.tokens):
            self.at = at
            match token.sort:
                case Sort.SIGN:
                    self._sign(token)
                case Sort.WORD:
                    self._word(token)
                case _:
                    self._operand(token)
        last = self.tokens[-1]
        if self.open:
            raise self._wrong(last, f"A {self.open[-1]!r} is never closed")
        if not self.returned:
            raise self._wrong(last, "The query returns nothing: end it with RETURN")

    def _sign(self, token: Token) -> None:
        match token.text:
            case "(" | "[" | "{":
                self.open.append(token.text)
                if len(self.open) > DEEPEST:
                    raise self._wrong(token, f"Brackets go {DEEPEST} deep at most")
                self.complete = False
            case ")" | "]" | "}":
                if not self.open or self.open.pop() != _CLOSING[token.text]:
                    raise self._wrong(token, f"This {token.text!r} closes nothing")
                self.complete = True
            case "*":
                self.complete = self._before() in ("(", "RETURN", "WITH", "DISTINCT")
            case ";":
                raise self._wrong(token, "One statement at a time")
            case _:
                self.complete = False

    def _word(self, token: Token) -> None:
        word, before, called = token.upper, self._before(), self._after() == "("
        inside = self.open[-1] if self.open else ""
        if before == "." and not called:
            self.complete = True  # a property
        elif not called and ((before == ":" and inside != "{") or (before == "|" and inside == "[")):
            self.complete = True  # a label
        elif inside == "{" and before in ("{", ",") and self._after() == ":":
            self.complete = True  # a key
        elif word in REACHING:
            self._refuse_word(token)
        elif before == "AS" and (not called or word == "DECIMAL"):
            self.complete = True  # another name, or a type
        elif called and token.text.lower() in AGGREGATES:
            self._aggregate(token)
        elif called and word not in BEFORE_BRACKETS:
            self._function(token)
        elif word in KEYWORDS:
            self._keyword(token, word)
        else:
            self._operand(token)

    def _keyword(self, token: Token, word: str) -> None:
        if word == "CASE":
            self.cases += 1
            if self.cases > DEEPEST_CASE:
                raise self._wrong(token, f"CASE goes {DEEPEST_CASE} deep at most")
        if word == "END":
            self.cases = max(0, self.cases - 1)
        if word in ("RETURN", "WITH"):
            self.counted.clear()
        self.returned |= word == "RETURN"
        self.complete = word in ENDING

    def _operand(self, token: Token) -> None:
        if self.complete:
            raise self._wrong(token, f"{token.text} cannot stand here")
        if token.sort is Sort.QUOTED and self._after() == "(":
            raise self._wrong(token, "Write the names of functions without backticks")
        self.complete = True

    def _function(self, token: Token) -> None:
        name = token.text.lower()
        if self.complete or self._before() == ".":
            raise self._wrong(token, f"{token.text} cannot stand here")
        if name not in FUNCTIONS:
            raise self._wrong(token, f"The function {token.text} is not known here, or does more than compute")
        if name == "range":
            self._check_range(token)

    def _aggregate(self, token: Token) -> None:
        """The engine answers wrongly, or brings the process down, where both sorts stand in one projection."""
        self._operand(token)
        self.counted.add(self.tokens[min(self.at + 2, len(self.tokens) - 1)].upper == "DISTINCT")
        if len(self.counted) > 1:
            why = "Aggregates of DISTINCT values go with no others here: count the others in a WITH before"
            raise self._wrong(token, why)

    def _check_range(self, token: Token) -> None:
        text = "".join(each.text for each in self.tokens[self.at + 2 : self.at + 9])
        found = re.match(r"(-?\d{1,9}),(-?\d{1,9})(?:,-?[1-9]\d{0,8})?\)", text)
        if found is None or abs(int(found[2]) - int(found[1])) > LONGEST_RANGE:
            raise self._wrong(token, f"range() is given whole numbers here, {LONGEST_RANGE:,} apart at most")

    def _before(self) -> str:
        return self.tokens[self.at - 1].upper if self.at else ""

    def _after(self) -> str:
        return self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""

    def _refuse_word(self, token: Token) -> NoReturn:
        if token.upper in REACHING:
            why = f"{token.upper} does more than read the graph, and is not run here"
        else:
            why = "A query begins with MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN"
        raise self._wrong(token, why)

    def _wrong(self, token: Token, why: str) -> Refused:
        return refused(self.query, token.place, why)
