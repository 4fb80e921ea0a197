"""`clew ask`: one message, one streamed reply, in a pipe or on a terminal."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tui.commands.choosing import complete_session
from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import say
from tui.text import clean

MOST_BYTES = 8 << 20

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def ask(
    ctx: typer.Context,
    message: Annotated[
        list[str] | None, typer.Argument(metavar="MESSAGE", help="The message; piped text is added to it.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Continue this chat, or the `last` one; without it, start a new chat.",
            autocompletion=complete_session,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|PATH", help="The model that answers; a chat with its own model changes to it."),
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="The project of a new chat.")] = None,
    system: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The system prompt of the chat, from here on.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow the model to change the memory; otherwise it may not.")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="Send `@file` in MESSAGE as plain text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when the reply is complete.")] = False,
) -> None:
    """Ask something and print the reply. `@file` in MESSAGE attaches the text of that file.

    `accepted TURN` on stderr means that the message is saved. Ctrl+C stops the reply and keeps the partial reply.
    """
    text = message_of(message or [], attached=not no_attach)
    from agent.settings import load_settings
    from agent.text import clean_message
    from models.quiet import guard_descriptors
    from tui.commands.asking import AskRequest, ReplyPrinter, run_question

    clean_message(text)  # an empty message is refused before anything is opened
    home = home_of(ctx)
    settings = load_settings(home.config, **({"model": model} if model is not None else {}))
    guard_descriptors(home.native_log)
    question = AskRequest(
        text,
        session=session,
        project=clean(project) if project is not None else None,
        system=clean(system) if system is not None else None,
        model=model,
        yes=yes,
    )
    raise typer.Exit(run_question(home, settings, question, ReplyPrinter(as_json=as_json)))


def message_of(words: list[str], *, attached: bool = True) -> str:
    """The argument, with the files it names if they are `attached`, then what was piped, a blank line between them."""
    said = " ".join(words)
    return "\n\n".join(part for part in (_with_files(said) if attached else said, _piped()) if part.strip())


def _with_files(said: str) -> str:
    """What was said with the files it names as `@file`; of what is piped, which others may have written, none goes."""
    from tui.attachments import CannotAttach, NoFile, attach

    try:
        return attach(said, Path.cwd())
    except CannotAttach as error:
        say(f"clew: {error} Nothing was sent or stored. Correct the name, or add --no-attach to send it as words.")
        raise typer.Exit(ExitCode.NOT_FOUND if isinstance(error, NoFile) else ExitCode.BAD_DATA) from error


def _piped() -> str:
    """What stdin has, if it is a pipe or a file; bytes that are no UTF-8 become replacement characters."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    raw = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        say(f"clew: What was piped is longer than {MOST_BYTES >> 20} MiB, so nothing was sent or stored. Shorten it.")
        raise typer.Exit(ExitCode.BAD_DATA)
    return raw.decode("utf-8", "replace")
