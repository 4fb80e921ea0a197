"""What a chat, a message or a memory is called where a person reads of it: by its words, where they may be shown."""

import sqlite3

from graph.decided import Facet
from graph.rows import session_by_id

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


def named(db: sqlite3.Connection, facet: Facet) -> str:
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
