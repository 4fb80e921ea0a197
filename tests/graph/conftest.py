"""What the memory's tests share: a folder, memories that are closed at the end, and conversations to put in them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph.kuzu import rebuild
from graph.memory import Memory
from graph.values import Progress

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


def ignore(progress: Progress) -> None:
    """Nobody watches."""
