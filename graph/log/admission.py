"""What may follow what: the rules an event has to meet before it enters the log.

Invariant: an observation stands on turns and chunks that exist, a revision on all that the one before it stands on, and
nothing but its deletion follows a series that was deleted. A review changes how an observation stands, so the second of
two reviews of the same candidate is refused.

Invariant: whatever is in the log can be projected. A turn's id is new, a what-if begins with a fork, every id an event
names exists, and a turn that waits in the queue is on no path: so `parent` always points at an older place, and the
tree has no cycle.
"""

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from math import isclose, isfinite

from pydantic import ValidationError

from graph.errors import InvalidEvent
from graph.events import (
    ApprovalAsked,
    ApprovalGiven,
    ApprovalRefused,
    CastReset,
    CastSet,
    ChunkRead,
    CoreWritten,
    DocumentRead,
    DocumentRemoved,
    EntityAliased,
    EntityChange,
    EntityKinded,
    EntityMerged,
    EntityNamed,
    EntityNoted,
    EntitySplit,
    Event,
    HeadMoved,
    MarkCleared,
    MarkRestored,
    MarkSet,
    ObservationDeleted,
    ObservationMade,
    ObservationPromoted,
    ObservationReinforced,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    ObservationSupported,
    PinCleared,
    PinSet,
    ProjectAssigned,
    ProjectMade,
    ReferenceAdded,
    ReferenceDropped,
    ReferenceWritten,
    ReflectionDone,
    ReflectionFailed,
    RelationNoted,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    SessionUnarchived,
    StageSet,
    StoryBegun,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
    TurnWithheld,
    TurnWitnessed,
    Undone,
)
from graph.ids import as_ms
from graph.log.playing import admit_play, admit_said, require_no_member, require_path
from graph.log.requiring import (
    found,
    item_exists,
    require,
    require_name,
    require_session,
    require_sources,
    require_turn,
    require_world,
    session_exists,
    turn_exists,
    world_exists,
)
from graph.projection.identities import Identities
from graph.projection.paths import lineage_of
from graph.relations import DATE, kinds

_PROVED = "SELECT 1 FROM named JOIN subjects USING (seq) WHERE named.name = ? AND named.kind = ? AND subjects.id = ?"
SELVES = ("you", "assistant")
_NO_ITEM = """
SELECT item.value FROM json_each(?) AS item WHERE NOT EXISTS (SELECT 1 FROM turns WHERE id = item.value)
AND NOT EXISTS (SELECT 1 FROM observations WHERE id = item.value)
"""
Lifecycle = (
    ObservationSupported
    | ObservationRetired
    | ObservationPromoted
    | ObservationRejected
    | ObservationReturned
    | ObservationReinforced
)


def admit_learned(db: sqlite3.Connection, event: Event) -> bool:
    """Raise InvalidEvent if `event` cannot follow what is in the log; False if it is none of these."""
    match event:
        case ObservationMade():
            _admit_observation(db, event)
        case ObservationDeleted():
            made = "SELECT 1 FROM observations WHERE series = ?"
            require(found(db, made, event.series), f"there is no observation {event.series}")
        case (
            ObservationSupported()
            | ObservationRetired()
            | ObservationPromoted()
            | ObservationRejected()
            | ObservationReturned()
            | ObservationReinforced()
        ):
            _admit_change(db, event)
        case RelationNoted():
            _admit_relation(db, event)
        case EntityNoted():
            require_name(event.entity, "the entity")
            require_no_member(db, event.entity)
            require_turn(db, event.by_turn)
            require(bool((event.text or "").strip()), "it names nothing")
        case EntityNamed() | EntityKinded() | EntityAliased() | EntityMerged() | EntitySplit():
            _admit_entity(db, event)
        case ProjectMade():
            require_name(event.project, "the project")
        case ProjectAssigned():
            require_session(db, event.session)
            require_name(event.project, "the project")
        case CoreWritten():
            require_name(event.block, "the block")
            require_name(event.project, "the project")
            require_world(db, event.world)
            require_sources(db, event.sources)
        case ReflectionDone() | ReflectionFailed():
            require_sources(db, event.turns)
            if isinstance(event, ReflectionDone) and event.instead_of is not None:
                _require_observation(db, event.instead_of)
        case _:
            return _admit_document(db, event) or _admit_reference(db, event) or _admit_approval(db, event)
    return True


def require_pinnable(db: sqlite3.Connection, observation: str) -> None:
    """It exists and was not deleted."""
    _require_observation(db, observation)
    _require_kept(db, _series_of(db, observation))


def _admit_observation(db: sqlite3.Connection, event: ObservationMade) -> None:
    require(not _observation_exists(db, event.observation), f"{event.observation} exists already")
    require(bool((event.text or "").strip()), "the observation says nothing")
    require_world(db, event.world)
    require_sources(db, event.sources)
    for entity in event.about:
        _require_entity(db, entity)
    if event.supersedes is None:
        require(event.series == event.observation, "a first revision names another series")
    else:
        _require_observation(db, event.supersedes)
        require(event.series == _series_of(db, event.supersedes), "a revision is of another series")
        _require_kept(db, event.series)
        _require_above(db, event.supersedes, event.world)
        own = event.origin == "verbatim"  # its words are its turn's, and say nothing of what it revises
        lacking = set() if own else _sources_of(db, event.supersedes) - set(event.sources)
        require(not lacking, f"a revision leaves out the source {min(lacking, default='')}")
    if event.instead_of is not None:
        _require_observation(db, event.instead_of)
        _require_kept(db, _series_of(db, event.instead_of))
        _require_above(db, event.instead_of, event.world)
    if event.parents is not None:
        _admit_parents(db, event, event.parents)


def _admit_parents(db: sqlite3.Connection, event: ObservationMade, parents: tuple[str, str]) -> None:
    """A synthesis is made from two others that its world sees, and stands on all that they do."""
    require(event.supersedes is None, "a revision has the parents of the one before it")
    for parent in parents:
        _require_observation(db, parent)
        _require_kept(db, _series_of(db, parent))
        _require_above(db, parent, event.world)
        lacking = _sources_of(db, parent) - set(event.sources)
        require(not lacking, f"a synthesis leaves out the source {min(lacking, default='')}")
    one, other = (_series_of(db, parent) for parent in parents)
    require(one != other, "both parents are one memory")


def _admit_relation(db: sqlite3.Connection, event: RelationNoted) -> None:
    """It is of an observation that says no other yet, of a kind that there is, between two that are known."""
    _require_observation(db, event.observation)
    told = item_exists(db, "relation.noted", event.observation)
    require(not told, f"{event.observation} says how two stand to each other already")
    require(event.text is not None, "it says nothing")
    try:
        relation = event.relation
    except ValidationError as e:
        raise InvalidEvent("The event was not stored: it says no relationship that can be read.") from e
    assert relation is not None
    require(relation.kind in kinds(), f"there is no kind of relationship {relation.kind}")
    for entity in (relation.subject, relation.object):
        _require_entity(db, entity)
    require(relation.subject != relation.object, "nobody stands to themselves in a relationship")
    since, until = relation.since, relation.until
    for date in (since, until):
        require(date is None or DATE.fullmatch(date) is not None, f"{date} is no day, month or year")
    if since is not None and until is not None:
        shared = min(len(since), len(until))
        require(since[:shared] <= until[:shared], "it would be over before it begins")


def _admit_entity(db: sqlite3.Connection, event: EntityChange) -> None:
    """It is of entities that are there and not the same yet, in a world that is; and nobody becomes themselves."""
    if event.entity is not None:
        _require_entity(db, event.entity)
        require_no_member(db, event.entity)
    require_world(db, event.world)
    if isinstance(event, EntityNamed | EntityAliased | EntitySplit):
        require_name(event.text, "the entity")
    match event:
        case EntityKinded():
            require(event.entity not in SELVES, f"{event.entity} is always the same kind")
        case EntityMerged(entity=entity, into=str() as into):
            _require_entity(db, into)
            require_no_member(db, into)
            require(entity not in SELVES, f"{entity} is always one of its own")
            circle = Identities(db, event.world).leads_to(into, entity)
            require(not circle, f"{entity} would be the same as itself")
        case EntityAliased(alias=alias, entity=of):
            _require_born(db, event, alias)
            circle = of is not None and Identities(db, event.world).leads_to(of, alias)
            require(not circle, f"{alias} would be an alias of itself")
        case EntitySplit(entity=entity, other=other):
            require(entity != other, "nobody is split off from themselves")
            _require_born(db, event, other)
            unknown = db.execute(_NO_ITEM, (json.dumps(event.items),)).fetchone()
            require(unknown is None, f"there is no message or memory {unknown and unknown[0]}")


def _require_born(db: sqlite3.Connection, event: EntitySplit | EntityAliased, id: str) -> None:
    """It is the first such event, with a name, or a later one of what that made."""
    if found(db, "SELECT 1 FROM entities WHERE id = ?", id):
        require(item_exists(db, event.kind, id), f"{id} exists already")
    else:
        require(event.text is not None and event.entity is not None, f"{id} has no name, or is nobody's")


def _require_entity(db: sqlite3.Connection, entity: str) -> None:
    require(found(db, "SELECT 1 FROM entities WHERE id = ?", entity), f"there is no entity {entity}")


def _require_above(db: sqlite3.Connection, observation: str, world: str) -> None:
    """An observation is of a world or of one above it, so that what takes its place there may know of it."""
    (its_world,) = db.execute("SELECT world FROM observations WHERE id = ?", (observation,)).fetchone()
    require(its_world in lineage_of(db, world).worlds, f"{observation} is of a world that {world} does not see")


def _admit_change(db: sqlite3.Connection, event: Lifecycle) -> None:
    _require_observation(db, event.observation)
    _require_kept(db, _series_of(db, event.observation))
    match event:
        case ObservationSupported():
            require_sources(db, (event.source,))
            _require_first(db, event, event.source)
            made_of = event.source in _sources_of(db, event.observation)
            require(not made_of, f"{event.observation} was made from {event.source}, which cannot say it again")
        case ObservationReinforced():
            require_turn(db, event.by_turn)
            _require_first(db, event, event.by_turn)
            numbers = isfinite(event.before) and isfinite(event.after) and 0 <= event.before <= event.after <= 1
            grown = min(1.0, event.before + event.step)
            require(numbers and isclose(event.after, grown, abs_tol=1e-6), "its confidence does not rise by its step")
        case ObservationRetired(by_turn=str() as turn):
            require_turn(db, turn)
            _require_first(db, event, turn)
        case _:
            _admit_review(db, event)


def _require_first(db: sqlite3.Connection, event: Lifecycle, by: str) -> None:
    """A turn or chunk says the same of an observation once."""
    said = found(db, _PROVED, by, event.kind, event.observation)
    require(not said, f"{by} did that to {event.observation} already")


def _admit_review(db: sqlite3.Connection, event: Lifecycle) -> None:
    judged = judged_as(db, event.observation)
    match event:
        case ObservationPromoted():
            require(judged == "candidate", f"{event.observation} is {judged}, so it cannot be promoted")
        case ObservationRejected() | ObservationRetired():
            require(judged != "invalid", f"{event.observation} is {judged} already")


def judged_as(db: sqlite3.Connection, observation: str) -> str:
    """How an observation was made or reviewed last: candidate, active or invalid."""
    judged: str = db.execute("SELECT judged FROM observations WHERE id = ?", (observation,)).fetchone()[0]
    return judged


def _admit_document(db: sqlite3.Connection, event: Event) -> bool:
    match event:
        case ChunkRead():
            new = not item_exists(db, "chunk.read", event.chunk) and not turn_exists(db, event.chunk)
            require(new, f"{event.chunk} exists already")
            _require_document_kept(db, event.document)
        case DocumentRead():
            require(event.size >= 0, "a file has no size below zero")
            require(len(set(event.chunks)) == len(event.chunks), "it names a chunk twice")
            _require_document_kept(db, event.document)
            read = db.execute("SELECT id FROM chunks WHERE document = ?", (event.document,))
            unread = set(event.chunks) - {chunk for (chunk,) in read}
            require(not unread, f"the chunk {min(unread, default='')} of it was not read")
        case DocumentRemoved():
            known = item_exists(db, "document.read", event.document)
            require(known, f"there is no document {event.document}")
        case _:
            return False
    return True


def _admit_reference(db: sqlite3.Connection, event: Event) -> bool:
    match event:
        case ReferenceAdded():
            require_session(db, event.session)
            require(bool((event.text or "").strip()), "the reference has no address")
            if event.turn is not None:
                require_turn(db, event.turn)
            known = db.execute("SELECT session, kind FROM attachments WHERE id = ?", (event.reference,)).fetchone()
            same = known in (None, (event.session, event.category))
            require(same, f"the reference {event.reference} is of another session, or of another kind")
        case ReferenceDropped():
            _require_reference(db, event.reference)
        case ReferenceWritten():
            _require_reference(db, event.reference)
            require_name(event.author, "the author")
            handle, _, did = (event.text or "").partition("\n")
            require(bool(handle.strip() and did.strip()) and "\n" not in did, "it names no author")
            known = not found(db, "SELECT 1 FROM entities WHERE id = ?", event.author)
            require(known or item_exists(db, event.kind, event.author), f"{event.author} is somebody else")
        case _:
            return False
    return True


def _require_reference(db: sqlite3.Connection, reference: str) -> None:
    require(item_exists(db, "reference.added", reference), f"there is no reference {reference}")


def _admit_approval(db: sqlite3.Connection, event: Event) -> bool:
    match event:
        case ApprovalAsked():
            require_session(db, event.session)
            require_turn(db, event.by_turn)
            require(not item_exists(db, "approval.asked", event.approval), f"{event.approval} was asked already")
        case ApprovalGiven() | ApprovalRefused():
            require(item_exists(db, "approval.asked", event.approval), f"nothing was asked by {event.approval}")
            answers = "SELECT 1 FROM subjects WHERE id = ? AND kind IN ('approval.given', 'approval.refused')"
            require(not found(db, answers, event.approval), f"{event.approval} was answered already")
        case _:
            return False
    return True


def _require_observation(db: sqlite3.Connection, observation: str) -> None:
    require(_observation_exists(db, observation), f"there is no observation {observation}")


def _require_kept(db: sqlite3.Connection, series: str) -> None:
    gone = found(db, "SELECT 1 FROM observations WHERE series = ? AND deleted", series)
    require(not gone, f"the observation {series} was forgotten")


def _observation_exists(db: sqlite3.Connection, observation: str) -> bool:
    return found(db, "SELECT 1 FROM observations WHERE id = ?", observation)


def _require_document_kept(db: sqlite3.Connection, document: str) -> None:
    require(not item_exists(db, "document.removed", document), f"the document {document} was removed")


def _series_of(db: sqlite3.Connection, observation: str) -> str:
    series: str = db.execute("SELECT series FROM observations WHERE id = ?", (observation,)).fetchone()[0]
    return series


def _sources_of(db: sqlite3.Connection, observation: str) -> set[str]:
    query = "SELECT target FROM links WHERE start = ? AND rel = 'DERIVED_FROM'"
    return {source for (source,) in db.execute(query, (observation,))}


# A day from the ends of what a datetime can be, so that every time zone can show it.
EARLIEST = as_ms(datetime.min.replace(tzinfo=UTC) + timedelta(days=1))
LATEST = as_ms(datetime.max.replace(tzinfo=UTC) - timedelta(days=1))


def admit(db: sqlite3.Connection, event: Event) -> None:
    """Raise InvalidEvent if `event` cannot follow what is in the log. Runs inside the append's transaction."""
    match event:
        case SessionStarted():
            require(not session_exists(db, event.session), f"session {event.session} exists already")
            require_world(db, event.world)
            _require_import(db, event)
        case SessionForked():
            require(not session_exists(db, event.session), f"session {event.session} exists already")
            require(session_exists(db, event.origin), f"there is no session {event.origin}")
            _require_place(db, event.at)
            require_path(db, event.origin, event.at)
            of_origin = event.world == _world_of(db, event.origin)
            require(of_origin or not world_exists(db, event.world), f"the world {event.world} is another's")
        case TurnSaid():
            require_session(db, event.session)
            require(not turn_exists(db, event.turn), f"turn {event.turn} exists already")
            _require_place(db, event.parent)
            _require_import(db, event)
            admit_said(db, event)
        case TurnTaken():
            require(_can_be_taken(db, event.turn, event.session), f"turn {event.turn} waits not in {event.session}")
            _require_place(db, event.parent)
            require_path(db, event.session, event.parent)
        case HeadMoved():
            require_session(db, event.session)
            _require_place(db, event.turn)
            require_path(db, event.session, event.turn)
        case TurnHidden() | TurnUnhidden() | TurnDeleted() | TurnRated() | TurnWithheld() | TurnReleased():
            require_turn(db, event.turn)
        case PinSet() | PinCleared():
            _require_pinnable(db, event)
        case SessionTitled():
            require_session(db, event.session)
            require_sources(db, event.sources)
        case MarkSet():
            require(not _is_marked(db, event.mark), f"mark {event.mark} exists already")
        case MarkCleared() | MarkRestored():
            require(_is_marked(db, event.mark), f"there is no mark {event.mark}")
        case Undone():
            last = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            require(all(1 <= seq <= last for seq in event.events), "an event to undo does not exist")
        case TextErased():
            last = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            require(all(1 <= seq <= last for seq in event.events), "an event to erase does not exist")
        case SessionRenamed() | SessionArchived() | SessionUnarchived() | SessionDeleted() | SessionConfigured():
            require_session(db, event.session)
        case StoryBegun() | CastSet() | CastReset() | StageSet() | TurnWitnessed():
            admit_play(db, event)
        case _:
            require(admit_learned(db, event), f"nobody knows when a {event.kind} may be stored")


def _is_marked(db: sqlite3.Connection, mark: str) -> bool:
    return found(db, "SELECT 1 FROM subjects WHERE id = ? AND kind = 'mark.set'", mark)


def _world_of(db: sqlite3.Connection, session: str) -> str:
    world: str = db.execute("SELECT world FROM sessions WHERE id = ?", (session,)).fetchone()[0]
    return world


def _require_pinnable(db: sqlite3.Connection, event: PinSet | PinCleared) -> None:
    require((event.turn is None) != (event.observation is None), "a pin is of one turn or one observation")
    if event.world is not None:
        require_world(db, event.world)
    if event.turn is not None:
        require_turn(db, event.turn)
    if event.observation is not None:
        require_pinnable(db, event.observation)


def _require_place(db: sqlite3.Connection, turn: str | None) -> None:
    """`turn` is None or stands in the tree."""
    if turn is not None:
        require(turn_exists(db, turn), f"there is no turn {turn}")
        require(not _waits(db, turn), f"turn {turn} still waits in the queue")


def _require_import(db: sqlite3.Connection, event: SessionStarted | TurnSaid) -> None:
    """A source is imported once, also where it is erased since, and its time is one that can be shown."""
    if event.source is not None:
        known = found(db, "SELECT 1 FROM imports WHERE source = ?", event.source)
        require(not known, f"it was imported before, from {event.source}")
    if event.said_at is not None:
        require(EARLIEST <= event.said_at <= LATEST, f"{event.said_at} is no time between the years 1 and 9999")


def _waits(db: sqlite3.Connection, turn: str) -> bool:
    """Said as queued, and not taken up since."""
    return found(db, "SELECT 1 FROM turns WHERE id = ? AND queued", turn)


def _can_be_taken(db: sqlite3.Connection, turn: str, session: str) -> bool:
    return found(db, "SELECT 1 FROM turns WHERE id = ? AND session = ? AND queued AND NOT deleted", turn, session)
