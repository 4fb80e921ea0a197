"""To which projects things belong, read from the log; what that means for who sees them: graph/visibility.py."""

import sqlite3
from collections.abc import Iterable

from graph.visibility import EVERYONE, Owner, Viewer, owner_of, sees_said

_OF_CHUNK = "SELECT documents.project FROM chunks JOIN documents ON documents.id = chunks.document WHERE chunks.id = ?"
# The plus keeps the planner from going through the sessions: rows come by their time, and are read only until enough.
_SAID_IN = "+said.session IN (SELECT id FROM sessions WHERE coalesce(project, '') = :project)"


class Belongings:
    """The projects of chats, and of what was made of words, in one snapshot. Keep it no longer than that."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._sessions: dict[str, str | None] = {}
        self._sources: dict[str, str | None] = {}

    def of_session(self, session: str) -> str | None:
        """The project a session belongs to."""
        if session not in self._sessions:
            row = self._db.execute("SELECT project FROM sessions WHERE id = ?", (session,)).fetchone()
            self._sessions[session] = (row[0] or None) if row is not None else None
        return self._sessions[session]

    def open_to(self, viewer: Viewer, session: str) -> bool:
        """Whether somebody may look into a session."""
        return viewer is EVERYONE or sees_said(viewer, self.of_session(session))

    def of_sources(self, sources: Iterable[str]) -> Owner:
        """The owner of what was made of some turns and chunks."""
        return owner_of(self._of_source(source) for source in sources)

    def project_of(self, sources: Iterable[str]) -> str | None:
        """The one project that some turns and chunks are of; None for none, or for more than one."""
        owner = self.of_sources(sources)
        return owner if isinstance(owner, str) else None

    def _of_source(self, source: str) -> str | None:
        if source not in self._sources:
            said = self._db.execute("SELECT session FROM turns WHERE id = ?", (source,)).fetchone()
            read = None if said is not None else self._db.execute(_OF_CHUNK, (source,)).fetchone()
            self._sources[source] = self.of_session(said[0]) if said is not None else read[0] if read else None
        return self._sources[source]


def said_to(viewer: Viewer) -> tuple[str, dict[str, str]]:
    """The condition on rows `said` that holds for what a viewer sees, "" for no condition, and the values in it."""
    return ("", {}) if viewer is EVERYONE else (f" AND {_SAID_IN}", {"project": viewer or ""})
