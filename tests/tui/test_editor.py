"""The editor gets the draft, and the terminal's signals while it runs."""

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

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


@pytest.mark.process
async def test_a_signal_is_the_editors_and_clew_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor.py"
    script.write_text(EDITOR)
    monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(script)]))
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGQUIT)]
    with editor.keys_belong_to_it():
        outcome = await asyncio.to_thread(editor.Editor().edit, "draft", tmp_path / "drafts")
    assert outcome == "draft and 0 ignored"
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGQUIT)] == before
    assert os.listdir(tmp_path / "drafts") == []


@pytest.mark.process
async def test_an_editor_that_is_ended_leaves_what_it_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    script = tmp_path / "editor.sh"
    script.write_text(f'test -z "$SAVE" || echo saved >"$1"; echo now >{begun}; exec sleep 600\n')
    monkeypatch.setenv("VISUAL", f"sh {script}")
    editing = editor.Editor()
    for saves, left in (("yes", "saved"), ("", None)):
        monkeypatch.setenv("SAVE", saves)
        assert editing.end() is None
        outcome = asyncio.create_task(asyncio.to_thread(editing.edit, "draft", tmp_path / "drafts"))
        await asyncio.to_thread(begun.read_text)
        assert await asyncio.to_thread(editing.end) == left
        assert isinstance(await outcome, str) == bool(saves)
        assert os.listdir(tmp_path / "drafts") == []


@pytest.mark.process
async def test_an_editor_that_is_not_noted_yet_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, asked = threading.Event(), threading.Event()

    class Late(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            started.set()
            asked.wait()

    class Asked(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            asked.set()
            return super().wait(timeout)

    monkeypatch.setattr(subprocess, "Popen", Late)
    monkeypatch.setenv("VISUAL", "sh -c 'exec sleep 600'")
    editing = editor.Editor()
    editing._begun = Asked()
    outcome = asyncio.create_task(asyncio.to_thread(editing.edit, "draft", tmp_path / "drafts"))
    await asyncio.to_thread(started.wait)
    assert await asyncio.to_thread(editing.end) is None
    assert isinstance(await outcome, editor.EditorFailed)
