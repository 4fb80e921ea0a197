"""The newest of any kind of node, each on one line: what is live, and what somebody in a chat of a project may see.

Read from the log, but for observations: how one stands only the graph knows (remembered.py).
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal, Unpack, get_args

from graph import kept
from graph.beliefs import Observation
from graph.belonging import Belongings
from graph.events import MAIN_WORLD
from graph.ids import as_datetime
from graph.recent import Recent, Within
from graph.rows import session_by_id
from graph.visibility import EVERYONE, sees_made, sees_said
from graph.worlds import worlds

NodeKind = Literal["turn", "session", "observation", "entity", "document", "chunk", "project", "block", "world"]
NODE_KINDS: tuple[NodeKind, ...] = get_args(NodeKind)

_MADE = """
SELECT at FROM events WHERE kind <> 'turn.said' AND kind = 'project.made' AND structure ->> '$.project' = ?
ORDER BY seq DESC LIMIT 1
"""


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
    db: sqlite3.Connection, kinds: Collection[NodeKind], limit: int, **within: Unpack[Within]
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

    def __init__(self, db: sqlite3.Connection, within: Within, limit: int) -> None:
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
            inside: Within = {**self._within, "project": each.name}
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
        """What-ifs: main has no beginning."""
        for each in reversed(worlds(self._db)):
            if each.session is None or each.began_at is None or not self._is_then(each.began_at):
                continue
            begun = session_by_id(self._db, each.session)
            if sees_said(self._viewer, begun.project):
                yield NewestItem("world", each.id, begun.name or "", each.began_at, begun.project)

    def _is_then(self, at: datetime) -> bool:
        since, until = self._within.get("since"), self._within.get("until")
        return (since is None or at >= since) and (until is None or at < until)
