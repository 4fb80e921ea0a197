"""What a projection writes to and looks at, in terms that know no engine."""

from collections.abc import Mapping, Sequence
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

    def foresee(self, rel: str, start: str, steps: int) -> None:
        """A hint: what a node leads to, in so many steps along relationships of one name, is looked at next."""
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

    def put_rel(
        self,
        rel: str,
        start: str,
        end: str,
        properties: Mapping[str, Any] = NOTHING,
        *,
        to: str | None = None,
        key: str = "",
    ) -> None:
        """A relationship that is not there yet, to a node of table `to` (None: the first it may lead to).

        Columns left out are null. `key` is the value of the column that tells several between the same two apart.
        """
        ...

    def drop_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> None:
        """A relationship that is there."""
        ...

    def has_rel(self, rel: str, start: str, end: str, *, to: str | None = None, key: str = "") -> bool:
        """Whether a relationship is there."""
        ...

    def starts(self, rels: tuple[str, ...], end: str, *, to: str) -> Sequence[tuple[str, str]]:
        """The relationships of some names that lead to a node, with where each starts, in order.

        They start in one table; their tables say that they are looked at `backwards`, and have no `key`.
        """
        ...

    def edges(self, rel: str, end: str, *, to: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The relationships of one name that lead to a node, in no order: where each starts, and its columns.

        Their table says that they are looked at `backwards` and told apart by a `key`.
        """
        ...

    def ends(self, rel: str, start: str, *, to: str) -> Sequence[str]:
        """Where the relationships of one name that start at a node lead, in order; for those that are few."""
        ...


def node(sink: Sink, table: str, id: str) -> Properties:
    """A node that the log's rules say is there."""
    found = sink.node(table, id)
    if found is None:
        raise LookupError(f"the graph has no {table} {id}")
    return found
