"""What sessions refer to, and who wrote it, as the log has it."""

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from graph.ids import as_datetime
from graph.projection.identities import Identities
from graph.readings.rows import AMONG
from graph.values import Reference

_REFERENCES = """
SELECT own.id, own.session, own.kind, event.text, own.at, own.attached, own.turn
FROM attachments AS own JOIN events AS event USING (seq)
"""
_WRITTEN = """
SELECT links.key, event.text FROM links JOIN events AS event USING (seq)
WHERE links.rel = 'WRITTEN_BY' AND event.text IS NOT NULL
"""


def attached(db: sqlite3.Connection, session: str, at: str | None = None) -> list[Reference]:
    """What a session refers to, in the order in which that was attached; none whose address is erased.

    On the path to its head, or to turn `at`; an empty one is the place before the first message.
    """
    query = f"{_REFERENCES} WHERE own.session = ? AND own.attached AND event.text IS NOT NULL ORDER BY own.seq"
    rows = db.execute(query, (session,)).fetchall()
    (head,) = db.execute("SELECT head FROM sessions WHERE id = ?", (session,)).fetchone() or (None,)
    there = {turn: turn is None or _counts(db, turn, head if at is None else at) for turn in {row[-1] for row in rows}}
    return [_reference(*row) for row in rows if there[row[-1]]]


def _counts(db: sqlite3.Connection, turn: str, head: str | None) -> bool:
    """Whether a turn stands at a head or above it, or waits for its place: found in few steps, however far it is."""
    place = "SELECT depth, jump, parent FROM turns WHERE id = ?"
    wanted = db.execute(place, (turn,)).fetchone()
    if wanted is None or wanted[0] is None:
        return wanted is not None
    here = head
    while here and here != turn:
        depth, jump, parent = db.execute(place, (here,)).fetchone()
        if depth <= wanted[0]:
            return False
        over = db.execute("SELECT depth FROM turns WHERE id = ?", (jump,)).fetchone() if jump is not None else None
        here = jump if over is not None and over[0] >= wanted[0] else parent
    return here == turn


def references(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, Reference]:
    """References by their ids, also those that were dropped; one whose address is erased has none."""
    rows = db.execute(f"{_REFERENCES} WHERE own.id {AMONG}", (json.dumps(list(ids)),))
    return {row[0]: _reference(*row) for row in rows}


def authors(db: sqlite3.Connection) -> dict[str, str]:
    """The entities that wrote something, by their DIDs."""
    rows = db.execute(f"{_WRITTEN} ORDER BY seq DESC")  # of several the first
    return {text.partition("\n")[2]: author for author, text in rows}


def writers(db: sqlite3.Connection, reference: str) -> dict[str, str | None]:
    """Who wrote what lies at a reference, as it is known: DIDs, with what each is noted to be called."""
    found = db.execute(f"{_WRITTEN} AND links.start = ? ORDER BY seq", (reference,)).fetchall()
    who = Identities(db)
    return {text.partition("\n")[2]: who.noted(author) for author, text in found}


def written_by(db: sqlite3.Connection, entity: str) -> list[Reference]:
    """What somebody wrote of all that is attached, the newest first."""
    query = f"""
    {_REFERENCES} WHERE own.attached AND event.text IS NOT NULL
    AND own.id IN (SELECT start FROM links WHERE rel = 'WRITTEN_BY' AND target = ?) ORDER BY own.seq DESC
    """
    return [_reference(*row) for row in db.execute(query, (entity,))]


def _reference(
    id: str, session: str, kind: Any, address: str | None, at: int, attached: int, turn: str | None
) -> Reference:
    return Reference(id, session, kind, address or "", as_datetime(at), bool(attached), turn)
