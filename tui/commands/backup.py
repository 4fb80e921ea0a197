"""`clew backup [FILE]`: a copy of the memory in one file, made beside a running chat and looked over."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.place import home_of
from tui.output import instant, local, put, put_json, say
from tui.text import counted, shown, size_of

if TYPE_CHECKING:
    from graph.backups import Backup
    from graph.copying import Copied

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def backup(
    ctx: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The file to write; without it, a file in the home folder's backups."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the backups, newest first.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object, or a list with --list.")] = False,
) -> None:
    """Back up all chats and memories. This works even while clew runs. `clew restore` restores a backup.

    Each backup is verified. clew also makes one automatically every day and keeps the last five. What you delete later
    is erased from the backups in the home folder too, but not from backups elsewhere.
    """
    memory = home_of(ctx, writing=False).memory
    if list_:
        _list(memory, as_json=as_json)
        return
    copied = made(memory, file, force=force)
    if as_json:
        put_json(figures(copied))
        return
    put(str(copied.path))
    say(f"Copied {counted(copied.turns, 'message')} in {counted(copied.sessions, 'chat')}, {size_of(copied.size)}.")


def made(memory: Path, file: Path | None, *, force: bool) -> "Copied":
    """Make a backup that a person asked for, and note it. Raises CopyFailed or MemoryMissing."""
    from datetime import UTC, datetime

    from graph.backups import ENDING, MANUAL, backups_of, note, stamp_of
    from graph.copying import copy_log
    from graph.reading import LogReader

    LogReader.open(memory).close()  # where there is no memory, no folder is made for its backups
    now = datetime.now(UTC)
    if file is None:
        backups_of(memory).mkdir(mode=0o700, parents=True, exist_ok=True)
        file = backups_of(memory) / f"{MANUAL}{stamp_of(now)}{ENDING}"
    copied = copy_log(memory, file.absolute(), replace=force)
    try:
        note(memory, copied, now)
    except OSError as error:
        say(
            f"clew: the backup was made, but could not be recorded ({error.strerror}). When you delete something "
            "later, this backup will not be listed among those that still contain it."
        )
    return copied


def figures(copied: "Copied") -> dict[str, Any]:
    """What a log holds, for programs."""
    return {
        "file": str(copied.path),
        "log": copied.log,
        "events": copied.head,
        "sessions": copied.sessions,
        "turns": copied.turns,
        "bytes": copied.size,
        "until": instant(copied.until) if copied.until is not None else None,
    }


def _list(memory: Path, *, as_json: bool) -> None:
    from graph.backups import listed

    found = listed(memory)
    if as_json:
        put_json([_summary(each) for each in found])
        return
    for each in found:
        kind = "automatic" if each.automatic else "by hand"
        put(f"{local(each.at)}  {kind:<9}  {size_of(each.size):>9}  {shown(str(each.path))}")
    if not found:
        say("There are no backups yet. `clew backup` makes one.")


def _summary(backup: "Backup") -> dict[str, Any]:
    return {
        "file": str(backup.path),
        "at": instant(backup.at),
        "automatic": backup.automatic,
        "bytes": backup.size,
        "events": backup.head,
    }
