"""Which session is meant: by its id, by the first characters of it, or as the `last` one."""

import sqlite3

from graph.errors import Ambiguous, NotFound
from graph.rows import session_by_id
from graph.values import Session
from graph.walks import BEGUN

LAST = "last"

_NAMED = f"""
SELECT begun.session FROM events AS begun WHERE {BEGUN} AND begun.session >= :first AND begun.session < :end
AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'
)
"""
# What was brought along from elsewhere has the time it was said at; what is noted or proposed, no user's role.
_SPOKEN = """
SELECT said.session FROM events AS said
WHERE said.kind = 'turn.said' AND said.role = 'user' AND said.structure ->> '$.said_at' {}
AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.session = said.session AND gone.kind = 'session.deleted'
) AND 'session.archived' IS NOT (
    SELECT shelf.kind FROM events AS shelf WHERE shelf.session = said.session
    AND shelf.kind IN ('session.archived', 'session.unarchived') ORDER BY shelf.seq DESC LIMIT 1
) ORDER BY {} DESC LIMIT 1
"""
_HERE = _SPOKEN.format("IS NULL", "said.seq")
_ELSEWHERE = _SPOKEN.format("IS NOT NULL", "said.structure ->> '$.said_at'")


def last_session(db: sqlite3.Connection) -> str | None:
    """The session that a person spoke in last, neither archived nor deleted; None for none.

    What was brought along counts only where nobody has spoken yet.
    """
    found = (db.execute(spoken).fetchone() for spoken in (_HERE, _ELSEWHERE))
    return next((row[0] for row in found if row is not None), None)


def session_named(db: sqlite3.Connection, id: str) -> Session:
    """The session that is meant, unless it was deleted. Raises NotFound or Ambiguous."""
    if id == LAST:
        last = last_session(db)
        if last is None:
            raise NotFound(
                "There is no chat to continue yet, except archived ones. Start one with `clew` or `clew ask`."
            )
        return session_by_id(db, last)
    first = id.strip().upper()  # ULIDs are upper case, people's typing is not
    values = {"first": first, "end": first + "\U0010ffff"}
    found = [session for (session,) in db.execute(_NAMED, values)] if first.isprintable() and first else []
    if len(found) == 1 or first in found:
        return session_by_id(db, first if first in found else found[0])
    if found:
        raise Ambiguous(f"{len(found)} chats have ids starting with {id}. Give more characters.")
    raise NotFound(f"There is no chat {id}. `clew sessions` lists them.")
