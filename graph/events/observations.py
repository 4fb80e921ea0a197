"""The events of what was learned: observations and their lifecycle, entities, projects, core blocks, documents.

`graph.events` joins them with the others into the closed union that the log holds.
"""

import json
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph.events.conversation import MAIN_WORLD, Base


class ObservationKind(StrEnum):
    """What an observation is about."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    FACT = "fact"
    STATE = "state"
    PLAN = "plan"
    RELATIONSHIP = "relationship"
    PROJECT = "project"
    EPISODE = "episode"


class ObservationMade(Base):
    """Something the conversation taught, in one sentence: a new observation, or a new revision of one.

    `sources` are all turns and chunks whose words it may carry, those of the revision it `supersedes` among them. It is
    live while all of them are. `series` is the id of its first revision. One that was made again because another died
    is current only while that one, `instead_of`, is not live. A synthesis is made from two others, its `parents`, and
    is current only while both are in use; its revisions have the parents of the first, and name none.
    """

    version: ClassVar[int] = 2
    kind: Literal["observation.made"] = "observation.made"
    observation: str
    series: str
    supersedes: str | None = None
    instead_of: str | None = None
    parents: tuple[str, str] | None = None
    world: str = MAIN_WORLD
    project: str | None = None
    tags: tuple[str, ...] = ()
    about: tuple[str, ...] = ()  # entities
    category: ObservationKind
    status: Literal["candidate", "active"]
    confidence: float = Field(ge=0, le=1)
    grounded: bool
    origin: Literal["model", "verbatim", "user"]
    reflection: str | None = None
    sources: tuple[str, ...] = Field(min_length=1)
    text: str | None


class Relation(BaseModel):
    """How one entity stands to another, by their ids: a kind of graph/relations.toml, from subject to object.

    `since` and `until` are days, months or years ("2026-10-14", "2026-10", "2026") between which it held; `polarity` is
    false of what does not hold ("Bob does not trust Ada"); `word` is what the speaker called it ("sister").
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: str
    kind: str
    object: str
    since: str | None = None
    until: str | None = None
    polarity: bool = True
    word: str | None = None

    def written(self) -> str:
        """As an event carries it: JSON, without what is not told."""
        fields = self.model_dump(exclude_defaults=True)
        return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class RelationNoted(Base):
    """An observation says how two entities stand to each other; `text` is that, written, and erased with its words."""

    kind: Literal["relation.noted"] = "relation.noted"
    observation: str
    text: str | None

    @classmethod
    def of(cls, observation: str, relation: Relation) -> "RelationNoted":
        return cls(observation=observation, text=relation.written())

    @property
    def relation(self) -> Relation | None:
        """What it says; None once erased. Raises ValidationError for what is no relation."""
        return None if self.text is None else Relation.model_validate_json(self.text)


class ObservationSupported(Base):
    """A later turn or chunk says the same: it counts as proof while it is live, and adds to the confidence."""

    kind: Literal["observation.supported"] = "observation.supported"
    observation: str
    source: str
    amount: float = Field(default=0.0, ge=0, le=1)
    reflection: str | None = None


class ObservationRetired(Base):
    """It is contradicted: by the user's own words in `by_turn`, for as long as that is live, or (None) by hand."""

    kind: Literal["observation.retired"] = "observation.retired"
    observation: str
    by_turn: str | None = None
    reflection: str | None = None


class ObservationPromoted(Base):
    """A candidate was reviewed, and is in use."""

    kind: Literal["observation.promoted"] = "observation.promoted"
    observation: str


class ObservationRejected(Base):
    """It was reviewed or undone, and is wrong."""

    kind: Literal["observation.rejected"] = "observation.rejected"
    observation: str


class ObservationReturned(Base):
    """What was promoted, rejected or retired by hand is taken back: it stands as `status` again."""

    kind: Literal["observation.returned"] = "observation.returned"
    observation: str
    status: Literal["candidate", "active"]


class ObservationReinforced(Base):
    """A turn echoed an active observation; `before` and `after` are its confidence."""

    kind: Literal["observation.reinforced"] = "observation.reinforced"
    observation: str
    by_turn: str
    step: float = Field(ge=0, le=1)
    before: float
    after: float


class ObservationDeleted(Base):
    """All revisions of a series are gone for good; the append of this event erases their texts."""

    kind: Literal["observation.deleted"] = "observation.deleted"
    series: str


EntityKind = Literal["person", "place", "organisation", "animal", "thing", "group"]


class EntityNoted(Base):
    """A turn names a person, place or thing; `text` is the name. Named again, the entity keeps its id."""

    version: ClassVar[int] = 2
    kind: Literal["entity.noted"] = "entity.noted"
    entity: str
    category: EntityKind
    by_turn: str
    text: str | None


class EntityNamed(Base):
    """An entity is called `text` in a world, by hand; None: what it is called where it is spoken of."""

    kind: Literal["entity.named"] = "entity.named"
    entity: str
    world: str = MAIN_WORLD
    text: str | None


class EntityKinded(Base):
    """What an entity is in a world, by hand; None: what it was noted as."""

    kind: Literal["entity.kinded"] = "entity.kinded"
    entity: str
    world: str = MAIN_WORLD
    category: EntityKind | None


class EntityAliased(Base):
    """A name is an alias of an entity in a world, or (None) no more; the first such event makes it, `text` is the name.

    It is an entity that is the same as that one, so that what was told by it can come apart again.
    """

    kind: Literal["entity.aliased"] = "entity.aliased"
    alias: str
    entity: str | None
    world: str = MAIN_WORLD
    text: str | None = None


class EntityMerged(Base):
    """An entity is the same as another in a world, whose name and kind count; None: it is one of its own again."""

    kind: Literal["entity.merged"] = "entity.merged"
    entity: str
    into: str | None
    world: str = MAIN_WORLD


class EntitySplit(Base):
    """In a world these turns and observations that name an entity mean another one, `other`, and no others do.

    The first such event makes the other one; `text` is its name.
    """

    kind: Literal["entity.split"] = "entity.split"
    entity: str
    other: str
    items: tuple[str, ...]
    world: str = MAIN_WORLD
    text: str | None = None


EntityChange = EntityNamed | EntityKinded | EntityAliased | EntityMerged | EntitySplit


class ProjectMade(Base):
    """A project, or what it is now; `text` describes it."""

    kind: Literal["project.made"] = "project.made"
    project: str
    status: Literal["active", "archived"] = "active"
    text: str | None


class ProjectAssigned(Base):
    """A session belongs to a project from here on, or (None) to none."""

    kind: Literal["project.assigned"] = "project.assigned"
    session: str
    project: str | None


class CoreWritten(Base):
    """A core block says this now, in every prompt of its world and project; empty, it is gone.

    `sources` are an agent's proof.
    """

    kind: Literal["core.written"] = "core.written"
    block: str
    world: str = MAIN_WORLD
    project: str | None = None
    by: Literal["user", "agent"]
    sources: tuple[str, ...] = ()
    text: str | None


class DocumentRead(Base):
    """A reading of a file: its chunks in order, those of an earlier reading among them. `text` is title and path.

    Without chunks the document says nothing, and can be read again. The readings of one `ingest` are one change by
    hand; of a document that is only begun, and of what undoes a reading, there is none.
    """

    version: ClassVar[int] = 2
    kind: Literal["document.read"] = "document.read"
    ingest: str | None = None
    document: str
    category: Literal["markdown", "text", "code", "pdf"]
    project: str | None = None
    tags: tuple[str, ...] = ()
    size: int
    chunks: tuple[str, ...]
    text: str | None  # two lines: the title, the path


class ChunkRead(Base):
    """A piece of a document, which a later `document.read` holds. `text` begins with `headings` lines of headings."""

    kind: Literal["chunk.read"] = "chunk.read"
    chunk: str
    document: str
    headings: int = Field(default=0, ge=0)
    text: str | None


class DocumentRemoved(Base):
    """A document is gone for good with its chunks; the append of this event erases their texts."""

    kind: Literal["document.removed"] = "document.removed"
    document: str


class ReflectionDone(Base):
    """Turns were reflected on: an exchange, or (`instead_of`) what survived of a dead observation's turns.

    `trust` says what the model was trusted with and `probe` its score; the rest counts what came of it.
    """

    kind: Literal["reflection.done"] = "reflection.done"
    reflection: str
    turns: tuple[str, ...] = Field(min_length=1)
    instead_of: str | None = None
    model: str | None = None
    trust: Literal["model", "verbatim"]
    probe: float | None = None
    created: int = 0
    updated: int = 0
    deleted: int = 0
    skipped: int = 0
    errors: int = 0


class ReflectionFailed(Base):
    """A step of a reflection came to nothing; the others went on. `error` holds no word of what was said."""

    version: ClassVar[int] = 3
    kind: Literal["reflection.failed"] = "reflection.failed"
    reflection: str
    turns: tuple[str, ...]
    step: Literal["observations", "significance", "reinforcement", "entities", "relations", "title", "stage"]
    model: str | None = None
    error: str


class ApprovalAsked(Base):
    """A model wants to change the memory; `text` spells out how."""

    kind: Literal["approval.asked"] = "approval.asked"
    approval: str
    session: str
    by_turn: str
    tool: str
    text: str | None


class ApprovalGiven(Base):
    """The user allowed it."""

    kind: Literal["approval.given"] = "approval.given"
    approval: str


class ApprovalRefused(Base):
    """The user did not allow it, or was not there to."""

    kind: Literal["approval.refused"] = "approval.refused"
    approval: str
