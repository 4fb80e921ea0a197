"""What the log tells: the conversation, for whoever can take a snapshot of it; and which session is meant.

Invariants: every answer is read in one SQLite snapshot; nothing is kept between calls, so there is no second copy of
the conversation. Texts that were erased read as None; turns keep their place.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal, Unpack, overload

from graph.errors import Ambiguous, NotFound
from graph.events import MAIN_WORLD
from graph.projection.paths import PATH, Paths
from graph.readings import exchanges
from graph.readings.about import about, speakers
from graph.readings.belonging import Belongings
from graph.readings.finding import search
from graph.readings.newest import NewestFilter, NewestItem, NodeKind, Recent, newest
from graph.readings.quoted import believed
from graph.readings.rows import (
    AMONG,
    KEPT,
    LATEST,
    NEWEST,
    SESSION,
    TURN,
    WAITS,
    is_titled,
    session_by_id,
    session_of,
    turn_by_id,
    turns_by_ids,
    turns_of,
)
from graph.readings.snapshots import KeptReadings
from graph.readings.stories import StoryReadings, seen, since
from graph.readings.tree import TreeReadings, shared
from graph.values import About, Exchange, FoundTurn, Session, Turn
from graph.visibility import EVERYONE, Viewer

LAST = "last"
_SAID = "turns AS said JOIN events AS event ON event.seq = said.seq"

_NAMED = "SELECT id FROM sessions WHERE id >= :first AND id < :end AND NOT deleted"
# What was brought along from elsewhere has the time it was said at; what is noted or proposed, no user's role. A story
# begins with its greeting.
_SPOKEN = """
SELECT said.session FROM turns AS said JOIN events AS event ON event.seq = said.seq
JOIN sessions AS own ON own.id = said.session
WHERE (said.role = 'user' OR (said.parent IS NULL AND said.witnesses IS NOT NULL))
    AND NOT own.deleted AND NOT own.archived AND (said.at {} event.at)
ORDER BY {} DESC LIMIT 1
"""
_HERE = _SPOKEN.format("=", "said.seq")
_ELSEWHERE = _SPOKEN.format("<>", "said.at")


def last_session(db: sqlite3.Connection) -> str | None:
    """The session that a person spoke in last, or began a story in, neither archived nor deleted; None for none.

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


class Readings(KeptReadings, TreeReadings, StoryReadings):
    """The questions that the log alone answers. Thread-safe, if `snapshot` is."""

    def sessions(self, *, archived: bool = False) -> list[Session]:
        """All sessions but deleted ones, the newest activity first; archived ones only if asked for."""
        with self.snapshot() as db:
            which = "NOT own.deleted" if archived else "NOT own.deleted AND NOT own.archived"
            return [session_of(db, row) for row in db.execute(f"{SESSION} WHERE {which} {LATEST}").fetchall()]

    def session(self, id: str) -> Session:
        """One session, also an archived or deleted one. Raises NotFound."""
        with self.snapshot() as db:
            return session_by_id(db, id)

    def session_named(self, id: str) -> Session:
        """One session that was not deleted, by its id, the first characters of it, or `last` (see `last_session`).

        Raises NotFound or Ambiguous.
        """
        with self.snapshot() as db:
            return session_named(db, id)

    def last_session(self) -> str | None:
        """The chat that a person spoke in last; None for none.

        It is not archived, keeps no notes, and is no imported one that nobody spoke in since.
        """
        with self.snapshot() as db:
            return last_session(db)

    def is_titled(self, session: str) -> bool:
        """Whether a name or title that it was given is shown of a session, and not its first words. Raises NotFound."""
        with self.snapshot() as db:
            return session_by_id(db, session).named_by_user or is_titled(db, session)

    def thread(
        self, session: str, *, before: str | None = None, limit: int | None = None, witness: str | None = None
    ) -> list[Turn]:
        """The path to the session's head, oldest first: all of it, or the last `limit` turns ahead of turn `before`.

        Hidden turns are flagged, deleted ones left out. Of a story, those of them that a member of its cast saw: with
        `witness`. Raises NotFound.
        """
        with self.snapshot() as db:
            own = session_by_id(db, session)
            start = turn_by_id(db, before).parent if before is not None else own.head
            most = -1 if limit is None else max(limit, 0)
            query = f"{PATH} {TURN} JOIN path ON path.id = said.id ORDER BY path.depth DESC"
            rows = db.execute(query, {"start": start, "limit": most}).fetchall() if most else []
            if witness is not None:
                begins = since(db, own.world, own.head, witness)
                rows = [row for row in rows if row[0] > begins and witness in (row[-2] or "").split()]
            return turns_of(db, rows)

    def waiting(self, session: str) -> list[Turn]:
        """What was said while a reply was streaming and is not taken up yet, oldest first."""
        query = f"{TURN} WHERE said.session = ? AND {WAITS} AND {KEPT} ORDER BY said.seq"
        with self.snapshot() as db:
            return turns_of(db, db.execute(query, (session,)))

    def waiting_sessions(self) -> list[str]:
        """Sessions with a message in the queue, deleted ones left out."""
        with self.snapshot() as db:
            query = f"SELECT DISTINCT said.session FROM turns AS said WHERE {WAITS} AND {KEPT}"
            return [session for (session,) in db.execute(query)]

    def has_turn(self, id: str) -> bool:
        """Whether a turn was said with this id."""
        with self.snapshot() as db:
            return db.execute("SELECT 1 FROM turns WHERE id = ?", (id,)).fetchone() is not None

    def turn(self, id: str) -> Turn:
        """One turn, also a deleted one. Raises NotFound."""
        with self.snapshot() as db:
            return turn_by_id(db, id)

    def turn_named(self, id: str) -> Turn:
        """One turn, by its id or by the first 6 or more characters of it. Raises NotFound or Ambiguous."""
        with self.snapshot() as db:
            return exchanges.turn_named(db, id)

    def quotable(self, ids: Iterable[str], *, world: str | None = None, project: Viewer = EVERYONE) -> dict[str, Turn]:
        """Those of the turns whose words may be quoted: not hidden, erased, deleted or of a deleted session.

        With a `world` only those that are live there, and not kept out of memory; in a chat of a project, or of none,
        of what it sees. By their ids.
        """
        with self.snapshot() as db:
            belongings, paths = Belongings(db), Paths(db)
            found = _quotable(db, ids).values()
            there = [turn for turn in found if belongings.open_to(project, turn.session)]
            if world is not None:
                there = [turn for turn in there if not turn.withheld and paths.sees(turn.id, world)]
            return {turn.id: turn for turn in there}

    def gone(self, ids: Iterable[str]) -> set[str]:
        """Those of the turns whose words nothing may keep: not quotable, or telling such a turn again."""
        wanted = set(ids)
        with self.snapshot() as db:
            there = _quotable(db, wanted)
            return (wanted - there.keys()) | _telling(db, there.values())

    def in_view(self, turns: Iterable[Turn]) -> list[Turn]:
        """The turns as a command may show them: without the words of those that are hidden.

        What tells again what may be quoted no more comes as hidden too.
        """
        given = list(turns)
        with self.snapshot() as db:
            telling = _telling(db, given)
        return [replace(turn, text=None, hidden=True) if turn.hidden or turn.id in telling else turn for turn in given]

    def exchanges(
        self,
        *,
        session: str | None = None,
        project: str | None = None,
        client: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
    ) -> list[Exchange]:
        """What users said, newest first, each with its newest reply; at most 500. Times are aware, `until` exclusive.

        Deleted turns and sessions are left out. Raises ValueError for a naive time.
        """
        with self.snapshot() as db:
            return exchanges.exchanges(
                db, session=session, project=project, client=client, since=since, until=until, limit=limit
            )

    def exchange(self, id: str) -> Exchange:
        """The exchange a turn belongs to, by the id of either turn or by its first 6 or more characters.

        A reply's id gives that reply, a user turn's id the newest one. Raises NotFound, or Ambiguous.
        """
        with self.snapshot() as db:
            return exchanges.exchange(db, id)

    @overload
    def recent(self, kind: Literal["exchange"], limit: int, **within: Unpack[NewestFilter]) -> list[Exchange]: ...
    @overload
    def recent(self, kind: Literal["turn"], limit: int, **within: Unpack[NewestFilter]) -> list[Turn]: ...
    @overload
    def recent(self, kind: Literal["session"], limit: int, **within: Unpack[NewestFilter]) -> list[Session]: ...

    def recent(
        self, kind: Literal["exchange", "turn", "session"], limit: int, **within: Unpack[NewestFilter]
    ) -> Sequence[Exchange | Turn | Session]:
        """What a world sees, the newest first by when it was said: not hidden, deleted or off the path.

        Raises ValueError for a naive time.
        """
        with self.snapshot() as db:
            newest = Recent(db, **within)
            match kind:
                case "exchange":
                    return newest.exchanges(limit)
                case "turn":
                    return newest.turns(limit)
                case "session":
                    return newest.sessions(limit)

    def newest(self, kinds: Collection[NodeKind], limit: int, **within: Unpack[NewestFilter]) -> list[NewestItem]:
        """The live nodes of some kinds that a world sees, and there a chat of a project, the newest first.

        What the log tells: for observations, and for a naive time, it raises ValueError.
        """
        with self.snapshot() as db:
            return newest(db, kinds, limit, **within)

    def pinned(
        self, world: str = MAIN_WORLD, *, project: Viewer = EVERYONE, seen_by: tuple[str, str] | None = None
    ) -> list[Turn]:
        """The turns that are pinned in a world and that it sees, oldest first: by hand, and the newest pivotal ones.

        Of those, the ones that a chat of a project, or of none, sees.

        A turn that was rated 3 is pinned by itself, the newest 8 of a speaker, unless it was unpinned by hand. With
        `seen_by`, a chat and a member of its cast, only what that one saw is there, and counts. Raises NotFound then.
        """
        with self.snapshot() as db:
            saw = partial(seen, db, *seen_by) if seen_by is not None else set
            return Recent(db, world=world, project=project).pinned(saw)

    def search(self, text: str, *, limit: int = 50) -> list[FoundTurn]:
        """Turns that hold what was typed, whatever has become of them, the best match first."""
        with self.snapshot() as db:
            return search(db, text, limit=limit)

    def said(self, limit: int) -> list[str]:
        """The user's own messages, newest first, without hidden and deleted ones."""
        where = f"said.role = 'user' AND NOT said.hidden AND event.text IS NOT NULL AND {KEPT}"
        with self.snapshot() as db:
            rows = db.execute(f"SELECT event.text FROM {_SAID} WHERE {where} {NEWEST} LIMIT ?", (max(limit, 0),))
            return [text for (text,) in rows]

    def about(self, name: str, *, limit: int = 20, world: str = MAIN_WORLD, project: Viewer = EVERYONE) -> About:
        """What there is about a person, place or project: what it said, what names it, where; newest turns first.

        Of what a chat of a `project`, or of none, sees.
        """
        with self.snapshot() as db:
            return about(db, name, limit=limit, world=world, project=project)

    def speakers(self) -> list[str]:
        """Everyone who ever said something."""
        with self.snapshot() as db:
            return speakers(db)

    def said_in(self, session: str) -> set[str]:
        """All turns that were said in a session, those off its path and deleted ones too."""
        with self.snapshot() as db:
            return {turn for (turn,) in db.execute("SELECT id FROM turns WHERE session = ?", (session,))}

    def search_words(self, query: str, *, limit: int = 20) -> list[str]:
        """Ids of the turns whose words match an FTS5 `query`, the best first."""
        sql = "SELECT id FROM words JOIN turns ON turns.seq = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT ?"
        with self.snapshot() as db:
            return [turn for (turn,) in db.execute(sql, (query, limit))]

    def imported(self, sources: Sequence[str]) -> dict[str, str]:
        """The turn, or else the session, that was imported from each source, also one deleted since."""
        query = f"SELECT source, id FROM imports WHERE source {AMONG}"
        with self.snapshot() as db:
            return dict(db.execute(query, (json.dumps(list(sources)),)))

    def counts(self) -> dict[str, int]:
        """How much there is: events, turns and sessions (the deleted ones of both left out)."""
        with self.snapshot() as db:
            return {
                "events": _number(db, "SELECT coalesce(max(seq), 0) FROM events"),
                "turns": _number(db, "SELECT count(*) FROM turns")
                - _number(db, "SELECT count(*) FROM turns WHERE deleted"),
                "sessions": _number(db, "SELECT count(*) FROM sessions WHERE NOT deleted"),
            }

    def head(self) -> int:
        """The sequence number of the last event, 0 before the first."""
        with self.snapshot() as db:
            return _number(db, "SELECT coalesce(max(seq), 0) FROM events")


def _quotable(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, Turn]:
    found = turns_by_ids(db, ids)
    kept = {turn.id: turn for turn in found if turn.text is not None and not turn.hidden and not turn.deleted}
    sessions = json.dumps(list({turn.session for turn in kept.values()}))
    gone = db.execute(f"SELECT id FROM sessions WHERE deleted AND id {AMONG}", (sessions,))
    over = {session for (session,) in gone}
    lost = {id for id, turn in kept.items() if turn.session in over}
    lost -= shared(db, lost) if lost else set()  # a fork goes on with what was said before it left
    return {id: turn for id, turn in kept.items() if id not in lost}


def _telling(db: sqlite3.Connection, turns: Iterable[Turn]) -> set[str]:
    """Those of the turns that tell again what may be quoted no more."""
    quotes = {turn.id: {item.id for item in turn.recalled} for turn in turns if turn.retells}
    told = set().union(*quotes.values())
    there = set(_quotable(db, told))
    there |= believed(db, told - there, None).keys()
    return {turn for turn, quoted in quotes.items() if not quoted <= there}


def _number(db: sqlite3.Connection, query: str) -> int:
    number: int = db.execute(query).fetchone()[0]
    return number
