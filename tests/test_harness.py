"""What a failure says: a test that hangs ends, one that fails shows the log or the screen, and each is told once."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui import conftest
from tests.tui.conftest import make_app, there, wait_until
from tests.tui.scripted import ScriptedAgent

ROOT = Path(__file__).parent.parent
FAILING = """
import subprocess, sys
from contextlib import suppress
from agent.home import Home
from graph.events import SessionStarted
from graph.memory import Memory

def test_that_starts_a_process_and_keeps_what_it_did(home):
    subprocess.run([sys.executable, "-c", ""], check=True)
    home.mkdir()
    memory = Memory.open(Home.resolve().memory, command="test")
    memory.append(SessionStarted(session="the last words", client="test"))
    memory.close()
    assert "this" == "that"

def test_that_spins():
    with suppress(BaseException):  # as asyncio does, where it is told between two tasks
        while True:
            pass
    while True:
        pass

def test_that_starts_a_process_and_passes():
    subprocess.run([sys.executable, "-c", ""], check=True)
"""


@pytest.mark.process
def test_a_failure_is_told_once_with_the_log_and_a_test_that_hangs_comes_to_an_end(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-n0", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    command += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-o", "timeout=2", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=240)
    assert "2 failed, 1 passed, 1 error" in ended.stdout, ended.stdout + ended.stderr
    assert "1 session.started" in ended.stdout.partition("the log's last events")[2]
    assert "the last words" in ended.stdout
    assert "Timeout (>2.0s) from pytest-timeout" in ended.stdout
    assert "test_that_spins" in ended.stdout.partition("short test summary")[2], ended.stdout
    assert ended.stdout.count("mark it: @pytest.mark.process") == 1, "of the one that passed"


@pytest.mark.ui
async def test_a_wait_in_vain_shows_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(ScriptedAgent(), tmp_path)
    async with app.run_test() as pilot:
        await there(pilot, app)
        monkeypatch.setattr(conftest, "PATIENCE_S", 0.0)
        with pytest.raises(pytest.fail.Exception, match=r"(?s)a miracle did not come true.*Say something"):
            await wait_until(pilot, lambda: False, "a miracle")
        await app.leave()
