"""Marks in the log: which are offered, when the next one is due, and what the user decided since one.

Named ones stay until they are taken off; of those that are set by themselves the newest are offered, and those before
a rewind or a restore for two weeks. Nothing of a mark that is not offered any more is lost: the log keeps every event.
"""

import sqlite3
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from graph.ids import as_datetime, as_ms

NEWEST = 5  # automatic ones
KEPT = timedelta(days=14)  # those before a rewind or a restore

_MARKS = """
SELECT seq, at, structure ->> '$.mark', structure ->> '$.reason', text FROM events AS mark
WHERE kind <> 'turn.said' AND kind = 'mark.set' AND NOT EXISTS (
    SELECT 1 FROM events AS cleared WHERE cleared.kind <> 'turn.said' AND cleared.kind = 'mark.cleared'
    AND cleared.structure ->> '$.mark' = mark.structure ->> '$.mark'
) ORDER BY seq DESC
"""
_LAST = "SELECT seq, at FROM events WHERE kind <> 'turn.said' AND kind = 'mark.set' ORDER BY seq DESC LIMIT 1"
_ENDS = "SELECT min(seq), max(seq), (SELECT at FROM events ORDER BY seq LIMIT 1) FROM events"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the log: everything before event `seq`. `name` is given for those a person set."""

    id: str
    seq: int
    at: datetime
    reason: Literal["named", "automatic", "rewind", "restore"]
    name: str | None


class Marks(ABC):
    """The questions about marks, for whoever can take a snapshot of the log."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def marks(self, *, now: datetime) -> list[Mark]:
        """The marks that are offered, the newest first; `now` is aware."""
        with self.snapshot() as db:
            found = [Mark(id, seq, as_datetime(at), reason, name) for seq, at, id, reason, name in db.execute(_MARKS)]
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
        return last - seq >= events or (last > seq and at <= as_ms(now - after))
