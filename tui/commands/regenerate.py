"""`clew regenerate`: another reply beside the one that is there, streamed like that of `clew ask`."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import aim, complete_shown
from tui.commands.place import home_of

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.events import AgentEvent

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
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
    from graph.reading import LogReader
    from models.quiet import guard_descriptors
    from tui.commands.asking import ReplyPrinter, run_answer

    home = home_of(ctx)
    reader = LogReader.open(home.memory)
    of, turn = aim(reader, id, session)
    reader.close()
    settings = load_settings(home.config)
    guard_descriptors(home.native_log)

    async def begin(agent: "Agent") -> "AsyncIterator[AgentEvent]":
        return agent.regenerate(of.id, turn.id if turn is not None else None)

    raise typer.Exit(run_answer(home, settings, begin, ReplyPrinter(as_json=as_json), yes=yes))
