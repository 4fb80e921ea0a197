"""What is brought in after the first paint: the agent, the store of models, the file of settings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from agent.agent import Agent
    from agent.events import ModelProgress


class Backstage(Protocol):
    """The agent, and what else of this machine the chat needs."""

    @property
    def service(self) -> "Agent": ...

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
