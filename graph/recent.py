"""The newest of what is live, by when it was said: exchanges, turns, sessions, who is named, and what is pinned.

Read from the log, so that what was said lately is known also while the graph is behind.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, TypedDict

from graph.belonging import Belongings, said_to
from graph.events import MAIN_WORLD
from graph.exchanges import answered, reply_rows
from graph.ids import as_ms
from graph.paths import Paths
from graph.pinning import turns_by_hand
from graph.rows import SAID, SESSION, TURN, Raw, session_with, turn_of, turns_of
from graph.values import Exchange, Session, Turn
from graph.visibility import EVERYONE, Viewer
from graph.walks import BEGUN

_BOUNDED = {"since": "said.told >= :since", "until": "said.told < :until", "exclude": "said.session <> :exclude"}

MOST_PIVOTAL = 8  # turns of a speaker that are pinned by their significance

_PINNED = f"{TURN} WHERE {SAID} AND said.turn IN (SELECT value FROM json_each(?))"
# Rated 3 last, the newest first.
_PIVOTAL = f"""
{TURN} WHERE {SAID} AND said.turn IN (
    SELECT rating.turn FROM events AS rating
    WHERE rating.kind = 'turn.rated' AND rating.structure ->> '$.significance' = 3
    AND NOT EXISTS (SELECT 1 FROM events AS later WHERE later.turn = rating.turn AND later.kind = 'turn.rated'
        AND later.seq > rating.seq)
) AND said.text IS NOT NULL ORDER BY said.told DESC, said.seq DESC
"""

# Somebody else than the two of every chat speaks, or somebody or something is named.
_NAMES = """
(said.speaker NOT IN ('you', 'assistant') AND said.role <> 'tool' OR EXISTS (
    SELECT 1 FROM named WHERE named.name = said.turn AND named.kind = 'entity.noted'
))
"""
_NAMED = """
SELECT noted.item, noted.text FROM named JOIN events AS noted USING (seq)
WHERE named.name = ? AND named.kind = 'entity.noted' AND noted.text IS NOT NULL ORDER BY noted.seq
"""


class Within(TypedDict, total=False):
    """What is asked for: times are aware, `since` is inclusive, `until` exclusive; the world is main unless said.

    `project` is who looks: a chat of that project, of none (None), or else the user.
    """

    world: str
    since: datetime | None
    until: datetime | None
    exclude_session: str | None
    project: Viewer


class Recent:
    """What is newest in one world, and in a time."""

    def __init__(
        self,
        db: sqlite3.Connection,
        *,
        world: str = MAIN_WORLD,
        since: datetime | None = None,
        until: datetime | None = None,
        exclude_session: str | None = None,
        project: Viewer = EVERYONE,
    ) -> None:
        self._db = db
        self._world = world
        self._paths = Paths(db)
        bounds = {"since": since and as_ms(since), "until": until and as_ms(until), "exclude": exclude_session}
        self._values: dict[str, Any] = {name: value for name, value in bounds.items() if value is not None}
        here, values = said_to(project)
        self._bounds = "".join(f" AND {_BOUNDED[name]}" for name in self._values) + here
        self._values |= values
        self._viewer, self._belongings = project, Belongings(db)

    def turns(self, limit: int) -> list[Turn]:
        """Live turns, those of tools left out."""
        found = list(islice(self._live("said.role <> 'tool'"), max(limit, 0)))
        return turns_of(self._db, found)

    def exchanges(self, limit: int) -> list[Exchange]:
        """Live turns of users, each with the newest live reply to it."""
        asked = turns_of(self._db, list(islice(self._live("said.role = 'user'"), max(limit, 0))))
        return answered(self._db, asked, [self._reply(turn) for turn in asked])

    def sessions(self, limit: int) -> list[Session]:
        """Sessions in which something was said in that time, archived ones too; of a what-if, also those it sees."""
        query = f"{SESSION} WHERE {BEGUN} ORDER BY last_told DESC, last_seq DESC"
        found: list[Session] = []
        with closing(self._db.execute(query)) as rows:
            while len(found) < limit and (row := rows.fetchone()) is not None:
                session = session_with(self._db, row, self._paths)
                if not session.deleted and self._is_here(session):
                    found.append(session)
        return found

    def named(self, limit: int) -> list[tuple[str, str, datetime]]:
        """Who and what live turns name, and who else speaks in them: id, name and when that was last."""
        found: dict[str, tuple[str, str, datetime]] = {}
        for row in self._live(_NAMES):
            turn = turn_of(row, 0)
            names = self._db.execute(_NAMED, (turn.id,)).fetchall()
            for id, name in [*names, (turn.speaker, turn.speaker)]:
                if len(found) < limit and id not in ("you", "assistant"):
                    found.setdefault(id, (id, name, turn.at))
            if len(found) >= limit:
                break
        return list(found.values())

    def pinned(self) -> list[Turn]:
        """Live pinned turns, the oldest first: those the user pinned, and of each speaker the newest pivotal ones."""
        by_hand = turns_by_hand(self._db, self._paths.lineage(self._world))
        listed = json.dumps([turn for turn, on in by_hand.items() if on])
        found = [row for row in self._db.execute(_PINNED, (listed,)).fetchall() if self._holds(row)]
        by_themselves: Counter[str] = Counter()
        for row in self._db.execute(_PIVOTAL).fetchall():
            turn = turn_of(row, 0)
            if by_themselves[turn.speaker] < MOST_PIVOTAL and turn.id not in by_hand and self._holds(row):
                by_themselves[turn.speaker] += 1
                found.append(row)
        turns = turns_of(self._db, sorted(found, key=lambda row: (row[1], row[0])))
        return [replace(turn, pinned=by_hand.get(turn.id, False)) for turn in turns]

    def _live(self, condition: str) -> Iterator[Raw]:
        """Rows of live turns with words, the newest first, read only as far as they are asked for."""
        where = f"{SAID} AND {condition} AND said.text IS NOT NULL{self._bounds}"
        query = f"{TURN} WHERE {where} ORDER BY said.told DESC, said.seq DESC"
        with closing(self._db.execute(query, self._values)) as rows:
            while (row := rows.fetchone()) is not None:
                if self._holds(row):
                    yield row

    def _is_here(self, session: Session) -> bool:
        """Whether something was said in that time in a session of the world, or in another and the world sees it."""
        if session.world != self._world and self._world == MAIN_WORLD:
            return False
        here = f"{TURN} WHERE {SAID} AND said.session = :session{self._bounds} ORDER BY said.told DESC, said.seq DESC"
        with closing(self._db.execute(here, {**self._values, "session": session.id})) as rows:
            if session.world == self._world:
                return rows.fetchone() is not None
            return any(self._holds(row) for row in rows)

    def _holds(self, row: Raw) -> bool:
        turn = turn_of(row, 0)
        return not turn.withheld and self._shows(turn)

    def _reply(self, turn: Turn) -> Raw | None:
        return next((row for row in reply_rows(self._db, turn.id) if self._shows(turn_of(row, 0))), None)

    def _shows(self, turn: Turn) -> bool:
        return self._belongings.open_to(self._viewer, turn.session) and self._paths.sees(turn, self._world)
