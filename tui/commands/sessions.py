"""`clew sessions`: the chats, newest activity first. Reads the log without a lock, beside a running clew."""

from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.place import home_of
from tui.output import fit, instant, local, paint, put, put_json, say, width

if TYPE_CHECKING:
    from graph.values import Session

MAIN = "main"

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def sessions(
    ctx: typer.Context,
    archived: Annotated[bool, typer.Option("--archived", help="List archived chats instead.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-k", metavar="N", min=0, help="Maximum number.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List the chats, newest activity first."""
    from graph.reading import LogReader

    try:
        known = LogReader.open(home_of(ctx, writing=False).memory).sessions(archived=archived)
    except MemoryMissing:
        known = []
    found = [each for each in known if each.archived == archived]
    if not (found or as_json):
        say("There are no archived chats." if archived else "There are no chats yet. `clew` starts one.")
    found = found[:limit]
    if as_json:
        put_json([summary(session) for session in found])
        return
    for session in found:
        put(_line(session))


def summary(session: "Session") -> dict[str, str | int | bool | None]:
    """A session as JSON has it; times are UTC."""
    return {
        "id": session.id,
        "name": session.name,
        "project": session.project,
        "world": session.world,
        "model": session.model,
        "turns": session.turns,
        "archived": session.archived,
        "started_at": instant(session.started_at),
        "last_at": instant(session.last_at),
    }


def _line(session: "Session") -> str:
    head = f"{session.id}  {local(session.last_at)}  {session.turns:>5}  "
    project = f"[{session.project}] " if session.project else ""
    project += "(what-if) " if session.world != MAIN else ""
    return paint(head, "2") + fit(f"{project}{session.name or '(no title yet)'}", max(12, width() - len(head)))
