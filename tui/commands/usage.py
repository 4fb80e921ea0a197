"""What typer says of a command, said as clew says things: whole summaries, no Python types, and errors in words."""

import re
from collections.abc import Callable
from typing import Any

import typer

HELP = {"help_option_names": ["--help", "-h"]}
_SENTENCE = re.compile(r"(?s)(.+?[.!?…])(?=\s|$)")
_OF_PYDANTIC: dict[str, Callable[[Any, dict[str, Any]], str]] = {
    "value_error": lambda value, about: str(about["error"]),
    "int_parsing": lambda value, about: f"{value!r} is not a whole number.",
    "float_parsing": lambda value, about: f"{value!r} is not a number.",
    "greater_than_equal": lambda value, about: f"{value} is too small: {about['ge']} is the least.",
    "less_than_equal": lambda value, about: f"{value} is too large: {about['le']} is the most.",
}


def tidy(command: Any) -> None:
    """Have a command, and those below it, listed with its first sentence whole, and its values named as people do."""
    vars(command)["rich_markup_mode"] = None  # one look for all, and none that a pipe has to carry
    if command.help and (first := _SENTENCE.match(command.help)):
        command.short_help = " ".join(first[1].split())
    for parameter in command.params:
        if (least := getattr(parameter, "min", None)) is not None:
            told = f"from {least:g}" if parameter.max is None else f"{least:g} to {parameter.max:g}"
            vars(parameter)["_get_number_range_help_str"] = lambda told=told: told
        if parameter.param_type_name == "argument":
            vars(parameter)["display_type_rich"] = lambda ctx: None
        elif parameter.metavar is None and not getattr(parameter, "is_flag", False):
            named = parameter.display_type
            vars(parameter)["display_type"] = lambda ctx, named=named: named(ctx=ctx).strip("<>")
    for below in getattr(command, "commands", {}).values():
        tidy(below)


def put_in_words(error: typer.BadParameter) -> None:
    """Have a value that was refused say why in words, where that is pydantic's to say."""
    problems: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    if problems and (words := _OF_PYDANTIC.get(problems[0]["type"])):
        error.message = words(problems[0]["input"], problems[0].get("ctx", {}))
