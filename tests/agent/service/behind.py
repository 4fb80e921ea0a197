"""An Agent behind its socket, in this process, and clients of it, of which tests may look at the Agent itself."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from agent.agent import Agent
from agent.events import ModelProgress
from agent.home import Home
from agent.service.address import socket_of
from agent.service.client import AgentClient
from agent.service.protocol import LONGEST_LINE
from agent.service.server import Service
from agent.settings import Settings
from models.protocols import Generator

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Served(AgentClient):
    """A client that lets tests look into the Agent it asks, which is in the same process."""

    def __init__(self, agent: Agent, connect: Callable[[], Awaitable[Streams]]) -> None:
        super().__init__(connect, agent.settings, name="test", kind="chat")
        self._agent = agent
        self.ends: Callable[[], Awaitable[None]] | None = None  # what is closed with it

    async def close(self) -> None:
        await super().close()
        if self.ends is not None:
            ends, self.ends = self.ends, None
            await ends()

    @property
    def rewrites(self) -> dict[str, int]:
        return self._agent.rewrites

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name != "_agent":
            return getattr(self._agent, name)
        return super().__getattr__(name)


class Behind:
    """A running service with its Agent, and clients of it."""

    def __init__(self, home: Home, agent: Agent, *, linger_s: float = 60) -> None:
        self.home, self.agent = home, agent
        self.service = Service(home, agent, version="test", linger_s=linger_s)
        self._clients: list[AgentClient] = []
        self._raw: list[asyncio.StreamWriter] = []
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        ready = asyncio.Event()
        self._running = asyncio.create_task(self.service.run(ready.set))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait([self._running, waiting], return_when=asyncio.FIRST_COMPLETED)
        if not ready.is_set():
            waiting.cancel()
            running, self._running = self._running, None
            await running

    async def connect(self) -> Streams:
        return await asyncio.open_unix_connection(str(socket_of(self.home)), limit=LONGEST_LINE)

    async def raw(self) -> Streams:
        """A connection that a test writes to as it likes; closed in the end."""
        streams = await self.connect()
        self._raw.append(streams[1])
        return streams

    async def client(self) -> Served:
        made = Served(self.agent, self.connect)
        self._clients.append(made)
        await made.start()
        return made

    async def end(self) -> None:
        for client in self._clients:
            await client.close()
        for writer in self._raw:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
        self.service.end()
        if self._running is not None:
            await self._running

    async def ended(self) -> None:
        """Wait until it has ended by itself."""
        assert self._running is not None
        await self._running


def agent_of(home: Home, model: Generator, settings: Settings | None = None) -> Agent:
    def loader(name: str, progress: Callable[[ModelProgress], None]) -> Generator:
        progress(ModelProgress("loading", name))
        return model

    return Agent(home, settings or Settings(), client="test", loader=loader)
