"""The memory: event log, graph projection, and the readings of both."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .memory import Memory as Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    """What is exported is imported when it is asked for: the chat paints before it needs any of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .memory import Memory

    return Memory
