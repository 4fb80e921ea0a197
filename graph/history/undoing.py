"""The changes that people made, newest first, and what undoes one: events that make everything stand as before.

An edit says nothing of itself in the log: it is a message whose parent is not where its chat stood. Where deleted turns
are all that lies between, it was said at the end of the chat, as any other.

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

from graph.errors import CannotUndo, NotFound
from graph.events import (
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
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnSaid,
    Undone,
)
from graph.events.codec import Stored
from graph.history.decisions import Decision, decisions, reachable, restoring, standing
from graph.ids import as_datetime
from graph.readings.rows import EVENT, event_of, session_by_id

LONGEST_QUOTE = 60

_MAY_BE_SHOWN = """
said.kind = 'turn.said' AND said.text IS NOT NULL AND coalesce((
    SELECT seen.kind FROM events AS seen WHERE seen.turn = said.turn AND seen.kind IN ('turn.hidden', 'turn.unhidden')
    ORDER BY seen.seq DESC LIMIT 1
), '') <> 'turn.hidden'
"""
_SHOWN = f"SELECT said.text FROM events AS said WHERE said.turn = ? AND {_MAY_BE_SHOWN}"
_FIRST = f"SELECT said.text FROM events AS said WHERE said.session = ? AND {_MAY_BE_SHOWN} ORDER BY said.seq LIMIT 1"
_LEFT = """
SELECT structure ->> '$.at' FROM events WHERE session = ? AND kind <> 'turn.said' AND kind = 'session.forked'
"""
_NAMES = {
    **dict.fromkeys(("head", "shelf", "name", "settings", "project"), "chat"),
    **dict.fromkeys(("hidden", "withheld", "rating", "pin"), "message"),
    **dict.fromkeys(("memory pin", "review"), "memory"),
    "block": "core block",
    "document": "document",
}
_TITLE = "SELECT text FROM events WHERE item = ? AND kind = 'document.read' ORDER BY seq DESC LIMIT 1"


def named(db: sqlite3.Connection, facet: Decision) -> str:
    """What a facet is of, by words that may be shown, and by its id only where it has none."""
    if facet.sort == "block":
        return f"The core block {facet.item}"
    words: str | None
    match _NAMES[facet.sort]:
        case "chat":
            words = session_by_id(db, facet.item).name or begins(db, facet.item)
        case "message":
            row = db.execute(_SHOWN, (facet.item,)).fetchone()
            words = row[0] if row is not None else None
        case "document":
            words = (db.execute(_TITLE, (facet.item,)).fetchone()[0] or "").partition("\n")[0]
        case _:
            row = db.execute("SELECT text FROM events WHERE item = ? AND kind = 'observation.made'", (facet.item,))
            words = (row.fetchone() or (None,))[0]
    return f"The {_NAMES[facet.sort]} {quoted(words) if words else facet.item}"


def quoted(text: str | None) -> str:
    """Words in quotes on one line, the first of them where there are many."""
    line = " ".join((text or "").split())
    return f"“{line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + '…'}”"


def begins(db: sqlite3.Connection, session: str) -> str | None:
    row = db.execute(_FIRST, (session,)).fetchone()
    if row is None:
        left = db.execute(_LEFT, (session,)).fetchone()
        row = db.execute(_SHOWN, left).fetchone() if left is not None else None
    return row[0] if row is not None else None


# Only turns that are not alone below their parent, or have none; by what the indexes have.
FOUND = """
SELECT seq, at FROM events WHERE seq IN (
    SELECT below.seq FROM events AS below WHERE below.parent IN (
        SELECT parent FROM events WHERE parent IS NOT NULL GROUP BY parent HAVING count(*) > 1
    )
    UNION ALL
    SELECT seq FROM (
        SELECT seq FROM events WHERE kind = 'turn.said' EXCEPT SELECT seq FROM events WHERE parent IS NOT NULL
    )
) AND kind = 'turn.said' AND role = 'user' AND queued = 0 AND source IS NULL ORDER BY seq DESC
"""
_UP = """
WITH RECURSIVE up (turn, parent) AS (
    SELECT turn, parent FROM (
        SELECT turn, parent FROM events WHERE turn = :head AND kind IN ('turn.said', 'turn.taken')
        ORDER BY seq DESC LIMIT 1
    )
    UNION
    SELECT placed.turn, placed.parent FROM up JOIN events AS placed ON placed.seq = (
        SELECT max(seq) FROM events WHERE turn = up.parent AND kind IN ('turn.said', 'turn.taken')
    )
)
SELECT turn, parent, EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = up.turn AND gone.kind = 'turn.deleted')
FROM up
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
    for passed, parent, gone in db.execute(_UP, {"head": head}):
        if not kept and passed == turn.parent:
            return None
        kept = kept or not gone
        if parent == turn.parent:
            return Edit(turn.session, passed) if kept else None
    return Edit(turn.session, None)


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
    return next(decisions(event), None) is not None


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
