"""What the doctor looks at: settings, privacy, disk, versions, the memory, and the models outside any history."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from agent.errors import SettingsError
from agent.home import Home
from agent.settings import Settings, load_settings
from graph.errors import LogDamaged, MemoryFailure, MemoryHeld, MemoryMissing
from graph.reading import LogReader
from graph.values import Check
from tui.commands.rebuild import describe
from tui.text import size_of
from tui.version import VERSION

Tell = Callable[[str], None]

LITTLE_SPACE = 500 * 10**6
PACKAGES = ("kuzu", "llama-cpp-python", "textual", "pydantic")


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings; `held_by` says who has the memory where its graph could not be looked at."""

    checks: tuple[Check, ...]
    held_by: str | None = None


def examine(home: Home, *, models: bool, tell: Tell) -> Examination:
    """Look at everything; `models` loads them too. Blocking; never raises for what it finds."""
    settings, check = _settings(home)
    checks = [check, _private(home), _disk(home), _versions()]
    tell("looking at the memory …")
    held = None
    try:
        checks += _memory(home, tell)
    except MemoryHeld as error:
        held = str(error)
        checks += _log_only(home)
    if models and settings is not None:
        from tui.commands.probing import probe_embedder, probe_generator

        tell(f"trying {settings.model} …")
        checks.append(probe_generator(home, settings))
        tell(f"trying {settings.embedder} …")
        checks.append(probe_embedder(home, settings))
    return Examination(tuple(checks), held)


def _settings(home: Home) -> tuple[Settings | None, Check]:
    try:
        settings = load_settings(home.config)
    except SettingsError as error:
        return None, Check("settings", False, str(error), f"Edit {home.config}; the chats are not touched by it.")
    return settings, Check("settings", True, f"{home.config}: model {settings.model}, embedder {settings.embedder}")


def _private(home: Home) -> Check:
    """That nobody else may read what is in the home; the models are no secret."""
    secret = (home.root, home.config, home.cache)  # the memory's own check looks at the memory
    open_ones = [path for path in secret if path.exists() and path.stat().st_mode & 0o077]
    if not open_ones:
        return Check("privacy", True, f"{home.root} is yours alone")
    names = " ".join(str(path) for path in open_ones)
    return Check("privacy", False, f"others may look into {names}", f"Run: chmod go-rwx {names}")


def _disk(home: Home) -> Check:
    parts = {
        name: _size(path) for name, path in (("memory", home.memory), ("models", home.models), ("cache", home.cache))
    }
    free = shutil.disk_usage(home.root).free
    detail = ", ".join(f"{name} {size_of(size)}" for name, size in parts.items()) + f"; {size_of(free)} free"
    return Check("disk", free >= LITTLE_SPACE, detail, "Make room: a full disk refuses new messages.")


def _size(folder: Path) -> int:
    return sum(os.lstat(os.path.join(root, name)).st_size for root, _, names in os.walk(folder) for name in names)


def _versions() -> Check:
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            return Check("versions", False, f"{package} is not installed", "Set clew up again with `make chat`.")
    return Check("versions", True, ", ".join([f"clew {VERSION}", f"Python {python_version()}", *found]))


def _memory(home: Home, tell: Tell) -> list[Check]:
    """The memory's own checks, after what every start does: finishing what a crash left, catching the graph up."""
    from graph.memory import Memory

    try:
        LogReader.open(home.memory).close()
        memory = Memory.open(home.memory, command="clew doctor")
    except MemoryMissing:
        return [Check("memory", True, "nothing is stored yet")]
    except MemoryHeld:
        raise
    except MemoryFailure as error:
        return [_failed("log", error)]
    try:
        checks = [Check("starts", True, f"opened {memory.starts} times; {memory.recovered} replies were cut off since")]
        try:
            memory.open_graph(lambda step: tell(describe(step)))
        except MemoryFailure as error:
            checks.append(_failed("graph", error))
        return checks + memory.doctor()
    finally:
        memory.close()


def _log_only(home: Home) -> list[Check]:
    """What can be looked at beside another clew, which goes on writing meanwhile."""
    from graph.doctor import examine_log

    try:
        reader = LogReader.open(home.memory)
    except MemoryFailure as error:
        return [_failed("log", error)]
    try:
        return examine_log(reader, home.memory)
    finally:
        reader.close()


def _failed(name: str, error: MemoryFailure) -> Check:
    advice = "Restore a backup of log.sqlite into the memory folder." if isinstance(error, LogDamaged) else ""
    return Check(name, False, str(error), advice or "Run `clew rebuild`; the log, and every word, is not affected.")
