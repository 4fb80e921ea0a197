"""A real memory with a bit of everything in it, told once for all that is asked of it."""

from collections.abc import Iterator

import pytest

from graph.memory import Memory
from tests.agent.asking.told import tell
from tests.graph.conftest import ignore


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    memory = Memory.open(tmp_path_factory.mktemp("told") / "memory", command="test")
    memory.open_graph(ignore)
    tell(memory)
    yield memory
    memory.close()


@pytest.fixture
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """An empty memory with its graph."""
    memory = Memory.open(tmp_path_factory.mktemp("empty") / "memory", command="test")
    memory.open_graph(ignore)
    yield memory
    memory.close()
