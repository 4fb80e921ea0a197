"""Exchanges as the log tells them: what a user said with the reply to it, also past the turns of tools."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from graph.errors import Ambiguous, NotFound
from graph.ids import as_ms
from graph.readings.belonging import Belongings
from graph.readings.rows import AMONG, KEPT, NEWEST, TURN, Raw, turn_by_id, turns_of
from graph.values import Exchange, Turn

MOST_EXCHANGES = 500
SHORTEST_PREFIX = 6

_FILTERS = {
    "session": "said.session = :session",
    "client": "said.client = :client",
    "since": "said.at >= :since",
    "until": "said.at < :until",
    "project": "said.session IN (SELECT id FROM sessions WHERE coalesce(project, '') = :project)",
}
_REPLIES = f"""
{TURN} WHERE said.role = 'assistant' AND said.above IN (SELECT value FROM json_each(:turns))
AND {{condition}} ORDER BY said.seq DESC
"""
_TOOLS = f"SELECT id FROM turns WHERE above {AMONG} AND role = 'tool'"


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
    conditions = " AND ".join(["said.role = 'user'", KEPT, *filters])
    asked = turns_of(db, db.execute(f"{TURN} WHERE {conditions} {NEWEST} LIMIT :limit", values))
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
    turns = _turns_by_prefix(db, id)
    found = [_exchange_of(db, turn) for turn in turns]
    if not found:
        raise NotFound(f"There is no message {id}. `clew log` lists them.")
    if len({exchange.turn.id for exchange in found}) > 1:
        raise Ambiguous(f"Several messages have ids starting with {id}. Give more characters.")
    return replace(found[-1], tools=_tools(db, found[-1], turns[-1]))


def turn_named(db: sqlite3.Connection, id: str) -> Turn:
    """A turn, by its id or by the first characters of it. Raises NotFound or Ambiguous."""
    found = _turns_by_prefix(db, id)
    if not found:
        raise NotFound(f"There is no message {id}. `clew log` lists them.")
    if len(found) > 1:
        raise Ambiguous(f"Several messages have ids starting with {id}. Give more characters.")
    return found[0]


def reply_rows(db: sqlite3.Connection, turn: str, condition: str = "TRUE") -> Iterator[Raw]:
    """The rows of all replies to a turn, also of those that were deleted or are off the path, the newest first."""
    yield from db.execute(_REPLIES.format(condition=condition), {"turns": json.dumps(_with_tools(db, turn))})


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
        query = f"SELECT id FROM turns AS said WHERE id {AMONG} AND {KEPT} ORDER BY seq DESC LIMIT 1"
        (at,) = db.execute(query, (json.dumps(below),)).fetchone() or (None,)
    found: list[Turn] = []
    while at is not None and (turn := turn_by_id(db, at)).role == "tool":
        found.insert(0, turn)
        at = turn.parent
    return tuple(found)


def _asked(db: sqlite3.Connection, turn: Turn) -> Turn | None:
    """The user's turn that a reply or a tool's turn is of, with nothing but turns of tools between."""
    above = turn
    while above.parent is not None and (above is turn or above.role == "tool"):
        above = turn_by_id(db, above.parent)
    return above if above.role == "user" else None


def _with_tools(db: sqlite3.Connection, turn: str) -> list[str]:
    """A turn and the turns of tools below it: a reply to any of them is a reply to the turn."""
    found, last = [turn], [turn]
    while last:
        last = [each for (each,) in db.execute(_TOOLS, (json.dumps(last),))]
        found += last
    return found


def _turns_by_prefix(db: sqlite3.Connection, prefix: str) -> list[Turn]:
    """The turn of an id, or else those whose ids begin with 6 or more characters."""
    found = db.execute(f"{TURN} WHERE said.id = ?", (prefix,)).fetchall()
    if not found and len(prefix) >= SHORTEST_PREFIX:
        first = prefix.upper()  # ULIDs are upper case, people's typing is not
        query = f"{TURN} WHERE said.id >= ? AND said.id < ? ORDER BY said.seq LIMIT 20"
        found = db.execute(query, (first, first + "\U0010ffff")).fetchall()
    return turns_of(db, found)
