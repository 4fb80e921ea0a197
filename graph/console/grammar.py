"""What a query of the console may say: the clauses that read, and the functions that only compute.

Both are lists of what is allowed; a word that is in none of them is refused where a clause could begin. The second
wall, a read-only transaction, is no security boundary by itself: inside one the engine still reads and writes files,
attaches others and changes settings.
"""

import re
from dataclasses import dataclass, field
from typing import NoReturn

from graph.console.dialect import MILLISECONDS, translated
from graph.console.functions import AGGREGATES, FUNCTIONS, NEVER_OF_NULL, WITH_LAMBDAS
from graph.console.lexing import BEGINNINGS, CLOSING, DEEPEST, Sort, Token, refused, text_of, words, written
from graph.console.lexing import CLAUSES as CLAUSES
from graph.console.lexing import KEYWORDS as KEYWORDS
from graph.console.renames import RELATIONSHIPS, now_called
from graph.console.suggestions import meant_function
from graph.errors import Refused

DEEPEST_CASE = 5
TIMES = {  # the first and the last number that is a time of the years 1 to 9999
    "make_date": (1, 9_999),
    "to_timestamp": (-62_135_596_800, 253_402_300_799),
    "epoch_ms": (-62_135_596_800_000, 253_402_300_799_999),
}
OF_TEXTS = frozenset(("date", "timestamp", "to_date"))
LONGEST_RANGE = 100_000  # the engine makes a list of a range before it looks at the time

ENDING = words("NULL TRUE FALSE END")  # after which an expression is complete
# What writes, reaches out or changes a setting begins with one of these: refused wherever one stands bare.
REACHING = words(
    "ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMIT COPY CREATE DELETE DETACH DROP EXPLAIN EXPORT FOREACH IMPORT "
    "INSTALL LOAD MERGE PROFILE REMOVE ROLLBACK SET TRUNCATE UNINSTALL UPDATE USE YIELD"
)

BEFORE_BRACKETS = KEYWORDS - ENDING  # words that no function's name is: "WHERE (a OR b)"
SCHEMA = re.compile(r"(?:show_tables\(\)|(?:table_info|show_connection)\('\w+'\))\Z", re.IGNORECASE)


def checked(query: str) -> str:
    """The query as the engine is to get it. Raises Refused for what is wrong, or would do more than read."""
    tokens = translated(query)
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
    for name in (each for each in tokens if each.sort is Sort.STRING):
        if (now := RELATIONSHIPS.get(text_of(name))) is not None:
            raise refused(query, name.place, now_called(text_of(name), now))
    if not SCHEMA.match(called) or [token.upper for token in tokens[-2:]] != ["RETURN", "*"]:
        raise refused(
            query,
            tokens[0].place,
            "Only show_tables(), table_info('Turn') and show_connection('RECALLED') may be called, with RETURN *",
        )


@dataclass(slots=True)
class _Reading:
    """One walk over the tokens, which knows whether an expression is complete where it is."""

    query: str
    tokens: list[Token]
    at: int = 0
    complete: bool = False  # whether what stands before is a whole expression
    open: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)  # of each open bracket: the function it belongs to, or nothing
    cases: int = 0  # that are open
    counted: set[bool] = field(default_factory=set)  # of the aggregates of this projection: is it of distinct values?
    returned: bool = False
    matched: bool = False  # whether this part of a UNION has rows of the graph, or of a list
    nulls: set[str] = field(default_factory=set)  # the names that a WITH gave to a bare null
    bound: str = ""  # the last of MATCH, WITH …: whose WHERE comes

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
                self.calls.append(self._called() if token.text == "(" else "")
                if len(self.open) > DEEPEST:
                    raise self._wrong(token, f"Brackets go {DEEPEST} deep at most")
                self.complete = False
            case ")" | "]" | "}":
                if not self.open or self.open.pop() != CLOSING[token.text]:
                    raise self._wrong(token, f"This {token.text!r} closes nothing")
                self.calls.pop()
                self.complete = True
            case "*":
                self.complete = self._before() in ("(", "RETURN", "WITH", "DISTINCT")
            case "!=":
                raise self._wrong(token, "Say <> for what is not the same")
            case ";":
                raise self._wrong(token, "One statement at a time")
            case "-" if self._after() == ">" and self._before() not in ("-", "]") and not self._in(WITH_LAMBDAS):
                functions = ", ".join(sorted(WITH_LAMBDAS))
                raise self._wrong(token, f"An expression of x -> … stands in {functions}, and nowhere else")
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
        if word == "END" and self.cases:
            self.cases -= 1
        if word == "NULL":
            self._check_null(token)
            if (
                self._before() in ("WITH", ",")
                and self.bound == "WITH"
                and not self.open
                and self._after().upper() == "AS"
            ):
                self.nulls.add(self.tokens[min(self.at + 2, len(self.tokens) - 1)].text)
        if word in ("RETURN", "WITH"):
            self.counted.clear()
        if word == "WHERE" and self.bound == "WITH" and not self.matched and not self.open:
            raise self._wrong(token, "WHERE needs a MATCH or UNWIND before it")
        if word in BEGINNINGS | {"UNION"} and not self.open:
            self.bound = word
            self.matched = word != "UNION" and (self.matched or word in ("MATCH", "UNWIND"))
        self.returned |= word == "RETURN"
        self.complete = word in ENDING

    def _operand(self, token: Token) -> None:
        if self.complete:
            raise self._wrong(token, f"{token.text} cannot stand here")
        if token.text in self.nulls and self._in(NEVER_OF_NULL):
            self._check_null(token)
        if token.sort is Sort.QUOTED and self._after() == "(":
            raise self._wrong(token, "Write the names of functions without backticks")
        self.complete = True

    def _function(self, token: Token) -> None:
        name = token.text.lower()
        if self.complete or self._before() == ".":
            raise self._wrong(token, f"{token.text} cannot stand here")
        if name not in FUNCTIONS:
            raise self._wrong(
                token, f"The function {token.text} is not known here, or does more than compute{meant_function(name)}"
            )
        if name == "range":
            self._check_range(token)
        if name in TIMES or name in OF_TEXTS:
            self._check_year(token)
        if name == "to_timestamp":
            self._check_seconds(token)

    def _aggregate(self, token: Token) -> None:
        """The engine answers wrongly, or brings the process down, where both sorts stand in one projection."""
        self._operand(token)
        self.counted.add(self.tokens[min(self.at + 2, len(self.tokens) - 1)].upper == "DISTINCT")
        if len(self.counted) > 1:
            why = "DISTINCT aggregates cannot be mixed with other aggregates here; compute those in an earlier WITH"
            raise self._wrong(token, why)

    def _check_seconds(self, token: Token) -> None:
        """A time thousands of years ahead, which milliseconds taken for seconds are, brings the engine down."""
        found = re.match(r"(\w+\.`?(\w+)`?)\)", "".join(each.text for each in self.tokens[self.at + 2 : self.at + 6]))
        if found is not None and found[2].lower() in MILLISECONDS:
            why = f"{found[1]} is in milliseconds, and to_timestamp() takes seconds: say epoch_ms({found[1]})"
            raise self._wrong(token, why)

    def _check_year(self, token: Token) -> None:
        """A time that Python has no year for brings the engine down."""
        text = "".join(each.text for each in self.tokens[self.at + 2 : self.at + 4])
        name = token.text.lower()
        least, most = TIMES.get(name, TIMES["make_date"])
        found = re.match(r"['\"]\s*(\d+)-" if name in OF_TEXTS else r"(-?\d+)(?=[,)]|$)", text)
        if found is not None and not least <= int(found[1]) <= most:
            raise self._wrong(token, "Times go from the year 1 to the year 9999 here")

    def _check_null(self, token: Token) -> None:
        """A null that stands for itself has no type, and some of the engine's functions go down with it."""
        if self._before() == "IN":
            raise self._wrong(token, "IN needs a list, not null")
        if self._in(NEVER_OF_NULL) and self._before() in ("(", ","):
            raise self._wrong(token, f"{self.calls[-1]}() is not given a bare null here: CAST(null AS …) says of what")

    def _check_range(self, token: Token) -> None:
        text = "".join(each.text for each in self.tokens[self.at + 2 : self.at + 9])
        found = re.match(r"(-?\d{1,9}),(-?\d{1,9})(?:,-?[1-9]\d{0,8})?\)", text)
        if found is None or abs(int(found[2]) - int(found[1])) > LONGEST_RANGE:
            raise self._wrong(token, f"range() is given whole numbers here, {LONGEST_RANGE:,} apart at most")

    def _called(self) -> str:
        """The function whose bracket opens here, in small letters; nothing if it is none."""
        before = self.tokens[self.at - 1] if self.at else None
        return before.text.lower() if before is not None and before.sort is Sort.WORD else ""

    def _in(self, functions: frozenset[str]) -> bool:
        """Whether this stands directly in the brackets of one of them."""
        return bool(self.calls) and self.calls[-1] in functions

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
