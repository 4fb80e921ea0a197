"""Messages that were said in the place of earlier ones: a change by a person, found by where the head stood before.

Nothing in the log says it of itself: it is a message whose parent is not where its chat stood. Where deleted turns are
all that lies between, it was said at the end of the chat, as any other.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph.codec import Stored
from graph.decided import Facet, standing
from graph.events import HeadMoved, Role, SessionForked, SessionStarted, TurnSaid

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
    head: str | None = standing(db, Facet("head", turn.session), before=run[0].seq)
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
