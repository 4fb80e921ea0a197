"""`clew erase`: remove what clew made in its home, and nothing else that may lie there.

Invariants: the memory's lock is held while files go, so no other clew writes in the middle; only names that clew itself
gives are removed, never a whole folder, because a home may have been pointed at a folder with other things in it.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import home_of
from tui.exit_codes import ExitCode
from tui.output import say
from tui.text import counted, size_of

if TYPE_CHECKING:
    from agent.home import Home

WORD = "erase"
SETTINGS = ("config.toml", "config.toml.part")
LOG, GRAPH = "log.sqlite", "graph.kuzu"
LOG_COMPANIONS = ("", "-wal", "-shm", "-journal")
GRAPH_COMPANIONS = ("", ".wal", ".tmp", ".lock", ".shadow")
LOCK = ("lock", "holder.json", "holder.new")
DRAFTS = re.compile(
    r"(new|query|[0-9A-Z]{26})\.(txt|new)|\.?message-.*"
)  # by session; the query; what an editor was given, and left beside it
QUERIES = re.compile(r"(history|saved)\.jsonl(\.part)?|lock")

KEYS = re.compile(r"[a-z0-9][a-z0-9-]{0,30}(\.part)?")  # by server
STATES = re.compile(r"[0-9A-Za-z]+-[0-9a-z]+\.(kv|new)")  # by session and model


def erase(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    keep_models: Annotated[bool, typer.Option("--keep-models", help="Keep the models.")] = False,
) -> None:
    """Erase everything clew has stored. That is all chats, the backups in its home folder, settings, caches and models.

    Backups elsewhere are kept. Models in a separate folder (CLEW_MODELS) are kept too: other memories may use them.
    """
    from agent.private import sweep
    from graph.log.lock import MemoryLock
    from tui.joining import retire

    home = home_of(ctx)
    if not yes and not _confirmed(home, list(made_by_clew(home, models=not keep_models))):
        say("Nothing was erased.")
        raise typer.Exit(ExitCode.FAILED)
    retire(home)
    lock = MemoryLock.take(home.memory, command="clew erase")
    try:
        sweep(home.private)  # what a clew that was killed left of its private chats
        doomed = list(made_by_clew(home, models=not keep_models))
        failed = [path for path in doomed if not _remove(path)]
    finally:
        lock.release()
    failed += _tidy(home)
    say(f"Erased {counted(len(doomed) - len(set(failed) & set(doomed)), 'file')}. {_left(home)}")
    if failed:
        raise typer.Exit(ExitCode.IO_ERROR)


def made_by_clew(home: "Home", *, models: bool) -> Iterable[Path]:
    """The files that go: the memory first, what can be had again last."""
    from agent.backups import files_of

    names = [home.memory / name for name in memory_names()]
    for folder, pattern in (
        (home.cache, cache_names()),
        (home.drafts, DRAFTS),
        (home.states, STATES),
        (home.queries, QUERIES),
        (home.keys, KEYS),
    ):
        names += sorted(path for path in folder.glob("*") if pattern.fullmatch(path.name))
    names += [*files_of(home.memory), *(home.root / name for name in SETTINGS)]
    yield from (path for path in names if os.path.lexists(path))
    if models and home.models == home.root / "models":
        yield from _models(home.models)


def cache_names() -> re.Pattern[str]:
    """Every name that clew gives in the cache's folder itself; the number is that of the process that wrote it."""
    from agent.home import Cached

    beside = (Path(each).with_suffix(".part").name for each in Cached)
    return re.compile(rf"({_any(Cached)})(\.[0-9]+)?|{_any(beside)}")


def _any(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names))


def memory_names() -> list[str]:
    """Every name that clew gives in the memory's folder, but the lock's: a backup beside the log has another."""
    from graph.console.workers import FOLDER
    from graph.kuzu.opening import OPENING, PURGE
    from graph.kuzu.rebuild import ASIDE, NEW
    from graph.kuzu.truncation import WITNESS
    from graph.sqlite import RESTORING

    names = [log + companion for log in (LOG, RESTORING) for companion in LOG_COMPANIONS]
    names += [graph + each for graph in (GRAPH, NEW, ASIDE) for each in GRAPH_COMPANIONS]
    return [*names, OPENING, PURGE, WITNESS, FOLDER]


def _models(folder: Path) -> Iterable[Path]:
    """The catalogue's models and what was fetched of any; another GGUF file there may be the only one of its kind."""
    from models.store import PARTIAL, ModelStore

    for stored in ModelStore(folder).entries():
        if stored.entry is not None and stored.path.is_file():
            yield stored.path
    yield from sorted(path for path in (folder / PARTIAL).glob("*") if not path.is_dir())


def _remove(path: Path) -> bool:
    """Remove a file, a link (not what it points at) or a whole folder; one that stays is told of."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        say(f"clew: {error.filename or path} could not be removed: {why}. The other files are not affected.")
        return False
    return True


def _size(path: Path) -> int:
    """Bytes of a file, or of all in a folder; links are not followed."""
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(os.lstat(os.path.join(root, name)).st_size for root, _, names in os.walk(path) for name in names)


def _confirmed(home: "Home", doomed: list[Path]) -> bool:
    size = sum(map(_size, doomed))
    what = f"{counted(len(doomed), 'file')}, {size_of(size)}"
    say(f"This erases every chat, the backups, the settings and the caches in {home.root}: {what}.")
    say("This cannot be undone.")
    say(f"Type {WORD} and press Enter to continue; anything else cancels.")
    return sys.stdin is not None and sys.stdin.readline().strip().lower() == WORD


def _tidy(home: "Home") -> list[Path]:
    """Remove the lock's files and the folders that are empty now; a folder with something in it stays.

    Those of the lock's files that could not be removed.
    """
    from graph.transfer.backup import BACKUPS

    failed = [path for path in (home.memory / name for name in LOCK) if not _remove(path)]
    folders = [home.memory, home.root / BACKUPS, home.drafts, home.states, home.cache, home.queries, home.keys]
    if home.models == home.root / "models":
        folders += [home.models / ".partial", home.models]
    for folder in [*folders, home.root]:
        try:
            os.rmdir(folder)
        except OSError:
            continue
    return failed


def _left(home: "Home") -> str:
    if not home.root.exists():
        return "Nothing is left."
    names = sorted(path.name for path in home.root.iterdir())
    return (
        f"Left in {home.root}, because clew did not create it, was told to keep it or could not remove it: "
        f"{', '.join(names)}."
    )
