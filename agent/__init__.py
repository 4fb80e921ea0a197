"""The loop: recall, prompt, generate, keep, reflect; the one service under every face of clew."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent import Agent as Agent
    from .home import Home as Home
    from .settings import Settings as Settings

__all__ = ["Agent", "Home", "Settings"]

_FROM = {"Agent": "agent", "Home": "home", "Settings": "settings"}


def __getattr__(name: str) -> Any:
    """What is exported is imported when it is asked for: the chat paints before it brings in its agent."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_FROM[name]}", __name__), name)
