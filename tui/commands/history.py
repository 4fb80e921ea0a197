"""`clew undo` and `marks`: changes taken back one by one, and places in the log to come back to."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import home_of
from tui.commands.learned import with_agent
from tui.commands.removing import carry_out, end
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.text import clean, one_line

if TYPE_CHECKING:
    from agent.face import Face
    from agent.history import Change
    from graph.history.marks import Mark


MOST = 1000


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

    async def work(agent: "Face") -> "list[Change]":
        return await agent.history.changes(limit) if listed else [await agent.history.undo(seq)]

    found = with_agent(home_of(ctx), work, client="undo")
    if as_json:
        put_json([_undo_json(each) for each in found] if listed else _undo_json(found[0]))
    if not listed:
        say(f"You {one_line(found[0].what)}; that has been undone.")
        return
    for each in [] if as_json else found:
        why_not = paint(f"  ({each.why_not})", "2") if each.why_not else ""
        put(fit(f"{each.seq:>7}  {local(each.at)}  {one_line(each.what)}", width()) + why_not)
    if not found:
        say("You have not changed anything yet.")


def _undo_json(change: "Change") -> dict[str, object]:
    return {
        "seq": change.seq,
        "events": list(change.events),
        "at": instant(change.at),
        "what": change.what,
        "undoable": change.undoable,
        "why_not": change.why_not,
    }


WORD = "restore"
REASONS = {
    "named": "",
    "automatic": "automatic",
    "rewind": "before going back",
    "restore": "before a mark was restored",
}


def marks(
    ctx: typer.Context,
    add: Annotated[
        str | None, typer.Option(metavar="NAME", help="Set a mark here; it stays until you remove it.")
    ] = None,
    rm: Annotated[str | None, typer.Option(metavar="ID", help="Remove a mark.")] = None,
    restore: Annotated[str | None, typer.Option(metavar="ID", help="Restore things as they were at a mark.")] = None,
    show: Annotated[str | None, typer.Option(metavar="ID", help="Only show what restoring would change.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list, or one object.")] = False,
) -> None:
    """List, set, remove or restore marks.

    Marks are the ones you named, the latest automatic ones, and those before each rewind (14 days).

    Restoring a mark resets the position of each chat, and what was hidden, kept out of memory, rated, pinned, named,
    archived or reviewed. It deletes nothing, and `clew undo` undoes it. What was deleted since stays deleted.
    """
    if len([each for each in (add, rm, restore, show) if each is not None]) > 1:
        raise typer.BadParameter("Use only one of --add, --rm, --restore and --show.")
    home = home_of(ctx)
    if restore is not None or show is not None:
        _restore(ctx, clean(restore or show or "").strip(), dry_run=show is not None, yes=yes, as_json=as_json)
        return

    async def work(agent: "Face") -> "dict[Mark, str]":
        if add is not None:
            found = [await agent.history.marks.add(clean(add))]
        else:
            found = [await agent.history.marks.remove(clean(rm))] if rm is not None else await agent.history.marks.all()
        return {each: await _words(agent, each) for each in found}

    told = with_agent(home, work, client="marks")
    found = list(told)
    one = add is not None or rm is not None
    if as_json:
        put_json(_marks_json(found[0]) if one else [_marks_json(each) for each in found])
    if one:
        say(f"{'Marked' if add is not None else 'Removed'}: {told[found[0]]}.")
        return
    for each in [] if as_json else found:
        put(fit(f"{each.id}  {local(each.at)}  {told[each]}", width()))
    if not found:
        say("No marks yet. `clew marks --add NAME` sets one; clew also sets some automatically.")


def _restore(ctx: typer.Context, id: str, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    async def work(agent: "Face") -> bool:
        plan = await agent.history.plan_restore(id)
        return await carry_out(agent, plan, word=WORD, yes=yes, dry_run=dry_run, as_json=as_json)

    done = with_agent(home_of(ctx), work, client="marks")
    end(done, dry_run=dry_run, said="Restored.", instead="Nothing was restored. Use --yes to restore it.")


async def _words(agent: "Face", mark: "Mark") -> str:
    """The name of a mark; of one without, what it was set before: going back in which chat, and to which message."""
    from graph.errors import NotFound

    if mark.name or mark.session is None:
        return one_line(mark.name) if mark.name else REASONS[mark.reason]
    chat = (await agent.chats.get(mark.session)).name
    where = f"{REASONS[mark.reason]} in {f'“{one_line(chat)}”' if chat else one_line(mark.session)} to "
    if mark.turn is None:
        return f"{where}its beginning"
    try:
        exchange = await agent.chats.exchange(mark.turn)
    except NotFound:
        return f"{where}a deleted message"
    said = [turn for turn in (exchange.turn, exchange.reply) if turn is not None and turn.id == mark.turn]
    if said and not said[0].hidden:
        text = said[0].text
        return f"{where}“{one_line(text)}”" if text is not None else f"{where}a deleted message"
    return f"{where}{'a hidden message' if said else one_line(mark.turn)}"


def _marks_json(mark: "Mark") -> dict[str, object]:
    return {
        "id": mark.id,
        "seq": mark.seq,
        "at": instant(mark.at),
        "reason": mark.reason,
        "name": mark.name,
        "session": mark.session,
        "turn": mark.turn,
    }
