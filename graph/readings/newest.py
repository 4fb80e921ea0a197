"""The newest of what is live: exchanges, turns, sessions, who is named, and any other kind of node.

Read from the log, so that what was said lately is known also while the graph is behind; but for observations: how one
stands only the graph knows (observations.py).
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, Literal, TypedDict, Unpack, get_args

from graph.events import MAIN_WORLD
from graph.ids import as_datetime, as_ms
from graph.projection.identities import Identities
from graph.projection.paths import Paths
from graph.readings import kept
from graph.readings.belonging import Belongings, said_to
from graph.readings.exchanges import answered, reply_rows
from graph.readings.rows import AMONG, LATEST, NEWEST, SESSION, TURN, Raw, session_by_id, session_of, turn_of, turns_of
from graph.readings.worlds import turns_by_hand, worlds
from graph.values import Exchange, Observation, Session, Turn
from graph.visibility import EVERYONE, Viewer, sees_made, sees_said

_BOUNDED = {"since": "said.at >= :since", "until": "said.at < :until", "exclude": "said.session <> :exclude"}

MOST_PIVOTAL = 8  # turns of a speaker that are pinned by their significance

# Rated 3, the newest first.
_PIVOTAL = f"{TURN} WHERE said.significance = 3 AND event.text IS NOT NULL {NEWEST}"
# In a world of its own a turn is live; another world may have inherited it, which its paths tell.
_OPEN = "(said.live AND said.world = :world OR said.world <> :world AND NOT said.hidden AND NOT said.deleted)"

# Somebody else than the two of every chat speaks, or somebody or something is named.
_NAMES = """
(said.speaker NOT IN ('you', 'assistant') AND said.role <> 'tool' OR EXISTS (
    SELECT 1 FROM links WHERE start = said.id AND rel = 'MENTIONS'
))
"""
_NAMED = """
SELECT links.key, event.text FROM links JOIN events AS event ON event.seq = links.seq
WHERE links.start = ? AND links.rel = 'MENTIONS' AND event.text IS NOT NULL ORDER BY links.seq
"""


class NewestFilter(TypedDict, total=False):
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
        self._values |= {**values, "world": world}
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
        query = f"{SESSION} WHERE NOT own.deleted {LATEST}"
        found: list[Session] = []
        with closing(self._db.execute(query)) as rows:
            while len(found) < limit and (row := rows.fetchone()) is not None:
                session = session_of(self._db, row)
                if self._is_here(session):
                    found.append(session)
        return found

    def named(self, limit: int) -> list[tuple[str, str, datetime]]:
        """Who and what live turns name, and who else speaks in them: id, name and when that was last."""
        found: dict[str, tuple[str, str, datetime]] = {}
        who = Identities(self._db, self._world)
        for row in self._live(_NAMES):
            turn = turn_of(row)
            names = self._db.execute(_NAMED, (turn.id,)).fetchall()
            for told, name in [*names, (turn.speaker, who.name(turn.speaker) or turn.speaker)]:
                id = who.meant(told, turn.id)
                if len(found) < limit and id not in ("you", "assistant"):
                    found.setdefault(id, (id, who.given(id) or (name if id == told else who.name(id) or name), turn.at))
            if len(found) >= limit:
                break
        return list(found.values())

    def pinned(self, saw: Callable[[Iterable[str]], set[str]] = set) -> list[Turn]:
        """Live pinned turns, the oldest first: those the user pinned, and of each speaker the newest pivotal ones.

        `saw` gives those of some turns that are asked for; all where it is not said.
        """
        by_hand = turns_by_hand(self._db, self._paths.lineage(self._world))
        listed = json.dumps(sorted(saw(turn for turn, on in by_hand.items() if on)))
        found = [row for row in self._db.execute(f"{TURN} WHERE said.id {AMONG}", (listed,)) if self._holds(row)]
        by_themselves: Counter[str] = Counter()
        pivotal = {turn_of(row).id: row for row in self._db.execute(_PIVOTAL)}
        there = saw(pivotal)
        for row in (row for id, row in pivotal.items() if id in there):
            turn = turn_of(row)
            if by_themselves[turn.speaker] < MOST_PIVOTAL and turn.id not in by_hand and self._holds(row):
                by_themselves[turn.speaker] += 1
                found.append(row)
        turns = turns_of(self._db, sorted(found, key=lambda row: (row[1], row[0])))
        return [replace(turn, pinned=by_hand.get(turn.id, False)) for turn in turns]

    def _live(self, condition: str) -> Iterator[Raw]:
        """Rows of live turns with words, the newest first, read only as far as they are asked for."""
        where = f"{condition} AND event.text IS NOT NULL AND NOT said.withheld AND {_OPEN}{self._bounds}"
        with closing(self._db.execute(f"{TURN} WHERE {where} {NEWEST}", self._values)) as rows:
            while (row := rows.fetchone()) is not None:
                if self._shows(row):
                    yield row

    def _is_here(self, session: Session) -> bool:
        """Whether something was said in that time in a session of the world, or in another and the world sees it."""
        if session.world != self._world and self._world == MAIN_WORLD:
            return False
        here = f"{TURN} WHERE said.session = :session{self._bounds} {NEWEST}"
        with closing(self._db.execute(here, {**self._values, "session": session.id})) as rows:
            if session.world == self._world:
                return rows.fetchone() is not None
            return any(self._holds(row) for row in rows)

    def _holds(self, row: Raw) -> bool:
        return not row[8] and self._shows(row)

    def _reply(self, turn: Turn) -> Raw | None:
        return next((row for row in reply_rows(self._db, turn.id) if self._shows(row)), None)

    def _shows(self, row: Raw) -> bool:
        return self._belongings.open_to(self._viewer, row[2]) and self._paths.sees(row[-1], self._world)


NodeKind = Literal["turn", "session", "observation", "entity", "document", "chunk", "project", "block", "world"]
NODE_KINDS: tuple[NodeKind, ...] = get_args(NodeKind)

_MADE = "SELECT event.at FROM projects JOIN events AS event ON event.seq = projects.seq WHERE projects.id = ?"


@dataclass(frozen=True, slots=True)
class NewestItem:
    """A node on one line.

    `at` is when it was said, learned, read or written, or something was said last in it or of it; UTC. `place` is the
    id of the session of a turn, of the document of a chunk.
    """

    kind: NodeKind
    id: str
    text: str
    at: datetime
    project: str | None = None
    place: str | None = None


def newest(
    db: sqlite3.Connection, kinds: Collection[NodeKind], limit: int, **within: Unpack[NewestFilter]
) -> list[NewestItem]:
    """The nodes of some kinds, the newest first. Raises ValueError for a naive time, or for observations."""
    if "observation" in kinds:
        raise ValueError("how an observation stands only the graph knows")
    asked = _Asked(db, within, max(limit, 0))
    return first([each for kind in dict.fromkeys(kinds) for each in islice(asked.of(kind), asked.limit)], limit)


def first(found: list[NewestItem], limit: int) -> list[NewestItem]:
    """The newest of some nodes."""
    return sorted(found, key=lambda each: each.at, reverse=True)[: max(limit, 0)]


def learned(memory: Observation) -> NewestItem:
    """A memory in use as a node on one line."""
    return NewestItem("observation", memory.id, memory.text or "", memory.at, memory.project or None)


class _Asked:
    """What is asked for, in one snapshot of the log."""

    def __init__(self, db: sqlite3.Connection, within: NewestFilter, limit: int) -> None:
        self._db, self._within, self.limit = db, within, limit
        self._viewer, self._world = within.get("project", EVERYONE), within.get("world", MAIN_WORLD)
        self._recent, self._belongings = Recent(db, **within), Belongings(db)

    def of(self, kind: NodeKind) -> Iterator[NewestItem]:
        """The nodes of a kind, the newest first."""
        asked: dict[NodeKind, Callable[[], Iterator[NewestItem]]] = {
            "turn": self._turns,
            "session": self._sessions,
            "entity": self._entities,
            "document": self._documents,
            "chunk": self._chunks,
            "project": self._projects,
            "block": self._blocks,
            "world": self._worlds,
        }
        return asked[kind]()

    def _turns(self) -> Iterator[NewestItem]:
        for turn in self._recent.turns(self.limit):
            project = self._belongings.of_session(turn.session)
            yield NewestItem("turn", turn.id, turn.text or "", turn.at, project, turn.session)

    def _sessions(self) -> Iterator[NewestItem]:
        for each in self._recent.sessions(self.limit):
            yield NewestItem("session", each.id, each.name or "", each.last_at, each.project)

    def _entities(self) -> Iterator[NewestItem]:
        for id, name, at in self._recent.named(self.limit):
            yield NewestItem("entity", id, name, at)

    def _documents(self) -> Iterator[NewestItem]:
        for each in kept.documents(self._db):
            seen = sees_made(self._viewer, each.project, everywhere=True)
            if each.chunks and seen and self._is_then(each.at):
                yield NewestItem("document", each.id, each.title, each.at, each.project)

    def _chunks(self) -> Iterator[NewestItem]:
        for document in self._documents():
            for each in kept.document_chunks(self._db, document.id):
                yield NewestItem("chunk", each.id, each.text, each.at, document.project, document.id)

    def _projects(self) -> Iterator[NewestItem]:
        """By when something was said last in them, or else when they were made."""
        found = []
        for each in kept.projects(self._db):
            if each.status != "active" or not sees_said(self._viewer, each.name):
                continue
            inside: NewestFilter = {**self._within, "project": each.name}
            last = Recent(self._db, **inside).turns(1)
            times = [turn.at for turn in last] or [as_datetime(at) for (at,) in self._db.execute(_MADE, (each.name,))]
            found += [NewestItem("project", each.name, each.description, at, each.name) for at in times[:1]]
        yield from (each for each in first(found, len(found)) if self._is_then(each.at))

    def _blocks(self) -> Iterator[NewestItem]:
        found = []
        for each in kept.blocks(self._db, self._world, self._viewer):
            (at,) = self._db.execute("SELECT at FROM events WHERE seq = ?", (each.version,)).fetchone()
            found.append(NewestItem("block", each.name, each.text, as_datetime(at), each.project))
        yield from (each for each in first(found, len(found)) if self._is_then(each.at))

    def _worlds(self) -> Iterator[NewestItem]:
        """What-ifs: main has no beginning, and a story is none; those of a story are told in that alone."""
        every = worlds(self._db)
        here = next((each.story for each in every if each.id == self._world), None)
        for each in reversed(every):
            if each.session is None or each.began_at is None or not self._is_then(each.began_at):
                continue
            if each.story != here:
                continue
            begun = session_by_id(self._db, each.session)
            if sees_said(self._viewer, begun.project):
                yield NewestItem("world", each.id, begun.name or "", each.began_at, begun.project)

    def _is_then(self, at: datetime) -> bool:
        since, until = self._within.get("since"), self._within.get("until")
        return (since is None or at >= since) and (until is None or at < until)
