"""Takes the events of an export into the log: each once, in the order of the log they are of.

Invariant: an event keeps its id wherever it goes, so what is known is known by its id, and a thing that was erased here
is met by its tombstone.

Invariants:
- Events keep their ids and turns the time they were said at. What is known by its id is passed by; so an import that
  was cut off anywhere is met by importing again.
- What was erased here stays erased, and what the export says was deleted is deleted here too.
- A session that was gone on with here keeps its head, at the end of each transaction; one that was not follows the
  export. A change of something that was changed here later is left out.
- What looks like a change by hand is marked as an import: it was made elsewhere, and is not undone as one of here.
- What hangs on a turn that is missing follows the nearest one known before it in its session.
- Of a story that is over here, because its chats were deleted, no words come back.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.errors import InvalidEvent, LogDamaged, LogNewer
from graph.events import (
    CastReset,
    CastSet,
    CoreWritten,
    EntityAliased,
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
    ObservationMade,
    PinCleared,
    PinSet,
    ProjectAssigned,
    ProjectMade,
    ReferenceAdded,
    ReferenceDropped,
    ReferenceWritten,
    RelationNoted,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionUnarchived,
    StageSet,
    StoryBegun,
    TextErased,
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
from graph.events.codec import KINDS, Stored, decode, fields_of
from graph.history.undoing import edit_of, is_change
from graph.ids import new_id
from graph.log.erasing import ERASING
from graph.log.requiring import require, session_exists, turn_exists, world_exists

# The events that say how a thing stands, past a time; of a thing that no id tells, all of a kind.
_OF = """
SELECT event.id, event.kind, event.version, event.structure FROM subjects JOIN events AS event USING (seq)
WHERE subjects.id = ? AND subjects.kind IN ({}) AND event.at > ?
"""
_OF_KIND = "SELECT id, kind, version, structure FROM events WHERE kind <> 'turn.said' AND kind = ? AND at > ?"
_OF_STAGE = """
SELECT event.id FROM stage_lines AS line JOIN events AS event USING (seq)
WHERE line.world = ? AND line.owner = ? AND line.aspect = ? AND line."after" IS ? AND event.at > ?
"""


def decided_later(db: sqlite3.Connection, event: Event, *, at: int, but: Collection[str]) -> bool:
    """Whether the log has a later decision of what `event` decides, other than the events of these ids."""
    kinds: tuple[str, ...] = (event.kind,)
    named = ""  # the field that tells the thing, where no id does
    match event:
        case SessionRenamed() | SessionConfigured() | ProjectAssigned():
            of = event.session
        case SessionArchived() | SessionUnarchived():
            of, kinds = event.session, ("session.archived", "session.unarchived")
        case TurnHidden() | TurnUnhidden():
            of, kinds = event.turn, ("turn.hidden", "turn.unhidden")
        case TurnWithheld() | TurnReleased():
            of, kinds = event.turn, ("turn.withheld", "turn.released")
        case TurnRated() | TurnWitnessed():
            of = event.turn
        case CastSet() | CastReset():
            of = event.member
        case StageSet():
            line = event.world, event.owner, event.aspect, event.after, at
            return any(id not in but for (id,) in db.execute(_OF_STAGE, line))
        case EntityNamed() | EntityKinded() | EntityMerged():
            of = event.entity
        case EntityAliased():
            of = event.alias
        case EntitySplit():
            of = event.other
        case ReferenceAdded() | ReferenceDropped():
            of, kinds = event.reference, ("reference.added", "reference.dropped")
        case PinSet() | PinCleared():
            of, kinds = event.turn or event.observation or "", ("pin.set", "pin.cleared")
        case CoreWritten():
            of, named = event.block, "block"
        case ProjectMade():
            of, named = event.project, "project"
        case _:
            return False
    world, after = getattr(event, "world", None) or "", getattr(event, "after", None)
    query, values = (
        (_OF_KIND, (event.kind, at)) if named else (_OF.format(", ".join("?" * len(kinds))), (of, *kinds, at))
    )
    later = ((id, fields_of(kind, version, structure)) for id, kind, version, structure in db.execute(query, values))
    return any(
        id not in but
        and ((fields.get("world") or "", fields.get("after")) == (world, after))
        and (not named or fields[named] == of)
        for id, fields in later
    )


FORMAT = 1
FIRST_REFUSED = 5  # lines whose refusal is told one by one
OF_THE_LOG = (TextErased, MarkSet, MarkCleared, MarkRestored, Undone)  # these speak of places in a log, not of things


@dataclass(frozen=True, slots=True)
class ExportedEvent:
    """One event of an export: its line in the file, its number in the log it is of, and whether its text is erased."""

    line: int
    seq: int
    id: str
    at: int
    event: Event
    erased: bool


@dataclass(slots=True)
class ExportSummary:
    """What all lines of an export say together: the ids of its events, and where each session's head stands at last."""

    ids: set[str] = field(default_factory=set)
    heads: dict[str, tuple[int, str, str | None]] = field(default_factory=dict)  # number and id of the event, the turn

    def add(self, brought: ExportedEvent) -> None:
        """Take a line into account; in any order."""
        self.ids.add(brought.id)
        moved = head_of(brought.event)
        if moved is not None:
            session, turn = moved
            before = self.heads.get(session)
            if before is None or before[0] < brought.seq:
                self.heads[session] = (brought.seq, brought.id, turn)


@dataclass(slots=True)
class Merged:
    """What a merge did, in events; `turns` are those of the new ones that were said. `refused` counts by why.

    `erased` were erased here and stay so; `deleted` are deletions of the export that hit something here; `older` are
    changes of something that was changed here later.
    """

    new: int = 0
    turns: int = 0
    known: int = 0
    erased: int = 0
    deleted: int = 0
    older: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    first_refused: list[tuple[int, str]] = field(default_factory=list)  # line and why
    begun: set[str] = field(default_factory=set)  # sessions that were not here before
    grown: set[str] = field(default_factory=set)
    known_sessions: set[str] = field(default_factory=set)
    last_session: str | None = None

    def refuse(self, line: int, error: InvalidEvent) -> None:
        """Note an event that could not follow."""
        why = str(error).removeprefix("The event was not stored: ").rstrip(".")
        self.refused[why if len(self.refused) < 1000 else "others"] += 1
        if len(self.first_refused) < FIRST_REFUSED:
            self.first_refused.append((line, why))


class Unknown(LogNewer):
    """A line that only a newer clew understands."""


LATEST = 253_402_300_800_000  # milliseconds of the year 10000, which no date has


def read(line: int, value: Any) -> ExportedEvent:
    """The event of a line. Raises LogNewer for one of a newer clew, LogDamaged for one that is none."""
    match value:
        case {
            "seq": int(seq),
            "id": str(id),
            "at": int(at),
            "kind": str(kind),
            "version": int(version),
            "structure": dict(structure),
        }:
            pass
        case _:
            raise LogDamaged("it is no event")
    text = value.get("text")
    if not isinstance(text, str | None) or not id or seq < 1 or version < 1 or not 0 <= at < LATEST:
        raise LogDamaged("it is no event")
    known = KINDS.get(kind)
    if known is None or version > known.version:
        raise Unknown(f"line {line} has an event this clew does not know ({kind}, version {version})")
    return ExportedEvent(line, seq, id, at, _event(kind, version, structure, text), value.get("erased") is True)


def head_of(event: Event) -> tuple[str, str | None] | None:
    """The session whose head an event moves, and the turn it moves to."""
    match event:
        case TurnSaid(queued=False) | TurnTaken() | HeadMoved():
            return event.session, event.turn
        case SessionForked():
            return event.session, event.at
        case _:
            return None


def named_by(event: Event) -> set[str]:
    """Every text in an event's structure: the ids it names among them."""
    return set(_texts(event.model_dump(mode="json", exclude={"text"})))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)


def renamed(event: Event, names: Mapping[str, str]) -> Event:
    """An event with some ids in its structure replaced by others."""
    if not names:
        return event
    fields = event.model_dump(mode="json", exclude={"text"})
    changed = _renamed(fields, names)
    if changed == fields:
        return event
    return type(event).model_validate(changed | ({"text": event.text} if hasattr(event, "text") else {}))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value, value)
        case list():
            return [_renamed(each, names) for each in value]
        case dict():
            return {key: _renamed(each, names) for key, each in value.items()}
        case _:
            return value


def _event(kind: str, version: int, structure: dict[str, Any], text: str | None) -> Event:
    try:
        return decode(kind, version, json.dumps(structure), text)
    except LogDamaged as e:
        raise LogDamaged(f"it is no {kind} as clew writes it") from e


CLIENT = "import"
Store = Callable[[Event, str | None, bool], Stored]
TOMB = "erased"  # stands for the words of a tombstone where it is asked whether there are any

_KNOWN = "SELECT seq, text IS NULL FROM events WHERE id = ?"
_HEAD = """
SELECT event.id, own.head FROM sessions AS own JOIN events AS event ON event.seq = max(
    coalesce((SELECT max(seq) FROM turns WHERE session = own.id AND placed = seq), 0),
    coalesce((SELECT max(seq) FROM subjects WHERE id = own.id
        AND kind IN ('turn.taken', 'head.moved', 'session.forked')), 0)
) WHERE own.id = ?
"""
_DELETED = """
SELECT event.id FROM subjects JOIN events AS event USING (seq)
WHERE subjects.id = ? AND subjects.kind = 'session.deleted'
"""
_GONE = """
SELECT 1 FROM observations WHERE deleted AND (
    series IN (SELECT value FROM json_each(:named)) OR id IN (SELECT value FROM json_each(:named))
) UNION ALL SELECT 1 FROM documents WHERE deleted AND id IN (SELECT value FROM json_each(:named))
"""
# A story of which all sessions were deleted, by a world of it.
_OVER = """
SELECT min(own.deleted) FROM sessions AS own JOIN worlds ON worlds.id = own.world
WHERE worlds.story = (SELECT story FROM worlds WHERE id = ?)
"""
_SOURCE = "SELECT id FROM imports WHERE source = ?"
_SESSION_OF = "SELECT session FROM turns WHERE id = ?"


@dataclass(slots=True)
class MergedSession:
    """A session that was here before the import: where its head stood, and whether the export moves it on."""

    head: str | None
    follows: bool
    deleted: bool


@dataclass(slots=True)
class Merge:
    """One import: what the whole of it says, and what its batches have told so far."""

    whole: ExportSummary
    done: Merged = field(default_factory=Merged)
    places: dict[str, MergedSession | None] = field(default_factory=dict)  # None: the session came with the import
    last: dict[str, str] = field(default_factory=dict)  # by session: the last turn of the export that is here
    names: dict[str, str] = field(default_factory=dict)  # ids of the export that are known by others here
    homeless: set[str] = field(default_factory=set)  # sessions of a what-if that is not here
    gone: set[str] = field(default_factory=set)  # what was not taken in, because it is of something that is erased here
    played: list[tuple[int, int]] = field(default_factory=list)  # turns of stories, by their numbers there and here


class Batch:
    """One transaction of a merge."""

    def __init__(self, db: sqlite3.Connection, store: Store, merge: Merge) -> None:
        self._db, self._store = db, store
        self._merge, self._done = merge, merge.done
        self._stored: list[Stored] = []
        self._moved: set[str] = set()  # sessions whose head was moved

    def run(self, batch: Sequence[ExportedEvent]) -> list[Stored]:
        """Take in the events; returns what was stored."""
        for brought in batch:
            self._one(brought)
        for session in sorted(self._moved):
            self._settle(session)
        if is_change(self._stored) or edit_of(self._db, self._stored):  # it was decided elsewhere
            self._put(MarkSet(mark=new_id(), reason="import"), None)
        return self._stored

    def _one(self, brought: ExportedEvent) -> None:
        if isinstance(brought.event, OF_THE_LOG):
            return
        known = self._db.execute(_KNOWN, (brought.id,)).fetchone()
        if known is not None:
            self._meet(brought, seq=known[0], gone=bool(known[1]))
            return
        if self._is_elsewhere(brought):
            return
        event = renamed(brought.event, self._merge.names)
        try:
            self._take(brought, event)
        except InvalidEvent as error:
            if isinstance(event, SessionStarted):
                self._merge.homeless.add(event.session)
            if self._is_gone(event):
                self._done.erased += 1
            else:
                self._done.refuse(brought.line, error)

    def _meet(self, brought: ExportedEvent, *, seq: int, gone: bool) -> None:
        """What is here already: it stays as it is, but for its text where the export has it erased."""
        self._done.known += 1
        event = brought.event
        if isinstance(event, TurnSaid):
            self._place(event.session)
            self._merge.last[event.session] = event.turn
            self._note(brought, event, seq)
        if gone:
            self._done.erased += getattr(event, "text", None) is not None
        elif brought.erased:
            self._put(TextErased(events=(seq,)), None)
            self._done.deleted += 1

    def _take(self, brought: ExportedEvent, event: Event) -> None:
        """Store what is new, as it can stand here. Raises InvalidEvent."""
        session: str | None = getattr(event, "session", None)
        if session is not None and not isinstance(event, SessionStarted | SessionForked):
            self._begin(session, brought, event)
        place = self._place(session) if session is not None else None
        if place is not None and place.deleted:
            self._done.erased += 1
            self._merge.gone |= {event.turn} if isinstance(event, TurnSaid) else set()
            return
        if isinstance(event, HeadMoved) and place is not None and not place.follows:
            return
        if decided_later(self._db, event, at=brought.at, but=self._merge.whole.ids):
            self._done.older += 1
            return
        match event:
            case TurnSaid():
                self._say(event, brought)
            case StoryBegun() | CastSet() | CastReset() | StageSet():
                self._play(event, brought)
            case SessionStarted():
                self._put(event.model_copy(update={"said_at": event.said_at or brought.at}), brought.id)
                self._done.begun.add(event.session)
            case RelationNoted(text=None):
                return  # it says nothing any more
            case ObservationMade(text=None) | EntityNoted(text=None):
                self._put(event.model_copy(update={"text": TOMB}), brought.id, erased=True)
            case ReferenceAdded(text=None):
                self._put(event.model_copy(update={"text": TOMB}), brought.id, erased=True)
            case ReferenceAdded(category="file"):  # what lies at that path here nobody named here: it is not read
                self._put(event, brought.id)
                self._put(ReferenceDropped(reference=event.reference), None)
            case SessionConfigured(model=str(model)) if "/" in model or model.endswith(".gguf"):
                self._put(event.model_copy(update={"model": None}), brought.id)  # nor such a file run
            case ReferenceWritten(text=None):
                return  # nobody wrote it any more
            case EntitySplit(text=None) | EntityAliased(text=None) if brought.erased:
                self._put(event.model_copy(update={"text": TOMB}), brought.id, erased=True)
            case _:
                self._put(event, brought.id)
        self._count(event)

    def _say(self, event: TurnSaid, brought: ExportedEvent) -> None:
        parent = event.parent
        if parent is not None and not turn_exists(self._db, parent):
            parent = self._merge.last.get(event.session)
        said_at = brought.at if event.said_at is None else event.said_at
        self._put(event.model_copy(update={"parent": parent, "said_at": said_at}), brought.id)
        self._note(brought, event, self._stored[-1].seq)
        self._merge.last[event.session] = event.turn
        self._done.turns += 1
        place = self._merge.places.get(event.session)
        if place is not None and not place.follows and not event.queued and parent == place.head:
            place.head = event.turn  # the export goes on where the session stands

    def _note(self, brought: ExportedEvent, event: TurnSaid, seq: int) -> None:
        """Note where a turn of a story is here: what a member remembers is told by that."""
        if event.witnesses is not None:
            self._merge.played.append((brought.seq, seq))

    def _play(self, event: StoryBegun | CastSet | CastReset | StageSet, brought: ExportedEvent) -> None:
        """What is set in a story, without its words where these are gone there, or the story is over here."""
        if isinstance(event, CastReset):
            forgotten = [here for there, here in self._merge.played if there <= event.since]
            event = event.model_copy(update={"since": max(forgotten, default=0)})
        says = getattr(event, "text", None) is not None
        over = bool(self._db.execute(_OVER, (event.world,)).fetchone()[0]) and says
        self._done.erased += over
        if not over and not brought.erased:
            self._put(event, brought.id)
            return
        self._put(event.model_copy(update={"text": TOMB}), brought.id, erased=True)
        if isinstance(event, CastSet):  # an earlier name does not come back with it
            self._put(TextErased(events=(self._stored[-1].seq,)), None)

    def _count(self, event: Event) -> None:
        self._done.deleted += isinstance(event, (*ERASING, SessionDeleted))
        if isinstance(event, SessionForked):
            self._done.begun.add(event.session)
        moved = head_of(event)
        if moved is not None:
            self._moved.add(moved[0])
            self._done.last_session = moved[0]
            if moved[0] not in self._done.begun:
                self._done.grown.add(moved[0])

    def _put(self, event: Event, id: str | None, *, erased: bool = False) -> None:
        self._stored.append(self._store(event, id, erased))
        self._done.new += id is not None

    def _is_elsewhere(self, brought: ExportedEvent) -> bool:
        """Whether it was brought here by another import: from then on it is known by the id it has here."""
        match renamed(brought.event, self._merge.names):
            case TurnSaid(turn=id, source=str() as source) | SessionStarted(session=id, source=str() as source):
                here = self._db.execute(_SOURCE, (source,)).fetchone()
            case TurnSaid(turn=id):
                here = (id,) if turn_exists(self._db, id) else None
            case SessionStarted(session=id) | SessionForked(session=id):
                here = (id,) if session_exists(self._db, id) else None
            case StoryBegun(world=id):
                here = (id,) if world_exists(self._db, id) else None
            case _:
                return False
        if here is None:
            return False
        self._done.known += 1
        if here[0] != id:
            self._merge.names[id] = here[0]
        if isinstance(brought.event, TurnSaid):
            session = brought.event.session
            self._merge.last[self._merge.names.get(session, session)] = here[0]
        return True

    def _is_gone(self, event: Event) -> bool:
        """Whether an event is of something that is erased here; then so is what it would have made."""
        named = named_by(event)
        listed = json.dumps(sorted(named))
        if not named & self._merge.gone and self._db.execute(_GONE, {"named": listed}).fetchone() is None:
            return False
        if isinstance(event, ObservationMade):
            self._merge.gone.add(event.observation)
        return True

    def _begin(self, session: str, brought: ExportedEvent, event: Event) -> None:
        """Have a session whose beginning is missing: a fork of the one it goes on from, or a new one.

        What it was forked as cannot be told, so it is a what-if: nothing of it is seen where it should not be.
        """
        if session_exists(self._db, session) or not isinstance(event, TurnSaid):
            return
        require(session not in self._merge.homeless, f"the world of session {session} is not here")
        self._merge.places[session] = None
        row = self._db.execute(_SESSION_OF, (event.parent,)).fetchone()
        if row is None:
            require(event.witnesses is None, f"the story of session {session} is not here")
            self._put(SessionStarted(session=session, client=CLIENT, said_at=brought.at), None)
        elif event.parent is not None:
            forked = SessionForked(session=session, origin=row[0], at=event.parent, world=session, client=CLIENT)
            self._put(forked, None)
        self._done.begun.add(session)

    def _place(self, session: str) -> MergedSession | None:
        """Where a session stood before the import; None for one that came with it."""
        if session not in self._merge.places:
            self._merge.places[session] = self._found(session)
            if self._merge.places[session] is not None:
                self._done.known_sessions.add(session)
        return self._merge.places[session]

    def _found(self, session: str) -> MergedSession | None:
        if not session_exists(self._db, session):
            return None
        deleted = any(id not in self._merge.whole.ids for (id,) in self._db.execute(_DELETED, (session,)))
        last = self._db.execute(_HEAD, (session,)).fetchone()
        if last is None:
            return MergedSession(None, True, deleted)
        theirs = self._merge.whole.heads.get(session, (0, "", None))[2]
        return MergedSession(last[1], last[0] in self._merge.whole.ids or last[1] == theirs, deleted)

    def _settle(self, session: str) -> None:
        """Put a head back that the import must not move, or on where its last move was here before."""
        place = self._merge.places.get(session)
        if place is None:
            return
        wanted = place.head
        if place.follows:
            last = self._merge.whole.heads.get(session)
            if last is None or self._db.execute(_KNOWN, (last[1],)).fetchone() is None:
                return  # it is still to come
            wanted = last[2]
        now = self._db.execute(_HEAD, (session,)).fetchone()
        if now is None or now[1] != wanted:
            self._put(HeadMoved(session=session, turn=wanted), None)
