"""What an export holds: the events of the whole log, or those that make up a session and what was learned from it.

Invariants: the events are as they stand in the log, in its order, in one snapshot; a text that was erased is null, and
its event says so. Vectors do not travel. A session brings every turn on its paths, also those it shares with the one
it was forked from, and what was learned where all sources of that are among these turns.
"""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from graph.reader import LogReader
from graph.readings.rows import session_by_id
from graph.transfer.merging import FORMAT

_ROW = """
SELECT seq, id, at, kind, version, structure, text, text IS NULL AND text_hash IS NOT NULL FROM events
"""
_PATHS = """
WITH RECURSIVE above (turn) AS (
    SELECT turn FROM events WHERE session = :session AND turn IS NOT NULL
    UNION SELECT structure ->> '$.at' FROM events WHERE session = :session AND kind = 'session.forked'
    UNION SELECT placed.parent FROM above JOIN events AS placed ON placed.turn = above.turn
        AND placed.kind IN ('turn.said', 'turn.taken') WHERE placed.parent IS NOT NULL
) SELECT turn FROM above WHERE turn IS NOT NULL
"""
_OF_SESSION = """
SELECT seq FROM events WHERE session = ? AND kind NOT IN ('turn.said', 'turn.taken')
AND (kind <> 'head.moved' OR turn IS NULL)
"""
_ASKED = "SELECT item FROM events WHERE session = ? AND kind = 'approval.asked'"
_OF_TURNS = "SELECT seq FROM events WHERE turn IN (SELECT value FROM json_each(?)) AND (session IS NULL OR session = ?)"
_SAID = """
SELECT seq, session FROM events WHERE turn IN (SELECT value FROM json_each(?)) AND kind IN ('turn.said', 'turn.taken')
"""
_BEGUN = "SELECT seq FROM events WHERE session = ? AND kind IN ('session.started', 'session.forked')"
_ORIGIN = "SELECT structure ->> '$.origin' FROM events WHERE session = ? AND kind = 'session.forked'"
_NAMING = """
SELECT DISTINCT seq FROM named WHERE name IN (SELECT value FROM json_each(?))
AND kind IN ('observation.made', 'core.written', 'entity.noted', 'reflection.done')
"""
_OF_ITEMS = """
SELECT seq FROM events WHERE item IN (SELECT value FROM json_each(?)) AND kind <> 'observation.made'
"""
_OF_SERIES = """
SELECT seq FROM events WHERE series IN (SELECT value FROM json_each(?)) AND kind = 'observation.deleted'
"""
_PROJECTS = """
SELECT seq FROM events WHERE kind = 'project.made' AND structure ->> '$.project' IN (SELECT value FROM json_each(?))
"""


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


class Gathered:
    """What belongs to a session."""

    def __init__(self, db: sqlite3.Connection, session: str) -> None:
        self._db = db
        self._session = session
        self._turns = {turn for (turn,) in db.execute(_PATHS, {"session": session})}
        self._observations: set[str] = set()
        self._series: set[str] = set()

    def events(self) -> set[int]:
        """The numbers of all its events."""
        turns = json.dumps(sorted(self._turns))
        said = self._db.execute(_SAID, (turns,)).fetchall()
        found = {seq for seq, _ in said} | self._seqs(_OF_SESSION, self._session)
        found |= self._seqs(_OF_TURNS, turns, self._session)
        for session in self._sessions({session for _, session in said}):
            found |= self._seqs(_BEGUN, session)
        found |= set(self._learned(turns))
        asked = {approval for (approval,) in self._db.execute(_ASKED, (self._session,))}
        items = json.dumps(sorted(self._observations | asked))
        found |= {seq for seq in self._seqs(_OF_ITEMS, items) if self._is_whole(seq)}
        found |= self._seqs(_OF_SERIES, json.dumps(sorted(self._series)))
        return found | self._seqs(_PROJECTS, json.dumps(sorted(self._projects(found))))

    def _sessions(self, said_in: set[str]) -> set[str]:
        """Where its turns were said, and what those were forked from."""
        found: set[str] = set()
        left = said_in | {self._session}
        while left:
            session = left.pop()
            found.add(session)
            origins = {origin for (origin,) in self._db.execute(_ORIGIN, (session,))}
            left |= origins - found
        return found

    def _learned(self, turns: str) -> Iterator[int]:
        """What was learned whose sources are all here, in the order of the log: a revision after what it revises."""
        for seq in sorted(self._seqs(_NAMING, turns)):
            kind, written = self._db.execute("SELECT kind, structure FROM events WHERE seq = ?", (seq,)).fetchone()
            structure = json.loads(written)
            if not self._is_from_here(kind, structure):
                continue
            if kind == "observation.made":
                self._observations.add(structure["observation"])
                self._series.add(structure["series"])
            yield seq

    def _is_from_here(self, kind: str, structure: dict[str, Any]) -> bool:
        named = {*structure.get("sources", ()), *structure.get("turns", ()), structure.get("by_turn")} - {None}
        before = {structure.get("supersedes"), structure.get("instead_of")} - {None}
        return bool(named) and named <= self._turns and before <= self._observations

    def _is_whole(self, seq: int) -> bool:
        """Whether what a later event of an observation names is here too."""
        structure = json.loads(self._db.execute("SELECT structure FROM events WHERE seq = ?", (seq,)).fetchone()[0])
        return {structure.get("source"), structure.get("by_turn")} - {None} <= self._turns

    def _projects(self, seqs: set[int]) -> set[str]:
        query = "SELECT DISTINCT structure ->> '$.project' FROM events WHERE seq IN (SELECT value FROM json_each(?))"
        return {project for (project,) in self._db.execute(query, (json.dumps(sorted(seqs)),)) if project}

    def _seqs(self, query: str, *given: str) -> set[int]:
        return {seq for (seq,) in self._db.execute(query, given)}
