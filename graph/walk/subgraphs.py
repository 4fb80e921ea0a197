"""Nodes of the graph for people, with what joins them: what is walked through, and what is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Ref:
    """Which node: its table (Turn, Observation, Entity, Session, Document …) and the id it has there."""

    table: str
    id: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node in words. `title` is one line of what it says (never of what is hidden); `mark` why it is not in force.

    `details` are its other columns, by name, as JSON has them, without those that only clew needs.
    """

    ref: Ref
    title: str
    at: datetime | None = None  # when it was said, made or begun, aware
    mark: str = ""  # "hidden", "off the path", "deleted", "superseded", "retired", "under review", "kept out" …
    world: str | None = None  # the what-if it is of; None of main and of what has no world
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed relationship: REPLIES_TO, DERIVED_FROM …"""

    start: Ref
    end: Ref
    name: str


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What is drawn: nodes, the most important first, the edges among them, and how much there is besides."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    more_nodes: int = 0  # that are left out here
    more_edges: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """The neighbours of a node by one relationship, one direction and one table: how many, and the first of them."""

    relation: str
    outgoing: bool
    table: str
    total: int
    nodes: tuple[Node, ...]

    @property
    def key(self) -> tuple[str, bool, str]:
        return self.relation, self.outgoing, self.table


@dataclass(frozen=True, slots=True)
class Ego:
    """A node and its neighbours, by relationship."""

    node: Node
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A step on the way from a memory to the words that prove it; `depth` from 0, `relation` leads here from above."""

    depth: int
    relation: str
    node: Node
    words: str | None = None  # the whole text of a turn or chunk, None where it may not be shown
