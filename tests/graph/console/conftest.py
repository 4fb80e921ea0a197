"""What the tests of people's queries share: a memory to ask, files that must not be read, and all that could change."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph.console.workers import FOLDER
from graph.errors import QueryFailed
from graph.memory import Memory
from graph.projection.schema import META, NODES, RELS
from tests.graph.conftest import ignore
from tests.graph.console import known as known_data
from tests.graph.console.hostile import CANARY, FILES
from tests.graph.talk import talk
from tests.graph.teach import observed

KNOWN_SETTINGS = ("threads", "timeout", "var_length_extend_max_depth", "progress_bar", "checkpoint_threshold")


@pytest.fixture
def spoken(whole: Memory) -> Memory:
    """Six turns of one chat, and something learned of them."""
    speak(whole)
    return whole


def speak(memory: Memory) -> None:
    talk(memory, 6)
    memory.append(observed("m", "s0", origin="user", confidence=0.5, text='It\'s called "Wren"'))


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The memory of `spoken`, made once and only asked."""
    yield from made_once(tmp_path_factory.mktemp("standing"), speak)


@pytest.fixture(scope="session")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of which all is known, made once and only asked."""
    yield from made_once(tmp_path_factory.mktemp("known"), known_data.tell)


def made_once(folder: Path, tell: Callable[[Memory], None]) -> Iterator[Memory]:
    memory = Memory.open(folder / "memory", command="test")
    memory.open_graph(ignore)
    tell(memory)
    yield memory
    memory.close()


def place_of(
    memory: Memory, query: str, words: str | None = None, kind: type[QueryFailed] = QueryFailed
) -> tuple[int, int]:
    """The line and column of which a query is told that it fails there, with these words."""
    with pytest.raises(kind, match=words) as caught:
        memory.console.run(query)
    return caught.value.line, caught.value.column


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the memory, with the canaries in it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text(f"column0\n{CANARY}\n")
    return folder


@pytest.fixture
def everything(spoken: Memory, tmp_path: Path) -> Callable[[], dict[str, object]]:
    """All that a statement could change: rows, tables, settings, and every file beside the memory."""

    def look() -> dict[str, object]:
        return {
            "rows": {each.name: hashed(spoken, f"MATCH (n:`{each.name}`) RETURN n.*") for each in (*NODES, META)},
            "relationships": {
                each.name: hashed(spoken, f"MATCH (a)-[r:`{each.name}`]->(b) RETURN a.id, b.id, r") for each in RELS
            },
            "tables": hashed(spoken, "CALL show_tables() RETURN *"),
            "columns": [hashed(spoken, f"CALL table_info('{each.name}') RETURN *") for each in (*NODES, *RELS)],
            "functions": hashed(spoken, "CALL show_functions() RETURN *"),
            "attached": spoken.query("CALL show_attached_databases() RETURN *"),
            "extensions": hashed(spoken, "CALL show_loaded_extensions() RETURN *"),
            "indexes": spoken.query("CALL show_indexes() RETURN *"),
            "settings": [spoken.query(f"CALL current_setting('{each}') RETURN *") for each in KNOWN_SETTINGS],
            "files": tree(tmp_path),
        }

    return look


def hashed(memory: Memory, query: str) -> str:
    """One number of all rows, in whatever order they come."""
    rows = sorted(repr(sorted(row.items())) for row in memory.query(query))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def tree(folder: Path) -> list[tuple[str, str]]:
    """Every file with a hash of what is in it, but for the copy that queries run on, which comes and goes."""
    return sorted(
        (str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest())
        for path in folder.rglob("*")
        if path.is_file() and FOLDER not in path.parts
    )
