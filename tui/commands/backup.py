"""`clew backup` and `restore`: the memory in one file, and a backup in the memory's place, its changes shown first."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.choosing import home_of
from tui.exit_codes import ExitCode
from tui.joining import retire
from tui.output import instant, local, put, put_json, say
from tui.text import counted, shown, size_of

if TYPE_CHECKING:
    from agent.home import Home
    from graph.transfer.backup import Backup, Copied
    from graph.transfer.restoring import Restoring


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

    from graph.reader import LogReader
    from graph.transfer.backup import ENDING, MANUAL, backups_of, copy_log, note, stamp_of

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
    from graph.transfer.backup import listed

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


WORD, ANOTHER = "restore", "another memory"
KEPT = 5  # of what was there before a restore


def restore(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup: `clew backup --list` lists them.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Restore a backup. The current memory is kept as a backup first.

    What was deleted after the backup was made stays deleted. Without --yes it asks first; if it cannot ask, it only
    shows what would change and exits with 1.
    """
    from graph.log.lock import MemoryLock
    from graph.transfer.restoring import install, prepared

    home = home_of(ctx)
    retire(home)
    lock = MemoryLock.take(home.memory, command="clew restore")
    try:
        with prepared(home.memory, file.absolute()) as ready:
            if not as_json:
                for line in words(ready):
                    put(line)
            if not (yes or _confirmed(ready)):
                if as_json:
                    put_json(_figures(ready, None, done=False))
                say("Nothing was restored. Use --yes to restore it.")
                raise typer.Exit(ExitCode.FAILED)
            kept = install(home.memory, ready, stamp=_stamp())
            forget_states(home)
    finally:
        lock.release()
    _tidy(home)
    if as_json:
        put_json(_figures(ready, kept, done=True))
    where = f" The previous memory is kept in {kept}." if kept is not None else ""
    say(f"Restored.{where} The graph is rebuilt at the next start.")


def words(ready: "Restoring") -> list[str]:
    """What a restore changes, for people."""
    from graph.log.migrations import NEWEST

    there = ready.there
    lines = [f"The backup  {_described(there)}"]
    if ready.damaged is not None:
        lines.append(f"Now         cannot be read: {shown(ready.damaged)}")
        lines.append(
            "It cannot be determined what was deleted after the backup, so deleted content may come back. Check, "
            "and delete it again."
        )
    elif ready.here is not None:
        lines.append(f"Now         {_described(ready.here)}")
        lines.append(f"Changes     {_changes(ready.here, there)}")
    else:
        lines.append("Now         nothing")
    if ready.another:
        lines.append("This is a backup of a different memory.")
    if ready.version < NEWEST:
        lines.append(f"It has log version {ready.version} and will be upgraded to {NEWEST}.")
    if ready.erased:
        lines.append(f"What was deleted since stays deleted ({counted(ready.erased, 'deletion')} repeated).")
    return lines


def forget_states(home: "Home") -> None:
    """Remove the models' states of the chats: they are of prompts that may not be any more."""
    for path in home.states.glob("*"):
        if path.is_file():
            path.unlink(missing_ok=True)


def _described(copied: "Copied") -> str:
    until = f", up to {local(copied.until)}" if copied.until is not None else ""
    return f"{counted(copied.turns, 'message')} in {counted(copied.sessions, 'chat')}{until}"


def _changes(here: "Copied", there: "Copied") -> str:
    pairs = (
        (there.turns - here.turns, "message"),
        (there.sessions - here.sessions, "chat"),
        (there.head - here.head, "event"),
    )
    told = [counted(abs(more), f"{'more' if more > 0 else 'fewer'} {what}") for more, what in pairs if more]
    return ", ".join(told) or "the same number of messages, chats and events"


def _confirmed(ready: "Restoring") -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    word = ANOTHER if ready.another else WORD
    say("The current memory is kept as a backup. The memory then becomes what it was, except for what was deleted.")
    say(f"Type {word} and press Enter to continue; anything else cancels.")
    return sys.stdin.readline().strip().lower() == word


def _figures(ready: "Restoring", kept: Path | None, *, done: bool) -> dict[str, Any]:
    return {
        "restored": done,
        "backup": figures(ready.there) | {"file": str(ready.file), "version": ready.version},
        "now": figures(ready.here) if ready.here is not None else None,
        "damaged": ready.damaged,
        "another_memory": ready.another,
        "erased_again": ready.erased,
        "kept": str(kept) if kept is not None else None,
    }


def _tidy(home: "Home") -> None:
    """Keep the newest of what was there before a restore."""
    from graph.transfer.backup import BEFORE_RESTORE, backups_of

    for old in sorted(backups_of(home.memory).glob(f"{BEFORE_RESTORE}*"))[:-KEPT]:
        old.unlink(missing_ok=True)


def _stamp() -> str:
    from graph.transfer.backup import stamp_of

    return stamp_of(datetime.now(UTC))
