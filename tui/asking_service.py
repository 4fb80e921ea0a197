"""What asking the graph needs of the agent: people's own queries, what there is to ask, what was asked and is kept."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agent.asking.values import Ran, Saved, Translation
    from graph.querying.catalogue import Schema
    from graph.querying.console import Answer
    from graph.subgraphs import Ref, Subgraph


class AsksGraph(Protocol):
    """The part of Agent that the query screen uses; see there for what each method promises."""

    async def console(
        self,
        cypher: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        timeout_s: float = ...,
        limit: int = ...,
        world: str = ...,
        first: "Callable[[Answer], None] | None" = None,
    ) -> "Answer": ...

    async def validate(self, cypher: str, *, parameters: Mapping[str, Any] | None = None) -> None: ...

    async def prepare_console(self) -> None: ...

    async def schema(self) -> "Schema": ...

    async def subgraph(self, refs: "Iterable[Ref]") -> "Subgraph": ...

    async def query_history(self, limit: int = ...) -> "list[Ran]": ...

    async def keep_query(self, ran: "Ran", *, private: bool = False) -> bool: ...

    async def saved_queries(self) -> "list[Saved]": ...

    async def save_query(self, name: str, cypher: str, parameters: Mapping[str, Any] | None = None) -> None: ...

    async def remove_query(self, name: str) -> bool: ...

    async def translate(self, question: str) -> "Translation": ...
