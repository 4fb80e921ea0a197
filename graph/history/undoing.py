"""The changes that people made, newest first, and what undoes one: events that make everything stand as before.

An edit says nothing of itself in the log: it is a message whose parent is not where its chat stood. Where deleted turns
are all that lies between, it was said at the end of the chat, as any other.

A change is all that one append stored; of an ingest, all its readings. One that something was changed on top of is not
undone out of order: where things stand otherwise than it left them, it is refused, and so is whatever was deleted
since. A head may have gone on from where it was put. What is undone can be done again, by undoing its undoing.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import merge
from itertools import groupby, islice
from typing import Any

from graph.errors import CannotUndo, NotFound
from graph.events import (
    MAIN_WORLD,
    DocumentRead,
    DocumentRemoved,
    Event,
    HeadMoved,
    MarkRestored,
    MarkSet,
    ObservationDeleted,
    Role,
    SessionDeleted,
    SessionForked,
    SessionStarted,
    StoryBegun,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnSaid,
    Undone,
)
from graph.events.codec import SELECT_EVENT, Stored, event_of, fields_of
from graph.history.decisions import Decision, decisions, reachable, restoring, standing
from graph.ids import as_datetime
from graph.projection.identities import Identities
from graph.projection.paths import EVER, path_to
from graph.readings.rows import AMONG, session_by_id

LONGEST_QUOTE = 60

_SHOWN = """
SELECT event.text FROM turns AS said JOIN events AS event ON event.seq = said.seq
WHERE NOT said.hidden AND event.text IS NOT NULL AND said.{} = ? ORDER BY said.seq LIMIT 1
"""
_NAMES = {
    **dict.fromkeys(("head", "shelf", "name", "settings", "project"), "chat"),
    **dict.fromkeys(("hidden", "withheld", "rating", "pin", "witnesses"), "message"),
    **dict.fromkeys(("memory pin", "review"), "memory"),
    "block": "core block",
    "document": "document",
    "reference": "reference",
}
_TITLE = "SELECT text FROM events WHERE seq = (SELECT seq FROM documents WHERE id = ?)"
_ADDRESS = "SELECT text FROM events WHERE seq = (SELECT seq FROM attachments WHERE id = ?)"
_STATED = "SELECT text FROM events WHERE seq = (SELECT seq FROM observations WHERE id = ?)"


def named(db: sqlite3.Connection, facet: Decision) -> str:
    """What a facet is of, by words that may be shown, and by its id only where it has none."""
    if facet.sort == "block":
        return f"The core block {facet.item}"
    if facet.aspect is not None:
        called = Identities(db, facet.world or MAIN_WORLD).name(facet.item)
        return f"The {facet.aspect} of {quoted(called) if called else facet.item}"
    if facet.sort not in _NAMES:
        called = Identities(db, facet.world or MAIN_WORLD).name(facet.of or facet.item)
        return f"What was said by hand of {quoted(called) if called else facet.item}"
    words: str | None
    match _NAMES[facet.sort]:
        case "chat":
            words = session_by_id(db, facet.item).name or begins(db, facet.item)
        case "message":
            row = db.execute(_SHOWN.format("id"), (facet.item,)).fetchone()
            words = row[0] if row is not None else None
        case "reference":
            words = db.execute(_ADDRESS, (facet.item,)).fetchone()[0]
        case "document":
            words = (db.execute(_TITLE, (facet.item,)).fetchone()[0] or "").partition("\n")[0]
        case _:
            row = db.execute(_STATED, (facet.item,))
            words = (row.fetchone() or (None,))[0]
    return f"The {_NAMES[facet.sort]} {quoted(words) if words else facet.item}"


def quoted(text: str | None) -> str:
    """Words in quotes on one line, the first of them where there are many."""
    line = " ".join((text or "").split())
    return f"“{line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + '…'}”"


def begins(db: sqlite3.Connection, session: str) -> str | None:
    row = db.execute(_SHOWN.format("session"), (session,)).fetchone()
    if row is None:
        left = db.execute("SELECT fork FROM sessions WHERE id = ?", (session,)).fetchone()
        row = db.execute(_SHOWN.format("id"), left).fetchone() if left is not None else None
    return row[0] if row is not None else None


# Only turns that are not alone below their parent, or have none; by what the indexes have.
FOUND = """
SELECT said.seq, event.at FROM turns AS said JOIN events AS event ON event.seq = said.seq
WHERE said.seq IN (
    SELECT seq FROM turns WHERE parent IN (
        SELECT parent FROM turns WHERE parent IS NOT NULL GROUP BY parent HAVING count(*) > 1
    )
    UNION ALL
    SELECT seq FROM turns WHERE parent IS NULL
) AND said.role = 'user' AND said.placed = said.seq ORDER BY said.seq DESC
"""


@dataclass(frozen=True, slots=True)
class Edit:
    """A message of a session that was said in the place of another, if that is still known."""

    session: str
    instead_of: str | None


def edits(db: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Number and time of all messages that may be edits, the newest first: `edit_of` says whether one is."""
    yield from db.execute(FOUND)


def edit_of(db: sqlite3.Connection, run: Sequence[Stored]) -> Edit | None:
    """The edit that an append was, if it was one: one message of the user's, said elsewhere than its chat stood."""
    events = [each.event for each in run]
    said = [event for event in events if isinstance(event, TurnSaid)]
    if len(said) != 1 or any(isinstance(event, HeadMoved | SessionStarted | SessionForked) for event in events):
        return None
    turn = said[0]
    if turn.role is not Role.USER or turn.queued or turn.source is not None:
        return None
    head: str | None = standing(db, Decision("head", turn.session), before=run[0].seq)
    if head is None or head == turn.parent:
        return None
    kept = False
    for passed in path_to(db, head):
        if not kept and passed == turn.parent:
            return None
        parent, gone = db.execute("SELECT parent, deleted FROM turns WHERE id = ?", (passed,)).fetchone()
        kept = kept or not gone
        if parent == turn.parent:
            return Edit(turn.session, passed) if kept else None
    return Edit(turn.session, None)


DELETES = (TurnDeleted, ObservationDeleted, DocumentRemoved, SessionDeleted)

_BY_HAND: dict[str, Callable[[dict[str, Any]], bool]] = {  # which events of a kind are a person's
    "turn.rated": lambda event: bool(event["by"] == "user"),
    "core.written": lambda event: bool(event["by"] == "user"),
    "document.read": lambda event: event.get("ingest") is not None,
    "observation.made": lambda event: bool(event["origin"] == "user" or event.get("parents")),
    "observation.supported": lambda event: event.get("reflection") is None,
    "observation.retired": lambda event: event.get("by_turn") is None,
    "stage.set": lambda event: bool(event["by"] == "user"),
}
_OF_CHANGES = (  # the kinds by which changes are found
    "head.moved",
    "session.forked",
    "session.renamed",
    "session.archived",
    "session.unarchived",
    "session.configured",
    "session.deleted",
    "project.assigned",
    "turn.hidden",
    "turn.unhidden",
    "turn.deleted",
    "turn.withheld",
    "turn.released",
    "pin.set",
    "pin.cleared",
    "observation.promoted",
    "observation.rejected",
    "observation.returned",
    "observation.deleted",
    "document.removed",
    "reference.added",
    "reference.dropped",
    "entity.named",
    "entity.kinded",
    "entity.aliased",
    "entity.merged",
    "entity.split",
    "cast.set",
    "cast.reset",
    "turn.witnessed",
    "mark.restored",
    "undone",
    *_BY_HAND,
)
_OF_KIND = f"{SELECT_EVENT} WHERE kind <> 'turn.said' AND kind = ? ORDER BY seq"


@dataclass(frozen=True, slots=True)
class UserChange:
    """One change by a person: all that its append stored, or all readings of its ingest, and whether it is undone.

    `edit` is of a message that was said in the place of another. `lost`: what it was about is deleted by now.
    """

    stored: tuple[Stored, ...]
    undone: bool
    edit: Edit | None = None
    lost: bool = False

    @property
    def seq(self) -> int:
        """The number of its first event."""
        return self.stored[0].seq

    @property
    def at(self) -> datetime:
        return as_datetime(self.stored[0].at)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(each.event for each in self.stored)

    @property
    def seqs(self) -> tuple[int, ...]:
        return tuple(each.seq for each in self.stored)

    @property
    def deletes(self) -> bool:
        """Whether something was deleted for good by it."""
        return any(isinstance(event, DELETES) for event in self.events)

    @property
    def erases(self) -> bool:
        """Whether words went for good with it."""
        return any(
            isinstance(event, (TurnDeleted, ObservationDeleted, DocumentRemoved, TextErased)) for event in self.events
        )

    @property
    def undoes(self) -> Undone | None:
        """What it undid, if that is what it was."""
        return next((event for event in self.events if isinstance(event, Undone)), None)


class Changes:
    """The questions about changes by hand."""

    def __init__(self, snapshot: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._snapshot = snapshot

    def newest(self, limit: int) -> list[UserChange]:
        """The newest changes by hand, the newest first."""
        with self._snapshot() as db:
            return list(islice(_changes(db), max(limit, 0)))

    def standing(self, limit: int) -> list[UserChange]:
        """The newest changes by hand that are not undone and undo nothing themselves, the newest first."""
        with self._snapshot() as db:
            standing = (entry for entry in _changes(db) if not entry.undone and entry.undoes is None)
            return list(islice(standing, limit))

    def of_event(self, seq: int) -> UserChange:
        """The change by hand that an event is of. Raises NotFound."""
        with self._snapshot() as db:
            entry = _change(db, _run(db, seq), _undone(db))
            if entry is None:
                raise NotFound(f"Event {seq} is not a change you made. `clew undo --list` lists them.")
            return entry

    def undoing(self, entry: UserChange) -> list[Event]:
        """The events that make everything stand as before a change. Raises CannotUndo."""
        with self._snapshot() as db:
            return _undoing(db, entry)

    def stated(self, observations: Iterable[str]) -> dict[str, str | None]:
        """What observations say, by their ids; None where that is erased."""
        query = f"""
        SELECT made.id, event.text FROM observations AS made JOIN events AS event USING (seq) WHERE made.id {AMONG}
        """
        with self._snapshot() as db:
            return dict(db.execute(query, (json.dumps(list(observations)),)).fetchall())

    def begins(self, session: str) -> str | None:
        """The first words of a chat that may be shown, or of what it left."""
        with self._snapshot() as db:
            return begins(db, session)


def _changes(db: sqlite3.Connection) -> Iterator[UserChange]:
    """All changes by hand, read only as far as they are asked for."""
    undone = _undone(db)
    found = [_by_hand(db, kind) for kind in _OF_CHANGES]
    told: set[int] = set()
    for _, group in groupby(merge(*found, edits(db), reverse=True), key=lambda each: each[1]):
        seq, _ = next(group)
        entry = _change(db, _run(db, seq), undone) if seq not in told else None
        if entry is not None:
            told |= set(entry.seqs)
            yield entry


def _by_hand(db: sqlite3.Connection, kind: str) -> Iterator[tuple[int, int]]:
    """Number and time of the events of a kind that are a person's, the last first."""
    is_one = _BY_HAND.get(kind)
    for seq, _, at, _, version, structure, _ in db.execute(f"{_OF_KIND} DESC", (kind,)):
        if is_one is None or is_one(fields_of(kind, version, structure)):
            yield seq, at


def _change(db: sqlite3.Connection, run: tuple[Stored, ...], undone: set[int]) -> UserChange | None:
    """The change by a person that an append was, if it was one."""
    edit = edit_of(db, run) if not _is_import(run) else None
    if edit is None and (not is_change(run) or _withdraws(db, run)):
        return None
    whole = _whole(db, run)
    entry = UserChange(whole, whole[-1].seq in undone, edit)  # what an ingest reads after it was undone is there
    decided = list(_facets(entry))
    return replace(entry, lost=bool(decided) and not any(reachable(db, facet) for facet in decided))


def _facets(entry: UserChange) -> Iterator[Decision]:
    """What a change decided, each once, in order."""
    head = [Decision("head", entry.edit.session)] if entry.edit is not None else []
    yield from dict.fromkeys([*head, *(facet for event in entry.events for facet in decisions(event))])


def _run(db: sqlite3.Connection, seq: int) -> tuple[Stored, ...]:
    """All events of the append that stored event `seq`; nothing where there is no such event."""
    row = db.execute("SELECT at FROM events WHERE seq = ?", (seq,)).fetchone()
    if row is None:
        return ()
    before = "SELECT seq FROM events WHERE seq <= ? AND at <> ? ORDER BY seq DESC LIMIT 1"
    events = []
    for each in db.execute(
        f"{SELECT_EVENT} WHERE seq > ? ORDER BY seq", db.execute(before, (seq, row[0])).fetchone() or (0,)
    ):
        if each[2] != row[0]:
            break
        events.append(event_of(each))
    return tuple(events)


def _whole(db: sqlite3.Connection, run: tuple[Stored, ...]) -> tuple[Stored, ...]:
    """All of the change that an append is of: an ingest stores its readings one after another."""
    ingest = next((each.event.ingest for each in run if isinstance(each.event, DocumentRead)), None)
    if ingest is None:
        return run
    read = map(event_of, db.execute(_OF_KIND, ("document.read",)).fetchall())
    return tuple(each for each in read if isinstance(each.event, DocumentRead) and each.event.ingest == ingest)


def is_change(run: Sequence[Stored]) -> bool:
    """Whether an append was a change by a person: something decided, and nothing said, begun as a story or imported."""
    if _is_import(run) or any(isinstance(each.event, StoryBegun) for each in run):
        return False
    if any(
        isinstance(each.event, TurnSaid) and (each.event.role is not Role.NOTE or each.event.source is not None)
        for each in run
    ):
        return False
    if any(isinstance(each.event, SessionStarted) and each.event.source is not None for each in run):
        return False
    return any(isinstance(each.event, (*DELETES, MarkRestored, Undone)) or _decides(each.event) for each in run)


def _is_import(run: Sequence[Stored]) -> bool:
    return any(isinstance(each.event, MarkSet) and each.event.reason == "import" for each in run)


# A message that is taken back while it waits for its turn: nothing would answer it if it were there again.
_WAITED = "SELECT 1 FROM turns WHERE id = ? AND placed IS NOT seq AND coalesce(placed, 1 << 62) > ?"


def _withdraws(db: sqlite3.Connection, run: Sequence[Stored]) -> bool:
    """Whether all that an append did was to take back a message that waited for its turn."""
    return all(
        isinstance(each.event, TurnHidden) and db.execute(_WAITED, (each.event.turn, each.seq)).fetchone() is not None
        for each in run
    )


def _decides(event: Event) -> bool:
    return next(decisions(event), None) is not None


def _undone(db: sqlite3.Connection) -> set[int]:
    """The events that are undone: by a change that is not undone itself."""
    found: set[int] = set()
    for seq, _, _, kind, version, structure, _ in db.execute(f"{_OF_KIND} DESC", ("undone",)):
        if seq not in found:
            found |= set(fields_of(kind, version, structure)["events"])
    return found


def _undoing(db: sqlite3.Connection, entry: UserChange) -> list[Event]:
    events: list[Event] = []
    for facet in reversed(list(_facets(entry))):
        before = standing(db, facet, before=entry.seq)
        after = standing(db, facet, before=entry.stored[-1].seq + 1)
        now = standing(db, facet, before=EVER)
        if before in (after, now):
            continue
        if not reachable(db, facet):
            if facet.sort == "document":  # the others of its ingest are as they were all the same
                continue
            raise CannotUndo(f"{named(db, facet)} has since been deleted, so that cannot be undone.")
        if now != after and not (facet.sort == "head" and _goes_on(db, now, after)):
            raise CannotUndo(f"{named(db, facet)} has been changed again since. Undo that first.")
        events += restoring(facet, before)
    if not events:
        raise CannotUndo("Everything is already as it was before that change.")
    return events


def _goes_on(db: sqlite3.Connection, head: Any, from_turn: Any) -> bool:
    """Whether a head stands below where it was put: something was said there since."""
    return from_turn is None or (head is not None and from_turn in path_to(db, head))
