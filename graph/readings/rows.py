"""Turns and sessions, as SQL over the tables beside the log, and how their rows become values.

Where a session has no title that may be shown, it is called by the first words of a person's in it that may be.
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.errors import NotFound
from graph.events import RECALLED
from graph.events.codec import fields_of
from graph.ids import as_datetime
from graph.projection.entities import CHARACTER
from graph.projection.paths import Paths
from graph.values import Session, Turn

LONGEST = 48  # characters of a title

Raw = tuple[Any, ...]

TURN = """
SELECT said.seq, said.at, said.session, said.above, said."index", said.queued, said.hidden, said.pinned, said.withheld,
    said.deleted, event.version, event.structure, event.text, said.witnesses, said.id
FROM turns AS said JOIN events AS event ON event.seq = said.seq
"""
# Neither the turn nor its session is deleted.
KEPT = "NOT said.deleted AND NOT EXISTS (SELECT 1 FROM sessions AS gone WHERE gone.id = said.session AND gone.deleted)"
WAITS = "said.queued AND NOT said.hidden"  # neither taken up nor taken back
NEWEST = "ORDER BY said.at DESC, said.seq DESC"
AMONG = "IN (SELECT value FROM json_each(?))"


def among(name: str) -> str:
    """The condition that something is in a JSON list, which is given by this name."""
    return f"IN (SELECT value FROM json_each(:{name}))"


SESSION = """
SELECT own.id, (SELECT text FROM events WHERE seq = own.name_seq), own.title_seq, own.wording, own.world, own.project,
    own.head, own.archived, own.deleted, own.started_at, own.last_at,
    own.turns - (SELECT count(*) FROM turns WHERE session = own.id AND deleted), own.prompt_seq,
    (SELECT story FROM worlds WHERE worlds.id = own.world)
FROM sessions AS own
"""
LATEST = "ORDER BY own.last_at DESC, own.last_seq DESC"
_FIRST = """
SELECT event.text FROM turns AS said JOIN events AS event ON event.seq = said.seq
WHERE said.session = ? AND said.role = 'user' AND said.live AND NOT said.withheld AND event.text IS NOT NULL
AND NOT (SELECT deleted FROM sessions WHERE id = said.session) ORDER BY said.seq LIMIT 1
"""


_MEMBERS = f"""
SELECT e.id, coalesce(event.text, '') FROM entities AS e LEFT JOIN events AS event ON event.seq = e.name_seq
WHERE e.noted_kind = '{CHARACTER}' AND e.id {AMONG}
"""


def dicts(db: sqlite3.Connection, query: str, values: Mapping[str, Any] | Sequence[Any] = ()) -> list[dict[str, Any]]:
    """The rows of a query, each by the names of its columns."""
    cursor = db.execute(query, values)
    names = [name for name, *_ in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def turn_of(row: Raw) -> Turn:
    """A turn, from a row of TURN. The parent of one that is deleted may be deleted too: see `turns_of`."""
    _, at, session, above, index, queued, hidden, pinned, withheld, deleted, version, structure, text, saw, id = row
    said = fields_of("turn.said", version, structure)
    return Turn(
        id=id,
        session=session,
        parent=above,
        index=index,
        role=said["role"],
        speaker=said["speaker"],
        text=text,
        at=as_datetime(at),
        client=said["client"],
        queued=bool(queued),
        hidden=bool(hidden),
        stop_reason=said.get("stop_reason"),
        error=said.get("error"),
        model=said.get("model"),
        host=said.get("host"),
        prompt_hash=said.get("prompt_hash"),
        prompt_tokens=said.get("prompt_tokens"),
        evaluated_tokens=said.get("evaluated_tokens"),
        completion_tokens=said.get("completion_tokens"),
        first_token_ms=said.get("first_token_ms"),
        total_ms=said.get("total_ms"),
        redrawn=said.get("redrawn") or 0,
        recalled=RECALLED.validate_python(said["recalled"]) if said.get("recalled") else (),
        pinned=bool(pinned),
        withheld=bool(withheld),
        deleted=bool(deleted),
        sampling=said.get("sampling"),
        member=said["speaker"] if saw is not None else None,
        addressed=said.get("addressed"),
        witnesses=tuple(saw.split()) if saw is not None else None,
    )


def turns_of(db: sqlite3.Connection, rows: Iterable[Raw]) -> list[Turn]:
    """Turns, from rows of TURN, each with the nearest turn above it that is not deleted.

    Members of a cast are called by their names; in a story tools, too, may speak, which are none.
    """
    paths = Paths(db)
    found = [turn_of((*row[:3], paths.kept(row[3]), *row[4:]) if row[9] and row[3] else row) for row in rows]
    names = members(db, {turn.member for turn in found if turn.member is not None})
    return [_called(turn, names) if turn.member is not None else turn for turn in found]


def _called(turn: Turn, names: Mapping[str, str]) -> Turn:
    """A turn of a story, with the names of the cast."""
    name = names.get(turn.member or "")
    return replace(turn, speaker=name) if name is not None else replace(turn, member=None)


def members(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """What those are called who are of a cast, by their ids; "" where that was erased."""
    wanted = json.dumps(list(ids))
    return dict(db.execute(_MEMBERS, (wanted,)).fetchall()) if wanted != "[]" else {}


def turns_by_ids(db: sqlite3.Connection, ids: Iterable[str], order: str = "ORDER BY said.seq") -> list[Turn]:
    """Those of the turns that were said, whatever has become of them."""
    return turns_of(db, db.execute(f"{TURN} WHERE said.id {AMONG} {order}", (json.dumps(list(ids)),)))


def turn_by_id(db: sqlite3.Connection, turn: str) -> Turn:
    """One turn, also a deleted one. Raises NotFound."""
    found = turns_of(db, db.execute(f"{TURN} WHERE said.id = ?", (turn,)))
    if not found:
        raise NotFound(f"There is no message {turn}. `clew log` lists them.")
    return found[0]


def session_by_id(db: sqlite3.Connection, id: str) -> Session:
    """A session. Raises NotFound."""
    row = db.execute(f"{SESSION} WHERE own.id = ?", (id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no chat {id}. `clew sessions` lists them.")
    return session_of(db, row)


def session_of(db: sqlite3.Connection, row: Raw) -> Session:
    """A session, from a row of SESSION, with its title and its own settings."""
    id, name, titled, wording, world, project, head, archived, deleted, started, last, turns, configured, story = row
    settings, prompt = _configured(db, configured)
    title = (_title(db, titled) or _first_words(db, id)) if wording is not None and not name else None
    return Session(
        id=id,
        name=name or title,
        named_by_user=bool(name),
        world=world,
        project=project or None,
        head=Paths(db).kept(head),  # if it is deleted, the session goes on from what stands above
        archived=bool(archived),
        deleted=bool(deleted),
        started_at=as_datetime(started),
        last_at=as_datetime(last),
        turns=turns,
        model=settings.get("model"),
        system_prompt=prompt,
        sampling=settings.get("sampling"),
        story=story,
    )


def is_titled(db: sqlite3.Connection, session: str) -> bool:
    """Whether a session has a title that was given to it and may be shown."""
    row = db.execute("SELECT title_seq FROM sessions WHERE id = ?", (session,)).fetchone()
    return row is not None and _title(db, row[0]) is not None


def verbatim(said: str) -> str:
    """The first line with words in it, cut at a word to at most LONGEST characters."""
    line = next((line.strip() for line in said.splitlines() if re.search(r"\w", line)), said.strip())
    line = " ".join(line.split())
    if len(line) <= LONGEST:
        return line
    head, _, _ = line[: LONGEST - 1].rpartition(" ")
    return (head or line[: LONGEST - 1]) + "…"


def _title(db: sqlite3.Connection, seq: int | None) -> str | None:
    row = db.execute("SELECT text FROM events WHERE seq = ?", (seq,)).fetchone() if seq is not None else None
    return row[0] if row is not None else None


def _first_words(db: sqlite3.Connection, session: str) -> str | None:
    row = db.execute(_FIRST, (session,)).fetchone()
    return verbatim(row[0]) if row is not None else None


def _configured(db: sqlite3.Connection, seq: int | None) -> tuple[dict[str, Any], str | None]:
    """The settings of a session, and its system prompt."""
    if seq is None:
        return {}, None
    version, structure, text = db.execute(
        "SELECT version, structure, text FROM events WHERE seq = ?", (seq,)
    ).fetchone()
    return fields_of("session.configured", version, structure), text
