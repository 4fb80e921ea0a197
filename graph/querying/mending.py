"""What the engine says in words of its workings, as a sentence with what to do; and which value it means."""

import re
from collections.abc import Mapping
from typing import Any

_NO_MATCH = re.compile(r"Cannot match a built-in function for given function (\S+?)\(([^()]*)\)")
_ARGUMENTS = re.compile(r"Function (\S+) did not receive correct arguments:\s*Actual:\s*\(([^()]*)\)")
_EXPECTED = re.compile(r"Expected:\s*(?:DISTINCT )?(\([^()]*\))")
_OF_A_VALUE = re.compile(r"(?:Could not convert|Given:) \"(.*?)\"", re.DOTALL)
# What a value of another type would mend.
_OF_A_TYPE = re.compile(
    r"Cannot compare types|correct arguments|built-in function|has data type|non-negative integer|Conversion exception"
)
_SORTS = ((bool, "true or false"), (int, "a whole number"), (float, "a number"), (str, "a text"), (dict, "a map"))


def mended(words: str) -> str:
    """What the engine said, without long lists of types and the errors of its workings."""
    if "codec can't decode" in words:
        return "A function made something that is no text: initcap() does so of letters like ß. Say lower() or upper()"
    if "bad_function_call" in words:
        return "The engine cannot take something computed for a condition here: compare it, as in … = true"
    if found := _NO_MATCH.search(words) or _ARGUMENTS.search(words):
        name, types = found[1], " and ".join(each.strip() for each in found[2].split(",")) or "nothing"
        if not name[0].isalpha():
            return (
                f"{name} does not go with {types}: put brackets around what belongs together, as in (a {name} b), or "
                "say CAST(x AS INT64), CAST(x AS STRING)"
            )
        expected = _EXPECTED.search(words)
        example = f", but for example {expected[1]}" if expected is not None else ""
        return f"{name.lower()}() is not given {types} here{example}"
    return words


def value_meant(words: str, parameters: Mapping[str, Any]) -> str:
    """The name of the parameter that an error of types is about, as far as one can tell; or nothing."""
    if _OF_A_TYPE.search(words) is None:
        return ""
    if found := re.search(r"\$(\w+) has data type", words):
        return found[1]
    if found := _OF_A_VALUE.search(words):
        return next((name for name, value in parameters.items() if str(value) == found[1]), "")
    return next(iter(parameters)) if len(parameters) == 1 else ""


def sort_of(value: Any) -> str:
    """What sort of value was given, in words."""
    if isinstance(value, list):  # as it is packed
        return {"time": "a time", "date": "a date"}.get(value[0], "a list")
    return next((name for sort, name in _SORTS if isinstance(value, sort)), "null")
