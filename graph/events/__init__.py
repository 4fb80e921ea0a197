"""The events of the log: a closed, frozen union discriminated by `kind`.

An event is a structure (ids, parents, numbers) and, for the kinds that carry words, a `text`. The two are stored apart,
because the text can be erased and the structure cannot. Everything that clew knows is a fold over these events, so a
kind is never removed and a version never changes its meaning: what changes gets a new version and an upcaster.
"""

from typing import Annotated

from pydantic import Field, TypeAdapter

from graph.events.conversation import (
    FROM_MEMORY,
    MAIN_WORLD,
    RANDOM,
    Base,
    HeadMoved,
    PinCleared,
    PinSet,
    Recalled,
    Role,
    Sampling,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    SessionUnarchived,
    StopReason,
    Strategy,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
    TurnWithheld,
)
from graph.events.history import MarkCleared, MarkRestored, MarkSet, Undone
from graph.events.observations import (
    ApprovalAsked,
    ApprovalGiven,
    ApprovalRefused,
    ChunkRead,
    CoreWritten,
    DocumentRead,
    DocumentRemoved,
    EntityAliased,
    EntityChange,
    EntityKind,
    EntityKinded,
    EntityMerged,
    EntityNamed,
    EntityNoted,
    EntitySplit,
    ObservationDeleted,
    ObservationKind,
    ObservationMade,
    ObservationPromoted,
    ObservationReinforced,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    ObservationSupported,
    ProjectAssigned,
    ProjectMade,
    ReflectionDone,
    ReflectionFailed,
    Relation,
    RelationNoted,
)
from graph.events.references import ReferenceAdded, ReferenceDropped, ReferenceWritten
from graph.events.stories import SEATS, Author, CastReset, CastSet, Seat, StageSet, StoryBegun, TurnWitnessed

Event = Annotated[
    SessionStarted
    | SessionTitled
    | SessionRenamed
    | SessionArchived
    | SessionUnarchived
    | SessionDeleted
    | SessionForked
    | SessionConfigured
    | TurnSaid
    | TurnTaken
    | TurnHidden
    | TurnUnhidden
    | TurnDeleted
    | TurnRated
    | TurnWithheld
    | TurnReleased
    | TurnWitnessed
    | StoryBegun
    | CastSet
    | CastReset
    | StageSet
    | PinSet
    | PinCleared
    | HeadMoved
    | ObservationMade
    | RelationNoted
    | ObservationSupported
    | ObservationRetired
    | ObservationPromoted
    | ObservationRejected
    | ObservationReturned
    | ObservationReinforced
    | ObservationDeleted
    | EntityNoted
    | EntityNamed
    | EntityKinded
    | EntityAliased
    | EntityMerged
    | EntitySplit
    | ProjectMade
    | ProjectAssigned
    | CoreWritten
    | DocumentRead
    | ChunkRead
    | DocumentRemoved
    | ReferenceAdded
    | ReferenceDropped
    | ReferenceWritten
    | ReflectionDone
    | ReflectionFailed
    | ApprovalAsked
    | ApprovalGiven
    | ApprovalRefused
    | MarkSet
    | MarkCleared
    | MarkRestored
    | Undone
    | TextErased,
    Field(discriminator="kind"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
RECALLED: TypeAdapter[tuple[Recalled, ...]] = TypeAdapter(tuple[Recalled, ...])

__all__ = [
    "EVENT",
    "FROM_MEMORY",
    "MAIN_WORLD",
    "RANDOM",
    "RECALLED",
    "SEATS",
    "ApprovalAsked",
    "ApprovalGiven",
    "ApprovalRefused",
    "Author",
    "Base",
    "CastReset",
    "CastSet",
    "ChunkRead",
    "CoreWritten",
    "DocumentRead",
    "DocumentRemoved",
    "EntityAliased",
    "EntityChange",
    "EntityKind",
    "EntityKinded",
    "EntityMerged",
    "EntityNamed",
    "EntityNoted",
    "EntitySplit",
    "Event",
    "HeadMoved",
    "MarkCleared",
    "MarkRestored",
    "MarkSet",
    "ObservationDeleted",
    "ObservationKind",
    "ObservationMade",
    "ObservationPromoted",
    "ObservationReinforced",
    "ObservationRejected",
    "ObservationRetired",
    "ObservationReturned",
    "ObservationSupported",
    "PinCleared",
    "PinSet",
    "ProjectAssigned",
    "ProjectMade",
    "Recalled",
    "ReferenceAdded",
    "ReferenceDropped",
    "ReferenceWritten",
    "ReflectionDone",
    "ReflectionFailed",
    "Relation",
    "RelationNoted",
    "Role",
    "Sampling",
    "Seat",
    "SessionArchived",
    "SessionConfigured",
    "SessionDeleted",
    "SessionForked",
    "SessionRenamed",
    "SessionStarted",
    "SessionTitled",
    "SessionUnarchived",
    "StageSet",
    "StopReason",
    "StoryBegun",
    "Strategy",
    "TextErased",
    "TurnDeleted",
    "TurnHidden",
    "TurnRated",
    "TurnReleased",
    "TurnSaid",
    "TurnTaken",
    "TurnUnhidden",
    "TurnWithheld",
    "TurnWitnessed",
    "Undone",
]
