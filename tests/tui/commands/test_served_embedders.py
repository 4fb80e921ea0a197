"""`clew models` with embedding models on servers: chosen only where that is said, and found out before they are."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.home import Home
from agent.settings import load_settings
from models.store import DEFAULT_CHAT, DEFAULT_EMBEDDER
from tests.models.embedding_server import MODEL, EmbeddingServer, embedding_server
from tests.tui.commands.conftest import Clew, plain
from tui.commands.examination import probe_embedder
from tui.exit_codes import ExitCode


@contextmanager
def beside(**made: Any) -> Iterator[EmbeddingServer]:
    """A server of embeddings in a thread of its own."""
    opened, running = threading.Event(), list[Any]()

    async def serve() -> None:
        over = asyncio.Event()
        async with embedding_server(**made) as server:
            running.extend((server, asyncio.get_running_loop(), over))
            opened.set()
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    opened.wait()
    server, loop, over = running
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with beside() as made:
        yield made


def name_server(home: Path, address: str = "http://localhost:1") -> Path:
    """The settings, with a server "den"."""
    home.mkdir(exist_ok=True)
    config = home / "config.toml"
    config.write_text(f'[servers.den]\naddress = "{address}"\n')
    return config


def test_an_embedding_model_on_a_server_is_chosen_where_that_is_said_else_offered(clew: Clew, home: Path) -> None:
    config = name_server(home)
    ended = clew("models", "use", "--embedder", f"{MODEL}@den")
    assert ended.code == ExitCode.OK
    assert f"{MODEL}@den is now the embedding model" in ended.err
    settings = load_settings(config)
    assert (settings.embedder, settings.model) == (f"{MODEL}@den", DEFAULT_CHAT)
    rows = [row for row in clew("models", "list", "--json").json if row["kind"] == "server"]
    assert [row["in_use"] for row in rows] == [True]
    assert "still use a model of it" in clew("models", "rm", "den", "--yes").err

    config = name_server(home)
    ended = clew("models", "use", f"{MODEL}@den")
    assert ended.code == ExitCode.OK
    assert f"clew models use --embedder {MODEL}@den" in ended.err
    assert load_settings(config).embedder == DEFAULT_EMBEDDER
    assert "--embedder" not in clew("models", "use", "qwen3:8b@den").err


def test_what_is_no_embedder_is_not_chosen_as_one(answering: Clew, home: Path) -> None:
    config = name_server(home)
    before = config.read_text()
    for name in (DEFAULT_CHAT, f"{MODEL}@nobody"):
        ended = answering("models", "use", "--embedder", name)
        assert ended.code in (ExitCode.USAGE, ExitCode.UNAVAILABLE)
        assert "Nothing was changed" in plain(ended.err)
        assert config.read_text() == before


def test_a_server_that_only_embeds_is_added_and_tested(clew: Clew, home: Path, server: EmbeddingServer) -> None:
    ended = clew("models", "add", server.address, "--name", "den")
    assert ended.code == ExitCode.OK
    assert f"To use it: clew models use --embedder {MODEL}@den" in ended.err
    assert load_settings(home / "config.toml").servers["den"].kind == "openai"
    (found,) = clew("models", "test", "den", "--json").json
    assert found["findings"]["embeddings"] == "yes"
    assert {value for name, value in found["findings"].items() if name != "embeddings"} == {"not told"}
    assert {text for batch in server.batches for text in batch if "harbour" not in text} == set()


def test_a_server_with_useless_vectors_is_not_added(clew: Clew, home: Path, server: EmbeddingServer) -> None:
    server.faults = [lambda whole: whole | {"data": []}]
    assert clew("models", "add", server.address).code == ExitCode.UNAVAILABLE
    assert load_settings(home / "config.toml").servers == {}


def test_the_doctor_asks_it_for_some_vectors(clew: Clew, home: Path, server: EmbeddingServer) -> None:
    name_server(home, server.address)
    clew("models", "use", "--embedder", f"{MODEL}@den")
    place = Home.resolve(home)
    found = probe_embedder(place, load_settings(place.config))
    assert (found.ok, found.detail) == (True, f"{MODEL}@den: vectors of 16 numbers")
    server.models = []
    server.faults = [lambda whole: whole | {"data": []}]
    found = probe_embedder(place, load_settings(place.config))
    assert not found.ok
    assert "clew models test den" in found.advice
