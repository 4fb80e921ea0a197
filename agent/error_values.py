"""Errors of any of the packages as values, which can go to another process and be errors again there."""

import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from graph.errors import MemoryFailure
from models.errors import ModelError

from .errors import AgentError


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """An error as a value: the name of its class, which is one of clew's or Python's, and its message."""

    type: str
    message: str

    @classmethod
    def of(cls, error: Exception) -> "ErrorValue":
        return cls(type(error).__name__, str(error))

    def exception(self) -> Exception:
        """The error again, with its message and without its other attributes; an AgentError if its class is unknown."""
        found = next((each for each in _known() if each.__name__ == self.type), AgentError)
        error = found.__new__(found)
        error.args = (self.message,)
        return error


def _known() -> Iterator[type[Exception]]:
    """The classes of errors that faces are told of."""
    left: list[type[Exception]] = [AgentError, MemoryFailure, ModelError]
    while left:
        each = left.pop()
        yield each
        left += each.__subclasses__()
    # Of the system's own only Python's: a library may have one of the same name as ours.
    yield from (each for each in vars(builtins).values() if isinstance(each, type) and issubclass(each, OSError))
