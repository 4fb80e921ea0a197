"""The changes that people made, newest first, and what undoes one: events that make everything stand as before it.

A change is all that one append stored; of an ingest, all its readings. One that something was changed on top of is not
undone out of order: where things stand otherwise than it left them, it is refused, and so is whatever was deleted
since. A head may have gone on from where it was put. What is undone can be done again, by undoing its undoing.
"""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import merge
from itertools import groupby, islice
from typing import Any

from graph.calling import begins, named
from graph.codec import Stored
from graph.decided import Facet, facets, reachable, restoring, standing
from graph.edits import Edit, edit_of, edits
from graph.errors import CannotUndo, NotFound
from graph.events import (
    DocumentRead,
    DocumentRemoved,
    Event,
    MarkRestored,
    MarkSet,
    ObservationDeleted,
    Role,
    SessionDeleted,
    SessionStarted,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnSaid,
    Undone,
)
from graph.ids import as_datetime
from graph.rows import EVENT, event_of

DELETES = (TurnDeleted, ObservationDeleted, DocumentRemoved, SessionDeleted)
LAST = 1 << 62  # after every event

_BY_HAND = "structure ->> '$.by' = 'user'"
_OF_CHANGES = {  # the kinds by which changes are found, and which events of a kind are a person's
    **dict.fromkeys(
        (
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
            "mark.restored",
            "undone",
        ),
        "true",
    ),
    "turn.rated": _BY_HAND,
    "core.written": _BY_HAND,
    "document.read": "structure ->> '$.ingest' IS NOT NULL",
    "observation.made": "structure ->> '$.origin' = 'user'",
    "observation.supported": "structure ->> '$.reflection' IS NULL",
    "observation.retired": "structure ->> '$.by_turn' IS NULL",
}
_OF_INGEST = f"""
{EVENT} WHERE kind <> 'turn.said' AND kind = 'document.read' AND structure ->> '$.ingest' = ? ORDER BY seq
"""
# A message that is taken back while it waits for its turn: nothing would answer it if it were there again.
_WAITED = """
SELECT 1 FROM events AS said WHERE said.turn = :turn AND said.kind = 'turn.said' AND said.queued = 1 AND NOT EXISTS (
    SELECT 1 FROM events AS taken WHERE taken.turn = said.turn AND taken.kind = 'turn.taken' AND taken.seq < :seq
)
"""
_PATH = """
WITH RECURSIVE path (turn) AS (
    SELECT :head
    UNION
    SELECT (SELECT placed.parent FROM events AS placed WHERE placed.turn = path.turn
        AND placed.kind IN ('turn.said', 'turn.taken') ORDER BY placed.seq DESC LIMIT 1)
    FROM path WHERE path.turn IS NOT NULL
)
SELECT 1 FROM path WHERE turn = :turn
"""


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


class Changes(ABC):
    """The questions about changes by hand, for whoever can take a snapshot of the log."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def user_changes(self, limit: int) -> list[UserChange]:
        """The newest changes by hand, the newest first."""
        with self.snapshot() as db:
            return list(islice(_deeds(db), max(limit, 0)))

    def last_deed(self) -> UserChange | None:
        """The newest change by hand that is not undone and undoes nothing itself; and None where there is none."""
        return next(iter(self.standing_deeds(1)), None)

    def standing_deeds(self, limit: int) -> list[UserChange]:
        """The newest changes by hand that are not undone and undo nothing themselves, the newest first."""
        with self.snapshot() as db:
            return list(
                islice(
                    (entry for entry in _deeds(db) if not entry.undone and entry.undoes is None),
                    limit,
                )
            )

    def user_change(self, seq: int) -> UserChange:
        """The change by hand that an event is of. Raises NotFound."""
        with self.snapshot() as db:
            entry = _deed(db, _run(db, seq), _undone(db))
            if entry is None:
                raise NotFound(f"Event {seq} is not a change you made. `clew undo --list` lists them.")
            return entry

    def undoing(self, entry: UserChange) -> list[Event]:
        """The events that make everything stand as before a change. Raises CannotUndo."""
        with self.snapshot() as db:
            return _undoing(db, entry)

    def stated(self, observations: Iterable[str]) -> dict[str, str | None]:
        """What observations say, by their ids; None where that is erased."""
        query = "SELECT item, text FROM events WHERE item IN (SELECT value FROM json_each(?)) AND kind = ?"
        with self.snapshot() as db:
            return dict(db.execute(query, (json.dumps(list(observations)), "observation.made")).fetchall())

    def begins(self, session: str) -> str | None:
        """The first words of a chat that may be shown, or of what it left."""
        with self.snapshot() as db:
            return begins(db, session)


def _deeds(db: sqlite3.Connection) -> Iterator[UserChange]:
    """All changes by hand, read only as far as they are asked for."""
    undone = _undone(db)
    found: list[Iterator[tuple[int, int]]] = [
        db.execute(
            f"SELECT seq, at FROM events WHERE kind <> 'turn.said' AND kind = ? AND {which} ORDER BY seq DESC", (kind,)
        )
        for kind, which in _OF_CHANGES.items()
    ]
    told: set[int] = set()
    for _, group in groupby(merge(*found, edits(db), reverse=True), key=lambda each: each[1]):
        seq, _ = next(group)
        entry = _deed(db, _run(db, seq), undone) if seq not in told else None
        if entry is not None:
            told |= set(entry.seqs)
            yield entry


def _deed(db: sqlite3.Connection, run: tuple[Stored, ...], undone: set[int]) -> UserChange | None:
    """The change by a person that an append was, if it was one."""
    edit = edit_of(db, run) if not _is_import(run) else None
    if edit is None and (not is_deed(run) or _withdraws(db, run)):
        return None
    whole = _whole(db, run)
    entry = UserChange(whole, whole[-1].seq in undone, edit)  # what an ingest reads after it was undone is there
    decided = list(_facets(entry))
    return replace(entry, lost=bool(decided) and not any(reachable(db, facet) for facet in decided))


def _facets(entry: UserChange) -> Iterator[Facet]:
    """What a change decided, each once, in order."""
    head = [Facet("head", entry.edit.session)] if entry.edit is not None else []
    yield from dict.fromkeys([*head, *(facet for event in entry.events for facet in facets(event))])


def _run(db: sqlite3.Connection, seq: int) -> tuple[Stored, ...]:
    """All events of the append that stored event `seq`; nothing where there is no such event."""
    row = db.execute("SELECT at FROM events WHERE seq = ?", (seq,)).fetchone()
    if row is None:
        return ()
    before = "SELECT seq FROM events WHERE seq <= ? AND at <> ? ORDER BY seq DESC LIMIT 1"
    events = []
    for each in db.execute(f"{EVENT} WHERE seq > ? ORDER BY seq", db.execute(before, (seq, row[0])).fetchone() or (0,)):
        if each[2] != row[0]:
            break
        events.append(event_of(each))
    return tuple(events)


def _whole(db: sqlite3.Connection, run: tuple[Stored, ...]) -> tuple[Stored, ...]:
    """All of the change that an append is of: an ingest stores its readings one after another."""
    ingest = next((each.event.ingest for each in run if isinstance(each.event, DocumentRead)), None)
    return tuple(map(event_of, db.execute(_OF_INGEST, (ingest,)))) if ingest is not None else run


def is_deed(run: Sequence[Stored]) -> bool:
    """Whether an append was a change by a person: something decided, and nothing said in a chat or imported."""
    if _is_import(run):
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


def _withdraws(db: sqlite3.Connection, run: Sequence[Stored]) -> bool:
    """Whether all that an append did was to take back a message that waited for its turn."""
    return all(
        isinstance(each.event, TurnHidden)
        and db.execute(_WAITED, {"turn": each.event.turn, "seq": each.seq}).fetchone() is not None
        for each in run
    )


def _decides(event: Event) -> bool:
    return next(facets(event), None) is not None


def _undone(db: sqlite3.Connection) -> set[int]:
    """The events that are undone: by a change that is not undone itself."""
    rows = db.execute(
        "SELECT seq, structure FROM events WHERE kind <> 'turn.said' AND kind = 'undone' ORDER BY seq DESC"
    )
    found: set[int] = set()
    for seq, structure in rows:
        if seq not in found:
            found |= set(json.loads(structure)["events"])
    return found


def _undoing(db: sqlite3.Connection, entry: UserChange) -> list[Event]:
    events: list[Event] = []
    for facet in reversed(list(_facets(entry))):
        before = standing(db, facet, before=entry.seq)
        after = standing(db, facet, before=entry.stored[-1].seq + 1)
        now = standing(db, facet, before=LAST)
        if before in (after, now):
            continue
        if not reachable(db, facet):
            if facet.sort == "document":  # the others of its ingest are as they were all the same
                continue
            raise CannotUndo(f"{named(db, facet)} has since been deleted, so that cannot be undone.")
        if now != after and not (facet.sort == "head" and _goes_on(db, now, after)):
            raise CannotUndo(f"{named(db, facet)} has been changed again since. Undo that first.")
        events.append(restoring(facet, before))
    if not events:
        raise CannotUndo("Everything is already as it was before that change.")
    return events


def _goes_on(db: sqlite3.Connection, head: Any, from_turn: Any) -> bool:
    """Whether a head stands below where it was put: something was said there since."""
    return from_turn is None or db.execute(_PATH, {"head": head, "turn": from_turn}).fetchone() is not None
