"""The memory for a program that asks now and then: opened for a call, and let go of when no further one comes.

Invariants: between calls the memory is free, so that a chat can start; the embedder stays loaded, since it belongs to
no memory. A call that is given up leaves nothing half open: opening and closing go on to their end without it.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agent.errors import AgentError
from agent.home import Home
from agent.service.limits import CALLS, RateWindow
from agent.service.protocol import RateLimited

if TYPE_CHECKING:  # the client waits for the server to begin, and the first call may take longer than a start
    from agent.events import Notice
    from agent.face import Face
    from agent.model_host import EmbedderLoader, LoadedEmbedder
    from agent.settings import Settings
    from models.protocols import Embedder, ModelInfo

IDLE_S = 2.0  # after a call, in which the next one finds the memory open
HELD_S = 5.0  # from which it is let go of right after a call, so that others get their turn


class Visits:
    """Opens the memory of a home for whoever asks; `close` at the end."""

    def __init__(self, home: Home, *, loader: "EmbedderLoader | None" = None, idle_s: float = IDLE_S) -> None:
        self._home = home
        self._loader = loader
        self._idle_s = idle_s
        self._door = asyncio.Lock()  # held while the memory is opened or closed
        self._agent: Face | None = None
        self._notices: asyncio.Task[None] | None = None
        self._visitors = 0
        self._window = RateWindow()
        self._opened_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._embedders: dict[tuple[str, int, int], LoadedEmbedder] = {}

    @asynccontextmanager
    async def agent(self) -> "AsyncIterator[Face]":
        """The Agent with its graph caught up, and no chat model. Raises MemoryFailure or AgentError.

        RateLimited where the program asks a service too often: that is an accident, and keeps the others waiting.
        """
        self._visitors += 1
        self._wait_no_more()
        try:
            agent = await asyncio.shield(self._spawn(self._enter()))
            if getattr(agent, "shared", False) and (wait := self._window.take("")):
                limited = RateLimited(f"This program asked {CALLS} times in a minute. Ask again in {wait:.0f} s.")
                limited.retry_after_s = wait
                raise limited
            yield agent
        finally:
            self._visitors -= 1
            if self._visitors == 0:
                held = asyncio.get_running_loop().time() - self._opened_at
                self._let_go_in(0.0 if held >= HELD_S else self._idle_s)

    async def close(self) -> None:
        """Let go of everything."""
        self._wait_no_more()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._leave()
        for loaded in self._embedders.values():
            await _inner(loaded.embedder).close()
        self._embedders.clear()

    @property
    def open(self) -> bool:
        """Whether the memory is held now."""
        return self._agent is not None

    # -- inside ---------------------------------------------------------------------------------------------------

    async def _enter(self) -> "Face":
        async with self._door:
            if self._agent is None:
                from agent.settings import load_settings

                settings = await asyncio.to_thread(load_settings, self._home.config)
                self._agent = await self._start(settings)
                self._opened_at = asyncio.get_running_loop().time()
            return self._agent

    async def _start(self, settings: "Settings") -> "Face":
        from agent.agent import Agent
        from agent.proposals import CLIENT
        from tui.joining import graph_settled, joined

        agent = await joined(
            self._home,
            settings,
            name=CLIENT,
            kind="mcp",
            own=lambda: Agent(self._home, settings, client=CLIENT, brief=True, embedder_loader=self._lasting(settings)),
        )
        graph = _Graph()
        notices = asyncio.create_task(_follow(agent.notices(), graph))
        try:
            await agent.start(load_model=False)
            await graph_settled(agent, graph.told)
            if graph.failure:
                raise AgentError(graph.failure)
        except BaseException:
            await agent.close()
            notices.cancel()
            raise
        self._notices = notices
        return agent

    async def _leave(self) -> None:
        async with self._door:
            if self._agent is None or self._visitors:
                return
            agent, self._agent = self._agent, None
            await agent.close()
            if self._notices is not None:
                self._notices.cancel()

    def _let_go_in(self, seconds: float) -> None:
        self._wait_no_more()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, lambda: self._spawn(self._leave()))

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # told to whoever waited; if nobody does any more, it is nobody's

    def _lasting(self, settings: "Settings") -> "EmbedderLoader":
        """A loader that loads a model once, and whose embedders are not closed with the Agent."""
        from dataclasses import replace

        from agent.model_host import llama_embedder_loader

        load = self._loader or llama_embedder_loader(self._home, settings)

        def lasting(name: str) -> "LoadedEmbedder":
            key = (name, settings.threads, settings.gpu_layers)
            if key not in self._embedders:
                loaded = load(name)
                self._embedders[key] = replace(loaded, embedder=_Lasting(loaded.embedder))
            return self._embedders[key]

        return lasting


class _Lasting:
    """An embedder that outlives who uses it."""

    def __init__(self, inner: "Embedder") -> None:
        self.inner = inner

    @property
    def info(self) -> "ModelInfo":
        return self.inner.info

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        return await self.inner.embed(texts, brief=brief, most=most)

    async def close(self) -> None:
        """It stays loaded."""


def _inner(embedder: "Embedder") -> "Embedder":
    return embedder.inner if isinstance(embedder, _Lasting) else embedder


class _Graph:
    """Whether it was told that the graph can be asked, or why it cannot."""

    def __init__(self) -> None:
        self.told, self.failure = asyncio.Event(), ""


async def _follow(notices: "AsyncIterator[Notice]", graph: _Graph) -> None:
    from agent.events import GraphProgress

    async for notice in notices:
        if isinstance(notice, GraphProgress) and notice.state in ("ready", "failed") and not graph.told.is_set():
            graph.failure = notice.message if notice.state == "failed" else ""
            graph.told.set()
