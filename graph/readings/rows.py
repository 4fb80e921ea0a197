"""The three things read from the log as SQL, events, turns and sessions, and how their rows become values.

Where that is none any more, it is called by the first words of a person's in it that may be shown.

A glance at the indexes is enough where no head was moved and nothing branches off above a source; elsewhere the paths
are walked.
"""

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from graph.errors import NotFound
from graph.events import RECALLED
from graph.events.codec import Stored, decode
from graph.ids import as_datetime
from graph.readings.worlds import BEGUN, HEAD, Views
from graph.values import Session, Turn

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


Raw = tuple[Any, ...]

EVENT = "SELECT seq, id, at, kind, version, structure, text FROM events"

SAID = "said.kind = 'turn.said'"
# What is queued, and neither taken up nor taken back.
WAITS = """
said.queued = 1
AND NOT EXISTS (SELECT 1 FROM events AS taken WHERE taken.turn = said.turn AND taken.kind = 'turn.taken')
AND 'turn.hidden' IS NOT (SELECT seen.kind FROM events AS seen WHERE seen.turn = said.turn
    AND seen.kind IN ('turn.hidden', 'turn.unhidden') ORDER BY seen.seq DESC LIMIT 1)
"""
KEPT = """
NOT EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = said.turn AND gone.kind = 'turn.deleted')
AND NOT EXISTS (SELECT 1 FROM events AS gone WHERE gone.session = said.session AND gone.kind = 'session.deleted')
"""

# A turn is placed by its saying, or by its taking if it was queued; `told` is when it was said, imported or not. A pin
# counts here that is of the world it was said in.
TURN = """
SELECT said.seq, said.told, said.session, said.structure, said.text,
    (SELECT taken.structure FROM events AS taken WHERE taken.turn = said.turn AND taken.kind = 'turn.taken'),
    (SELECT seen.kind FROM events AS seen WHERE seen.turn = said.turn
     AND seen.kind IN ('turn.hidden', 'turn.unhidden') ORDER BY seen.seq DESC LIMIT 1),
    (SELECT pin.kind FROM events AS pin WHERE pin.turn = said.turn AND pin.kind IN ('pin.set', 'pin.cleared')
     AND (pin.structure ->> '$.world' IS NULL OR pin.structure ->> '$.world' = (
         SELECT home.structure ->> '$.world' FROM events AS home WHERE home.session = said.session
         AND home.kind IN ('session.started', 'session.forked')))
     ORDER BY pin.seq DESC LIMIT 1),
    (SELECT kept.kind FROM events AS kept WHERE kept.turn = said.turn
     AND kept.kind IN ('turn.withheld', 'turn.released') ORDER BY kept.seq DESC LIMIT 1),
    EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = said.turn AND gone.kind = 'turn.deleted')
FROM events AS said
"""

# A project is what the session was assigned to last, or else began with; '' is none.
PROJECT = """
coalesce((SELECT coalesce(own.structure ->> '$.project', '') FROM events AS own WHERE own.session = begun.session
    AND own.kind = 'project.assigned' ORDER BY own.seq DESC LIMIT 1), begun.structure ->> '$.project', '')
"""

SESSION = f"""
SELECT begun.session, begun.told, begun.structure,
    (SELECT name.text FROM events AS name WHERE name.session = begun.session AND name.kind = 'session.renamed'
     ORDER BY name.seq DESC LIMIT 1),
    (SELECT max(title.seq) FROM events AS title WHERE title.session = begun.session AND title.kind = 'session.titled'),
    {HEAD},
    (SELECT shelf.kind FROM events AS shelf WHERE shelf.session = begun.session
     AND shelf.kind IN ('session.archived', 'session.unarchived') ORDER BY shelf.seq DESC LIMIT 1),
    EXISTS (SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'),
    (SELECT count(*) FROM events AS said WHERE said.session = begun.session AND said.kind = 'turn.said' AND NOT EXISTS (
        SELECT 1 FROM events AS gone WHERE gone.turn = said.turn AND gone.kind = 'turn.deleted')),
    coalesce((SELECT max(said.told) FROM events AS said WHERE said.session = begun.session
        AND said.kind = 'turn.said'), begun.told) AS last_told,
    coalesce((SELECT said.seq FROM events AS said WHERE said.session = begun.session AND said.kind = 'turn.said'
        ORDER BY said.told DESC, said.seq DESC LIMIT 1), begun.seq) AS last_seq,
    (SELECT own.seq FROM events AS own WHERE own.session = begun.session AND own.kind = 'session.configured'
     ORDER BY own.seq DESC LIMIT 1) AS configured,
    {PROJECT}
FROM events AS begun
"""

# Up from each deleted turn until one is kept, or none is left above.
_PASSED_BY = """
WITH RECURSIVE up (turn, at) AS (
    SELECT gone.turn, gone.turn FROM json_each(?) AS given
    JOIN events AS gone ON gone.turn = given.value AND gone.kind = 'turn.deleted'
    UNION
    SELECT up.turn, placed.parent FROM up JOIN events AS placed ON placed.seq = (
        SELECT max(seq) FROM events WHERE turn = up.at AND kind IN ('turn.said', 'turn.taken')
    ) WHERE EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = up.at AND gone.kind = 'turn.deleted')
)
SELECT up.turn, up.at FROM up
WHERE NOT EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = up.at AND gone.kind = 'turn.deleted')
"""

_BETWEEN = "SELECT count(*) FROM events WHERE session = ? AND kind = 'turn.said' AND seq >= ? AND seq < ?"
_COUNTED = 64  # turns of a session whose numbers are counted one after the other, and not read off a list of all


def event_of(row: Raw) -> Stored:
    """An event, from a row of EVENT."""
    seq, id, at, kind, version, structure, text = row
    return Stored(seq, id, at, decode(kind, version, structure, text))


def turn_of(row: Raw, index: int) -> Turn:
    """A turn, from a row of TURN; `index` is its number in its session. Its parent may be deleted: see `turns_of`."""
    _, told, _, structure, text, taken, seen, pin, kept, gone = row
    said = json.loads(structure)
    placed = json.loads(taken) if taken is not None else said
    waits = said["queued"] and taken is None
    return Turn(
        id=said["turn"],
        session=said["session"],
        parent=None if waits else placed.get("parent"),
        index=index,
        role=said["role"],
        speaker=said["speaker"],
        text=text,
        at=as_datetime(told),
        client=said["client"],
        queued=waits,
        hidden=seen == "turn.hidden",
        stop_reason=said.get("stop_reason"),
        error=said.get("error"),
        model=said.get("model"),
        prompt_hash=said.get("prompt_hash"),
        prompt_tokens=said.get("prompt_tokens"),
        evaluated_tokens=said.get("evaluated_tokens"),
        completion_tokens=said.get("completion_tokens"),
        first_token_ms=said.get("first_token_ms"),
        total_ms=said.get("total_ms"),
        recalled=RECALLED.validate_python(said["recalled"]) if said.get("recalled") else (),
        pinned=pin == "pin.set",
        withheld=kept == "turn.withheld",
        deleted=bool(gone),
        sampling=said.get("sampling"),
    )


def session_of(row: Raw, title: str | None, configured: tuple[str, str | None] | None) -> Session:
    """A session, from a row of SESSION, its title, and the structure and text of its last `session.configured`."""
    id, told, structure, name, _, head, shelf, deleted, turns, last_told, _, _, project = row
    begun = json.loads(structure)
    own = json.loads(configured[0]) if configured is not None else {}
    return Session(
        id=id,
        name=name or title,
        named_by_user=bool(name),
        world=begun["world"],
        project=project or None,
        head=None if deleted else head,
        archived=shelf == "session.archived",
        deleted=bool(deleted),
        started_at=as_datetime(told),
        last_at=as_datetime(last_told),
        turns=turns,
        model=own.get("model"),
        system_prompt=configured[1] if configured is not None else None,
        sampling=own.get("sampling"),
    )


def turns_of(db: sqlite3.Connection, rows: Sequence[Raw]) -> list[Turn]:
    """Turns with their numbers, counted per session once however many rows there are.

    What followed a turn that is deleted now follows what that followed.
    """
    numbers = _numbers(db, rows)
    turns = [turn_of(row, numbers[row[0]]) for row in rows]
    passed = passed_by(db, {turn.parent for turn in turns if turn.parent is not None})
    return [replace(turn, parent=passed[turn.parent]) if turn.parent in passed else turn for turn in turns]


def _numbers(db: sqlite3.Connection, rows: Sequence[Raw]) -> dict[int, int]:
    """The number in its session of each turn, by the number of its event; counted once from the first to the last."""
    seqs: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        seqs[row[2]].add(row[0])
    found: dict[int, int] = {}
    for session, wanted in seqs.items():
        if len(wanted) > _COUNTED:
            said = db.execute(
                "SELECT seq FROM events WHERE session = ? AND kind = 'turn.said' ORDER BY seq", (session,)
            )
            found |= {seq: number for number, (seq,) in enumerate(said) if seq in wanted}
            continue
        number, last = 0, 0
        for seq in sorted(wanted):
            number += db.execute(_BETWEEN, (session, last, seq)).fetchone()[0]
            found[seq], last = number, seq
    return found


def passed_by(db: sqlite3.Connection, turns: Collection[str]) -> dict[str, str | None]:
    """Those of the turns that are deleted, each with the nearest turn above it that is not."""
    return dict(db.execute(_PASSED_BY, (json.dumps(list(turns)),)).fetchall())


def said_row(db: sqlite3.Connection, turn: str) -> Raw:
    """The row of a turn. Raises NotFound."""
    row: Raw | None = db.execute(f"{TURN} WHERE said.turn = ? AND {SAID}", (turn,)).fetchone()
    if row is None:
        raise NotFound(f"There is no message {turn}. `clew log` lists them.")
    return row


def session_by_id(db: sqlite3.Connection, id: str, views: Views | None = None) -> Session:
    """A session; who asks for many shares the views among them. Raises NotFound."""
    row = db.execute(f"{SESSION} WHERE begun.session = ? AND {BEGUN}", (id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no chat {id}. `clew sessions` lists them.")
    return session_with(db, row, views or Views(db))


def session_with(db: sqlite3.Connection, row: Raw, views: Views) -> Session:
    """A session, from a row of SESSION, with its title and its own settings; the views are shared among many."""
    id, name, titled, configured = row[0], row[3], row[4], row[11]
    title = title_of(db, id, views) if titled is not None and not name else None
    if (head := row[5]) is not None:  # if it is deleted, the session goes on from what stands above
        row = (*row[:5], passed_by(db, [head]).get(head, head), *row[6:])
    if configured is None:
        return session_of(row, title, None)
    return session_of(
        row, title, db.execute("SELECT structure, text FROM events WHERE seq = ?", (configured,)).fetchone()
    )
