"""`clew fork`: a new chat that begins with the past of another, in the same world or in a what-if."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import aim, complete_session
from tui.commands.learned import with_agent
from tui.commands.place import home_of
from tui.output import put, put_json, say
from tui.text import clean

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.values import Session

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def fork(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="The chat; without it the last one.", autocompletion=complete_session),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TURN", help="Where the new chat starts; without it, the last message.")
    ] = None,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="In a world of its own: what is said there is remembered only there.")
    ] = False,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="A name for the new chat.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Start a new chat with the past of another.

    Nothing is copied, and the other chat stays as it is.

    Prints the new chat's id: `clew --session ID` opens it, `clew ask --session ID` continues it.
    """
    from graph.errors import NotFound
    from graph.reading import LogReader

    home = home_of(ctx)
    reader = LogReader.open(home.memory)
    origin, turn = aim(reader, at, session) if at is not None else aim(reader, session)
    reader.close()
    if turn is None and at is not None:
        raise NotFound(f"{at} is a chat, not a message. `clew show {at}` lists its messages.")
    leaves = turn.id if turn is not None else None

    async def work(agent: "Agent") -> "Session":
        new = await agent.branches.fork(
            origin.id, at=leaves, what_if=what_if, name=clean(name) if name is not None else None
        )
        return await agent.chats.get(new)

    made = with_agent(home, work, client="fork")
    if as_json:
        told = {"session": made.id, "world": made.world, "name": made.name}
        put_json(told | {"origin": origin.id, "at": made.head, "what_if": what_if})
        return
    put(made.id)
    say(
        "This is a what-if: other chats see nothing of it, and it sees nothing said in them from now on."
        if what_if
        else "Both chats share what was said so far, and each remembers what the other says."
    )
