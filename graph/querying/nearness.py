"""The name that was meant, where the engine says that there is no such table or property."""

import re
from difflib import get_close_matches

from graph.querying.functions import FUNCTIONS, INSTEAD
from graph.schema import META, NODES, RELS

_TABLES = {each.name.lower(): each.name for each in (*NODES, META, *RELS)}
_PROPERTIES = {name.lower(): name for each in (*NODES, META, *RELS) for name in each.names}
_NO_TABLE = re.compile(r"Table (\S+) does not exist")
_NO_PROPERTY = re.compile(r"Cannot find property (\S+) for (\S+?)\.?$")
_NO_VARIABLE = re.compile(r"Variable (\S+) is not in scope")
_UNTYPED = re.compile(r"vector with ANY type|KU_UNREACHABLE|type ANY")
CUTOFF = 0.6


def plainly(words: str) -> str:
    """What the engine said, in a sentence that names what was meant; as it is where there is nothing to add."""
    if found := _NO_TABLE.search(words):
        near = nearest(found[1], _TABLES)
        meant = f"; did you mean {near}?" if near else ". `clew schema` lists those there are"
        return f"There is no table {found[1]}{meant}"
    if found := _NO_PROPERTY.search(words):
        near = nearest(found[1], _PROPERTIES)
        return f"{found[2]} has no property {found[1]}{f'; did you mean {near}?' if near else ''}"
    if found := _NO_VARIABLE.search(words):
        return f"Nothing is called {found[1]} here: name it in a MATCH, or carry it on in WITH"
    if _UNTYPED.search(words):
        return "An empty list, or a null, has no type of its own here: give it one, as in CAST([] AS STRING[])"
    return words


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
