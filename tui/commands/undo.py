"""`clew undo`: take back the last change that was made by hand, or one of those before it."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.learned import with_agent
from tui.commands.place import home_of
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.text import one_line

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.history import Change

MOST = 1000

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def undo(
    ctx: typer.Context,
    seq: Annotated[
        int | None, typer.Argument(metavar="SEQ", help="The number of a change; without it, the last one.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", "-l", help="List the changes with their numbers.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=0, max=MOST, help="Maximum number to list.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object, or a list.")] = False,
) -> None:
    """Undo a change. It may be a rewind, fork, rename, or something hidden, pinned, rated or reviewed.

    Undoing an undo redoes the change. Deletes cannot be undone.
    """
    if listed and seq is not None:
        raise typer.BadParameter("Use either SEQ or --list.")

    async def work(agent: "Agent") -> "list[Change]":
        return await agent.history.changes(limit) if listed else [await agent.history.undo(seq)]

    found = with_agent(home_of(ctx), work, client="undo")
    if as_json:
        put_json([_json(each) for each in found] if listed else _json(found[0]))
    if not listed:
        say(f"You {one_line(found[0].what)}; that has been undone.")
        return
    for each in [] if as_json else found:
        why_not = paint(f"  ({each.why_not})", "2") if each.why_not else ""
        put(fit(f"{each.seq:>7}  {local(each.at)}  {one_line(each.what)}", width()) + why_not)
    if not found:
        say("You have not changed anything yet.")


def _json(change: "Change") -> dict[str, object]:
    return {
        "seq": change.seq,
        "events": list(change.events),
        "at": instant(change.at),
        "what": change.what,
        "undoable": change.undoable,
        "why_not": change.why_not,
    }
