"""What an export holds: the events of the whole log, or those that make up a session and what was learned from it.

Invariants: the events are as they stand in the log, in its order, in one snapshot; a text that was erased is null, and
its event says so. Vectors do not travel. A session brings every turn on its paths, also those it shares with the one
it was forked from, and down to where that one was forked itself, and what was learned where all sources of that are
among these turns. A session of a story brings the beginning of that, and of its cast and stage what ever held at these
turns.
"""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from graph.events import ApprovalAsked, HeadMoved
from graph.events.codec import SELECT_EVENT, event_of, fields_of
from graph.projection.paths import above, lineage_of
from graph.projection.stories import RESET, SEAT
from graph.reader import LogReader
from graph.readings.rows import AMONG, session_by_id
from graph.transfer.merging import FORMAT

_ROW = """
SELECT seq, id, at, kind, version, structure, text, text IS NULL AND text_hash IS NOT NULL FROM events
"""
_OF_SESSION = "SELECT seq FROM subjects WHERE id = ?"
_MOVED = f"{SELECT_EVENT} WHERE seq IN (SELECT seq FROM subjects WHERE id = ? AND kind = 'head.moved')"
_ASKED = f"{SELECT_EVENT} WHERE seq IN (SELECT seq FROM subjects WHERE id = ? AND kind = 'approval.asked')"
_OF_TURNS = f"SELECT seq FROM subjects WHERE id {AMONG} AND kind <> 'head.moved'"
_ORIGIN = "SELECT origin, fork FROM sessions WHERE id = ?"
_SAID = f"SELECT seq, session FROM turns WHERE id {AMONG}"
_OF_REFERENCES = """
SELECT subjects.seq FROM attachments AS own JOIN subjects ON subjects.id = own.id WHERE own.session = ?
"""
_NAMING = f"""
SELECT DISTINCT seq FROM named WHERE name {AMONG}
AND kind IN ('observation.made', 'core.written', 'entity.noted', 'reflection.done')
"""
_OF_ITEMS = f"SELECT seq FROM subjects WHERE id {AMONG} AND kind <> 'observation.made'"
_OF_SERIES = f"SELECT seq FROM subjects WHERE id {AMONG} AND kind = 'observation.deleted'"
_WORLDS = f"SELECT DISTINCT world FROM sessions WHERE id {AMONG}"
_STORY = "SELECT story FROM worlds WHERE id = (SELECT world FROM sessions WHERE id = ?) AND story IS NOT NULL"
_LINE = """
SELECT line.seq, line.world, line.owner, line.aspect, line."after", event.text_hash IS NOT NULL
FROM stage_lines AS line JOIN events AS event ON event.seq = line.seq WHERE
"""
_LINES = f"{_LINE} line.world {AMONG} ORDER BY line.seq"
_SEATED = f"{_LINE} line.owner {AMONG} AND line.aspect = ? ORDER BY line.seq"
_SET_FROM = "SELECT target FROM links WHERE start = ? AND rel = 'SET_FROM'"
_PROJECTS = "SELECT seq, kind, version, structure FROM events WHERE kind <> 'turn.said' AND kind = 'project.made'"


def lines(reader: LogReader, *, clew: str, at: int, session: str | None = None) -> Iterator[dict[str, Any]]:
    """The lines of an export: what it is, then an event each. Raises NotFound.

    `clew` is this program's version, `at` the time now in UTC milliseconds.
    """
    with reader.snapshot() as db:
        if session is not None:
            session_by_id(db, session)
        log = db.execute("SELECT value FROM meta WHERE key = 'log'").fetchone()[0]
        head = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
        if session is None:
            count, rows = head, db.execute(f"{_ROW} ORDER BY seq")
        else:
            seqs = Gathered(db, session).events()
            wanted = json.dumps(sorted(seqs))
            rows = db.execute(f"{_ROW} WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq", (wanted,))
            count = len(seqs)
        yield {"clew": "export", "format": FORMAT, "log": log, "head": head, "events": count, "session": session} | {
            "version": clew,
            "at": at,
        }
        yield from map(_line, rows)


def _line(row: tuple[Any, ...]) -> dict[str, Any]:
    seq, id, at, kind, version, structure, text, erased = row
    line = {"seq": seq, "id": id, "at": at, "kind": kind, "version": version, "structure": json.loads(structure)}
    return line | {"text": text} | ({"erased": True} if erased else {})


class _Line(NamedTuple):
    """A line of a stage as _LINES has it."""

    seq: int
    world: str
    owner: str
    aspect: str
    after: str | None
    says: bool  # something, maybe erased since: of a seat a name


class Gathered:
    """What belongs to a session."""

    def __init__(self, db: sqlite3.Connection, session: str) -> None:
        self._db = db
        self._session = session
        said = [turn for (turn,) in db.execute("SELECT id FROM turns WHERE session = ?", (session,))]
        moved = [event_of(row).event for row in db.execute(_MOVED, (session,))]
        stood = [event.turn for event in moved if isinstance(event, HeadMoved) and event.turn is not None]
        self._turns = above(db, [*said, *stood])
        self._homes: dict[str, str | None] = {}  # the sessions whose beginnings are needed, and where they were forked
        while missing := self._begun_at() - self._turns:
            self._turns |= above(db, missing)
        self._observations: set[str] = set()
        self._series: set[str] = set()

    def events(self) -> set[int]:
        """The numbers of all its events."""
        turns = json.dumps(sorted(self._turns))
        said = self._db.execute(_SAID, (turns,)).fetchall()
        found = {seq for seq, _ in said} | self._seqs(_OF_SESSION, self._session)
        found |= self._seqs(_OF_TURNS, turns) | self._seqs(_OF_REFERENCES, self._session)
        for session in self._homes:
            found |= self._seqs("SELECT seq FROM sessions WHERE id = ?", session)
        found |= set(self._learned(turns))
        questions = (event_of(row).event for row in self._db.execute(_ASKED, (self._session,)))
        asked = {event.approval for event in questions if isinstance(event, ApprovalAsked)}
        items = json.dumps(sorted(self._observations | asked))
        found |= {seq for seq in self._seqs(_OF_ITEMS, items) if self._is_whole(seq)}
        found |= self._seqs(_OF_SERIES, json.dumps(sorted(self._series)))
        found |= self._played(found)
        return found | self._projects(found)

    def _begun_at(self) -> set[str]:
        """The turns at which sessions were forked: those of the turns, and what these came from."""
        left = {home for _, home in self._db.execute(_SAID, (json.dumps(sorted(self._turns)),))} | {self._session}
        while left:
            session = left.pop()
            origin, fork = self._db.execute(_ORIGIN, (session,)).fetchone()
            self._homes[session] = fork
            left |= {origin} - self._homes.keys() - {None}
        return {fork for fork in self._homes.values() if fork is not None}

    def _learned(self, turns: str) -> Iterator[int]:
        """What was learned whose sources are all here, in the order of the log: a revision after what it revises."""
        for seq in sorted(self._seqs(_NAMING, turns)):
            kind, structure = self._fields(seq)
            if not self._is_from_here(kind, structure):
                continue
            if kind == "observation.made":
                self._observations.add(structure["observation"])
                self._series.add(structure["series"])
            yield seq

    def _is_from_here(self, kind: str, structure: dict[str, Any]) -> bool:
        named = {*structure.get("sources", ()), *structure.get("turns", ()), structure.get("by_turn")} - {None}
        before = {structure.get("supersedes"), structure.get("instead_of"), *(structure.get("parents") or ())} - {None}
        return bool(named) and named <= self._turns and before <= self._observations

    def _is_whole(self, seq: int) -> bool:
        """Whether what a later event of an observation names is here too."""
        _, structure = self._fields(seq)
        return {structure.get("source"), structure.get("by_turn")} - {None} <= self._turns

    def _played(self, seqs: set[int]) -> set[int]:
        """Of the story that the session is of, if it is of one: how it began, who plays in these events, the stage.

        Whoever plays has a name, which is of no path: the first that was given and the last are among them.
        """
        story = self._db.execute(_STORY, (self._session,)).fetchone()
        if story is None:
            return set()
        known = self._lines()
        held = [line for line in known if self._ever_held(line)]
        cast = self._members(seqs) | {line.owner for line in held if line.aspect == SEAT}
        nowhere = json.dumps(sorted(cast - {line.owner for line in known if line.aspect == SEAT}))
        known += map(_Line._make, self._db.execute(_SEATED, (nowhere, SEAT)))
        named = [line for line in known if line.aspect == SEAT and line.owner in cast and line.says]
        found = {line.seq for line in held if line.aspect != RESET or line.owner in cast}
        for names in (named, reversed(named)):
            found |= set({line.owner: line.seq for line in names}.values())
        return found | self._seqs("SELECT seq FROM worlds WHERE id = ?", story[0])

    def _lines(self) -> list[_Line]:
        """What was set in the world of the session and in others that its turns are of, before these were left."""
        (own,) = self._db.execute("SELECT world FROM sessions WHERE id = ?", (self._session,)).fetchone()
        others = self._db.execute(_WORLDS, (json.dumps(list(self._homes)),)).fetchall()
        found: dict[int, _Line] = {}
        known = set[str]()
        for world in (own, *(other for (other,) in others)):
            lineage = lineage_of(self._db, world)
            rows = map(_Line._make, self._db.execute(_LINES, (json.dumps([*{*lineage.worlds} - known]),)))
            found |= {line.seq: line for line in rows if lineage.knows(line.world, line.seq)}
            known |= {*lineage.worlds}
        return [found[seq] for seq in sorted(found)]

    def _ever_held(self, line: _Line) -> bool:
        """Whether a line of the stage ever stood at one of the turns."""
        sources = {source for (source,) in self._db.execute(_SET_FROM, (str(line.seq),))}
        return (line.after is None or line.after in self._turns) and sources <= self._turns

    def _members(self, seqs: set[int]) -> set[str]:
        """Those whom the turns among some events, and their corrections, name as speakers, addressed or witnesses."""
        found: set[str] = set()
        for kind, fields in map(self._fields, seqs):
            if kind in ("turn.said", "turn.witnessed"):
                named = [*fields.get("witnesses", ()), fields.get("speaker"), fields.get("addressed")]
                found |= {each for each in named if each is not None}
        return found

    def _projects(self, seqs: set[int]) -> set[int]:
        """The events that made the projects which others are of."""
        named = {self._fields(seq)[1].get("project") for seq in seqs}
        made = [(seq, fields_of(*event)) for seq, *event in self._db.execute(_PROJECTS)]
        return {seq for seq, project in made if project["project"] in named}

    def _fields(self, seq: int) -> tuple[str, dict[str, Any]]:
        event = self._db.execute("SELECT kind, version, structure FROM events WHERE seq = ?", (seq,)).fetchone()
        return event[0], fields_of(*event)

    def _seqs(self, query: str, *given: str) -> set[int]:
        return {seq for (seq,) in self._db.execute(query, given)}
