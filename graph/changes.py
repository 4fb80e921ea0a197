"""What an event does to the graph, in terms that know no engine, and what a projection may look at.

A sink takes each change before the projection goes on, so that the view always shows what was changed so far.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from graph.events import Event

Properties = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PutNode:
    """A new node with all its properties; columns left out are null."""

    table: str
    id: str
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SetNode:
    """Some properties of a node that exists."""

    table: str
    id: str
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PutRel:
    """A relationship that is not there yet."""

    rel: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class DropRel:
    """A relationship that is there."""

    rel: str
    start: str
    end: str


Change = PutNode | SetNode | PutRel | DropRel


class View(Protocol):
    """The graph as it is before the next change, and the log behind it."""

    def node(self, table: str, id: str) -> Properties | None:
        """The properties of a node, None if there is none."""
        ...

    def event(self, seq: int) -> Event:
        """An earlier event, as the log has it now."""
        ...


class Sink(View, Protocol):
    """A view that takes changes."""

    def apply(self, change: Change) -> None: ...
