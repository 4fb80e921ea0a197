"""`clew restore FILE`: a backup in the memory's place, after showing what that changes. Needs the memory for itself."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.backup import figures
from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import local, put, put_json, say
from tui.text import counted, shown

if TYPE_CHECKING:
    from agent.home import Home
    from graph.copying import Copied
    from graph.restoring import Restoring

WORD, ANOTHER = "restore", "another memory"
KEPT = 5  # of what was there before a restore

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
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
    from graph.lock import MemoryLock
    from graph.restoring import install, prepared

    home = home_of(ctx)
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
    from graph.migrations import NEWEST

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
    from graph.backups import BEFORE_RESTORE, backups_of

    for old in sorted(backups_of(home.memory).glob(f"{BEFORE_RESTORE}*"))[:-KEPT]:
        old.unlink(missing_ok=True)


def _stamp() -> str:
    from graph.backups import stamp_of

    return stamp_of(datetime.now(UTC))
