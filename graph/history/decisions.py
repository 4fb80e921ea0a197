"""What the user decided, as it stood at any place in the log: the one reading behind undoing and going back.

A decision is of one thing that can be decided: where a head stands, whether a turn is hidden, what a chat is called. It
is read as what the last event before a number left of it; and for every standing there are the events that bring it
back. What did not exist yet stands as it has to stand to be out of the way: a chat without a head and archived, a note
hidden, a memory rejected, a document that holds nothing.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from graph.events import (
    MAIN_WORLD,
    CastReset,
    CastSet,
    CoreWritten,
    DocumentRead,
    EntityAliased,
    EntityKinded,
    EntityMerged,
    EntityNamed,
    EntitySplit,
    Event,
    HeadMoved,
    ObservationMade,
    ObservationPromoted,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    PinCleared,
    PinSet,
    ProjectAssigned,
    ReferenceAdded,
    ReferenceDropped,
    Role,
    Sampling,
    SessionArchived,
    SessionConfigured,
    SessionForked,
    SessionRenamed,
    SessionUnarchived,
    StageSet,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnSaid,
    TurnUnhidden,
    TurnWithheld,
    TurnWitnessed,
)
from graph.events.codec import fields_of
from graph.projection.paths import EVER
from graph.projection.stage import Stage
from graph.projection.stories import RESET, SEAT

Sort = Literal[
    "head",
    "shelf",
    "name",
    "settings",
    "project",
    "hidden",
    "withheld",
    "rating",
    "pin",
    "memory pin",
    "review",
    "block",
    "document",
    "reference",
    "entity name",
    "entity kind",
    "entity alias",
    "entity merge",
    "entity split",
    "stage",
    "cast",
    "reset",
    "witnesses",
]


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing that is decided: of which session, turn, observation, block, document or entity; `world` if it has one.

    A block may also be of a project. One that was split off is so `of` an entity. On a stage it is of an `aspect` of
    its item, `of` the turn after which it holds.
    """

    sort: Sort
    item: str
    world: str | None = None
    project: str | None = None
    of: str | None = None
    aspect: str | None = None


_FORGOTTEN = "SELECT 1 FROM observations WHERE id = ? AND deleted"
# A chat of the story that a world is of is left.
_PLAYED = """
SELECT 1 FROM sessions AS own JOIN worlds ON worlds.id = own.world WHERE NOT own.deleted
AND worlds.story = (SELECT story FROM worlds WHERE id = ?)
"""


def decisions(event: Event) -> Iterator[Decision]:
    """What an event of a person's decides; nothing for the others, and for those that cannot be taken back."""
    match event:
        case HeadMoved(session=session):
            yield Decision("head", session)
        case SessionForked(session=session):
            yield Decision("head", session)
            yield Decision("shelf", session)
        case SessionArchived(session=session) | SessionUnarchived(session=session):
            yield Decision("shelf", session)
        case SessionRenamed(session=session):
            yield Decision("name", session)
        case SessionConfigured(session=session):
            yield Decision("settings", session)
        case ProjectAssigned(session=session):
            yield Decision("project", session)
        case TurnHidden(turn=turn) | TurnUnhidden(turn=turn):
            yield Decision("hidden", turn)
        case TurnSaid(turn=turn, role=Role.NOTE, source=None):
            yield Decision("hidden", turn)
        case TurnWithheld(turn=turn) | TurnReleased(turn=turn):
            yield Decision("withheld", turn)
        case TurnRated(turn=turn, by="user"):
            yield Decision("rating", turn)
        case PinSet(turn=str() as turn, world=world) | PinCleared(turn=str() as turn, world=world):
            yield Decision("pin", turn, world)
        case PinSet(observation=str() as made, world=world) | PinCleared(observation=str() as made, world=world):
            yield Decision("memory pin", made, world)
        case ObservationPromoted(observation=made) | ObservationRejected(observation=made):
            yield Decision("review", made)
        case ObservationReturned(observation=made) | ObservationRetired(observation=made, by_turn=None):
            yield Decision("review", made)
        case ObservationMade(observation=made, origin="user") | ObservationMade(observation=made, parents=(_, _)):
            yield Decision("review", made)
        case CoreWritten(block=block, world=world, project=project, by="user"):
            yield Decision("block", block, world, project)
        case DocumentRead(document=document):
            yield Decision("document", document)
        case ReferenceAdded(reference=reference) | ReferenceDropped(reference=reference):
            yield Decision("reference", reference)
        case EntityNamed(entity=entity, world=world):
            yield Decision("entity name", entity, world)
        case EntityKinded(entity=entity, world=world):
            yield Decision("entity kind", entity, world)
        case EntityAliased(alias=alias, world=world):
            yield Decision("entity alias", alias, world)
        case EntityMerged(entity=entity, world=world):
            yield Decision("entity merge", entity, world)
        case EntitySplit(entity=entity, other=other, world=world):
            yield Decision("entity split", other, world, of=entity)
        case StageSet(world=world, owner=owner, aspect=aspect, after=after, by="user"):
            yield Decision("stage", owner, world, of=after, aspect=aspect)
        case CastSet(world=world, member=member, after=after):
            yield Decision("cast", member, world, of=after, aspect=SEAT)
        case CastReset(world=world, member=member):
            yield Decision("reset", member, world, aspect=RESET)
        case TurnWitnessed(turn=turn):
            yield Decision("witnesses", turn)
        case _:
            return


def standing(db: sqlite3.Connection, facet: Decision, *, before: int) -> Any:
    """How a facet stood after the events with a number below `before`; comparable, and None where nobody decided."""
    return _READ[facet.sort](db, facet, before)


def restoring(facet: Decision, stood: Any) -> list[Event]:
    """The events that make a facet stand so again."""
    found = _restoring(facet, stood)
    if isinstance(found, StageSet) and found.sources:  # where these die, what was undone must not come back
        return [found.model_copy(update={"text": None, "by": "user", "sources": ()}), found]
    return [found]


def _restoring(facet: Decision, stood: Any) -> Event:
    match facet:
        case Decision("head", session):
            return HeadMoved(session=session, turn=stood)
        case Decision("shelf", session):
            return SessionArchived(session=session) if stood else SessionUnarchived(session=session)
        case Decision("name", session):
            return SessionRenamed(session=session, text=stood)
        case Decision("settings", session):
            model, sampling, text = stood or (None, None, None)
            return SessionConfigured(
                session=session, model=model, sampling=sampling and Sampling.model_validate_json(sampling), text=text
            )
        case Decision("project", session):
            return ProjectAssigned(session=session, project=stood)
        case Decision("hidden", turn):
            return TurnHidden(turn=turn) if stood else TurnUnhidden(turn=turn)
        case Decision("withheld", turn):
            return TurnWithheld(turn=turn) if stood else TurnReleased(turn=turn)
        case Decision("rating", turn):
            significance, by = stood or (0, "rule")
            return TurnRated.model_validate({"turn": turn, "significance": significance, "by": by})
        case Decision("pin", turn, world):
            return PinSet(turn=turn, world=world) if stood else PinCleared(turn=turn, world=world)
        case Decision("memory pin", made, world):
            return PinSet(observation=made, world=world) if stood else PinCleared(observation=made, world=world)
        case Decision("block", block, world, project):
            text, by, sources = stood or ("", "user", ())
            written = {"block": block, "world": world or MAIN_WORLD, "by": by, "sources": sources, "text": text}
            return CoreWritten.model_validate({**written, "project": project})
        case Decision(of=of, world=world) if facet.sort in _OF_ENTITIES:
            return _restoring_entity(facet, stood, world or MAIN_WORLD, of or facet.item)
        case Decision("document"):
            read: DocumentRead = stood
            return read
        case Decision("reference", reference):
            added: ReferenceAdded | None = stood
            return added or ReferenceDropped(reference=reference)
        case Decision("witnesses", turn):
            return TurnWitnessed(turn=turn, witnesses=stood)
        case Decision(aspect=str()):
            return _restoring_stage(facet, stood)
        case _:
            if stood == "invalid":
                return ObservationRejected(observation=facet.item)
            return ObservationReturned(observation=facet.item, status=stood)


def _restoring_entity(facet: Decision, stood: Any, world: str, entity: str) -> Event:
    match facet.sort:
        case "entity name":
            return EntityNamed(entity=entity, world=world, text=stood)
        case "entity kind":
            return EntityKinded(entity=entity, world=world, category=stood)
        case "entity alias":
            return EntityAliased(alias=facet.item, entity=stood, world=world)
        case "entity merge":
            return EntityMerged(entity=entity, world=world, into=stood)
        case _:
            return EntitySplit(entity=entity, other=facet.item, world=world, items=stood or ())


def _restoring_stage(facet: Decision, stood: Any) -> Event:
    world = facet.world or MAIN_WORLD
    match facet.sort:
        case "cast":
            seat, name = stood or (None, None)
            return CastSet(world=world, member=facet.item, seat=seat, after=facet.of, text=name)
        case "reset":
            return CastReset(world=world, member=facet.item, since=stood)
        case _:
            text, by, sources = stood or (None, "user", ())
            line = {"owner": facet.item, "aspect": facet.aspect, "after": facet.of, "sources": sources, "by": by}
            return StageSet.model_validate({"world": world, **line, "text": text})


def reachable(db: sqlite3.Connection, facet: Decision) -> bool:
    """Whether what a facet is of is still there: its session, turn, memory or document was not deleted."""
    match facet.sort:
        case "block":
            return True
        case sort if sort in _OF_ENTITIES:
            return True
        case "memory pin" | "review":
            return db.execute(_FORGOTTEN, (facet.item,)).fetchone() is None
        case "stage" | "cast" | "reset":
            return db.execute(_PLAYED, (facet.world,)).fetchone() is not None
        case "document":
            gone = "SELECT 1 FROM documents WHERE id = ? AND deleted"
        case "reference":  # nothing is referred to by an address that is erased
            gone = """
            SELECT 1 FROM attachments AS own JOIN events USING (seq) JOIN sessions ON sessions.id = own.session
            WHERE own.id = ? AND (events.text IS NULL OR sessions.deleted)
            """
        case "hidden" | "withheld" | "rating" | "pin" | "witnesses":
            gone = "SELECT 1 FROM turns WHERE id = ? AND deleted"
        case _:
            gone = "SELECT 1 FROM sessions WHERE id = ? AND deleted"
    return db.execute(gone, (facet.item,)).fetchone() is None


Row = tuple[str, dict[str, Any], str | None]
_OF = """
SELECT event.kind, event.version, event.structure, event.text FROM subjects JOIN events AS event USING (seq)
WHERE subjects.id = ? AND subjects.kind IN ({}) AND subjects.seq < ? ORDER BY subjects.seq DESC
"""


def _past(db: sqlite3.Connection, item: str, before: int, *kinds: str) -> Iterator[Row]:
    """Kind, fields and text of the events of some kinds of an item, with a number below `before`, the last first."""
    rows = db.execute(_OF.format(", ".join("?" * len(kinds))), (item, *kinds, before))
    return ((kind, fields_of(kind, version, structure), text) for kind, version, structure, text in rows)


def _last(db: sqlite3.Connection, item: str, before: int, *kinds: str) -> Row | None:
    return next(_past(db, item, before, *kinds), None)


_SAID = "SELECT id, seq FROM turns WHERE session = ? AND placed = seq AND seq < ? ORDER BY seq DESC LIMIT 1"
_MOVED = """
SELECT max(seq) FROM subjects WHERE id = ? AND kind IN ('turn.taken', 'head.moved', 'session.forked') AND seq < ?
"""


def _head(db: sqlite3.Connection, facet: Decision, before: int) -> str | None:
    said: tuple[str | None, int] = db.execute(_SAID, (facet.item, before)).fetchone() or (None, 0)
    moved = db.execute(_MOVED, (facet.item, before)).fetchone()[0]
    if said[1] >= (moved or 0):
        return said[0]
    last = _last(db, facet.item, before, "turn.taken", "head.moved", "session.forked")
    assert last is not None, "one of these has the number that was found"
    turn: str | None = last[1]["at"] if last[0] == "session.forked" else last[1]["turn"]
    return turn


def _shelf(db: sqlite3.Connection, facet: Decision, before: int) -> bool:
    begun = _last(db, facet.item, before, "session.started", "session.forked")
    last = _last(db, facet.item, before, "session.archived", "session.unarchived")
    return begun is None or (last is not None and last[0] == "session.archived")


def _name(db: sqlite3.Connection, facet: Decision, before: int) -> str | None:
    last = _last(db, facet.item, before, "session.renamed")
    return last[2] if last is not None else None


def _settings(db: sqlite3.Connection, facet: Decision, before: int) -> tuple[str | None, str | None, str | None] | None:
    last = _last(db, facet.item, before, "session.configured")
    if last is None:
        return None
    sampling = last[1].get("sampling")
    return last[1].get("model"), sampling and json.dumps(sampling, sort_keys=True), last[2]


def _project(db: sqlite3.Connection, facet: Decision, before: int) -> str | None:
    kinds = ("project.assigned", "session.started", "session.forked")
    last = _last(db, facet.item, before, *kinds)
    return last[1].get("project") if last is not None else None


def _flag(on: str, off: str) -> Callable[[sqlite3.Connection, Decision, int], bool]:
    def read(db: sqlite3.Connection, facet: Decision, before: int) -> bool:
        last = _last(db, facet.item, before, on, off)
        return last is not None and last[0] == on

    return read


def _hidden(db: sqlite3.Connection, facet: Decision, before: int) -> bool:
    said = db.execute("SELECT 1 FROM turns WHERE id = ? AND seq < ?", (facet.item, before)).fetchone()
    return said is None or _flag("turn.hidden", "turn.unhidden")(db, facet, before)


def _rating(db: sqlite3.Connection, facet: Decision, before: int) -> tuple[int, str] | None:
    last = _last(db, facet.item, before, "turn.rated")
    return (last[1]["significance"], last[1]["by"]) if last is not None else None


def _pin(db: sqlite3.Connection, facet: Decision, before: int) -> bool:
    """A pin without a world is one in the world of what is pinned."""
    table = "turns" if facet.sort == "pin" else "observations"
    row = db.execute(f"SELECT world FROM {table} WHERE id = ?", (facet.item,)).fetchone()
    home = row[0] if row is not None else MAIN_WORLD
    for kind, pin, _ in _past(db, facet.item, before, "pin.set", "pin.cleared"):
        if (pin.get("world") or home) == (facet.world or home):
            return kind == "pin.set"
    return False


def _review(db: sqlite3.Connection, facet: Decision, before: int) -> str:
    reviews = ("promoted", "rejected", "returned", "retired", "made")
    for kind, review, _ in _past(db, facet.item, before, *(f"observation.{each}" for each in reviews)):
        if kind != "observation.retired" or review.get("by_turn") is None:  # by hand
            return "active" if kind == "observation.promoted" else str(review.get("status") or "invalid")
    return "invalid"


def _block(db: sqlite3.Connection, facet: Decision, before: int) -> tuple[str, str, tuple[str, ...]] | None:
    """What a block said; a what-if that wrote none has that of the world it left, as it was then."""
    written = """
    SELECT version, structure, text FROM events WHERE kind <> 'turn.said' AND kind = 'core.written' AND seq < ?
    ORDER BY seq DESC
    """
    world = facet.world or MAIN_WORLD
    for version, structure, text in db.execute(written, (before,)):
        block = fields_of("core.written", version, structure)
        if (block["block"], block["world"], block.get("project")) == (facet.item, world, facet.project):
            return (text, block["by"], tuple(block["sources"])) if text else None
    left = db.execute("SELECT parent, seq FROM worlds WHERE id = ? AND parent IS NOT NULL", (world,)).fetchone()
    if left is None:
        return None
    return _block(db, Decision("block", facet.item, left[0], facet.project), min(before, left[1]))


def _of_entity(kind: str, field: str) -> Callable[[sqlite3.Connection, Decision, int], Any]:
    """What was said last of an entity; a what-if in which nothing was has what was said in the world it left."""

    def read(db: sqlite3.Connection, facet: Decision, before: int) -> Any:
        world = facet.world or MAIN_WORLD
        for told, said, text in _past(db, facet.item, before, kind, "entity.split"):
            if said["world"] != world:
                continue
            if told == kind and facet.of in (None, said["entity"]):
                found = text if field == "text" else said.get(field)
                return tuple(found) if isinstance(found, list) else found
            if told != kind and kind == "entity.named" and said["other"] == facet.item and text is not None:
                return text  # it was called so from the beginning
        left = db.execute("SELECT parent, seq FROM worlds WHERE id = ? AND parent IS NOT NULL", (world,)).fetchone()
        return None if left is None else read(db, replace(facet, world=left[0]), min(before, left[1]))

    return read


def _document(db: sqlite3.Connection, facet: Decision, before: int) -> DocumentRead:
    """What a document was read as; before its first reading it held nothing."""
    then = _last(db, facet.item, before, "document.read")
    last = then or _last(db, facet.item, EVER, "document.read")
    assert last is not None, "the facet is of a document that was read"
    held = last[1]["chunks"] if then is not None else ()
    return DocumentRead.model_validate({**last[1], "text": last[2], "ingest": None, "chunks": held})


def _reference(db: sqlite3.Connection, facet: Decision, before: int) -> ReferenceAdded | None:
    """What would attach it again; None while its session does not refer to it."""
    last = _last(db, facet.item, before, "reference.added", "reference.dropped")
    return None if last is None or last[0] == "reference.dropped" else _added(last)


def _added(row: Row) -> ReferenceAdded:
    return ReferenceAdded.model_validate({**row[1], "text": row[2]})


def _line(db: sqlite3.Connection, facet: Decision, before: int) -> tuple[dict[str, Any], str | None] | None:
    """Fields and text of the line of a stage that held there."""
    stage = Stage(db, facet.world or MAIN_WORLD, facet.of)
    line = stage.line(facet.item, facet.aspect or "", before=before)
    if line is None:
        return None
    query = "SELECT kind, version, structure, text FROM events WHERE seq = ?"
    kind, version, structure, text = db.execute(query, (line.seq,)).fetchone()
    return fields_of(kind, version, structure), text


def _stage(db: sqlite3.Connection, facet: Decision, before: int) -> tuple[str, str, tuple[str, ...]] | None:
    line = _line(db, facet, before)
    return (line[1], line[0]["by"], tuple(line[0]["sources"])) if line is not None and line[1] else None


def _cast(db: sqlite3.Connection, facet: Decision, before: int) -> tuple[str | None, str | None] | None:
    """The seat of a member, and what it was called."""
    line = _line(db, facet, before)
    names = (text for _, _, text in _past(db, facet.item, before, "cast.set") if text is not None)
    return (line[0].get("seat"), next(names, None)) if line is not None else None


def _reset(db: sqlite3.Connection, facet: Decision, before: int) -> int:
    line = _line(db, facet, before)
    return int(line[0]["since"]) if line is not None else 0


def _witnesses(db: sqlite3.Connection, facet: Decision, before: int) -> tuple[str, ...]:
    """Who saw a turn: as a person said last, else as it was said."""
    last = _last(db, facet.item, before, "turn.witnessed")
    if last is not None:
        return tuple(last[1]["witnesses"])
    said = "SELECT version, structure FROM events WHERE seq = (SELECT seq FROM turns WHERE id = ?)"
    return tuple(fields_of("turn.said", *db.execute(said, (facet.item,)).fetchone()).get("witnesses") or ())


_READ: dict[str, Callable[[sqlite3.Connection, Decision, int], Any]] = {
    "head": _head,
    "shelf": _shelf,
    "name": _name,
    "settings": _settings,
    "project": _project,
    "hidden": _hidden,
    "withheld": _flag("turn.withheld", "turn.released"),
    "rating": _rating,
    "pin": _pin,
    "memory pin": _pin,
    "review": _review,
    "block": _block,
    "document": _document,
    "reference": _reference,
    "entity name": _of_entity("entity.named", "text"),
    "entity kind": _of_entity("entity.kinded", "category"),
    "entity alias": _of_entity("entity.aliased", "entity"),
    "entity merge": _of_entity("entity.merged", "into"),
    "entity split": _of_entity("entity.split", "items"),
    "stage": _stage,
    "cast": _cast,
    "reset": _reset,
    "witnesses": _witnesses,
}
_OF_ENTITIES = ("entity name", "entity kind", "entity alias", "entity merge", "entity split")
