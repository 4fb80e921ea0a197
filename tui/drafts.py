"""Drafts on disk: what stands in the composer survives a kill -9, one file per session.

A draft is written whole beside its file and moved over it, so that a reader finds the old one or the new one.
"""

import os
from pathlib import Path

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
