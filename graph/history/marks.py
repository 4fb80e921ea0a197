"""Marks in the log: which are offered, when the next one is due, and what the user decided since one.

Named ones stay until they are taken off; of those that are set by themselves the newest are offered, and those before
a rewind or a restore for two weeks. Nothing of a mark that is not offered any more is lost: the log keeps every event.
"""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from graph.events import Event, SessionForked, SessionStarted
from graph.events.codec import SELECT_EVENT, event_of, fields_of
from graph.history.decisions import Decision, decisions, reachable, restoring, standing
from graph.ids import as_datetime, as_ms
from graph.projection.paths import EVER

NEWEST = 5  # automatic ones
KEPT = timedelta(days=14)  # those before a rewind or a restore

_MARKS = """
SELECT seq, at, kind, version, structure, text FROM events
WHERE kind <> 'turn.said' AND kind IN ('mark.set', 'mark.cleared') ORDER BY seq DESC
"""
_MOVED = "SELECT version, structure FROM events WHERE seq = ? AND kind = 'head.moved'"
# Sessions in which something was said or taken up since.
_GONE_ON = "SELECT DISTINCT session FROM turns WHERE seq >= :seq OR placed >= :seq ORDER BY session"
# The world of a stage was begun since, or the turn said that something of it holds from.
_SET_SINCE = """
SELECT 1 FROM worlds WHERE id = :world AND seq >= :seq UNION ALL SELECT 1 FROM turns WHERE id = :turn AND seq >= :seq
"""
_ERASURES = """
SELECT version, structure FROM events WHERE kind <> 'turn.said' AND kind = 'text.erased' AND seq >= ?
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


class Marks:
    """The questions about marks."""

    def __init__(self, snapshot: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._snapshot = snapshot

    def offered(self, *, now: datetime) -> list[Mark]:
        """The marks that are offered, the newest first; `now` is aware."""
        with self._snapshot() as db:
            found = _marks(db)
        newest = [mark.id for mark in found if mark.reason == "automatic"][:NEWEST]
        return [
            mark
            for mark in found
            if mark.reason == "named" or mark.id in newest or (mark.reason != "automatic" and mark.at >= now - KEPT)
        ]

    def is_due(self, *, events: int, after: timedelta, now: datetime) -> bool:
        """Whether so many events came since the last mark, or any where that was so long ago; `now` is aware."""
        with self._snapshot() as db:
            first, last, began = db.execute(_ENDS).fetchone()
            if last is None:
                return False
            marks = (
                (row[0], row[1]) for row in db.execute(_MARKS) if row[2] == "mark.set" and not _of_import(*row[2:5])
            )
            seq, at = next(marks, (first - 1, began))
        return bool(last - seq >= events or (last > seq and at <= as_ms(now - after)))

    def restoring(self, seq: int) -> tuple[list[Event], int]:
        """What makes everything that a person decides stand as before event `seq`, but for what was deleted since.

        And how many texts of before were erased since.
        """
        with self._snapshot() as db:
            erasures = [fields_of("text.erased", *row)["events"] for row in db.execute(_ERASURES, (seq,))]
            return _restoring(db, seq), len({each for events in erasures for each in events if each < seq})


def _of_import(kind: str, version: int, structure: str) -> bool:
    return bool(fields_of(kind, version, structure)["reason"] == "import")


def _marks(db: sqlite3.Connection) -> list[Mark]:
    """All marks that were not taken off, the newest first; those of imports are none to come back to."""
    found: list[Mark] = []
    cleared: set[str] = set()
    for seq, at, kind, version, structure, name in db.execute(_MARKS).fetchall():
        mark = fields_of(kind, version, structure)
        if kind == "mark.cleared":
            cleared.add(mark["mark"])
        elif mark["reason"] != "import" and mark["mark"] not in cleared:
            moved = db.execute(_MOVED, (seq + 1,)).fetchone() if mark["reason"] == "rewind" else None
            back = fields_of("head.moved", *moved) if moved is not None else {}
            place = back.get("session"), back.get("turn")
            found.append(Mark(mark["mark"], seq, as_datetime(at), mark["reason"], name, *place))
    return found


def _restoring(db: sqlite3.Connection, seq: int) -> list[Event]:
    found: dict[Decision, None] = {Decision("head", session): None for (session,) in db.execute(_GONE_ON, {"seq": seq})}
    for row in db.execute(f"{SELECT_EVENT} WHERE kind <> 'turn.said' AND seq >= ? ORDER BY seq", (seq,)):
        event = event_of(row).event
        if isinstance(event, SessionStarted | SessionForked):  # begun since: out of the way
            found |= {Decision("shelf", event.session): None, Decision("head", event.session): None}
        found |= dict.fromkeys(decisions(event))
    events: list[Event] = []
    for facet in found:
        then, now = standing(db, facet, before=seq), standing(db, facet, before=EVER)
        if then != now and reachable(db, facet) and not _covered(db, facet, seq):
            events += restoring(facet, then)
    return events


def _covered(db: sqlite3.Connection, facet: Decision, seq: int) -> bool:
    """Whether a facet is of what did not exist then: it goes with its chat, and so needs nothing of its own."""
    match facet.sort:
        case "head" | "shelf" | "block" | "document":
            return False
        case "stage" | "cast" | "reset":
            values = {"world": facet.world, "turn": facet.of, "seq": seq}
            return db.execute(_SET_SINCE, values).fetchone() is not None
        case "review" | "memory pin":
            table = "observations"
        case "name" | "settings" | "project":
            table = "sessions"
        case _:
            table = "turns"
    made = f"SELECT 1 FROM {table} WHERE id = ? AND seq >= ?"
    return db.execute(made, (facet.item, seq)).fetchone() is not None
