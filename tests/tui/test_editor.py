"""The editor gets the draft, and the terminal's signals while it runs."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tui import editor

# Says which signals it ignores, then does to clew what the terminal does at Ctrl+C and Ctrl+\\.
EDITOR = """
import os, signal, sys
kept = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGQUIT)]
for number in (signal.SIGINT, signal.SIGQUIT):
    os.kill(os.getppid(), number)
with open(sys.argv[1], "a") as file:
    file.write(f" and {kept.count(signal.SIG_IGN)} ignored")
"""


async def test_a_signal_of_the_terminal_is_the_editors_and_clew_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.py"
    script.write_text(EDITOR)
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGQUIT)]
    with editor.keys_belong_to_it():
        outcome = await asyncio.to_thread(editor.Editor().edit, "draft", tmp_path / "drafts")
    assert outcome == "draft and 0 ignored"
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGQUIT)] == before
    assert os.listdir(tmp_path / "drafts") == []
