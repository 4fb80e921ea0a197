"""The title a session shows: the newest one whose every source its world sees, so that none tells what was taken away.

Where that is none any more, it is called by the first words of a person's in it that may be shown.

A glance at the indexes is enough where no head was moved and nothing branches off above a source; elsewhere the paths
are walked.
"""

import re
import sqlite3

from graph.worlds import Views

LONGEST = 48  # characters of a title
_TRIED = 64  # of a person's turns, the oldest first
_NEAR = 8  # turns above a source that the glance looks at

_TAKEN_AWAY = """
EXISTS (SELECT 1 FROM events AS once WHERE once.turn = said.turn
    AND once.kind IN ('turn.deleted', 'turn.hidden', 'turn.withheld'))
AND (
    EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = said.turn AND gone.kind = 'turn.deleted')
    OR 'turn.hidden' IS (SELECT seen.kind FROM events AS seen WHERE seen.turn = said.turn
        AND seen.kind IN ('turn.hidden', 'turn.unhidden') ORDER BY seen.seq DESC LIMIT 1)
    OR 'turn.withheld' IS (SELECT kept.kind FROM events AS kept WHERE kept.turn = said.turn
        AND kept.kind IN ('turn.withheld', 'turn.released') ORDER BY kept.seq DESC LIMIT 1)
)
"""
# The source begins its chat, or answers what does, and nothing else begins it or stands beside the source.
_BEGINS = """
said.queued = 0 AND NOT EXISTS (
    SELECT 1 FROM events AS other WHERE other.parent = said.parent AND other.turn <> said.turn
) AND (
    SELECT count(*) = 1 AND (said.parent IS NULL OR max(root.turn) = said.parent) FROM events AS root
    WHERE root.session = said.session AND root.queued = 0 AND root.parent IS NULL
)
"""
_BRANCHES = f"""
EXISTS (
    WITH RECURSIVE up (turn, session, parent, queued, steps) AS (
        SELECT said.turn, said.session, said.parent, said.queued, 0
        UNION ALL
        SELECT above.turn, above.session, above.parent, above.queued, up.steps + 1 FROM up
        JOIN events AS above ON above.turn = up.parent AND above.kind = 'turn.said' WHERE up.steps < {_NEAR}
    )
    SELECT 1 FROM up WHERE up.steps = {_NEAR} OR up.queued = 1
    OR EXISTS (SELECT 1 FROM events AS other WHERE other.parent = up.parent AND other.turn <> up.turn)
    OR up.parent IS NULL AND EXISTS (
        SELECT 1 FROM events AS other WHERE other.session = up.session AND other.queued = 0 AND other.parent IS NULL
        AND other.turn <> up.turn
    )
)
"""
_MOVED = """
EXISTS (SELECT 1 FROM events AS moved WHERE moved.session = said.session
    AND moved.kind IN ('head.moved', 'session.deleted'))
"""
_TITLES = f"""
SELECT title.text, title.structure -> '$.sources', (
    SELECT max(CASE
        WHEN {_TAKEN_AWAY} THEN 2 WHEN {_MOVED} THEN 1 WHEN {_BEGINS} THEN 0 WHEN {_BRANCHES} THEN 1 ELSE 0
    END)
    FROM json_each(title.structure, '$.sources') AS source
    JOIN events AS said ON said.turn = source.value AND said.kind = 'turn.said'
) FROM events AS title
WHERE title.session = ? AND title.kind = 'session.titled' AND title.text IS NOT NULL ORDER BY title.seq DESC
"""
_SOURCES = """
SELECT said.turn, said.session FROM json_each(?) AS source
JOIN events AS said ON said.turn = source.value AND said.kind = 'turn.said'
"""
_FIRST = f"""
SELECT said.turn, said.text FROM events AS said
WHERE said.session = ? AND said.kind = 'turn.said' AND said.structure ->> '$.role' = 'user' AND said.text IS NOT NULL
AND NOT ({_TAKEN_AWAY}) AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.session = said.session AND gone.kind = 'session.deleted'
) ORDER BY said.seq LIMIT {_TRIED}
"""
_TAKEN, _UNSURE = 2, 1


def title_of(db: sqlite3.Connection, session: str, views: Views) -> str | None:
    """The title to show for a session, or None: the one that it was given, else its first words."""
    return given_title(db, session, views) or _first_words(db, session, views)


def given_title(db: sqlite3.Connection, session: str, views: Views) -> str | None:
    """The newest title that a session was given and that may be shown."""
    for text, sources, doubt in db.execute(_TITLES, (session,)):
        if doubt == _TAKEN:
            continue
        if doubt != _UNSURE or _in_view(db, session, sources, views):
            shown: str = text
            return shown
    return None


def _first_words(db: sqlite3.Connection, session: str, views: Views) -> str | None:
    world = views.world_of(session)
    said = db.execute(_FIRST, (session,)).fetchall()
    return next((verbatim(text) for turn, text in said if views.in_view(turn, session, world)), None)


def verbatim(said: str) -> str:
    """The first line with words in it, cut at a word to at most LONGEST characters."""
    line = next((line.strip() for line in said.splitlines() if re.search(r"\w", line)), said.strip())
    line = " ".join(line.split())
    if len(line) <= LONGEST:
        return line
    head, _, _ = line[: LONGEST - 1].rpartition(" ")
    return (head or line[: LONGEST - 1]) + "…"


def _in_view(db: sqlite3.Connection, session: str, sources: str, views: Views) -> bool:
    """Whether the world of a session holds all the sources."""
    world = views.world_of(session)
    named: list[tuple[str, str]] = db.execute(_SOURCES, (sources,)).fetchall()
    return all(views.in_view(turn, home, world) for turn, home in named)
