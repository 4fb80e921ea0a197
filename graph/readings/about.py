"""What there is about one person, place or project: what it said, who names it, and where.

Read from the log, whose speakers are the graph's SAID_BY edges: so it is answered beside the holder, too.
"""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager

from graph.ids import as_datetime
from graph.projection.paths import Paths
from graph.readings.belonging import Belongings
from graph.readings.finding import fts_query
from graph.readings.rows import AMONG, NEWEST, TURN, session_by_id, turns_of
from graph.values import About
from graph.visibility import EVERYONE, Viewer

NOTHING = '""'  # the FTS5 query that matches no text

_ABOUT = """
SELECT said.seq, said.at, said.session, said.id, said.speaker IN (SELECT value FROM json_each(:names))
FROM turns AS said JOIN events AS event ON event.seq = said.seq
WHERE said.role <> 'tool' AND event.text IS NOT NULL AND NOT said.hidden AND NOT said.deleted AND NOT said.withheld
AND said.seq IN (
    SELECT seq FROM turns WHERE speaker IN (SELECT value FROM json_each(:names))
    UNION ALL
    SELECT seq FROM turns WHERE session IN (SELECT value FROM json_each(:sessions))
    UNION ALL
    SELECT rowid FROM words WHERE words MATCH :words
)
"""


def speakers(db: sqlite3.Connection) -> list[str]:
    """Everyone who ever said something, in alphabetical order."""
    return [name for (name,) in db.execute("SELECT id FROM entities WHERE name_seq IS NULL ORDER BY id")]


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
    rows = [row for row in rows if paths.sees(row[3], world)]
    rows.sort(key=lambda row: (row[1], row[0]), reverse=True)
    said = sum(row[4] for row in rows)
    if project is not EVERYONE:  # that somebody speaks elsewhere is not told either
        names, named = (names if said else []), (named if sessions else None)
    counted = Counter(row[2] for row in rows)
    newest = json.dumps([row[0] for row in rows[: max(limit, 0)]])
    query = f"{TURN} WHERE said.seq {AMONG} {NEWEST}"
    return About(
        name=names[0] if names else named or wanted,
        kind=_kind(names, named),
        said=said,
        mentioned=len(rows) - said,
        first_at=as_datetime(rows[-1][1]) if rows else None,
        last_at=as_datetime(rows[0][1]) if rows else None,
        sessions=tuple((id, session_by_id(db, id).name, count) for id, count in counted.most_common()),
        turns=tuple(turns_of(db, db.execute(query, (newest,)))),
    )


def _project(db: sqlite3.Connection, name: str) -> tuple[str | None, list[str]]:
    """The project of that name as it is written, and its sessions."""
    rows = db.execute("SELECT id, project FROM sessions WHERE project IS NOT NULL ORDER BY seq")
    found = [(id, project) for id, project in rows if project.casefold() == name.casefold()]
    return (found[0][1] if found else None), [id for id, _ in found]


def _kind(names: list[str], project: str | None) -> str:
    if names:
        return names[0] if names[0] in ("you", "assistant") else "person"
    return "project" if project is not None else "word"


# A speaker goes before one that is only named.
NAMED = """
SELECT e.id, coalesce(event.text, e.id) FROM entities AS e LEFT JOIN events AS event ON event.seq = e.name_seq
ORDER BY e.name_seq IS NULL, e.id
"""


class Entities(ABC):
    """The questions about entities, for whoever can take a snapshot of the log."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def entities(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of those names that an entity has, in any case of letters. A speaker's id is its name."""
        wanted = {name.lower(): name for name in names}
        with self.snapshot() as db:
            called = [(name.lower(), id) for id, name in db.execute(NAMED)] if wanted else []
        return {wanted[name]: id for name, id in called if name in wanted}

    def judged(self, turns: Iterable[str]) -> dict[str, int]:
        """The significance of those of the turns that have one."""
        query = f"SELECT id, significance FROM turns WHERE significance IS NOT NULL AND id {AMONG}"
        with self.snapshot() as db:
            return dict(db.execute(query, (json.dumps(list(turns)),)).fetchall())
