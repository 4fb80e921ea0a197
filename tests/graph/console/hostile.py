"""Statements that would do more than read, or bring the engine down, by what they try; none of them may ever be run.

They stand in hostile.toml, but for those that are made here. `{outside}` stands for a folder beside the memory, in
which there are the canaries: files whose words nothing may show.
"""

from collections.abc import Callable

from graph.console.lexing import LONGEST
from tests.graph.console.told import tables

CANARY = "canary-7f3a"  # in every file that must not be read
FILES = ("canary.csv", "canary.json", "canary.parquet", "canary.npy", "canary.txt")

LARGE = (
    "RETURN " + "(" * 40 + "1" + ")" * 40,
    "RETURN " + "[" * 40 + "1" + "]" * 40,
    "RETURN " + "{a: " * 40 + "1" + "}" * 40,
    "RETURN " + "CASE WHEN 1 = 1 THEN " * 30 + "1" + " END" * 30,
    "RETURN " + "upper(" * 31 + "'x'" + ")" * 31,
    "RETURN " + "1+" * 5000 + "1",
    "RETURN " + "NOT " * 2500 + "true",
    "MATCH " + "(a)--" * 900 + "(b) RETURN 1",
    "RETURN '" + "x" * LONGEST + "'",
    "RETURN 1 " + " " * LONGEST,
    "/*" + "x" * LONGEST + "*/ RETURN 1",
)

GROUPS: dict[str, tuple[str, ...]] = {name: tuple(rows) for name, rows in tables("hostile.toml").items()}
_VERBS, _PLACES = GROUPS.pop("verbs"), GROUPS.pop("places")
GROUPS["resources"] += LARGE
GROUPS["spelled"] += ("RETURN 'a\ud800b'",)  # which no file can hold
GROUPS["in the middle"] = tuple(place.replace("{verb}", verb) for place in _PLACES for verb in _VERBS)
HOSTILE = tuple(dict.fromkeys(statement for group in GROUPS.values() for statement in group))

BLANK = "\u2003"
SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    lambda query: "".join(each.upper() if at % 2 else each.lower() for at, each in enumerate(query)),
    lambda query: query.replace(" ", BLANK),
    lambda query: query.replace(" ", "\r\n\t"),
    lambda query: f"/* RETURN 1; */ {query}\n // ;",
    lambda query: f"{query};",
    lambda query: f";{query}",
    lambda query: f"RETURN 1; {query}",
    lambda query: f"{query}; RETURN 1",
    lambda query: f"\ufeff{query}",
    lambda query: query if "/" in query else query.replace(" ", "/* x */"),
    lambda query: query if "/" in query else query.replace(" ", " // RETURN 1\n"),
)
