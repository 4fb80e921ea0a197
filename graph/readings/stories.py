"""The questions about stories, for whoever can take a snapshot of the log: their casts, their stages, who saw what."""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

from graph.events import SEATS
from graph.ids import as_datetime
from graph.projection.paths import PATH
from graph.projection.sources import is_over
from graph.projection.sqlite_tables import SqliteSink
from graph.projection.stage import Line, Stage
from graph.projection.stories import RESET, SEAT
from graph.readings.rows import AMONG, TURN, members, session_by_id, turns_of
from graph.values import Member, Session, StageLine, StoryWorld, Turn

UNJUDGED = 64  # turns of a path that are looked through

_STORIES = """
SELECT worlds.id, event.text, event.at FROM worlds JOIN events AS event ON event.seq = worlds.name_seq
WHERE worlds.story = worlds.id ORDER BY worlds.seq
"""
_CHATS = """
SELECT own.id FROM sessions AS own JOIN worlds ON worlds.id = own.world
WHERE worlds.story = ? AND NOT own.deleted ORDER BY own.last_at DESC, own.last_seq DESC
"""
_STORY_OF = "SELECT worlds.story FROM sessions AS own JOIN worlds ON worlds.id = own.world WHERE own.id = ?"
_SAW = f"SELECT id, witnesses FROM turns WHERE id {AMONG} AND seq > ? AND witnesses IS NOT NULL"
# Events that change nothing on any stage.
_CHANGED = """
SELECT 1 FROM events WHERE seq > ? AND kind NOT IN (
    'turn.said', 'session.titled', 'session.renamed', 'reflection.done', 'reflection.failed', 'mark.set', 'turn.rated'
) LIMIT 1
"""
_KEPT_LINES = f"""
SELECT line.seq FROM stage_lines AS line JOIN events AS event ON event.seq = line.seq
WHERE line.seq {AMONG} AND event.text IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM links JOIN turns ON turns.id = links.target
    WHERE links.start = line.id AND links.rel = 'SET_FROM' AND (turns.hidden OR turns.deleted)
)
"""
_UNJUDGED = f"""
{PATH} {TURN} JOIN path ON path.id = said.id JOIN unreflected ON unreflected.seq = said.seq
WHERE NOT said.hidden AND event.text IS NOT NULL ORDER BY path.depth DESC
"""
_HEARD = f"""
{PATH} SELECT count(*) FROM turns AS said JOIN path ON path.id = said.id
WHERE said.role = 'user' AND NOT said.hidden AND said.seq > :begins AND instr(' ' || said.witnesses || ' ', :witness)
"""
_SHARED = f"""
{PATH} SELECT 1 FROM turns AS said JOIN path ON path.id = said.id
WHERE NOT said.hidden AND instr(' ' || said.witnesses || ' ', :one) AND instr(' ' || said.witnesses || ' ', :other)
LIMIT 1
"""
_RATED = f"SELECT id, significance FROM turns WHERE id {AMONG} AND significance IS NOT NULL"
_PLAYED = "SELECT 1 FROM worlds WHERE id = ? AND story IS NOT NULL"
_TEXTS = f"SELECT seq, text FROM events WHERE seq {AMONG}"


class StoryReadings(ABC):
    """Stories, as the log has them."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def stories(self) -> list[StoryWorld]:
        """Those that have a chat left, the oldest first."""
        with self.snapshot() as db:
            found = [
                StoryWorld(world, name or "", as_datetime(at), tuple(id for (id,) in db.execute(_CHATS, (world,))))
                for world, name, at in db.execute(_STORIES).fetchall()
            ]
            return [story for story in found if story.sessions]

    def is_story(self, world: str) -> bool:
        """Whether a world is a story, or a what-if of one."""
        with self.snapshot() as db:
            return db.execute(_PLAYED, (world,)).fetchone() is not None

    def story_of(self, session: str) -> str | None:
        """The world of the story that a chat is of, maybe over what-ifs; None of any other chat."""
        with self.snapshot() as db:
            row = db.execute(_STORY_OF, (session,)).fetchone()
            return row[0] if row is not None else None

    def cast(self, session: str, *, at: str | None = None) -> list[Member]:
        """Who plays in a chat, as it stands at its head, or at a turn: you, host, guest. Raises NotFound."""
        with self.snapshot() as db:
            own = session_by_id(db, session)
            return cast(db, own.world, at or _head(db, own))

    def seen(self, session: str, member: str, turns: Iterable[str]) -> set[str]:
        """Those of the turns that a member of a chat's cast saw, as far as it remembers. Raises NotFound."""
        with self.snapshot() as db:
            return seen(db, session, member, turns)

    def heard(self, session: str, member: str) -> int:
        """How many messages of the user a member of a chat's cast saw on its path. Raises NotFound."""
        with self.snapshot() as db:
            own = session_by_id(db, session)
            begins = since(db, own.world, _head(db, own), member)
            given = {"start": own.head, "limit": -1, "begins": begins, "witness": f" {member} "}
            count: int = db.execute(_HEARD, given).fetchone()[0]
            return count

    def have_met(self, session: str, one: str, other: str) -> bool:
        """Whether two of a cast saw the same message on a chat's path. Raises NotFound."""
        with self.snapshot() as db:
            start = session_by_id(db, session).head
            given = {"start": start, "limit": -1, "one": f" {one} ", "other": f" {other} "}
            return db.execute(_SHARED, given).fetchone() is not None

    def stage(
        self, session: str, *, at: str | None = None, witness: str | None = None
    ) -> dict[tuple[str, str], StageLine]:
        """What stands on a chat's stage, at its head or at a turn, by owner and aspect. Raises NotFound.

        With a `witness`, as far as it comes from what that member of the cast saw.
        """
        with self.snapshot() as db:
            own = session_by_id(db, session)
            lines = _stage(db, own.world, at or _head(db, own), witness).lines()
            texts = dict(db.execute(_TEXTS, (json.dumps([line.seq for line in lines.values()]),)))
            return {key: _shown(line, texts.get(line.seq)) for key, line in lines.items()}

    def play(self, session: str, *, witness: str | None = None) -> tuple[list[Member], list[StageLine]]:
        """Who plays in a chat, and all lines of its stage that hold, as `cast` and `stage_history` tell them."""
        with self.snapshot() as db:
            own = session_by_id(db, session)
            lines = _stage(db, own.world, _head(db, own), witness).every()
            texts = dict(db.execute(_TEXTS, (json.dumps([line.seq for line in lines]),)))
            there = [_shown(line, texts.get(line.seq)) for line in lines]
            return _seated(db, {(line.owner, line.aspect): line for line in lines}), there

    def only_said(self, session: str, since: int, head: str | None) -> bool:
        """Whether nothing happened since an event but that something was said below a head of a chat, or it was read.

        Raises NotFound.
        """
        with self.snapshot() as db:
            if db.execute(_CHANGED, (since,)).fetchone() is not None:
                return False
            now = _head(db, session_by_id(db, session))
            return head == now or (head is not None and now is not None and is_over(SqliteSink(db), head, now))

    def stands_at(self, session: str) -> str | None:
        """Where a chat's head was put, maybe at a turn that was deleted: a story goes on below what was set there."""
        with self.snapshot() as db:
            return _head(db, session_by_id(db, session))

    def lines_kept(self, lines: Iterable[int]) -> set[int]:
        """Those of some events that are lines of a stage with words, none of whose sources is hidden or deleted."""
        with self.snapshot() as db:
            return {seq for (seq,) in db.execute(_KEPT_LINES, (json.dumps(list(lines)),))}

    def stage_history(self, session: str, owner: str | None = None, *, witness: str | None = None) -> list[StageLine]:
        """All lines that hold at a chat's head, of one owner or of all, from the first turn to the last.

        With a `witness`, as far as they come from what that member of the cast saw. Raises NotFound.
        """
        with self.snapshot() as db:
            own = session_by_id(db, session)
            lines = _stage(db, own.world, _head(db, own), witness).every(owner)
            texts = dict(db.execute(_TEXTS, (json.dumps([line.seq for line in lines]),)))
            return [_shown(line, texts.get(line.seq)) for line in lines]

    def unjudged(self, session: str) -> list[Turn]:
        """The replies of models on a chat's path that nobody has judged yet, the oldest first. Raises NotFound."""
        with self.snapshot() as db:
            head = session_by_id(db, session).head
            rows = db.execute(_UNJUDGED, {"start": head, "limit": UNJUDGED}).fetchall()
            return [turn for turn in turns_of(db, rows) if turn.model is not None]

    def ratings(self, turns: Iterable[str]) -> dict[str, int]:
        """How much each of some turns matters that somebody or something judged: 0 to 3."""
        with self.snapshot() as db:
            return dict(db.execute(_RATED, (json.dumps(list(turns)),)))

    def holding(self, session: str, lines: Iterable[int], witness: str | None = None) -> set[int]:
        """Those of some lines of the stage, by their events, that hold at a chat's head. Raises NotFound."""
        with self.snapshot() as db:
            own = session_by_id(db, session)
            return _stage(db, own.world, _head(db, own), witness).holding(lines)


def _head(db: sqlite3.Connection, own: Session) -> str | None:
    """Where a chat's head was put, deleted or not: what was set there holds below."""
    head: str | None = db.execute("SELECT head FROM sessions WHERE id = ?", (own.id,)).fetchone()[0]
    return head


def _stage(db: sqlite3.Connection, world: str, head: str | None, witness: str | None) -> Stage:
    begins = since(db, world, head, witness) if witness is not None else 0
    return Stage(db, world, head, witness=witness, since=begins)


def seen(db: sqlite3.Connection, session: str, member: str, turns: Iterable[str]) -> set[str]:
    """Those of the turns that a member of a chat's cast saw, as far as it remembers. Raises NotFound."""
    own = session_by_id(db, session)
    begins = since(db, own.world, _head(db, own), member)
    rows = db.execute(_SAW, (json.dumps(list(turns)), begins))
    return {turn for turn, saw in rows if member in saw.split()}


def cast(db: sqlite3.Connection, world: str, head: str | None) -> list[Member]:
    """Who plays along a path of a world. A seat is of whoever took it last, of those who did not leave it."""
    return _seated(db, Stage(db, world, head).lines())


def _seated(db: sqlite3.Connection, lines: Mapping[tuple[str, str], Line]) -> list[Member]:
    seated: dict[str, Line] = {}
    for line in lines.values():
        if line.aspect == SEAT and line.value is not None:
            there = seated.get(line.value)
            if there is None or there.place < line.place:
                seated[line.value] = line
    names = members(db, {line.owner for line in seated.values()})
    return [
        Member(taken.owner, names.get(taken.owner, ""), seat, _since(lines.get((taken.owner, RESET))))
        for seat in SEATS
        if (taken := seated.get(seat)) is not None
    ]


def since(db: sqlite3.Connection, world: str, head: str | None, member: str) -> int:
    """The event after which what a member knows begins."""
    return _since(Stage(db, world, head).line(member, RESET))


def _since(reset: Line | None) -> int:
    return int(reset.value) if reset is not None and reset.value is not None else 0


def _shown(line: Line, text: str | None) -> StageLine:
    return StageLine(line.owner, line.aspect, text, line.value, line.by, line.seq, as_datetime(line.at), line.after)
