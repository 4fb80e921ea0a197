"""What is being written: drafts on disk, one file per session, and what lies on the desk of the query screen.

A draft is written whole beside its file and moved over it, so that a reader finds the old one or the new one.

Invariants of the query screen's desk: it outlives the screen. Its text outlives a crash too, as a message's draft does;
of a private chat nothing is on the disk.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph.console.console import Answer


NEW = "new"  # the draft of a chat that has no session yet


class Drafts:
    """The drafts under `folder`, keyed by session id (None: the chat not begun)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._private: dict[str, str] = {}

    def load(self, session: str | None) -> str:
        """The draft, or "" when there is none or it cannot be read."""
        if session in self._private:
            return self._private[session]
        try:
            return self._path(session).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def keep_off_disk(self, session: str) -> None:
        """The draft of a private chat is in RAM alone."""
        self._private.setdefault(session, "")

    def save(self, session: str | None, text: str) -> bool:
        """Keep the draft; an empty one is removed. False when the disk refuses: typing goes on without it."""
        if session in self._private:
            self._private[session] = text
            return True
        path = self._path(session)
        try:
            if not text:
                path.unlink(missing_ok=True)
                return True
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside = path.with_suffix(".new")
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", errors="replace"))
            os.replace(beside, path)
        except OSError:
            return False
        return True

    def _path(self, session: str | None) -> Path:
        return self.folder / f"{session or NEW}.txt"


DRAFT = "query"  # the name of the draft; no session has it
LET_GO = "The memory was changed since this was asked. F5 asks again."


@dataclass(frozen=True, slots=True)
class ExecutedQuery:
    """A query that was run, as it was run: what is exported or loaded further is the same one."""

    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 500
    sample: str = ""  # the table that some rows of were asked for


@dataclass(slots=True)
class QuerySession:
    """The state of the screen; `drafts` is None in a private chat."""

    drafts: Drafts | None
    text: str = ""
    given: dict[str, Any] = field(default_factory=dict)  # values by name, as they were given last
    asked: ExecutedQuery | None = None
    answer: "Answer | None" = None
    failure: str = ""
    page: int = 1
    tables: bool | None = None  # whether the tables are shown; None: where there is room
    exported: str = ""  # the file that was written last

    def __post_init__(self) -> None:
        if self.drafts is not None and not self.text:
            self.text = self.drafts.load(DRAFT)

    def write(self, text: str) -> None:
        """The editor has this text now."""
        if text != self.text:
            self.text = text
            if self.drafts is not None:
                self.drafts.save(DRAFT, text)

    def let_go(self) -> None:
        """Drop the rows: something in the memory was deleted or changed, and they may show it still."""
        if self.answer is not None:
            self.answer, self.asked, self.failure = None, None, LET_GO
