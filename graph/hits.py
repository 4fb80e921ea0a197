"""What recall, search and the questions about time and people answer with, and what they can be narrowed by."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from graph.events import MAIN_WORLD, Strategy
from graph.values import Turn
from graph.visibility import EVERYONE, Viewer

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["turn", "observation", "chunk"]


@dataclass(frozen=True, slots=True)
class Vector:
    """A query's embedding: float32[dimension], of length 1, and the key of the model that made it."""

    model: str
    values: "NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class Filters:
    """What recall may answer with. Times are aware; `since` is inclusive, `until` exclusive.

    `project` is who looks: a chat of that project, of none (None), or the user, who sees everything; with a `session`
    given, what that one sees. `person` is a speaker's name in any case; `exclude` are turns that the prompt holds
    already.
    """

    session: str | None = None
    project: Viewer = EVERYONE
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    roles: frozenset[str] = frozenset({"user", "assistant", "note"})
    world: str = MAIN_WORLD
    live: bool = True
    exclude: frozenset[str] = frozenset()
    kinds: frozenset[Kind] = frozenset({"turn", "observation", "chunk"})


@dataclass(frozen=True, slots=True)
class Reason:
    """One strategy that found a hit: its rank there, from 1, and the score on that strategy's own scale."""

    strategy: Strategy
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Boost:
    """A bounded lift after fusion: what for ("recency", "pin", "speaker", "time" …), and how much of the score."""

    name: str
    amount: float


@dataclass(frozen=True, slots=True)
class Step:
    """One edge on the way from what matched to what was found: the relationship, and the node it leads to."""

    relation: str
    node: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Something recalled, with why: rank per strategy, boosts, and the path in the graph if a neighbour led to it.

    Of an observation `sources` are the live turns and chunks that prove it, the best first; session, role and speaker
    are those of the oldest turn it was made from, and `at` is the newest's. Of a chunk `session` is its document, and
    `session_name` the document's title with the headings.
    """

    kind: Kind
    id: str
    session: str
    session_name: str | None
    role: str
    speaker: str
    text: str
    at: datetime
    score: float
    reasons: tuple[Reason, ...] = ()
    boosts: tuple[Boost, ...] = ()
    path: tuple[Step, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a snippet, and whether it matched."""

    text: str
    matched: bool


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn that a search of everything ever said found. `mark` is empty for a turn that is live in its `world`."""

    turn: Turn
    session_name: str | None
    snippet: tuple[Segment, ...]
    mark: Literal["", "alternative", "hidden", "archived"] = ""
    world: str = MAIN_WORLD


@dataclass(frozen=True, slots=True)
class About:
    """What there is about one person, place or project, from its edges and the words; `turns` newest first."""

    name: str
    kind: str  # of the entity: you, assistant, person, project; "word" where only the words know it
    said: int  # turns it said
    mentioned: int  # turns of others that name it
    first_at: datetime | None
    last_at: datetime | None
    sessions: tuple[tuple[str, str | None, int], ...] = field(default=())  # id, name, turns about it
    turns: tuple[Turn, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Community:
    """Turns that belong together in the memory graph, the most central first, and the words that set them apart."""

    turns: tuple[Turn, ...]
    words: tuple[str, ...]
    size: int
