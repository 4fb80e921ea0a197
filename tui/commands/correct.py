"""`clew correct ID TEXT`: say how something that was learned really is. Needs the memory for itself."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import lines, read_text, with_agent
from tui.commands.place import home_of
from tui.output import put, put_json, say
from tui.text import clean

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.beliefs import Observation

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def correct(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The memory; 6 characters or more.")],
    words: Annotated[list[str], typer.Argument(metavar="TEXT", help="The corrected text; `-` reads it from stdin.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the new version.")] = False,
) -> None:
    """Correct a memory. The earlier version stays in its history."""
    text = read_text(words, 'clew correct 01ABCD "I live in Lyon"')

    async def ask(agent: "Agent") -> "Observation":
        return await agent.memories.correct(clean(id), text)

    made = with_agent(home_of(ctx), ask, client="correct")
    if as_json:
        put_json(one_as_json(made))
    else:
        put(lines(made))
    say(f"`clew show {made.id}` shows its history.")
