"""`clew ask`, `regenerate` and `edit`: one message, one streamed reply, in a pipe or on a terminal."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import aim, complete_session, complete_shown, home_of, reader_of
from tui.commands.replies import AskRequest, ReplyPrinter
from tui.exit_codes import ExitCode
from tui.joining import may_run
from tui.output import say, text_of
from tui.text import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agent.events import AgentEvent
    from agent.face import Face
    from agent.home import Home

MOST_BYTES = 8 << 20


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
    whisper: Annotated[
        str | None, typer.Option(metavar="NAME", help="In a story: only this one of the cast hears it.")
    ] = None,
    ref: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS|FILE",
            help="Let the chat read this where it lies: a web page, a thread (at://…) or a file. May be repeated.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow the model to change the memory; otherwise it may not.")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="Send `@file` in MESSAGE as plain text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when the reply is complete.")] = False,
) -> None:
    """Ask something and print the reply. `@file` or `@https://…` in MESSAGE lets the chat read that, as --ref does.

    `accepted TURN` on stderr means that the message is saved. Ctrl+C stops the reply and keeps the partial reply.
    """
    if whisper is not None and session is None:
        raise typer.BadParameter("--whisper needs --session: a new chat plays in no story.")
    named = named_in(message or []) if not no_attach else ()
    text = message_of(message or [])
    home = home_of(ctx)
    question = AskRequest(
        text,
        references=(*_addresses(ref or []), *named),
        session=session,
        project=clean(project) if project is not None else None,
        system=clean(system) if system is not None else None,
        yes=yes,
        whisper=whisper,
    )
    printer = ReplyPrinter(as_json=as_json)
    if text.strip() and model is None and may_run(home):
        from tui.commands.asking_service import ask_service

        answered = ask_service(home, question, printer)
        if isinstance(answered, ExitCode):
            raise typer.Exit(answered)
        question = answered
    raise typer.Exit(_ask_agent(home, question, printer, model))


def _ask_agent(home: "Home", question: AskRequest, printer: ReplyPrinter, model: str | None) -> ExitCode:
    """Ask an Agent, of the service too where that takes more than a message; how it ended."""
    from agent.settings import load_settings
    from agent.text import clean_message
    from models.quiet import guard_descriptors
    from models.store import ModelStore
    from tui.commands.answering import run_question

    clean_message(question.text)  # an empty message is refused before anything is opened
    if model is not None:
        model = ModelStore(home.models).absolute(model)
    settings = load_settings(home.config, **({"model": model} if model is not None else {}))
    guard_descriptors(home.native_log)
    return run_question(home, settings, replace(question, model=model), printer)


def message_of(words: list[str]) -> str:
    """The argument, then what was piped, a blank line between them."""
    return "\n\n".join(part for part in (" ".join(words), _piped()) if part.strip())


def _addresses(said: list[str]) -> list[str]:
    """Addresses and files as they are attached. Raises AgentError."""
    if not said:
        return []
    from agent.references.address import read_address

    return [read_address(each, Path.cwd()).text for each in said]


def named_in(words: list[str]) -> tuple[str, ...]:
    """What was said to attach with an @; of what is piped, which others may have written, nothing is."""
    from tui.attachments import CannotAttach, NoFile, attached

    try:
        return attached(" ".join(words), Path.cwd())
    except CannotAttach as error:
        say(f"clew: {error} Nothing was sent or stored. Correct the name, or add --no-attach to send it as words.")
        raise typer.Exit(ExitCode.NOT_FOUND if isinstance(error, NoFile) else ExitCode.BAD_DATA) from error


def _piped() -> str:
    """What stdin has, if it is a pipe or a file; where its bytes are no UTF-8 it is said that letters are guesses."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    raw = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        say(f"clew: What was piped is longer than {MOST_BYTES >> 20} MiB, so nothing was sent or stored. Shorten it.")
        raise typer.Exit(ExitCode.BAD_DATA)
    return text_of(raw)


def regenerate(
    ctx: typer.Context,
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION|REPLY",
            help="A reply, the message it answers, or a chat (its last reply). Without it: the last chat.",
            autocompletion=complete_shown,
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The chat to use, if not the one with the message: a fork of it.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow the model to change the memory; otherwise it may not.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when the reply is complete.")] = False,
) -> None:
    """Regenerate a reply. Both versions are kept, and the chat continues from the new one.

    If you stop it before the first word (Ctrl+C), the chat is unchanged. `clew tree` shows all versions.
    """
    from agent.settings import load_settings
    from models.quiet import guard_descriptors
    from tui.commands.answering import run_answer

    home = home_of(ctx)
    reader = reader_of(ctx, home)
    of, turn = aim(reader, id, session)
    reader.close()
    settings = load_settings(home.config)
    guard_descriptors(home.native_log)

    async def begin(agent: "Face") -> "AsyncIterator[AgentEvent]":
        return agent.regenerate(of.id, turn.id if turn is not None else None)

    raise typer.Exit(run_answer(home, settings, begin, ReplyPrinter(as_json=as_json), yes=yes))


def edit(
    ctx: typer.Context,
    turn: Annotated[str, typer.Argument(metavar="TURN", help="One of your messages.", autocompletion=complete_shown)],
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="The new text; piped input is added after it.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The chat to use, if not the one with the message: a fork of it.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow the model to change the memory; otherwise it may not.")
    ] = False,
    no_attach: Annotated[
        bool, typer.Option("--no-attach", help="Send `@file` in TEXT as plain text; attach nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when the reply is complete.")] = False,
) -> None:
    """Edit an earlier message. This starts a new branch with its own reply.

    Nothing is lost: the original and everything after it stay, and `clew tree` shows them.
    """
    named = named_in(text or []) if not no_attach else ()
    words = message_of(text or [])
    from agent.settings import load_settings
    from agent.text import clean_message
    from graph.errors import NotFound
    from models.quiet import guard_descriptors
    from tui.commands.answering import allow, run_answer

    clean_message(words)  # nothing to say is refused before anything is opened
    home = home_of(ctx)
    reader = reader_of(ctx, home)
    of, meant = aim(reader, turn, session)
    reader.close()
    if meant is None:
        raise NotFound(f"{turn} is a chat, not a message of one. `clew show {of.id}` lists its messages.")
    old = meant.id
    settings = load_settings(home.config)
    guard_descriptors(home.native_log)

    async def begin(agent: "Face") -> "AsyncIterator[AgentEvent]":
        await allow(agent, named)
        return agent.edit(of.id, old, words, references=named)

    raise typer.Exit(run_answer(home, settings, begin, ReplyPrinter(as_json=as_json), yes=yes))
