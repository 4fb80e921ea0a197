"""What the screen needs of the agent; `agent.service.Agent` is the real one, the tests have a small one."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tui.asking_service import AsksGraph
from tui.keeping_service import KeepsMemories
from tui.time_service import KeepsTime

if TYPE_CHECKING:
    from pathlib import Path

    from agent.events import AgentEvent, ModelProgress, Notice
    from agent.settings import Settings
    from graph.events import Sampling
    from graph.hits import About, Filters, Found, Hit
    from graph.statistics import Statistics
    from graph.values import Exchange, Session, Turn
    from graph.visibility import Viewer


class Service(KeepsMemories, KeepsTime, AsksGraph, Protocol):
    """The part of Agent that the chat uses; see there for what each method promises."""

    @property
    def answering(self) -> str | None: ...

    @property
    def settings(self) -> "Settings":
        """Those in force: the model is the one of every chat that has none of its own."""
        ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def notices(self) -> "AsyncIterator[Notice]": ...

    def send(self, session: str | None, text: str, *, project: str | None = None) -> "AsyncIterator[AgentEvent]": ...

    def retry(self, session: str) -> "AsyncIterator[AgentEvent]": ...

    def stop(self) -> bool: ...

    def go_on(self, session: str) -> bool: ...

    async def withdraw(self, session: str, turn: str) -> str: ...

    async def sessions(self, *, archived: bool = False) -> "list[Session]": ...

    async def session(self, session: str) -> "Session": ...

    async def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> "list[Turn]": ...

    async def waiting(self, session: str) -> "list[Turn]": ...

    async def last_session(self) -> str | None: ...

    async def session_named(self, id: str) -> "Session": ...

    async def said(self, limit: int = 200) -> list[str]: ...

    async def rename(self, session: str, name: str) -> None: ...

    async def archive(self, session: str) -> None: ...

    async def unarchive(self, session: str) -> None: ...

    async def delete(self, session: str) -> None: ...

    async def configure(
        self,
        session: str | None,
        *,
        system_prompt: str | None = ...,
        sampling: "Sampling | None" = ...,
        model: str | None = ...,
        project: str | None = None,
    ) -> str: ...

    async def use_model(self, name: str, *, session: str | None = None) -> None: ...

    async def use_embedder(self, name: str) -> None: ...

    async def use_settings(self, new: "Settings") -> None: ...

    async def opened(self, session: str) -> None: ...

    async def search(self, text: str, limit: int = 50) -> "list[Found]": ...

    async def recall(self, query: str, *, limit: int = 10, filters: "Filters" = ...) -> "list[Hit]": ...

    async def about(self, name: str, *, world: str = ..., project: "Viewer" = ...) -> "About": ...

    async def context(self, reply_turn: str) -> "list[Hit]": ...

    async def quotes(self, replies: Sequence[str]) -> "dict[str, tuple[Hit, ...]]": ...

    async def missed(self, reply_turn: str) -> str: ...

    async def exchange(self, turn: str) -> "Exchange": ...

    async def pin(self, turn: str, *, world: str | None = None) -> None: ...

    async def unpin(self, turn: str, *, world: str | None = None) -> None: ...

    async def unhide(self, turn: str) -> None: ...

    async def pinned(self, *, world: str = ..., project: "Viewer" = ...) -> "list[Turn]": ...

    async def status(self) -> Any: ...

    async def statistics(self) -> "Statistics": ...


class Backstage(Protocol):
    """What is brought in after the first paint: the agent, the store of models, the file of settings."""

    @property
    def service(self) -> Service: ...

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors whose message is for people."""
        ...

    def exit_code(self, error: Exception) -> int:
        """The exit code of a failure that ends the chat before it began."""
        ...

    @property
    def config(self) -> "Path":
        """The file of settings."""
        ...

    def choices(self, *, embed: bool = False) -> "list[Choice]":
        """The models to choose from: those that chat, or those that `embed`."""
        ...

    def find(self, name: str) -> "Path":
        """The file of a model on this disk, by name or path; blocking. Raises one of `failures` where there is none."""
        ...

    def fetch(self, name: str, progress: "Callable[[ModelProgress], None]") -> None:
        """Bring a model of the catalogue onto this disk; blocking."""
        ...

    def may_offer(self) -> bool:
        """Whether a better model may be offered: it is neither switched off nor put off."""
        ...

    def better(self, speed: float) -> "Choice | None":
        """The best model that this machine runs, if it is better than the one in use, and can be had; blocking.

        `speed` is what the one in use writes, in tokens a second (0: not known). The network is asked for nothing.
        """
        ...

    def postpone_offer(self) -> None:
        """Offer no better model for a while; blocking."""
        ...

    def keep(self, key: str, value: str | int | float | bool | None) -> None:
        """Write a setting to the settings file (None: put it back to its default); blocking."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A model to choose: `size` in bytes, on this disk if it is `installed`, else of the download."""

    name: str
    size: int
    installed: bool
    description: str
