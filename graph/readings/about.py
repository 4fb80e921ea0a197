"""What there is about one person, place or project: what it said, who names it, and where.

Read from the log, whose speakers are the graph's SAID_BY edges: so it is answered beside the holder, too.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from graph.ids import as_datetime
from graph.readings.belonging import Belongings
from graph.readings.finding import fts_query
from graph.readings.paths import Paths
from graph.readings.rows import PROJECT, SAID, TURN, turns_of
from graph.readings.worlds import BEGUN
from graph.values import About
from graph.visibility import EVERYONE, Viewer

NOTHING = '""'  # the FTS5 query that matches no text

# The next speaker after each: the index is asked once per name, not once per turn.
_SPEAKERS = f"""
WITH RECURSIVE known (name) AS (
    SELECT min(said.speaker) FROM events AS said WHERE {SAID}
    UNION ALL
    SELECT (SELECT min(said.speaker) FROM events AS said WHERE {SAID} AND said.speaker > known.name)
    FROM known WHERE known.name IS NOT NULL
)
SELECT name FROM known WHERE name IS NOT NULL
"""
_FOUND = """
said.role <> 'tool' AND said.text IS NOT NULL AND 'turn.hidden' IS NOT (
    SELECT seen.kind FROM events AS seen WHERE seen.turn = said.turn
    AND seen.kind IN ('turn.hidden', 'turn.unhidden') ORDER BY seen.seq DESC LIMIT 1
) AND NOT EXISTS (SELECT 1 FROM events AS gone WHERE gone.turn = said.turn AND gone.kind = 'turn.deleted')
AND 'turn.withheld' IS NOT (
    SELECT kept.kind FROM events AS kept WHERE kept.turn = said.turn
    AND kept.kind IN ('turn.withheld', 'turn.released') ORDER BY kept.seq DESC LIMIT 1
)
"""
_ABOUT = f"""
SELECT said.seq, said.told, said.session, said.turn, said.speaker IN (SELECT value FROM json_each(:names))
FROM events AS said WHERE {SAID} AND {_FOUND} AND said.seq IN (
    SELECT said.seq FROM events AS said WHERE {SAID} AND said.speaker IN (SELECT value FROM json_each(:names))
    UNION ALL
    SELECT said.seq FROM events AS said WHERE {SAID} AND said.session IN (SELECT value FROM json_each(:sessions))
    UNION ALL
    SELECT rowid FROM words WHERE words MATCH :words
)
"""


def speakers(db: sqlite3.Connection) -> list[str]:
    """Everyone who ever said something, in alphabetical order."""
    return [name for (name,) in db.execute(_SPEAKERS)]


def about(db: sqlite3.Connection, name: str, *, limit: int, world: str, project: Viewer = EVERYONE) -> About:
    """What a world, and there a chat of a project, sees of, or by, whoever or whatever has this name, in any case.

    The newest turns come first.
    """
    wanted, belongings = " ".join(name.split()), Belongings(db)
    names = [each for each in speakers(db) if each.casefold() == wanted.casefold()]
    named, sessions = _project(db, wanted)
    sessions = [session for session in sessions if belongings.open_to(project, session)]
    words = fts_query('"' + wanted.replace('"', " ") + '"')
    values = {"names": json.dumps(names), "sessions": json.dumps(sessions), "words": words or NOTHING}
    paths = Paths(db)
    rows = [row for row in db.execute(_ABOUT, values).fetchall() if belongings.open_to(project, row[2])]
    rows = [row for row in rows if paths.in_view(row[3], row[2], world)]
    rows.sort(key=lambda row: (row[1], row[0]), reverse=True)
    said = sum(row[4] for row in rows)
    if project is not EVERYONE:  # that somebody speaks elsewhere is not told either
        names, named = (names if said else []), (named if sessions else None)
    counted = Counter(row[2] for row in rows)
    newest = json.dumps([row[0] for row in rows[: max(limit, 0)]])
    query = f"{TURN} WHERE said.seq IN (SELECT value FROM json_each(?)) ORDER BY said.told DESC, said.seq DESC"
    return About(
        name=names[0] if names else named or wanted,
        kind=_kind(names, named),
        said=said,
        mentioned=len(rows) - said,
        first_at=as_datetime(rows[-1][1]) if rows else None,
        last_at=as_datetime(rows[0][1]) if rows else None,
        sessions=tuple((id, paths.session(id).name, count) for id, count in counted.most_common()),
        turns=tuple(turns_of(db, db.execute(query, (newest,)).fetchall())),
    )


def _project(db: sqlite3.Connection, name: str) -> tuple[str | None, list[str]]:
    """The project of that name as it is written, and its sessions."""
    query = f"SELECT begun.session, {PROJECT} FROM events AS begun WHERE {BEGUN}"
    found = [(id, project) for id, project in db.execute(query) if project and project.casefold() == name.casefold()]
    return (found[0][1] if found else None), [id for id, _ in found]


def _kind(names: list[str], project: str | None) -> str:
    if names:
        return names[0] if names[0] in ("you", "assistant") else "person"
    return "project" if project is not None else "word"


class Entities:
    """The questions about entities; what answers them is the Memory's graph."""

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        raise NotImplementedError

    def entities(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of those names that an entity has, in any case of letters. A speaker's id is its name.

        Raises GraphFailure while the graph is behind.
        """
        wanted = {name.lower(): name for name in names}
        if not wanted:
            return {}
        query = "MATCH (e:Entity) WHERE lower(coalesce(e.name, e.id)) IN $names RETURN e.id AS id, e.name AS name"
        rows = self.query(query, {"names": sorted(wanted)})
        # A speaker goes before one that is only named.
        rows.sort(key=lambda row: row["name"] is None)
        return {wanted[(row["name"] or row["id"]).lower()]: row["id"] for row in rows}

    def judged(self, turns: Iterable[str]) -> dict[str, int]:
        """The significance of those of the turns that have one. Raises GraphFailure while the graph is behind."""
        ids = list(turns)
        query = (
            "MATCH (t:Turn) WHERE t.id IN $ids AND t.significance IS NOT NULL RETURN t.id AS id, t.significance AS s"
        )
        return {row["id"]: row["s"] for row in self.query(query, {"ids": ids})} if ids else {}
