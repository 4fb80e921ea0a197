"""What may follow what, for the events of what was learned.

Invariant: an observation stands on turns and chunks that exist, a revision on all that the one before it stands on, and
nothing but its deletion follows a series that was deleted. A review changes how an observation stands, so the second of
two reviews of the same candidate is refused.
"""

import json
import sqlite3
from math import isclose, isfinite

from graph.events import (
    ApprovalAsked,
    ApprovalGiven,
    ApprovalRefused,
    ChunkRead,
    CoreWritten,
    DocumentRead,
    DocumentRemoved,
    EntityNoted,
    Event,
    ObservationDeleted,
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
)
from graph.rules import (
    found,
    item_exists,
    require,
    require_name,
    require_session,
    require_sources,
    require_turn,
    require_world,
    turn_exists,
)
from graph.worlds import lineage_of

_SPOKE = "SELECT 1 FROM events WHERE speaker = ? AND kind = 'turn.said'"
_PROVED = """
SELECT 1 FROM named JOIN events AS proof USING (seq)
WHERE named.name = ? AND named.kind = ? AND proof.item = ?
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
            made = "SELECT 1 FROM events WHERE series = ? AND kind = 'observation.made'"
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
        case EntityNoted():
            require_name(event.entity, "the entity")
            require_turn(db, event.by_turn)
            require(bool((event.text or "").strip()), "it names nothing")
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
            return _admit_document(db, event) or _admit_approval(db, event)
    return True


def require_pinnable(db: sqlite3.Connection, observation: str) -> None:
    """It exists and was not deleted."""
    _require_observation(db, observation)
    _require_kept(db, _series_of(db, observation))


def _admit_observation(db: sqlite3.Connection, event: ObservationMade) -> None:
    require(not item_exists(db, "observation.made", event.observation), f"{event.observation} exists already")
    require(bool((event.text or "").strip()), "the observation says nothing")
    require_world(db, event.world)
    require_sources(db, event.sources)
    for entity in event.about:
        known = item_exists(db, "entity.noted", entity) or found(db, _SPOKE, entity)
        require(known, f"there is no entity {entity}")
    if event.supersedes is None:
        require(event.series == event.observation, "a first revision names another series")
    else:
        _require_observation(db, event.supersedes)
        require(event.series == _series_of(db, event.supersedes), "a revision is of another series")
        _require_kept(db, event.series)
        _require_above(db, event.supersedes, event.world)
        lacking = _sources_of(db, event.supersedes) - set(event.sources)
        require(not lacking, f"a revision leaves out the source {min(lacking, default='')}")
    if event.instead_of is not None:
        _require_observation(db, event.instead_of)
        _require_kept(db, _series_of(db, event.instead_of))
        _require_above(db, event.instead_of, event.world)


def _require_above(db: sqlite3.Connection, observation: str, world: str) -> None:
    """An observation is of a world or of one above it, so that what takes its place there may know of it."""
    made = "SELECT structure ->> '$.world' FROM events WHERE item = ? AND kind = 'observation.made'"
    (its_world,) = db.execute(made, (observation,)).fetchone()
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
    reviews = """
    SELECT kind, coalesce(structure ->> '$.status', '') FROM events WHERE item = ? AND (
        kind IN ('observation.made', 'observation.promoted', 'observation.rejected', 'observation.returned')
        OR kind = 'observation.retired' AND structure ->> '$.by_turn' IS NULL
    ) ORDER BY seq DESC LIMIT 1
    """
    kind, status = db.execute(reviews, (observation,)).fetchone()
    return {"observation.promoted": "active"}.get(kind, status or "invalid")


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
            read = "SELECT read.item FROM named JOIN events AS read USING (seq) WHERE name = ? AND named.kind = ?"
            unread = set(event.chunks) - {chunk for (chunk,) in db.execute(read, (event.document, "chunk.read"))}
            require(not unread, f"the chunk {min(unread, default='')} of it was not read")
        case DocumentRemoved():
            known = item_exists(db, "document.read", event.document)
            require(known, f"there is no document {event.document}")
        case _:
            return False
    return True


def _admit_approval(db: sqlite3.Connection, event: Event) -> bool:
    match event:
        case ApprovalAsked():
            require_session(db, event.session)
            require_turn(db, event.by_turn)
            require(not item_exists(db, "approval.asked", event.approval), f"{event.approval} was asked already")
        case ApprovalGiven() | ApprovalRefused():
            require(item_exists(db, "approval.asked", event.approval), f"nothing was asked by {event.approval}")
            answers = "SELECT 1 FROM events WHERE item = ? AND kind IN ('approval.given', 'approval.refused')"
            require(not found(db, answers, event.approval), f"{event.approval} was answered already")
        case _:
            return False
    return True


def _require_observation(db: sqlite3.Connection, observation: str) -> None:
    require(item_exists(db, "observation.made", observation), f"there is no observation {observation}")


def _require_kept(db: sqlite3.Connection, series: str) -> None:
    gone = found(db, "SELECT 1 FROM events WHERE series = ? AND kind = 'observation.deleted'", series)
    require(not gone, f"the observation {series} was forgotten")


def _require_document_kept(db: sqlite3.Connection, document: str) -> None:
    require(not item_exists(db, "document.removed", document), f"the document {document} was removed")


def _series_of(db: sqlite3.Connection, observation: str) -> str:
    query = "SELECT series FROM events WHERE item = ? AND kind = 'observation.made'"
    series: str = db.execute(query, (observation,)).fetchone()[0]
    return series


def _sources_of(db: sqlite3.Connection, observation: str) -> set[str]:
    query = "SELECT structure ->> '$.sources' FROM events WHERE item = ? AND kind = 'observation.made'"
    return set(json.loads(db.execute(query, (observation,)).fetchone()[0]))
