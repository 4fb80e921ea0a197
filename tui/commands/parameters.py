"""`--param name=value`: the values of a query from the command line, as JSON where they are that, else as text."""

import json
from collections.abc import Sequence
from typing import Any

import typer

PARAM = "A value for $NAME in the query, as JSON or text. Can be repeated."


def values_of(given: Sequence[str]) -> dict[str, Any]:
    """The values by name. Raises BadParameter for what has no name, or one that was there already."""
    values: dict[str, Any] = {}
    for each in given:
        name, sign, value = each.partition("=")
        name = name.strip().removeprefix("$")
        if not sign or not name.isidentifier():
            raise typer.BadParameter(f"{each!r} is not NAME=VALUE", param_hint="--param")
        if name in values:
            raise typer.BadParameter(f"${name} is given twice", param_hint="--param")
        values[name] = read(value)
    return values


def read(value: str) -> Any:
    """A value as it was meant: 3, true, null, ["a", "b"] and "3" are JSON, everything else is text."""
    try:
        return json.loads(value, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return value


def _no_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity, which JSON has not
