"""What a projection writes to and looks at, in terms that know no engine."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from graph.events import Event

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Properties(Protocol):
    """The properties of a node, by column."""

    def __getitem__(self, column: str, /) -> Any: ...


class Sink(Protocol):
    """A graph that takes changes one by one, and shows them as soon as it has them."""

    def node(self, table: str, id: str) -> Properties | None:
        """The properties of a node (at least those its table says are read), None if there is none."""
        ...

    def event(self, seq: int) -> Event:
        """An earlier event, as the log has it now."""
        ...

    def put_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        """A new node; columns left out are null."""
        ...

    def set_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        """Some properties of a node that exists."""
        ...

    def put_rel(self, rel: str, start: str, end: str, properties: Mapping[str, Any] = NOTHING) -> None:
        """A relationship that is not there yet; columns left out are null."""
        ...

    def drop_rel(self, rel: str, start: str, end: str) -> None:
        """A relationship that is there."""
        ...
