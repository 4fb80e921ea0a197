"""What is printed where a bug ends the chat: where it happened, and nothing of what was said."""

import sys
from typing import TYPE_CHECKING

from rich.traceback import Trace, Traceback

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.traceback import Stack

LEFT_OUT = "(details left out, as a private chat was open)"


def report(*, private: bool) -> Traceback:
    """The exception being handled, without what the variables held; if `private` without its own words, too."""
    kind, error, where = sys.exc_info()
    assert kind is not None
    assert error is not None
    trace = Traceback.extract(kind, error, where, show_locals=False)
    if private:
        for stack in _stacks(trace):
            stack.exc_value, stack.syntax_error, stack.notes = LEFT_OUT, None, []
    return Traceback(trace, width=None)


def _stacks(trace: Trace) -> "Iterator[Stack]":
    for stack in trace.stacks:
        yield stack
        for inner in stack.exceptions:
            yield from _stacks(inner)
