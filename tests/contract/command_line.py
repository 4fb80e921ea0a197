"""The command line as people type it: commands, arguments, options, exit codes."""

import inspect
import json
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

import agent.errors
import graph.errors
import models.errors
from tui.commands import CHAT, HELP, app
from tui.entry import WITH_VALUE, chat_options
from tui.exit_codes import ExitCode, exit_code_of
from tui.output import TerminalGone

OURS = (agent.errors, graph.errors, models.errors)
OTHERS = (TerminalGone, BrokenPipeError, KeyboardInterrupt, OSError, ZeroDivisionError)
README = Path(__file__).parent.parent.parent / "README.md"
_MEANS = re.compile(r"^\| (\d+) \| (.+) \|$", re.MULTILINE)
_SENTENCE = re.compile(r"(?s)(.+?[.!?…])(?=\s|$)")


def commands() -> dict[str, Any]:
    """Every command by its name, with those below it; what the bare `clew` takes, and the options of the chat."""
    root: Any = typer.main.get_command(app)
    return {
        "clew": _command(root),
        "help": HELP["help_option_names"],
        "chat": {
            "--new": chat_options(["--new"]),
            **{name: chat_options([name, "VALUE"]) for name in WITH_VALUE},
            **{f"{name}=": chat_options([f"{name}=VALUE"]) for name in WITH_VALUE},
        },
        "commands": {
            name: told for each in root.list_commands(None) for name, told in _below(each, root.get_command(None, each))
        },
    }


def exit_codes() -> dict[str, Any]:
    """Every code, what the help and the README say of it, and the code that each class of error ends with."""
    ours = [
        each
        for module in OURS
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Exception) and each.__module__ == module.__name__
    ]
    return {
        "codes": {str(code.value): code.name for code in ExitCode},
        "help": " ".join(CHAT.partition("Exit codes: ")[2].split()).split(" · "),
        "readme": dict(_MEANS.findall(README.read_text(encoding="utf-8"))),
        "errors": {each.__name__: exit_code_of(each.__new__(each)).value for each in ours},
        "other errors": {each.__name__: exit_code_of(each.__new__(each)).value for each in OTHERS},
    }


def kind_of(hint: Any) -> str:
    """A type as people think of it: `str`, `list[str]`, `choice`; what may be left out is no part of it."""
    parts = [each for each in get_args(hint) if each is not NoneType]
    match get_origin(hint):
        case origin if origin is Union or origin is UnionType:
            return " or ".join(map(kind_of, parts))
        case origin if origin is Literal:
            return "choice"
        case type() as origin:
            return f"{origin.__name__}[{', '.join(map(kind_of, parts))}]"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "choice"
    return "path" if hint is Path else getattr(hint, "__name__", str(hint))


def _below(name: str, command: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """A command and those below it, by all that is typed."""
    yield name, _command(command)
    for each, below in getattr(command, "commands", {}).items():
        yield from _below(f"{name} {each}", below)


def _command(command: Any) -> dict[str, str]:
    """What a command says of itself, by ""; then its arguments in their order, and its options by all their flags."""
    function = inspect.unwrap(command.callback) if command.callback is not None else None
    hints = get_type_hints(function) if function is not None else {}
    defaults = {each.name: each.default for each in inspect.signature(function).parameters.values()} if function else {}
    first = _SENTENCE.match(inspect.cleandoc(command.help or ""))
    told = {"": ("hidden: " if command.hidden else "") + (" ".join(first[1].split()) if first else "")}
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name in defaults]
    for place, each in enumerate(arguments, start=1):
        told[f"{place} {each.metavar or each.name}"] = _parameter(each, hints, defaults)
    for each in options:  # the others are the library's
        told[" ".join([*each.opts, *each.secondary_opts])] = _parameter(each, hints, defaults)
    return told


def _parameter(parameter: Any, hints: dict[str, Any], defaults: dict[str, Any]) -> str:
    """An argument or option: its type, whether it must be there or what it is else, its bounds, and its words."""
    hint, default = hints[parameter.name], _plain(defaults[parameter.name])
    parts = [
        "hidden" if parameter.hidden else "",
        "|".join(_choices(hint) or ()) or kind_of(hint),
        parameter.metavar or "",
        "required" if parameter.required else "" if default is None else f"= {json.dumps(default)}",
        f"≥ {parameter.min}" if parameter.min is not None else "",
        f"≤ {parameter.max}" if parameter.max is not None else "",
    ]
    return f"{' '.join(filter(None, parts))}: {parameter.help}"


def _choices(hint: Any) -> list[str] | None:
    for each in (hint, *get_args(hint)):
        if isinstance(each, type) and issubclass(each, Enum):
            return [str(choice.value) for choice in each]
    return None


def _plain(default: Any) -> Any:
    """A default as JSON has it; None where there is none."""
    match default:
        case inspect.Parameter.empty:
            return None
        case Enum():
            return default.value
        case Path():
            return str(default)
    return default
