"""`clew erase`: remove what clew made in its home, and nothing else that may lie there.

Invariants: the memory's lock is held while files go, so no other clew writes in the middle; only names that clew itself
gives are removed, never a whole folder, because a home may have been pointed at a folder with other things in it.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.output import say
from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.text import size_of

if TYPE_CHECKING:
    from agent.home import Home

WORD = "erase"
SETTINGS = ("config.toml", "config.toml.part")
MEMORY = ("log.sqlite*", "graph.kuzu*")
LOCK = ("lock", "holder.json", "holder.new")
CACHE = ("native.log*", "probed.json*", "drafts/*.txt", "drafts/*.new")

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def erase(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    keep_models: Annotated[bool, typer.Option("--keep-models", help="Leave the models where they are.")] = False,
) -> None:
    """Remove everything clew keeps: every chat, the settings, the caches, the models.

    Models in a folder of their own (CLEW_MODELS) stay: other memories may use them.
    """
    from graph.lock import MemoryLock

    home = home_of(ctx)
    lock = MemoryLock.take(home.memory, command="clew erase")
    try:
        doomed = list(made_by_clew(home, models=not keep_models))
        if not yes and not _confirmed(home, doomed):
            say("Nothing was erased.")
            raise typer.Exit(ExitCode.FAILED)
        for path in doomed:
            path.unlink(missing_ok=True)
    finally:
        lock.release()
    _tidy(home)
    say(f"Erased {len(doomed)} files. {_left(home)}")


def made_by_clew(home: "Home", *, models: bool) -> Iterable[Path]:
    """The files that go: the memory first, what can be had again last."""
    for folder, patterns in ((home.memory, MEMORY), (home.cache, CACHE), (home.root, SETTINGS)):
        for pattern in patterns:
            yield from sorted(folder.glob(pattern))
    if models and home.models == home.root / "models":
        yield from _models(home.models)


def _models(folder: Path) -> Iterable[Path]:
    """The catalogue's models and what was fetched of any; another GGUF file there may be the only one of its kind."""
    from models.store import PARTIAL, ModelStore

    for stored in ModelStore(folder).entries():
        if stored.entry is not None and stored.path.is_file():
            yield stored.path
    yield from sorted(path for path in (folder / PARTIAL).glob("*") if not path.is_dir())


def _confirmed(home: "Home", doomed: list[Path]) -> bool:
    size = sum(path.stat().st_size for path in doomed)
    say(f"This removes every chat, the settings and the caches in {home.root}: {len(doomed)} files, {size_of(size)}.")
    say("There is no way back.")
    say(f"Type {WORD} and press Enter to go on; anything else leaves all as it is.")
    return sys.stdin is not None and sys.stdin.readline().strip().lower() == WORD


def _tidy(home: "Home") -> None:
    """Remove the lock's files and the folders that are empty now; a folder with something in it stays."""
    for name in LOCK:
        (home.memory / name).unlink(missing_ok=True)
    folders = [home.memory, home.cache / "drafts", home.cache]
    if home.models == home.root / "models":
        folders += [home.models / ".partial", home.models]
    for folder in [*folders, home.root]:
        try:
            os.rmdir(folder)
        except OSError:
            continue


def _left(home: "Home") -> str:
    if not home.root.exists():
        return "Nothing is left."
    names = sorted(path.name for path in home.root.iterdir())
    return f"Left in {home.root}, because clew did not make it or was to keep it: {', '.join(names)}."
