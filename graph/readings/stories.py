"""The questions about stories, for whoever can take a snapshot of the log: their casts, their stages, who saw what."""

import json
import sqlite3
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from graph.events import SEATS
from graph.ids import as_datetime
from graph.projection.stage import Line, Stage
from graph.projection.stories import RESET, SEAT
from graph.readings.rows import AMONG, members, session_by_id
from graph.values import Member, StageLine, StoryWorld

_STORIES = """
SELECT worlds.id, event.text, event.at FROM worlds JOIN events AS event ON event.seq = worlds.name_seq
WHERE worlds.story = worlds.id ORDER BY worlds.seq
"""
_CHATS = """
SELECT own.id FROM sessions AS own JOIN worlds ON worlds.id = own.world
WHERE worlds.story = ? AND NOT own.deleted ORDER BY own.last_at DESC, own.last_seq DESC
"""
_STORY_OF = "SELECT worlds.story FROM sessions AS own JOIN worlds ON worlds.id = own.world WHERE own.id = ?"
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

    def story_of(self, session: str) -> str | None:
        """The world of the story that a chat is of, maybe over what-ifs; None of any other chat."""
        with self.snapshot() as db:
            row = db.execute(_STORY_OF, (session,)).fetchone()
            return row[0] if row is not None else None

    def cast(self, session: str, *, at: str | None = None) -> list[Member]:
        """Who plays in a chat, as it stands at its head, or at a turn: you, host, guest. Raises NotFound."""
        with self.snapshot() as db:
            own = session_by_id(db, session)
            return cast(db, own.world, at or own.head)

    def stage(self, session: str, *, at: str | None = None) -> dict[tuple[str, str], StageLine]:
        """What stands on a chat's stage, at its head or at a turn, by owner and aspect. Raises NotFound."""
        with self.snapshot() as db:
            own = session_by_id(db, session)
            lines = Stage(db, own.world, at or own.head).lines()
            texts = dict(db.execute(_TEXTS, (json.dumps([line.seq for line in lines.values()]),)))
            return {key: _shown(line, texts.get(line.seq)) for key, line in lines.items()}


def cast(db: sqlite3.Connection, world: str, head: str | None) -> list[Member]:
    """Who plays along a path of a world. A seat is of whoever took it last."""
    lines = Stage(db, world, head).lines()
    seated: dict[str, Line] = {}
    for line in lines.values():
        if line.aspect == SEAT and line.value is not None:
            there = seated.get(line.value)
            if there is None or there.seq < line.seq:
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
