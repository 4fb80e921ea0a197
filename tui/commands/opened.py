"""The Agent for a command that only asks the memory: opened, caught up with what was said, closed whatever happens.

The chat model is loaded only for a command that needs it. Another clew that holds the memory is named, exit code 75.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import typer

from agent.errors import AgentError
from agent.events import EmbeddingProgress, GraphProgress, ModelFailed, ModelProgress, Notice, Warned
from agent.home import Home
from agent.service import Agent
from agent.settings import load_settings
from tui.commands.output import Narration, say
from tui.exit_codes import ExitCode
from tui.text import size_of

Answer = TypeVar("Answer")


def with_memory(
    home: Home, work: Callable[[Agent, Narration], Awaitable[Answer]], *, client: str, by_meaning: bool = False
) -> Answer:
    """What `work` answers, given the agent with its graph caught up, and with `by_meaning` its embedder loaded.

    Raises MemoryFailure, ModelError or AgentError; typer.Exit(130) after Ctrl+C.
    """
    from models.quiet import guard_descriptors

    guard_descriptors(home.cache / "native.log")
    agent = Agent(home, load_settings(home.config), client=client)
    try:
        return asyncio.run(_work(agent, work, by_meaning=by_meaning))
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _work(agent: Agent, work: Callable[[Agent, Narration], Awaitable[Answer]], *, by_meaning: bool) -> Answer:
    narration = Narration()
    watch = Watch(narration, by_meaning=by_meaning)
    notices = asyncio.create_task(watch.follow(agent.notices()))
    try:
        await agent.start(load_model=False)
        await watch.ready.wait()
        if watch.failure:
            raise AgentError(watch.failure)
        return await work(agent, narration)
    finally:
        narration.clear()
        await agent.close()
        notices.cancel()
        with suppress(asyncio.CancelledError):
            await notices


class Watch:
    """Waits for what a question needs, telling how far it is; `failure` says why it cannot be answered."""

    def __init__(self, narration: Narration, *, by_meaning: bool) -> None:
        self.ready = asyncio.Event()
        self.failure = ""
        self._narration = narration
        self._graph = False
        self._embedder = not by_meaning

    async def follow(self, notices: AsyncIterator[Notice]) -> None:
        """Take notices until they end."""
        async for notice in notices:
            self.take(notice)

    def take(self, notice: Notice) -> None:
        """One notice."""
        match notice:
            case GraphProgress(state="ready"):
                self._graph = True
            case GraphProgress(state="failed"):
                self.failure = notice.message
            case GraphProgress():
                of = f": {notice.done} of {notice.total} events" if notice.total else " …"
                self._narration.tell(f"{notice.state} the graph{of}")
            case EmbeddingProgress(state="loading"):
                self._narration.tell("loading the embedder …")
            case EmbeddingProgress(state="failed"):
                self._embedder = True
                self._tell(f"clew: {notice.message} Found by words alone.")
            case EmbeddingProgress():
                self._embedder = True
            case ModelProgress(state="fetching") if notice.total:
                self._narration.tell(f"fetching {notice.name}: {size_of(notice.done)} of {size_of(notice.total)}")
            case ModelProgress():
                self._narration.tell(f"{notice.state} {notice.name} …")
            case Warned() | ModelFailed():
                self._tell(f"clew: {notice.message}")
            case _:
                pass
        if self.failure or (self._graph and self._embedder):
            self.ready.set()

    def _tell(self, words: str) -> None:
        self._narration.clear()
        say(words)
