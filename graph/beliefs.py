"""What was learned, as plain frozen values: observations with their proof, core blocks, projects, documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from graph.events import MAIN_WORLD, ObservationKind
from graph.visibility import EVERYONE, SEVERAL, Viewer, for_all, sees_made

Status = Literal["candidate", "active", "superseded", "invalid"]
Trend = Literal["new", "strengthening", "stable", "weakening", "stale"]


@dataclass(frozen=True, slots=True)
class Observation:
    """One revision of something that was learned, as it stands now. `text` is None once erased.

    `confidence` is that of its making and what live supports and reinforcements add, at most 1. `sources` are the turns
    and chunks it was made from, `supports` those that say the same; both only as far as they are live, oldest first.
    `project` is that of the chats or documents of its sources, "" where they have several.
    """

    id: str
    series: str
    text: str | None
    kind: ObservationKind
    status: Status
    confidence: float
    grounded: bool
    origin: Literal["model", "verbatim", "user"]
    world: str
    project: str | None
    scope: str
    at: datetime  # when this revision was made
    first_seen: datetime  # when the first one's oldest source was said
    live: bool
    current: bool
    pinned: bool
    proof_count: int  # live sources, but for those it corrects, and supports
    trend: Trend
    times: tuple[datetime, ...]  # when its live sources and supports were said, oldest first
    sources: tuple[str, ...]
    supports: tuple[str, ...]
    about: tuple[str, ...]  # names
    reference_count: int  # live turns that echoed it
    last_referenced_at: datetime | None
    supersedes: str | None = None
    proposed_by: str = ""  # the program that it is from; empty where it was told or learned
    corrected: tuple[str, ...] = ()  # turns and chunks it was made from whose words it puts right: no proof of it
    tags: tuple[str, ...] = ()  # given by hand, sorted


def seen_by(viewer: Viewer, memory: Observation) -> bool:
    """Whether a chat of a project, or of none, sees a memory."""
    owner = SEVERAL if memory.project == "" else memory.project
    return sees_made(viewer, owner, everywhere=for_all(memory.kind, memory.origin))


@dataclass(frozen=True, slots=True)
class Proof:
    """The words behind an observation: a turn or a chunk, by which relationship, and whether it is live."""

    id: str
    kind: Literal["turn", "chunk"]
    relation: Literal["DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY"]
    at: datetime
    live: bool
    speaker: str  # of a chunk: its document's title
    session: str  # of a chunk: its document's id
    text: str | None  # None where it may not be shown
    role: str = "user"  # of a turn; what was written by hand is a note


@dataclass(frozen=True, slots=True)
class Story:
    """An observation with all there is to it: its revisions, the oldest first, and the proof of each by its id."""

    observation: Observation
    revisions: tuple[Observation, ...]
    proofs: dict[str, tuple[Proof, ...]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which observations; None means any. Without `status`, those that are current. `about` is a name, in any case.

    `text` is looked for in words. `dead` shows those that are not live too. `project` asks for those of one, `viewer`
    for those that a chat of a project, or of none, sees. `since` (inclusive) and `until` (exclusive) are aware, and of
    when a revision was made.
    """

    status: Status | None = None
    kind: ObservationKind | None = None
    about: str | None = None
    project: str | None = None
    trend: Trend | None = None
    pinned: bool | None = None
    text: str | None = None
    world: str = MAIN_WORLD
    dead: bool = False
    everything: bool = False  # whatever the status
    viewer: Viewer = EVERYONE
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class CoreBlock:
    """A short text that is in every prompt of its world, and of its project, if it has one.

    `version` is the event that wrote it.
    """

    name: str
    world: str
    text: str
    by: Literal["user", "agent"]
    version: int
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """What sessions, observations and documents can belong to."""

    name: str
    description: str
    status: Literal["active", "archived"]
    sessions: int
    observations: int  # current ones


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was ingested, as it was read last."""

    id: str
    title: str
    path: str
    type: Literal["markdown", "text", "code", "pdf"]
    project: str | None
    tags: tuple[str, ...]
    size: int  # bytes
    at: datetime
    chunks: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document; `headings` lead to it, the outermost first."""

    id: str
    document: str
    title: str
    path: str
    position: int
    headings: tuple[str, ...]
    text: str  # without the headings
    at: datetime

    @property
    def place(self) -> str:
        """Where it stands: the title and the headings."""
        return place_of(self.title, self.headings)


def place_of(title: str, headings: Sequence[str]) -> str:
    """A document's title with the headings that lead to a piece of it; a title that is a heading too is said once."""
    return " › ".join(headings if headings and headings[0] == title else (title, *headings))


@dataclass(frozen=True, slots=True)
class Unreflected:
    """Turns that were not reflected on: an exchange that ended, oldest turn first, or what survived of `instead_of`."""

    turns: tuple[str, ...]
    session: str
    world: str
    project: str | None
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class NearObservation:
    """An observation near to some words, in use or under review, and how near: cosine (0 without vectors), 0–1."""

    observation: Observation
    cosine: float
    words: float  # share of the words
