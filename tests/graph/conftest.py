"""What the memory's tests share: a folder, memories that are closed at the end, and conversations to put in them."""

import os
import resource
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from graph.kuzu import rebuild
from graph.memory import Memory
from graph.values import Progress
from graph.whole_words import teach

Open = Callable[[], Memory]


@pytest.fixture(autouse=True)
def _private_files() -> Iterator[None]:
    """Files are made as the program makes them: for the user alone."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def _loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs that are made anew are loaded, as those of long logs are; where it is about short ones a test says so."""
    monkeypatch.setattr(rebuild, "FEW", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a memory lives."""
    return tmp_path / "memory"


@pytest.fixture
def opening(folder: Path) -> Iterator[Open]:
    """Opens the memory, as often as a test likes; whatever is open at the end is closed."""
    opened: list[Memory] = []

    def open_again() -> Memory:
        for memory in opened:
            memory.close()
        opened[:] = [Memory.open(folder, command="test")]
        return opened[0]

    yield open_again
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(opening: Open) -> Memory:
    """An empty memory without its graph."""
    return opening()


@pytest.fixture
def whole(memory: Memory) -> Memory:
    """An empty memory with its graph."""
    memory.open_graph(ignore)
    return memory


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    """Another empty memory, elsewhere."""
    with closing(Memory.open(tmp_path / "elsewhere" / "memory", command="test")) as memory:
        yield memory


def with_graph(opening: Open) -> Memory:
    """The memory opened again, with its graph."""
    memory = opening()
    memory.open_graph(ignore)
    return memory


def memory_of(folder: str) -> closing[Memory]:
    """A memory in a folder, without its graph."""
    return closing(Memory.open(Path(folder) / "memory", command="test"))


@contextmanager
def fresh(*, graph: bool = False) -> Iterator[Memory]:
    """An empty memory, for one of many examples; with its graph where that is looked at."""
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        if graph:
            memory.open_graph(ignore)
        yield memory


def bad(memory: Memory) -> list[str]:
    """What the doctor finds wrong, but that the graph is closed where it is."""
    opened = memory.graph_ready
    return [check.name for check in memory.doctor() if not check.ok and (opened or check.name != "graph")]


def change(folder: Path, *statements: str) -> None:
    """Run SQL on the log, as clew never would."""
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        teach(db)
        for statement in statements:
            db.execute(statement)


def purge(memory: Memory) -> None:
    memory.purge.run(ignore)
    assert memory.purge.done(memory.purge.waiting())


@contextmanager
def no_more_files() -> Iterator[None]:
    """This process may open none."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def ignore(progress: Progress) -> None:
    """Nobody watches."""
