"""Writing a message in the user's own editor."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tui.text import clean

END_S = 1.0  # for an editor to end that is told to


class EditorFailed(Exception):
    """The editor did not run; the draft is as it was."""


def command() -> list[str]:
    """$VISUAL, else $EDITOR, else the first editor there is; empty if there is none."""
    for variable in ("VISUAL", "EDITOR"):
        if words := shlex.split(os.environ.get(variable, "")):
            return words
    return [name for name in ("nano", "vim", "vi") if shutil.which(name)][:1]


@contextlib.contextmanager
def keys_belong_to_it() -> Iterator[None]:
    """Meanwhile Ctrl+C and Ctrl+\\ at the terminal are the editor's, which shares it with clew; main thread only."""
    # A handler that does nothing, since an ignored signal would be ignored by the child too.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Editor:
    """The user's editor, at most one at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._outcome: str | EditorFailed | None = None
        self._free = threading.Event()  # no editor runs
        self._free.set()
        self._begun = threading.Event()  # it is known whether one does: a new one runs before its maker has its number

    def edit(self, draft: str, folder: Path) -> str | EditorFailed:
        """The draft as the editor left it; blocking, and the terminal must be free.

        Of one that was ended by a signal, what it had saved.
        """
        words = command()
        if not words:
            return EditorFailed("No editor is set. Set $EDITOR to choose one. Your text is unchanged.")
        self._outcome = None  # what an earlier one left is taken up already
        self._begun.clear()
        self._free.clear()
        try:
            self._outcome = self._edit(words, draft, folder)
            return self._outcome
        finally:
            self._process = None
            self._begun.set()
            self._free.set()

    def end(self) -> str | None:
        """End the editor that runs, as a closed terminal would; what it had saved. None if there is nothing to keep."""
        if self._free.is_set():
            return None
        self._begun.wait(END_S)
        process = self._process
        if process is not None:
            process.send_signal(signal.SIGHUP)
        if not self._free.wait(END_S) and process is not None:
            process.kill()
            self._free.wait(END_S)
        return self._outcome if isinstance(self._outcome, str) else None

    def _edit(self, words: list[str], draft: str, folder: Path) -> str | EditorFailed:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(prefix="message-", suffix=".md", dir=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write(draft)
            # The terminal is where Python writes: descriptors 1 and 2 belong to the native log (models/quiet.py).
            self._process = subprocess.Popen([*words, name], stdout=sys.stdout, stderr=sys.stderr)
            self._begun.set()
            code = self._process.wait()
            text = clean(Path(name).read_text(encoding="utf-8", errors="replace")).rstrip("\n")
            if code > 0 or (code < 0 and text == draft.rstrip("\n")):
                return EditorFailed(f"{words[0]} exited with code {code}. Your text is unchanged.")
            return text
        except OSError as error:
            return EditorFailed(f"{words[0]} could not be run: {error.strerror or error}. Your text is unchanged.")
        finally:
            with contextlib.suppress(OSError):
                os.unlink(name)
