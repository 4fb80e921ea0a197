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
SELECT own.id, own.session, own.kind, event.text, own.at, own.attached
FROM attachments AS own JOIN events AS event USING (seq)
"""
_WRITTEN = """
SELECT links.key, event.text FROM links JOIN events AS event USING (seq)
WHERE links.rel = 'WRITTEN_BY' AND event.text IS NOT NULL
"""


def attached(db: sqlite3.Connection, session: str) -> list[Reference]:
    """What a session refers to, in the order in which that was attached; none whose address is erased."""
    query = f"{_REFERENCES} WHERE own.session = ? AND own.attached AND event.text IS NOT NULL ORDER BY own.seq"
    return [_reference(*row) for row in db.execute(query, (session,))]


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


def _reference(id: str, session: str, kind: Any, address: str | None, at: int, attached: int) -> Reference:
    return Reference(id, session, kind, address or "", as_datetime(at), bool(attached))
