"""Marks in the log: which are offered, when the next one is due, and what the user decided since one.

Named ones stay until they are taken off; of those that are set by themselves the newest are offered, and those before
a rewind or a restore for two weeks. Nothing of a mark that is not offered any more is lost: the log keeps every event.
"""

import json
import sqlite3
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from graph.events import Event, SessionForked, SessionStarted
from graph.history.decisions import Decision, decisions, reachable, restoring, standing
from graph.history.undoing import LAST
from graph.ids import as_datetime, as_ms
from graph.readings.rows import EVENT, event_of

NEWEST = 5  # automatic ones
KEPT = timedelta(days=14)  # those before a rewind or a restore

_MARKS = """
SELECT seq, at, structure ->> '$.mark', structure ->> '$.reason', text, (
    SELECT structure FROM events AS moved WHERE moved.seq = mark.seq + 1 AND moved.kind = 'head.moved'
    AND mark.structure ->> '$.reason' = 'rewind'
) FROM events AS mark
WHERE kind <> 'turn.said' AND kind = 'mark.set' AND structure ->> '$.reason' <> 'import' AND NOT EXISTS (
    SELECT 1 FROM events AS cleared WHERE cleared.kind <> 'turn.said' AND cleared.kind = 'mark.cleared'
    AND cleared.structure ->> '$.mark' = mark.structure ->> '$.mark'
) ORDER BY seq DESC
"""
_LAST = """
SELECT seq, at FROM events WHERE kind <> 'turn.said' AND kind = 'mark.set' AND structure ->> '$.reason' <> 'import'
ORDER BY seq DESC LIMIT 1
"""
# Sessions in which something was said or taken up since.
_GONE_ON = "SELECT DISTINCT session FROM events WHERE seq >= ? AND kind IN ('turn.said', 'turn.taken') ORDER BY session"
_ERASED = """
SELECT count(DISTINCT text.value) FROM events, json_each(structure, '$.events') AS text
WHERE kind <> 'turn.said' AND kind = 'text.erased' AND seq >= ? AND text.value < ?
"""
_ENDS = "SELECT min(seq), max(seq), (SELECT at FROM events ORDER BY seq LIMIT 1) FROM events"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the log: everything before event `seq`. `name` is given for those a person set.

    One that stands before a rewind has the `session` that went back, and the `turn` it went to (None: its beginning).
    """

    id: str
    seq: int
    at: datetime
    reason: Literal["named", "automatic", "rewind", "restore"]
    name: str | None
    session: str | None = None
    turn: str | None = None


class MarkReader(ABC):
    """The questions about marks, for whoever can take a snapshot of the log."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def marks(self, *, now: datetime) -> list[Mark]:
        """The marks that are offered, the newest first; `now` is aware."""
        with self.snapshot() as db:
            found = [_mark(*row) for row in db.execute(_MARKS)]
        newest = [mark.id for mark in found if mark.reason == "automatic"][:NEWEST]
        return [
            mark
            for mark in found
            if mark.reason == "named" or mark.id in newest or (mark.reason != "automatic" and mark.at >= now - KEPT)
        ]

    def mark_is_due(self, *, events: int, after: timedelta, now: datetime) -> bool:
        """Whether so many events came since the last mark, or any where that was so long ago; `now` is aware."""
        with self.snapshot() as db:
            first, last, began = db.execute(_ENDS).fetchone()
            if last is None:
                return False
            seq, at = db.execute(_LAST).fetchone() or (first - 1, began)
        return bool(last - seq >= events or (last > seq and at <= as_ms(now - after)))

    def restoring(self, seq: int) -> tuple[list[Event], int]:
        """What makes everything that a person decides stand as before event `seq`, but for what was deleted since.

        And how many texts of before were erased since.
        """
        with self.snapshot() as db:
            erased = db.execute(_ERASED, (seq, seq)).fetchone()[0]
            return _restoring(db, seq), erased


def _mark(
    seq: int, at: int, id: str, reason: Literal["named", "automatic", "rewind", "restore"], name: str, moved: str | None
) -> Mark:
    back = json.loads(moved) if moved is not None else {}
    return Mark(id, seq, as_datetime(at), reason, name, back.get("session"), back.get("turn"))


def _restoring(db: sqlite3.Connection, seq: int) -> list[Event]:
    found: dict[Decision, None] = {Decision("head", session): None for (session,) in db.execute(_GONE_ON, (seq,))}
    for row in db.execute(f"{EVENT} WHERE kind <> 'turn.said' AND seq >= ? ORDER BY seq", (seq,)):
        event = event_of(row).event
        if isinstance(event, SessionStarted | SessionForked):  # begun since: out of the way
            found |= {Decision("shelf", event.session): None, Decision("head", event.session): None}
        found |= dict.fromkeys(decisions(event))
    events: list[Event] = []
    for facet in found:
        then, now = standing(db, facet, before=seq), standing(db, facet, before=LAST)
        if then != now and reachable(db, facet) and not _covered(db, facet, seq):
            events.append(restoring(facet, then))
    return events


def _covered(db: sqlite3.Connection, facet: Decision, seq: int) -> bool:
    """Whether a facet is of what did not exist then: it goes with its chat, and so needs nothing of its own."""
    match facet.sort:
        case "head" | "shelf" | "block" | "document":
            return False
        case "review" | "memory pin":
            made = "SELECT 1 FROM events WHERE item = ? AND kind = 'observation.made' AND seq >= ?"
        case "name" | "settings" | "project":
            made = (
                "SELECT 1 FROM events WHERE session = ? AND seq >= ? AND kind IN ('session.started', 'session.forked')"
            )
        case _:
            made = "SELECT 1 FROM events WHERE turn = ? AND kind = 'turn.said' AND seq >= ?"
    return db.execute(made, (facet.item, seq)).fetchone() is not None
