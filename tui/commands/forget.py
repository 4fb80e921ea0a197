"""`clew forget ID`: erase something learned, for good, after showing what goes. Needs the memory for itself."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.changing import end_purge
from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import lines, with_agent
from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import put, put_json, say
from tui.text import clean

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.beliefs import Observation

WORD = "forget"

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def forget(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The memory; 6 characters or more.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of what is deleted.")] = False,
) -> None:
    """Forget a memory permanently, with all its versions.

    The messages it was learned from stay in their chats. Without --yes it asks first; if it cannot ask, it only shows
    what would be deleted and exits with 1.
    """

    async def ask(agent: "Agent") -> "tuple[list[Observation], bool]":
        going = await agent.memories.forgetting(clean(id))
        _show(going, as_json=as_json)
        allowed = yes or _confirmed(len(going))
        if allowed:
            await agent.memories.forget(going[0].id)
            end_purge(await agent.erasure.finished())
        return going, allowed

    going, done = with_agent(home_of(ctx), ask, client="forget")
    if not done:
        say("Nothing was forgotten. Use --yes to forget it.")
        raise typer.Exit(ExitCode.FAILED)
    say(f"Forgotten: {len(going)} {'version' if len(going) == 1 else 'versions'} of it.")


def _show(going: "list[Observation]", *, as_json: bool) -> None:
    if as_json:
        put_json([one_as_json(each) for each in going])
        return
    for each in going:
        put(lines(each))


def _confirmed(count: int) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    say(f"This permanently deletes {count} {'version' if count == 1 else 'versions'} of it. This cannot be undone.")
    say("The messages it was learned from stay in their chats.")
    say(f"Type {WORD} and press Enter to continue; anything else cancels.")
    return sys.stdin.readline().strip().lower() == WORD
