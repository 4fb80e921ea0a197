"""Exchanges as the log tells them: what a user said with the reply to it, also past the turns of tools."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from graph.errors import Ambiguous, NotFound
from graph.ids import as_ms
from graph.readings.belonging import Belongings
from graph.readings.rows import KEPT, PROJECT, SAID, TURN, Raw, said_row, turns_of
from graph.values import Exchange, Turn

MOST_EXCHANGES = 500
SHORTEST_PREFIX = 6

_FILTERS = {
    "session": "said.session = :session",
    "client": "said.structure ->> '$.client' = :client",
    "since": "said.told >= :since",
    "until": "said.told < :until",
    "project": f"""
    EXISTS (SELECT 1 FROM events AS begun WHERE begun.session = said.session
            AND begun.kind IN ('session.started', 'session.forked') AND {PROJECT} = :project)
    """,
}
_REPLIES = f"""
{TURN} WHERE {SAID} AND said.role = 'assistant' AND said.seq IN (
    SELECT answer.seq FROM events AS answer WHERE answer.parent IN (SELECT value FROM json_each(:turns))
)
"""

_WITH_TOOLS = """
WITH RECURSIVE below (turn) AS (
    SELECT ?
    UNION
    SELECT said.turn FROM below
    JOIN events AS placed ON placed.parent = below.turn AND placed.kind IN ('turn.said', 'turn.taken')
    JOIN events AS said ON said.turn = placed.turn AND said.kind = 'turn.said'
    WHERE said.role = 'tool'
    OR EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = said.turn AND gone.kind = 'turn.deleted')
)
SELECT json_group_array(turn) FROM below
"""


def exchanges(
    db: sqlite3.Connection,
    *,
    session: str | None,
    project: str | None,
    client: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> list[Exchange]:
    """What users said, the newest first, each with its newest reply. Raises ValueError for a naive time."""
    values: dict[str, Any] = {
        "session": session,
        "client": client,
        "project": project,
        "since": None if since is None else as_ms(since),
        "until": None if until is None else as_ms(until),
        "limit": max(0, min(limit, MOST_EXCHANGES)),
    }
    filters = [condition for name, condition in _FILTERS.items() if values[name] is not None]
    conditions = " AND ".join([SAID, "said.role = 'user'", KEPT, *filters])
    query = f"{TURN} WHERE {conditions} ORDER BY said.told DESC, said.seq DESC LIMIT :limit"
    asked = turns_of(db, db.execute(query, values).fetchall())
    return answered(db, asked, [next(reply_rows(db, turn.id, KEPT), None) for turn in asked])


def answered(db: sqlite3.Connection, asked: Sequence[Turn], answers: Sequence[Raw | None]) -> list[Exchange]:
    """The exchanges of turns, each with the row of the reply to it: all are numbered at once."""
    belongings = Belongings(db)
    replies = iter(turns_of(db, [row for row in answers if row is not None]))
    return [
        Exchange(turn, next(replies) if row is not None else None, belongings.of_session(turn.session))
        for turn, row in zip(asked, answers, strict=True)
    ]


def exchange(db: sqlite3.Connection, id: str) -> Exchange:
    """The exchange of a turn, by its id or by the first characters of it. Raises NotFound or Ambiguous."""
    row = db.execute(f"{TURN} WHERE said.turn = ? AND {SAID}", (id,)).fetchone()
    rows = [row] if row is not None else _rows_by_prefix(db, id)
    turns = turns_of(db, rows)
    found = [_exchange_of(db, turn) for turn in turns]
    if not found:
        raise NotFound(f"There is no message {id}. `clew log` lists them.")
    if len({exchange.turn.id for exchange in found}) > 1:
        raise Ambiguous(f"Several messages have ids starting with {id}. Give more characters.")
    return replace(found[-1], tools=_tools(db, found[-1], turns[-1]))


def turn_named(db: sqlite3.Connection, id: str) -> Turn:
    """A turn, by its id or by the first characters of it. Raises NotFound or Ambiguous."""
    row = db.execute(f"{TURN} WHERE said.turn = ? AND {SAID}", (id,)).fetchone()
    found = turns_of(db, [row] if row is not None else _rows_by_prefix(db, id))
    if not found:
        raise NotFound(f"There is no message {id}. `clew log` lists them.")
    if len(found) > 1:
        raise Ambiguous(f"Several messages have ids starting with {id}. Give more characters.")
    return found[0]


def reply_rows(db: sqlite3.Connection, turn: str, condition: str = "TRUE") -> Iterator[Raw]:
    """The rows of all replies to a turn, also of those that were deleted or are off the path, the newest first."""
    query = f"{_REPLIES} AND {condition} ORDER BY said.seq DESC"
    yield from db.execute(query, {"turns": _with_tools(db, turn)})


def replies(db: sqlite3.Connection, turn: str) -> list[Turn]:
    """All replies to a turn, as `reply_rows` has them."""
    return turns_of(db, list(reply_rows(db, turn)))


def _exchange(db: sqlite3.Connection, turn: Turn, *, by_way_of: str | None = None) -> Exchange:
    """A user's turn with its newest reply, or with the newest one below a tool's turn."""
    return answered(db, [turn], [next(reply_rows(db, by_way_of or turn.id, KEPT), None)])[0]


def _exchange_of(db: sqlite3.Connection, turn: Turn) -> Exchange:
    asked = _asked(db, turn) if turn.role in ("assistant", "tool") else None
    if asked is None:
        return _exchange(db, turn)
    if turn.role == "assistant":
        return Exchange(turn=asked, reply=turn, project=Belongings(db).of_session(asked.session))
    return _exchange(db, asked, by_way_of=turn.id)


def _tools(db: sqlite3.Connection, exchange: Exchange, meant: Turn) -> tuple[Turn, ...]:
    """The turns of tools between question and reply, or the newest below the turn that is meant while there is none."""
    if exchange.reply is not None:
        at = exchange.reply.parent
    else:
        below = _with_tools(db, meant.id if meant.role == "tool" else exchange.turn.id)
        query = "SELECT said.turn FROM events AS said WHERE said.turn IN (SELECT value FROM json_each(?))"
        (at,) = db.execute(f"{query} AND {SAID} AND {KEPT} ORDER BY said.seq DESC LIMIT 1", (below,)).fetchone() or (
            None,
        )
    found: list[Turn] = []
    while at is not None and (turn := _kept(db, at)).role == "tool":
        found.insert(0, turn)
        at = turn.parent
    return tuple(found)


def _asked(db: sqlite3.Connection, turn: Turn) -> Turn | None:
    """The user's turn that a reply or a tool's turn is of, with nothing but turns of tools between."""
    above = turn
    while above.parent is not None and (above is turn or above.role == "tool"):
        above = _kept(db, above.parent)
    return above if above.role == "user" else None


def _kept(db: sqlite3.Connection, turn: str) -> Turn:
    """A turn that others follow."""
    return turns_of(db, [said_row(db, turn)])[0]


def _with_tools(db: sqlite3.Connection, turn: str) -> str:
    """A turn and the turns of tools below it, as a JSON list: a reply to any of them is a reply to the turn.

    So is one to a deleted turn below them: what followed that follows them.
    """
    (turns,) = db.execute(_WITH_TOOLS, (turn,)).fetchone()
    found: str = turns
    return found


def _rows_by_prefix(db: sqlite3.Connection, prefix: str) -> list[Raw]:
    if len(prefix) < SHORTEST_PREFIX:
        return []
    first = prefix.upper()  # ULIDs are upper case, people's typing is not
    query = f"{TURN} WHERE said.turn >= ? AND said.turn < ? AND {SAID} ORDER BY said.seq LIMIT 20"
    return db.execute(query, (first, first + "\U0010ffff")).fetchall()
