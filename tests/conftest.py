"""What every test shares: a home of its own, no network beyond this machine, and the real small models.

How tests are marked and ordered is in tests/marking.py, what makes their memories cheap in tests/rooms.py, what they
see of the machine in tests/machine.py.
"""

import gc
import os
import signal
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import examples, machine, marking, phrases, rooms

if TYPE_CHECKING:
    from models.generator import LlamaGenerator

# What is collected stays: looking through it again and again is a quarter of the time of small tests.
gc.disable()
examples.register()
marking.watch_processes()
rooms.in_ram()

# In the background of a shell without jobs Ctrl+C is ignored, by whatever is started too, and some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MODELS = machine.models_here()
machine.bare_environment()

# Beside other workers models are computed by one thread: two that share a core wait for each other, spinning, and take
# three times the processor and ten times as long.
THREADS = {"CLEW_THREADS": "1"} if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1 else {}

STDERR = pytest.StashKey[int]()
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Twice as many as there are cores: tests wait for a screen, a process or the disk."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    rooms.keep_memory()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STDERR] = os.dup(2)  # while a test runs, its own is there


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with machine.never_stuck(item.config.stash[STDERR], float(item.config.getini("timeout"))):
        return (yield)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_timeout_set_timer(settings: Any) -> Generator[None, object, object]:
    """The limit of a test is told again and again: asyncio swallows what is raised between two of its tasks."""
    was_set = yield
    signal.setitimer(signal.ITIMER_REAL, settings.timeout, settings.timeout)
    return was_set


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure is told with the last events of the test's log, and marks are no second one."""
    report = yield
    if report.failed:
        item.stash[marking.FAILED] = True
        home = getattr(item, "funcargs", {}).get("home")
        if isinstance(home, Path) and (tail := machine.log_tail(home)):
            report.sections.append(("the log's last events", tail))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how rules do on tables of phrases, also where they pass, and which real models were not to be had.

    In `make soak` the rows that rules miss are told too.
    """
    told = (report.capstdout for report in terminalreporter.getreports("passed"))
    for line in (line for text in sorted(told) if text.startswith(phrases.REPORT) for line in text.splitlines()):
        if line.startswith(phrases.REPORT) or examples.soaking():
            terminalreporter.write_line(line)
    skipped = {report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.getreports("skipped")}
    for reason in sorted(skipped):
        if reason.startswith(marking.NOT_HERE):
            terminalreporter.write_line(reason)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)  # looking through what the tests make 30 times less often is 5 % of their time
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    marking.mark(items)
    if left_out := marking.leave_out(items):
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """What a test leaves open is closed in a hurry."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        rooms.leave_as_is(monkeypatch)
        return (yield)


@pytest.fixture(autouse=True)
def _marks_are_true(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test does nothing that it is not marked with."""
    yield from marking.held_to(request.node)


@pytest.fixture(autouse=True, scope="session")
def _rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is made without a name goes with the rest, and empty memories are copied."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        rooms.keep_it_no_longer()
        machine.own_home(tmp_path_factory.mktemp("home"))
        rooms.temporary(tmp_path_factory.mktemp("unnamed"), monkeypatch)
        rooms.cheap_memories(tmp_path_factory.mktemp("template"), monkeypatch)
        yield


@pytest.fixture(autouse=True)
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CLEW_HOME for this test alone, and no word of where else it runs.

    It is empty, but where the default models are used it says that they were tried: each test would do so again.
    """
    folder = tmp_path / "clew-home"
    if "models_folder" in request.fixturenames:
        rooms.say_tried(folder, request.getfixturevalue("_tried"))
    monkeypatch.setenv("CLEW_HOME", str(folder))
    machine.usual_umask()
    monkeypatch.setenv("CLEW_SERVICE", "0")  # what a test starts is gone with it; those of the service say otherwise
    for name in ("CLEW_MODELS", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, threads in THREADS.items():
        monkeypatch.setenv(name, threads)
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections leave this machine in no test; servers of the tests themselves are on the loopback address."""

    def guarded(name: str) -> Any:
        connect = getattr(socket.socket, name)

        def local_only(self: socket.socket, address: Any) -> Any:
            if self.family != socket.AF_UNIX and address[0] not in LOOPBACK:
                raise AssertionError(f"a test tried to reach {address}")
            return connect(self, address)

        return local_only

    monkeypatch.setattr(socket.socket, "connect", guarded("connect"))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded("connect_ex"))


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """The folder of the GGUFs that `make` fetched."""
    return MODELS


@pytest.fixture(scope="session")
def _tried(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clew notes of having tried the default models."""
    return rooms.tried(models_folder, tmp_path_factory.mktemp("tried"))


@pytest.fixture(scope="session")
def _few_threads() -> Iterator[None]:
    """What loads a model by itself reads no settings."""
    from models import embedder, generator

    with pytest.MonkeyPatch.context() as monkeypatch:
        for module in (embedder, generator) if THREADS else ():
            monkeypatch.setattr(module, "physical_cores", lambda: 1)
        yield


@pytest.fixture(scope="session")
def chat_gguf(models_folder: Path, _few_threads: None) -> Path:
    """The default chat model's file."""
    from models.store import DEFAULT_CHAT, ModelStore

    return ModelStore(models_folder).path(DEFAULT_CHAT)


@pytest.fixture(scope="session")
def embed_gguf(models_folder: Path, _few_threads: None) -> Path:
    """The default embedder's file."""
    from models.store import DEFAULT_EMBEDDER, ModelStore

    return ModelStore(models_folder).path(DEFAULT_EMBEDDER)


@pytest.fixture(scope="session")
def generator(chat_gguf: Path, _tried: Path) -> Iterator["LlamaGenerator"]:
    """The default chat model, loaded once for the whole run (each test brings its own event loop)."""
    import asyncio

    from models.generator import load_generator

    loaded = load_generator(chat_gguf, name="smollm2-135m", context=4096, memo=_tried)
    yield loaded
    asyncio.run(loaded.close())
