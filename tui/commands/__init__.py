"""The `clew` commands, a file for each subject, imported only when one of them is asked for.

`run` is the whole command line: it turns every error that can reach a person into a line on stderr and an exit code.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from tui.exit_codes import ExitCode, exit_code_of
from tui.output import complain, let_go, prepare_streams

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


# Name and module, in the order of the help. The command is a function of that name there, or an app of several.
COMMANDS = {
    "ask": "tui.commands.ask",
    "regenerate": "tui.commands.ask",
    "edit": "tui.commands.ask",
    "rewind": "tui.commands.chats",
    "fork": "tui.commands.chats",
    "tree": "tui.commands.chats",
    "hide": "tui.commands.removing",
    "unhide": "tui.commands.removing",
    "delete": "tui.commands.removing",
    "undo": "tui.commands.history",
    "marks": "tui.commands.history",
    "log": "tui.commands.log",
    "show": "tui.commands.log",
    "recall": "tui.commands.recall",
    "recent": "tui.commands.log",
    "about": "tui.commands.recall",
    "themes": "tui.commands.recall",
    "query": "tui.commands.query",
    "schema": "tui.commands.query",
    "mcp": "tui.commands.serving",
    "web": "tui.commands.serving",
    "serve": "tui.commands.serve",
    "memories": "tui.commands.memories",
    "review": "tui.commands.memories",
    "reflect": "tui.commands.reflect",
    "remember": "tui.commands.memories",
    "relate": "tui.commands.relations",
    "relations": "tui.commands.relations",
    "synthesize": "tui.commands.memories",
    "entity": "tui.commands.entities",
    "correct": "tui.commands.memories",
    "forget": "tui.commands.removing",
    "pin": "tui.commands.memories",
    "blocks": "tui.commands.memories",
    "projects": "tui.commands.chats",
    "sessions": "tui.commands.chats",
    "story": "tui.commands.stories",
    "card": "tui.commands.stories",
    "knows": "tui.commands.stories",
    "import": "tui.commands.importing",
    "export": "tui.commands.importing",
    "ingest": "tui.commands.ingest",
    "backup": "tui.commands.backup",
    "restore": "tui.commands.backup",
    "models": "tui.commands.models",
    "doctor": "tui.commands.doctor",
    "rebuild": "tui.commands.doctor",
    "erase": "tui.commands.erase",
}

CHAT = """Without a command, `clew` opens the chat; it takes --session ID, --new, --model NAME|PATH, --project NAME.

Results go to stdout, messages to stderr. Exit codes: 0 done · 1 the reply or the request failed, or the doctor found
something · 2 wrong usage or an empty message · 65 damaged data · 66 nothing has that id · 69 the model is not
available · 70 a bug · 73, 74 cannot write · 75 another clew is using this memory · 78 a setting is wrong · 129 the
terminal was closed · 130 Ctrl+C · 141 the output was closed · 143 ended by a signal."""


class Commands(TyperGroup):
    """The commands of COMMANDS, and the one place where their errors end."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, imported now; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = typer.main.get_command(_app_of(getattr(import_module(COMMANDS[cmd_name]), name)))
        command.name = cmd_name
        tidy(command)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Like the group's own, with every name known to the suggestions for a typo."""
        self.commands = cast(Any, dict.fromkeys(COMMANDS))  # only the names are looked at
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; its errors become a line on stderr and an exit code."""
        from agent.errors import AgentError
        from graph.errors import MemoryFailure
        from models.errors import ModelError

        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            put_in_words(error)
            raise
        except (MemoryFailure, ModelError, AgentError, OSError) as error:
            if isinstance(error, OSError):
                let_go(sys.stdout)
            if not isinstance(error, BrokenPipeError):
                complain(error)
            raise typer.Exit(exit_code_of(error)) from error
        except OverflowError as error:
            complain(ValueError("A number in the command is too large. Nothing was changed."))
            raise typer.Exit(ExitCode.USAGE) from error


app = typer.Typer(
    cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False, epilog=CHAT, context_settings=HELP
)


def _app_of(command: Any) -> typer.Typer:
    """The app of one command, or the one that a command with others below it is already."""
    if isinstance(command, typer.Typer):
        return command
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(command)
    return app


def _version(asked: bool) -> None:
    if asked:
        from tui.version import VERSION

        typer.echo(f"clew {VERSION}")
        raise typer.Exit


@app.callback()
def clew(
    home: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="The folder for settings, memory, models and caches.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A terminal chat that remembers, offline."""
    if home is not None:
        os.environ["CLEW_HOME"] = home  # for what is resolved later, and for processes that are started


def run(argv: Sequence[str]) -> int:
    """Run one command line (without the program's name); its exit code."""
    os.umask(0o077)
    prepare_streams()
    command = typer.main.get_command(app)
    try:
        command.main(args=home_first(argv), prog_name="clew")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ExitCode.OK if end.code is None else ExitCode.FAILED
    except OSError as error:  # of typer's own words: the help, or what is wrong with the usage
        let_go(sys.stdout)
        let_go(sys.stderr)
        return exit_code_of(error)
    finally:
        for stream in (sys.stdout, sys.stderr):
            let_go(stream)  # else a terminal that is gone makes Python end with 120
    return ExitCode.OK


def home_first(argv: Sequence[str]) -> list[str]:
    """The arguments with a `--home FOLDER` from behind the command put in front of it, where it belongs."""
    words, home = list(argv), []
    end = words.index("--") if "--" in words else len(words)
    for at, word in enumerate(words[:end]):
        if word == "--home" and at + 1 < end:
            home = words[at : at + 2]
        elif word.startswith("--home="):
            home = words[at : at + 1]
        else:
            continue
        del words[at : at + len(home)]
        break
    return home + words
