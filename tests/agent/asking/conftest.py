"""A real memory with a bit of everything in it, told once for all that is asked of it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.memory import Memory
from tests.agent.asking.asked import Asking
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


@pytest.fixture(scope="session")
def by_meaning(embed_gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """Questions, understood with the default embedder."""
    from models.embedder import load_embedder

    embedder = load_embedder(embed_gguf, name="minilm-l6", threads=1)  # for texts this short more only wait and spin
    yield Asking(embedder, tmp_path_factory.mktemp("phrasings") / "phrasings.npz")
    asyncio.run(embedder.close())


@pytest.fixture(scope="session")
def by_words(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    """Questions, understood without an embedder."""
    return Asking(None, tmp_path_factory.mktemp("no-phrasings") / "phrasings.npz")
