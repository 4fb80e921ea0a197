"""`clew pin ID`: keep a message or something learned in every prompt. Needs the memory for itself."""

from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import NotFound
from tui.commands.learned import with_agent
from tui.commands.place import home_of
from tui.output import put_json, say
from tui.text import clean

if TYPE_CHECKING:
    from agent.agent import Agent

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def pin(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="A memory or a message; 6 characters or more.")],
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Pin a memory or message. It is then in every prompt, from the next message on."""
    home, wanted = home_of(ctx), clean(id).strip()

    async def ask(agent: "Agent") -> tuple[str, str]:
        try:
            found = (await agent.memories.story(wanted)).observation.id
        except NotFound:
            turn = await _turn(agent, wanted)
            await (agent.chats.unpin(turn) if off else agent.chats.pin(turn))
            return "turn", turn
        await (agent.memories.unpin(found) if off else agent.memories.pin(found))
        return "memory", found

    kind, meant = with_agent(home, ask, client="pin")
    if as_json:
        put_json({"kind": kind, "id": meant, "pinned": not off})
    say(f"{'Unpinned' if off else 'Pinned'} the {'message' if kind == 'turn' else 'memory'} {meant}.")


async def _turn(agent: "Agent", wanted: str) -> str:
    """The id of the turn that is meant, by the beginning of it. Raises NotFound or Ambiguous."""
    try:
        exchange = await agent.chats.exchange(wanted)
    except NotFound as missing:
        raise NotFound(
            f"There is no memory or message {wanted}. `clew memories` and `clew log` list them."
        ) from missing
    said = [exchange.turn, *exchange.tools, *([exchange.reply] if exchange.reply else [])]
    return next((turn.id for turn in said if turn.id.startswith(wanted.upper())), exchange.turn.id)
