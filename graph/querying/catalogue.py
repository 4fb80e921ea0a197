"""What there is in the graph, for people who ask it: its tables with counts, their properties, and what they mean.

The tables are those of `graph.schema`; only the counts are asked for, so that a large graph answers at once.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.querying.meanings import PROPERTIES, TABLES
from graph.schema import META, NODES, RELS, RelTable


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node or relationship; `type` as the engine calls it."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A table of nodes, and how many there are."""

    name: str
    count: int
    meaning: str
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class RelationshipKind:
    """A table of relationships from nodes of one table to those of others, and how many there are."""

    name: str
    count: int
    meaning: str
    start: str
    ends: tuple[str, ...]
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """Everything a query can ask for."""

    nodes: tuple[NodeKind, ...]
    relationships: tuple[RelationshipKind, ...]


class Catalogue:
    """The part of a memory that tells what there is in its graph."""

    @abstractmethod
    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        """A trusted query, a row a dictionary."""

    def schema(self) -> Schema:
        """The tables of the graph, each with how much is in it now. Raises GraphFailure."""
        there = {each.name: self._counted(f"(n:`{each.name}`)") for each in (*NODES, META)}
        joined = {each.name: sum(map(self._counted, _patterns(each, there))) for each in RELS}
        return Schema(
            tuple(
                NodeKind(each.name, there[each.name], TABLES[each.name], _properties(each.name, each.columns))
                for each in (*NODES, META)
            ),
            tuple(
                RelationshipKind(
                    each.name,
                    joined[each.name],
                    TABLES[each.name],
                    each.start,
                    each.ends,
                    _properties(each.name, each.columns),
                )
                for each in RELS
            ),
        )

    def _counted(self, pattern: str) -> int:
        return int(self.query(f"MATCH {pattern} RETURN count(*) AS n")[0]["n"])


def _patterns(rel: RelTable, there: Mapping[str, int]) -> Iterable[str]:
    """How the relationships to each table are counted, from the end with fewer nodes: the engine adds up degrees."""
    for end in rel.ends:
        if there[rel.start] and there[end]:
            start, stop, joined = f"(:`{rel.start}`)", f"(:`{end}`)", f"[:`{rel.name}`]"
            backwards = there[end] < there[rel.start]
            yield f"{stop}<-{joined}-{start}" if backwards else f"{start}-{joined}->{stop}"


def _properties(table: str, columns: Iterable[tuple[str, str]]) -> tuple[Property, ...]:
    return tuple(Property(name, type, PROPERTIES[table][name]) for name, type in columns)
