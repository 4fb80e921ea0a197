"""Plain, frozen values: queries as they are kept and offered, and what a question in plain words becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Ran:
    """A query that was run: when (aware), and how many rows came how fast, or why none did.

    `rows` is None where they were not counted. `parameters` are as JSON has them.
    """

    cypher: str
    at: datetime
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    took_ms: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """A query that was given a name."""

    name: str
    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ready:
    """A query of the shelf: its name, what it shows in a line, and its parameters with values to begin with.

    A parameter whose value is "" is to be asked for before it runs.
    """

    name: str
    about: str
    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translation:
    """A question as Cypher: shown before it runs. `words` say in a sentence what it asks the graph.

    It is a ready query (template), only the nearest of these where that is not sure, or was written by a model. `ready`
    is the id of the ready query, `model` the name of the model.
    """

    question: str
    cypher: str
    parameters: Mapping[str, Any]
    how: Literal["template", "nearest", "model"]
    words: str
    model: str = ""
    ready: str = ""
