"""The name that was meant, where the engine says that there is no such table or property."""

import re
from difflib import get_close_matches

from graph.console.functions import FUNCTIONS, INSTEAD
from graph.console.lexing import tokens_of
from graph.console.renames import now_called, property_now
from graph.projection.schema import META, NODES, RELS

_TABLES = {each.name.lower(): each.name for each in (*NODES, META, *RELS)}
_PROPERTIES = {each.name: {name.lower(): name for name in each.names} for each in (*NODES, META, *RELS)}
_NO_TABLE = re.compile(r"Table (\S+) does not exist")
_NO_PROPERTY = re.compile(r"Cannot find property (\S+) for (\S+?)\.?$")
_NO_FIELD = re.compile(r"Invalid (?:property|struct field) name: (\w+)")
_NO_VARIABLE = re.compile(r"Variable (\S+) is not in scope")
_UNTYPED = re.compile(r"vector with ANY type|KU_UNREACHABLE|type ANY")
CUTOFF = 0.6


def plainly(words: str, statement: str = "") -> str:
    """What the engine said of a statement, with the name that was meant; as it is where there is nothing to add."""
    if found := _NO_TABLE.search(words):
        near = nearest(found[1], _TABLES)
        meant = f"; did you mean {near}?" if near else ". `clew schema` lists those there are"
        return f"There is no table {found[1]}{meant}"
    if found := _NO_PROPERTY.search(words):
        tables = _tables_of(found[2], statement)
        if (now := property_now(found[1], tables)) is not None:
            return f"{found[2]} has no property {found[1]}; {now_called('it', now)}"
        near = _property(found[1], tables)
        return f"{found[2]} has no property {found[1]}{f'; did you mean {near}?' if near else ''}"
    if (found := _NO_FIELD.search(words)) and (now := property_now(found[1])) is not None:
        return f"Nothing has a property {found[1]}; {now_called('it', now)}"
    if found := _NO_VARIABLE.search(words):
        return f"Nothing is called {found[1]} here: name it in a MATCH, or carry it on in WITH"
    if _UNTYPED.search(words):
        return "An empty list, or a null, has no type of its own here: give it one, as in CAST([] AS STRING[])"
    return words


def _property(name: str, tables: list[str]) -> str:
    """The property of these tables that may have been meant: a name like it, or one of its words (`said_at`: at)."""
    known = {small: each for table in tables or _PROPERTIES for small, each in _PROPERTIES[table].items()}
    known.pop(name.lower(), None)  # another of the tables has it
    return nearest(name, known) or next((known[part] for part in name.lower().split("_") if part in known), "")


def _tables_of(variable: str, statement: str) -> list[str]:
    """The tables that a variable is said to be of, as in (t:Turn); none where it is not said."""
    texts = [each.text.strip("`") for each in tokens_of(statement)]
    found: list[str] = []
    for place, text in enumerate(texts):
        at = place + 1
        while text == variable and at + 1 < len(texts) and texts[at] in (":", "|"):
            found += [table] if (table := _TABLES.get(texts[at + 1].lower(), "")) in _PROPERTIES else []
            at += 2
    return found


def nearest(name: str, known: dict[str, str]) -> str:
    """The one of what is known (by small letters) that is most like a name; nothing if none is."""
    found = get_close_matches(name.strip("`").lower(), known, n=1, cutoff=CUTOFF)
    return known[found[0]] if found else ""


def meant_function(name: str) -> str:
    """What may have been meant by the name of a function that there is not, as the end of a sentence."""
    if name in INSTEAD:
        return f"; here it is {INSTEAD[name]}"
    found = get_close_matches(name, FUNCTIONS, n=1, cutoff=0.75)
    return f"; did you mean {found[0]}?" if found else ""
