"""Writing a message in the user's own editor."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tui.text import clean


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


def edit(draft: str, folder: Path) -> str | EditorFailed:
    """The draft as the editor left it; blocking, and the terminal must be free."""
    words = command()
    if not words:
        return EditorFailed("There is no editor: set $EDITOR. Your text is as it was.")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(prefix="message-", suffix=".md", dir=folder)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(draft)
        # The terminal is where Python writes: descriptors 1 and 2 belong to the native log (models/quiet.py).
        finished = subprocess.run([*words, name], check=False, stdout=sys.stdout, stderr=sys.stderr)
        if finished.returncode != 0:
            return EditorFailed(f"{words[0]} ended with {finished.returncode}. Your text is as it was.")
        return clean(Path(name).read_text(encoding="utf-8", errors="replace")).rstrip("\n")
    except OSError as error:
        return EditorFailed(f"{words[0]} could not be run: {error.strerror or error}. Your text is as it was.")
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
