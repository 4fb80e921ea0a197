"""`clew hide ID`: take a message out of view and memory, reversibly. Needs the memory for itself."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.changing import carry_out, end, turn_of
from tui.commands.learned import with_agent
from tui.commands.place import home_of
from tui.text import clean

if TYPE_CHECKING:
    from agent.agent import Agent

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def hide(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The message; 6 characters or more.")],
    exchange: Annotated[bool, typer.Option("--exchange", help="The whole exchange: message and reply.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be removed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Hide a message from chats, memory and prompts. Memories learned from it go too. `clew unhide` reverses this."""

    async def work(agent: "Agent") -> bool:
        plan = await agent.plans.hide(await turn_of(agent, clean(id).strip()), exchange=exchange)
        return await carry_out(agent, plan, word=None, yes=True, dry_run=dry_run, as_json=as_json)

    done = with_agent(home_of(ctx), work, client="hide")
    end(done, dry_run=dry_run, said="Hidden.", instead="Nothing was hidden.")
