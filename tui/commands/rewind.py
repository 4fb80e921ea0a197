"""`clew rewind`: a chat goes back to one of its turns, and the memory with it; what follows the turn stays beside."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import aim, complete_shown
from tui.commands.learned import with_agent
from tui.commands.place import home_of
from tui.impact import as_json as impact_json
from tui.impact import lines_of
from tui.output import paint, put, put_json, say

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.plans import Plan

START = "start"

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def rewind(
    ctx: typer.Context,
    turn: Annotated[
        str,
        typer.Argument(
            metavar="TURN|start",
            help="The message to continue from, or `start`: before the first message of --session or the last chat.",
            autocompletion=complete_shown,
        ),
    ],
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The chat, if not the one where it was said: a fork of it.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", hidden=True)] = False,  # it can be undone, so nothing is asked
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Go back to an earlier message.

    Later messages leave the chat and the memory until you go forward again. Nothing is lost, so it does not ask:
    `clew undo` undoes it.
    """
    from graph.errors import NotFound
    from graph.reading import LogReader

    home = home_of(ctx)
    reader = LogReader.open(home.memory)
    of, meant = aim(reader, None if turn == START else turn, session)
    reader.close()
    if meant is None and turn != START:
        raise NotFound(f"{turn} is a chat, not a message. `clew show {of.id}` lists its messages.")
    target = meant.id if meant is not None else None

    async def work(agent: "Agent") -> "Plan":
        plan = await agent.branches.plan_rewind(of.id, target)
        if not dry_run:
            await agent.branches.rewind(of.id, target, plan=plan)
        return plan

    plan = with_agent(home, work, client="rewind")
    if as_json:
        told = {"session": of.id, "turn": target, "was": of.head, "done": not dry_run}
        put_json(told | {"what": plan.what, "notes": list(plan.notes), "impact": impact_json(plan.impact)})
        return
    put(paint(plan.what, "1"))
    for line in (*lines_of(plan.impact), *plan.notes):
        put(line)
    say("Nothing was changed." if dry_run else "Done. Nothing is lost; `clew undo` undoes it.")
