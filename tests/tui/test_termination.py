"""A process that is asked to end ends, with its code, whatever its main thread is doing."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tui.exit_codes import ExitCode
from tui.termination import Termination

pytestmark = pytest.mark.process

Start = Callable[..., subprocess.Popen[str]]
BEGIN = """
import os, signal, subprocess, sys, threading
from tui.termination import Termination
"""
STUCK = """
def told(code):
    print("told", int(code), flush=True)
with Termination(patience_s=0.2) as termination:
    termination.listen(told)
    print("ready", flush=True)
    stuck = threading.Lock()
    while True:
        stuck.acquire()
"""


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts Python with this code; its words come line by line."""

    def begin(code: str, **how: Any) -> subprocess.Popen[str]:
        script = tmp_path / "script.py"
        script.write_text(BEGIN + code)
        return subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            **how,
        )

    return begin


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_program_that_is_stuck_is_told_and_then_ended(start: Start, number: int, code: int) -> None:
    with start(STUCK) as process:
        assert heard(process) == "ready"
        process.send_signal(number)
        assert heard(process) == f"told {code}"
        assert process.wait() == code


def test_before_there_is_a_program_to_tell_it_ends_at_once(start: Start) -> None:
    with start(STUCK.replace("termination.listen(told)", "").replace("0.2", "3600")) as process:
        assert heard(process) == "ready"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143


def test_what_it_has_started_ends_with_it(start: Start) -> None:
    child = "child = subprocess.Popen(['sleep', '600']); print(child.pid, flush=True)\n"
    with start(child + STUCK) as process:
        pid = int(heard(process))
        kept = psutil.Process(pid)
        assert heard(process) == "ready"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
        psutil.wait_procs([kept], timeout=60)
        assert not kept.is_running() or kept.status() == psutil.STATUS_ZOMBIE


def test_a_second_ctrl_c_is_not_waited_for(start: Start) -> None:
    patient = STUCK.replace("patience_s=0.2", "signals=(signal.SIGINT,), patience_s=3600")
    with start(patient) as process:
        assert heard(process) == "ready"
        process.send_signal(signal.SIGINT)
        assert heard(process) == "told 130"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_a_hang_up_that_was_to_be_ignored_is(start: Start) -> None:
    with start(STUCK, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        assert heard(process) == "ready"
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert heard(process) == "told 143"
        assert process.wait() == 143


def test_a_terminal_that_goes_away_is_noticed_without_a_signal(start: Start) -> None:
    leader, follower = os.openpty()
    with start(STUCK.replace("Termination(", "Termination(0, "), stdin=follower) as process:
        os.close(follower)
        assert heard(process) == "ready"
        os.close(leader)
        assert heard(process) == "told 129"
        assert process.wait() == 129


def test_when_everything_is_kept_it_is_not_waited_for_long(start: Start) -> None:
    closing = STUCK.replace("flush=True)\nwith", "flush=True)\n    termination.kept()\nwith").replace("0.2", "3600")
    with start(closing) as process:
        assert heard(process) == "ready"
        process.send_signal(signal.SIGTERM)
        assert heard(process) == "told 143"
        assert process.wait() == 143


def test_afterwards_signals_go_the_way_they_went_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    told: list[ExitCode] = []
    with Termination(patience_s=3600) as termination:
        termination.listen(told.append)
        assert signal.getsignal(signal.SIGTERM) != before
        termination.request(ExitCode.TERMINATED)
        termination.request(ExitCode.HANGUP)  # the first one counts
    assert told == [ExitCode.TERMINATED]
    assert termination.code is ExitCode.TERMINATED
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.set_wakeup_fd(-1) == -1
