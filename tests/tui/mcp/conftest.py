"""A memory to be asked by another program, and the SDK's own client at a `clew mcp` of its own."""

import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, Implementation

from agent.agent import Agent
from agent.events import ModelProgress
from agent.home import Home
from agent.settings import Settings
from models.protocols import Generator
from tests.conftest import THREADS
from tests.fakes import FakeGenerator
from tui.mcp.server import make_server
from tui.mcp.tools import Tools
from tui.mcp.visits import Visits

PLAIN = Settings(tools="off", kv_mb=0, reflect=False)
Connect = Callable[..., AbstractAsyncContextManager[Client]]
Chat = Callable[..., AbstractAsyncContextManager[Agent]]


@pytest.fixture
def of_models(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real embedder is found."""
    monkeypatch.setenv("CLEW_MODELS", str(models_folder))


@pytest.fixture
def chat(home: Path) -> Chat:
    """Holds the memory as a chat does, with a model that always says the same; with `embed` all that was said has
    a vector when it ends."""

    @asynccontextmanager
    async def opened(*, embed: bool = False) -> AsyncIterator[Agent]:
        def loader(name: str, progress: Callable[[ModelProgress], None]) -> Generator:
            return FakeGenerator("I see.")

        agent = Agent(Home.resolve(home), PLAIN, client="chat", loader=loader)
        await agent.start(load_embedder=embed)
        await agent.idle()
        try:
            yield agent
            await agent.idle()
        finally:
            await agent.close()

    return opened


@pytest.fixture
def connect(home: Path, models_folder: Path, tmp_path: Path) -> Connect:
    """Starts `clew mcp` and connects to it, as a program of some name."""

    @asynccontextmanager
    async def connected(*, name: str = "Helper") -> AsyncIterator[Client]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tui", "--home", str(home), "mcp"],
            env={"CLEW_MODELS": str(models_folder), **THREADS},
        )
        about = Implementation(name=name, version="1")
        with (tmp_path / f"said-{name}.txt").open("w") as said:
            async with Client(stdio_client(server, errlog=said), client_info=about) as client:
                yield client

    return connected


@pytest.fixture
def visit(home: Path) -> Connect:
    """Connects to the same tools in this process, without an embedder; where only what they answer is asked."""

    @asynccontextmanager
    async def connected(*, name: str = "Helper") -> AsyncIterator[Client]:
        place = Home.resolve(home)
        visits = Visits(place, idle_s=0.05)
        try:
            server = make_server(Tools(place, visits))
            async with Client(server, client_info=Implementation(name=name, version="1")) as client:
                yield client
        finally:
            await visits.close()

    return connected


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, words_of(result)
    assert result.structured_content is None  # it would be the same again
    found: dict[str, Any] = json.loads(words_of(result))
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says where it does not do what is asked."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return words_of(result)


def words_of(result: CallToolResult) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)
