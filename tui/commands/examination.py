"""What the doctor looks at: settings, privacy, disk, versions, the memory, and models, tried outside any history."""

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

from agent.errors import AgentError, SettingsError
from agent.home import Home
from agent.settings import Settings, load_settings, server_of
from graph.errors import (
    GraphFailure,
    InvalidVector,
    LogDamaged,
    LogNewer,
    LogUnreadable,
    LogUnwritable,
    MemoryFailure,
    MemoryHeld,
    MemoryMissing,
    NoRoom,
)
from graph.reader import LogReader
from graph.values import Check
from models.errors import (
    CrashingBuild,
    CrashingModel,
    DamagedModel,
    ModelError,
    NotInstalled,
    TruncatedModel,
    UnloadableBuild,
)
from models.protocols import Finished, SamplingParams
from tui.commands.disk import MODELS, MUCH, advice, parts_of, told
from tui.commands.waiting import describe, waiting
from tui.text import counted, size_of
from tui.version import VERSION

if TYPE_CHECKING:
    from graph.memory import Memory
    from models.protocols import Generator


Tell = Callable[[str], None]

LITTLE_SPACE = 500 * 10**6
PACKAGES = ("kuzu", "llama-cpp-python", "textual", "pydantic")

# What a look at something broken may end in: ours, the system's, and what damaged data makes of any code.
SURPRISES = (
    MemoryFailure,
    ModelError,
    AgentError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RuntimeError,
)
LOG_CHECKS = frozenset({"log", "log file", "chain", "texts", "events"})
FROM_THE_LOG = frozenset({"graph", "words", "contents", "vectors"})  # what a rebuild makes anew, as good as the log is

UPDATE = "Update clew. Your memory was not changed."
MAKE_ROOM = "Free some disk space, or make the home folder writable. Nothing stored is lost."
RESTORE = "Make a copy of the memory folder, then restore a backup of log.sqlite into it."
AGAIN_LATER = "Run `clew doctor` again. If this stays, check the disk."
REBUILD = "Run `clew rebuild` to rebuild the graph from the log."
LOG_FIRST = "Fix the log first: this is built from it."
MEND_QUERIES = (
    "The other queries and all chats are safe. Fix these lines in an editor (each is one query, as "
    "JSON) or remove them. If you delete the file, clew starts a new one."
)
REPORT = "Unexpected problem. Run `clew doctor` again; if it persists, it is a bug in clew: please report it."


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings; `held_by` says who has the memory where its graph could not be looked at."""

    checks: tuple[Check, ...]
    held_by: str | None = None


def examine(home: Home, *, models: bool, tell: Tell) -> Examination:
    """Look at everything; `models` loads them too. Blocking; never raises for what it finds."""
    settings: Settings | None = None

    def look_at_settings() -> list[Check]:
        nonlocal settings
        settings, check = _settings(home)
        return [check]

    checks = _look("settings", look_at_settings)
    checks += _look("privacy", lambda: [_privacy(home)])
    checks += _look("disk", lambda: [_disk(home)])
    checks += _look("queries", lambda: _queries(home))
    checks += _look("versions", lambda: [_versions()])
    tell("checking the memory …")
    held = None
    try:
        checks += _log_first(_look("memory", lambda: _memory(home, tell)))
    except MemoryHeld as error:
        held = str(error)
        checks += _log_first(_look("log", lambda: _log_only(home)))
    if models and settings is not None:
        checks += _models(home, settings, tell)
    return Examination(tuple(checks), held)


def _look(name: str, look: Callable[[], list[Check]]) -> list[Check]:
    """What `look` finds, or its failure as a finding. Raises MemoryHeld, which is no illness."""
    try:
        return look()
    except MemoryHeld:
        raise
    except SURPRISES as error:
        return [_failed(name, error)]


def _models(home: Home, settings: Settings, tell: Tell) -> list[Check]:

    tell(f"testing {settings.model} …")
    checks = _look("model", lambda: [probe_generator(home, settings)])
    tell(f"testing {settings.embedder} …")
    return checks + _look("embedder", lambda: [probe_embedder(home, settings)])


def _settings(home: Home) -> tuple[Settings | None, Check]:
    try:
        settings = load_settings(home.config)
    except SettingsError as error:
        return None, Check("settings", False, str(error), f"Edit {home.config}. Your chats are not affected.")
    return settings, Check("settings", True, f"{home.config}: model {settings.model}, embedder {settings.embedder}")


def _privacy(home: Home) -> Check:
    """That nobody else may read what is in the home; the models are no secret."""
    secret = (home.root, home.config, home.cache)  # the memory's own check looks at the memory
    open_ones = [path for path in secret if path.exists() and path.stat().st_mode & 0o077]
    if not open_ones:
        return Check("privacy", True, f"{home.root} is accessible only to you")
    names = " ".join(str(path) for path in open_ones)
    return Check("privacy", False, f"other users can read {names}", f"Run: chmod go-rwx {names}")


def _disk(home: Home) -> Check:
    parts = parts_of(home)
    free = shutil.disk_usage(home.root).free
    detail = f"{told(parts)}; {size_of(free)} free"
    if free < LITTLE_SPACE:
        here = dict(parts)
        if home.models.stat().st_dev != home.root.stat().st_dev:
            del here[MODELS]
        room = f"Free some space: new messages cannot be saved on a full disk. {advice(here, full=True)}"
        return Check("disk", False, detail, room.rstrip())
    hint = advice(parts, least=MUCH)
    return Check("disk", True, f"{detail}. {hint}" if hint else detail)


def _queries(home: Home) -> list[Check]:
    """The query screen's files; nothing of a home that has none."""
    from agent.asking.store import QueryStore

    store = QueryStore(home.queries)
    history, saved = store.history(), store.saved()
    files = {store.history_file: history.damaged, store.saved_file: saved.damaged}
    if not any(os.path.lexists(path) for path in files):
        return []
    wrong = [
        f"{path} has {damaged} {'line' if damaged == 1 else 'lines'} that cannot be read"
        for path, damaged in files.items()
        if damaged
    ]
    detail = "; ".join(wrong) or f"{len(saved.entries)} saved, {len(history.entries)} in the history"
    return [Check("queries", not wrong, detail, MEND_QUERIES)]


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
    except LogUnwritable as error:
        return [_failed("log", error), *_look("log", lambda: _log_only(home))]
    except MemoryFailure as error:
        return [_failed("log", error)]
    try:
        cut_off = counted(memory.recovered, "reply", "replies")
        checks = [Check("starts", True, f"opened {counted(memory.starts, 'time')}; {cut_off} cut off")]
        checks += _look("graph", lambda: _open_graph(memory, tell))
        checks += _look("learning", lambda: [_learning(memory)]) if memory.graph_ready else []
        return checks + _look("memory", memory.doctor)
    finally:
        memory.close()


def _open_graph(memory: "Memory", tell: Tell) -> list[Check]:
    memory.open_graph(lambda step: tell(describe(step)))
    return []


def _learning(memory: "Memory") -> Check:
    return Check(
        "learning", True, waiting(memory.readings.unreflected_count()) or "nothing is waiting to be learned from"
    )


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


def _log_first(checks: list[Check]) -> list[Check]:
    """The findings, none of which advises to make anything anew from a log that is itself not well."""
    if all(check.ok for check in checks if check.name in LOG_CHECKS):
        return checks
    return [
        replace(check, advice=LOG_FIRST) if check.name in FROM_THE_LOG and not check.ok else check for check in checks
    ]


def _failed(name: str, error: Exception) -> Check:
    """A failure as a finding, with the advice that fits its cause."""
    match error:
        case LogNewer():
            advice = UPDATE
        case LogDamaged():
            advice = RESTORE
        case LogUnwritable() | NoRoom():
            advice = MAKE_ROOM
        case LogUnreadable():
            advice = AGAIN_LATER
        case OSError() if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM):
            advice = MAKE_ROOM
        case GraphFailure():
            advice = REBUILD
        case _:
            advice = REPORT
    ours = isinstance(error, MemoryFailure | ModelError | AgentError)
    return Check(name, False, str(error) if ours else f"{type(error).__name__}: {error}", advice)


CONTEXT = 1024
WORDS = 16
AGAIN = "Choose another embedder with `clew models use NAME`, or download it again: `clew models rm {name}`, then pull."
REBUILD_LLAMA = "Rebuild llama.cpp with the command shown there. Your chats and models are not affected."
ANEW = "Download it again: `clew models rm {name}`, then `clew models pull {name}`."
SERVED = "See what works there with `clew models test {server}`, or choose another model with `clew models use NAME`."
PULL = "Download it with `clew models pull {name}`, or choose another with `clew models use NAME`."


def probe_generator(home: Home, settings: Settings) -> Check:
    """Whether the chat model of the settings loads and speaks, and its tokens a second."""
    from models.generator import load_generator
    from models.store import DEFAULT_CHAT, ModelStore

    if (served := server_of(settings.model, settings.servers)) is not None:
        return _probe_served(home, settings, *served)
    try:
        path = ModelStore(home.models).path(settings.model)
    except NotInstalled as error:
        first = settings.model == DEFAULT_CHAT
        detail = f"{settings.model} will be downloaded when the first chat starts" if first else str(error)
        return Check("model", first, detail, PULL.format(name=settings.model))
    except ModelError as error:
        return Check("model", False, str(error), PULL.format(name=settings.model))
    warnings: list[str] = []
    try:
        generator = load_generator(
            path,
            name=_name(settings.model),
            context=CONTEXT,
            threads=settings.threads or None,
            gpu_layers=settings.gpu_layers,
            warn=warnings.append,
        )

        end = _spoken(generator)
    except ModelError as error:
        return Check("model", False, str(error), _advice(error, settings.model))
    return _how_it_speaks(settings.model, end, warnings, PULL.format(name=settings.model))


def _probe_served(home: Home, settings: Settings, model: str, server: str) -> Check:
    """The same of a model on a server, which is asked for a few words that have nothing of the user in them."""
    from agent.model_host import connected
    from agent.servers import hosts_away, hosts_of

    away = set(hosts_away(settings, server))
    at = ", ".join(f"⇅ {host}" if host in away else host for host in hosts_of(settings, server))
    advice = SERVED.format(server=server)
    try:
        end = _spoken(connected(home, settings, model, server))
    except (ModelError, SettingsError) as error:
        return Check("model", False, str(error), advice)
    return _how_it_speaks(f"{settings.model} ({at})", end, [], advice)


def _spoken(generator: "Generator") -> Finished:
    """The end of a few words that a model is asked for; it is given back. Raises ModelError."""
    params = SamplingParams(temperature=0, max_tokens=WORDS)

    async def speak() -> Finished:
        try:
            opening = generator.frame("user", "Count from one to twenty.", first=True)
            async for step in generator.generate([*opening, *generator.reply_open()], params):
                if isinstance(step, Finished):
                    return step
            raise AssertionError("a generator ends with Finished")
        finally:
            await generator.close()

    return asyncio.run(speak())


def _how_it_speaks(name: str, end: Finished, warnings: list[str], advice: str) -> Check:
    seconds = (end.total_ms - (end.first_token_ms or 0)) / 1000
    speed = (end.completion_tokens - 1) / seconds if seconds > 0 and end.completion_tokens > 1 else 0.0
    first_ms = f"{end.first_token_ms:.0f} ms" if end.first_token_ms is not None else "never"
    well = end.completion_tokens > 0
    said = f"{speed:.0f} tokens/s, first after {first_ms}" if well else "no output"
    detail = ". ".join([f"{name}: {said}", *warnings])
    return Check("model", well, detail, advice)


def probe_embedder(home: Home, settings: Settings) -> Check:
    """Whether the embedder of the settings, if it is installed, turns a text into a vector that can be kept."""
    from graph.contents import KEPT_BYTES, pack
    from models.embedder import load_embedder
    from models.store import ModelStore

    if (served := server_of(settings.embedder, settings.servers)) is not None:
        return _probe_served_embedder(home, settings, *served)
    try:
        path = ModelStore(home.models).path(settings.embedder)
    except NotInstalled:
        detail = f"{settings.embedder} is not installed: recall works by words only"
        return Check("embedder", False, detail, PULL.format(name=settings.embedder))
    except ModelError as error:
        return Check("embedder", False, str(error), PULL.format(name=settings.embedder))
    try:
        embedder = load_embedder(path, name=_name(settings.embedder), threads=settings.threads or None)

        async def embed() -> int:
            try:
                (row,) = await embedder.embed(["The cat sat on the mat."])
                return len(pack(row, None)) // KEPT_BYTES  # refused as the memory would refuse it
            finally:
                await embedder.close()

        dimension = asyncio.run(embed())
    except InvalidVector as error:
        detail = f"{settings.embedder} produces unusable vectors: {error.why}"
        return Check("embedder", False, detail, AGAIN.format(name=settings.embedder))
    except ModelError as error:
        return Check("embedder", False, str(error), _advice(error, settings.embedder))
    return Check("embedder", True, f"{settings.embedder}: vectors of {dimension} numbers")


def _probe_served_embedder(home: Home, settings: Settings, model: str, server: str) -> Check:
    """The same of one on a server, which is asked for the vectors of some words of clew's own."""
    from agent.model_host import embedder_on_server

    try:
        embedder = embedder_on_server(home, settings, model, server).embedder
        dimension = embedder.dimension
        asyncio.run(embedder.close())
    except (ModelError, SettingsError) as error:
        return Check("embedder", False, str(error), SERVED.format(server=server))
    return Check("embedder", True, f"{settings.embedder}: vectors of {dimension} numbers")


def _advice(error: ModelError, name: str) -> str:
    of_the_build = isinstance(error, CrashingBuild | CrashingModel | UnloadableBuild)
    if of_the_build:
        return REBUILD_LLAMA
    return (ANEW if isinstance(error, DamagedModel | TruncatedModel) else PULL).format(name=name)


def _name(model: str) -> str:
    return Path(model).stem if model.endswith(".gguf") else model
