"""The Agent for a command that only asks the memory: opened, caught up with what was said, closed whatever happens.

Where a service runs for the memory, it is asked instead. The chat model is loaded only for a command that needs it.
Another clew that holds the memory is named, exit code 75.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import typer

from agent.agent import Agent
from agent.errors import AgentError
from agent.events import (
    EmbeddingProgress,
    GraphProgress,
    MemoryAwaited,
    MemoryPreparing,
    ModelFailed,
    ModelProgress,
    Notice,
    Warned,
)
from agent.face import Face
from agent.home import Home
from agent.settings import load_settings
from tui.commands.waiting import tell_erasing
from tui.exit_codes import ExitCode
from tui.joining import graph_settled, joined
from tui.output import LONG_S, Narration, say
from tui.state import model_step
from tui.text import counted, size_of

Answer = TypeVar("Answer")
STEP_S = 0.5


def with_memory(
    home: Home,
    work: Callable[[Face, Narration], Awaitable[Answer]],
    *,
    client: str,
    by_meaning: bool = False,
    open_graph: bool = True,
    brief: bool = True,
    silence_s: float = LONG_S,
) -> Answer:
    """What `work` answers, given the agent with its graph caught up, and with `by_meaning` its embedder loaded.

    Without `open_graph` only the log is opened: for who asks the past, which has a graph of its own. Others wait for a
    command that is `brief`; one that may take minutes is not.

    Raises MemoryFailure, ModelError or AgentError; typer.Exit(130) after Ctrl+C.
    """
    from models.quiet import guard_descriptors

    guard_descriptors(home.native_log)
    settings = load_settings(home.config)

    async def begun(narration: Narration) -> Answer:
        agent = await joined(
            home,
            settings,
            name=client,
            kind="command",
            own=lambda: Agent(home, settings, client=client, brief=brief),
            tell=Watch(narration).take,
        )
        return await _work(agent, work, narration, by_meaning=by_meaning, open_graph=open_graph)

    try:
        return asyncio.run(begun(Narration(silence_s=silence_s)))
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _work(
    agent: Face,
    work: Callable[[Face, Narration], Awaitable[Answer]],
    narration: Narration,
    *,
    by_meaning: bool,
    open_graph: bool,
) -> Answer:
    watch = Watch(narration)
    listening = asyncio.gather(watch.follow(agent.notices()), _go_on(narration))
    try:
        await agent.start(load_model=False, load_embedder=by_meaning, open_graph=open_graph)
        if open_graph:
            await graph_settled(agent, watch.graph)
        if watch.failure:
            raise AgentError(watch.failure)
        if by_meaning:
            await agent.models.embedder_ready()
        narration.clear()
        return await work(agent, narration)
    finally:
        narration.clear()
        await tell_erasing(agent)
        await agent.close()
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


async def _go_on(narration: Narration) -> None:
    """A step that takes long is told of while it takes."""
    while True:
        await asyncio.sleep(STEP_S)
        narration.go_on()


class Watch:
    """Tells what is waited for, and how far it is; `failure` says why the graph cannot be asked."""

    def __init__(self, narration: Narration) -> None:
        self.graph = asyncio.Event()
        self.failure = ""
        self._narration = narration

    async def follow(self, notices: AsyncIterator[Notice]) -> None:
        """Take notices until they end."""
        async for notice in notices:
            self.take(notice)

    def take(self, notice: Notice) -> None:
        """One notice."""
        match notice:
            case GraphProgress(state="ready"):
                self.graph.set()
            case GraphProgress(state="failed"):
                self.failure = notice.message
                self.graph.set()
            case GraphProgress():
                of = f": {notice.done:,} of {counted(notice.total, 'event')}" if notice.total else " …"
                self._narration.tell(f"{notice.state} the graph{of}")
            case MemoryPreparing(done=done, total=total):
                self._narration.tell(f"preparing the memory for this version: {done:,} of {total:,} events …")
            case MemoryAwaited():
                self._narration.tell(f"{notice.message} …")
            case EmbeddingProgress(state="loading"):
                self._narration.tell("loading the embedder …")
            case ModelProgress(state="fetching") if notice.total:
                self._narration.tell(
                    f"{model_step(notice.state, notice.name)}: {size_of(notice.done)} of {size_of(notice.total)}"
                )
            case ModelProgress():
                self._narration.tell(f"{model_step(notice.state, notice.name)} …")
            case EmbeddingProgress(state="failed") | Warned() | ModelFailed():
                self._tell(f"clew: {notice.message}")
            case _:
                pass

    def _tell(self, words: str) -> None:
        self._narration.clear()
        say(words)
