"""`clew review`: what was learned and waits for a decision, and the decisions. Needs the memory for itself."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import has_memory, lines, standing, with_agent
from tui.commands.place import home_of
from tui.commands.waiting import tell_waiting
from tui.output import put, put_json, say
from tui.text import clean

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.beliefs import Observation

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def review(
    ctx: typer.Context,
    promote: Annotated[str | None, typer.Option(metavar="ID", help="Keep it.")] = None,
    reject: Annotated[str | None, typer.Option(metavar="ID", help="Reject it as wrong.")] = None,
    edit: Annotated[tuple[str, str] | None, typer.Option(metavar="ID TEXT", help="Keep it in your own words.")] = None,
    restore: Annotated[
        str | None, typer.Option(metavar="ID", help="Undo a decision: it waits for review again.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list, or the decision.")] = False,
) -> None:
    """Review uncertain memories. Without options, it lists those waiting for review."""
    if sum(given is not None for given in (promote, reject, edit, restore)) > 1:
        raise typer.BadParameter("Only one decision at a time.")
    home = home_of(ctx)
    if promote is None and reject is None and edit is None and restore is None:
        _list(with_agent(home, _waits, client="review") if has_memory(home) else [], as_json)
        return

    async def decide(agent: "Agent") -> "tuple[Observation, str]":
        if edit is not None:
            made = await agent.memories.reword(clean(edit[0]), clean(edit[1]))
            return made, f"In use in your words. `clew review --reject {made.id}` undoes it."
        id = clean(promote or reject or restore or "")
        if promote is not None:
            await agent.memories.promote(id)
            told = f"Kept: now in use. `clew review --restore {id}` undoes it."
        elif reject is not None:
            await agent.memories.reject(id)
            told = f"Rejected. `clew review --restore {id}` undoes it."
        else:
            await agent.memories.restore(id, "candidate")
            now = (await agent.memories.story(id)).observation
            told = "It waits for review again." if now.current else f"It is no longer rejected: {standing(now)}."
        return (await agent.memories.story(id)).observation, told

    memory, told = with_agent(home, decide, client="review")
    if as_json:
        put_json(one_as_json(memory))
    else:
        put(lines(memory))
    say(told)


async def _waits(agent: "Agent") -> "list[Observation]":
    await tell_waiting(agent)
    return await agent.memories.review()


def _list(found: "list[Observation]", as_json: bool) -> None:
    if as_json:
        put_json([one_as_json(each) for each in found])
        return
    for each in found:
        put(lines(each))
    if found:
        say("Decide with --promote ID, --reject ID or --edit ID TEXT; `clew show ID` shows its proof.")
    else:
        say("Nothing is waiting for review.")
