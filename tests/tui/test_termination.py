"""A process that is asked to end ends, with its code, whatever its main thread is doing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tui.exit_codes import ExitCode
from tui.termination import Termination

pytestmark = pytest.mark.process

BEGIN = """
import os, signal, subprocess, sys, threading
from tui.termination import Termination
"""
STUCK = """
def told(code):
    os.write(1, b"told %d" % code + os.linesep.encode())  # it may come while something is printed
with Termination(patience_s=0.2) as termination:
    termination.listen(told)
    print("ready", flush=True)
    stuck = threading.Lock()
    while True:
        stuck.acquire()
"""


@contextmanager
def started(
    folder: Path, code: str, *, first: str = "ready", hang_up: signal.Handlers = signal.SIG_DFL, **how: Any
) -> Iterator[subprocess.Popen[str]]:
    """Python with this code, once it has said that. Whoever runs the tests may ignore hang-ups: it does not."""
    script = folder / "script.py"
    script.write_text(BEGIN + code)
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(script)]
    how |= {"preexec_fn": lambda: signal.signal(signal.SIGHUP, hang_up)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, **how) as process:
        try:
            assert heard(process) == first
            yield process
        finally:
            process.kill()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


PATIENT = STUCK.replace("0.2", "3600")
TOLD = {  # the code, signals and what is told of them, and how it ends
    "it is told and then ended": (STUCK, (signal.SIGTERM, "told 143"), 143),
    "its terminal hangs up": (STUCK, (signal.SIGHUP, "told 129"), 129),
    "there is nobody to tell yet": (PATIENT.replace("termination.listen(told)", ""), (signal.SIGTERM,), 143),
    "a second Ctrl+C is not waited for": (
        PATIENT.replace("Termination(", "Termination(signals=(signal.SIGINT,), "),
        (signal.SIGINT, "told 130", signal.SIGINT),
        130,
    ),
    "everything is kept": (
        PATIENT.replace("\nwith Term", "\n    termination.kept()\nwith Term"),
        (signal.SIGTERM, "told 143"),
        143,
    ),
}


def test_a_program_that_is_stuck_is_told_and_ends_with_its_code(tmp_path: Path) -> None:
    for why, (code, steps, ended) in TOLD.items():
        with started(tmp_path, code) as process:
            for step in steps:
                if isinstance(step, str):
                    assert heard(process) == step, why
                else:
                    process.send_signal(step)
            assert process.wait() == ended, why


def test_what_it_has_started_ends_with_it(tmp_path: Path) -> None:
    child = "child = subprocess.Popen(['sleep', '600']); print('child', flush=True)\n"
    with started(tmp_path, child + STUCK, first="child") as process:
        assert heard(process) == "ready"
        (kept,) = psutil.Process(process.pid).children()
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
        psutil.wait_procs([kept], timeout=60)
        assert not kept.is_running() or kept.status() == psutil.STATUS_ZOMBIE


def test_a_hang_up_that_was_to_be_ignored_is(tmp_path: Path) -> None:
    with started(tmp_path, STUCK, hang_up=signal.SIG_IGN) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert heard(process) == "told 143"
        assert process.wait() == 143


def test_a_terminal_that_goes_away_is_noticed_without_a_signal(tmp_path: Path) -> None:
    leader, follower = os.openpty()
    with started(tmp_path, STUCK.replace("Termination(", "Termination(0, "), stdin=follower) as process:
        os.close(follower)
        os.close(leader)
        assert heard(process) == "told 129"
        assert process.wait() == 129


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
