"""`clew edit`: say something else in the place of an earlier message, and have that answered."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.ask import message_of
from tui.commands.choosing import aim, complete_shown
from tui.commands.place import home_of

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.events import AgentEvent

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
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
    words = message_of(text or [], attached=not no_attach)
    from agent.settings import load_settings
    from agent.text import clean_message
    from graph.errors import NotFound
    from graph.reading import LogReader
    from models.quiet import guard_descriptors
    from tui.commands.asking import ReplyPrinter, run_answer

    clean_message(words)  # nothing to say is refused before anything is opened
    home = home_of(ctx)
    reader = LogReader.open(home.memory)
    of, meant = aim(reader, turn, session)
    reader.close()
    if meant is None:
        raise NotFound(f"{turn} is a chat, not a message of one. `clew show {of.id}` lists its messages.")
    old = meant.id
    settings = load_settings(home.config)
    guard_descriptors(home.native_log)

    async def begin(agent: "Agent") -> "AsyncIterator[AgentEvent]":
        return agent.edit(of.id, old, words)

    raise typer.Exit(run_answer(home, settings, begin, ReplyPrinter(as_json=as_json), yes=yes))
