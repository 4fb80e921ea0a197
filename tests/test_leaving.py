"""A terminal that goes away takes clew with it, and one that does not read holds nothing up."""

import os
import shlex
import signal
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest

from bench.leaving import STATES, Trial, chat, leave_many, lose, message, silent_index
from graph.errors import MemoryMissing
from graph.reader import LogReader
from tests.examples import soaking

pytestmark = pytest.mark.process

STORY = "Tell me a long story about a lighthouse and its keeper."
PATIENCE_S = 120.0
ALONE = ("loading", "streaming", "reflecting", "editor", "closing")
IN_SOAK = ("fetching", "dialog", "reading", "suspended", "starting", "streaming")  # most in tests/test_service.py too
ACCEPTED = ("streaming", "reflecting", "reading")


@pytest.fixture(autouse=True)
def environment(home: Path, models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What a clew needs that is started here; a second thread would only wait for the first."""
    monkeypatch.setenv("CLEW_THREADS", "1")
    return os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models_folder)}


def test_clew_goes_with_its_terminal_in_every_state_and_loses_nothing(tmp_path: Path, models_folder: Path) -> None:
    assert {*ALONE, *IN_SOAK} == {*STATES, "streaming"}
    trials = [
        Trial(state, closes=number % 2 == 1, stalls=number % 3 == 1, message=message(state, str(number)))
        for number, state in enumerate((*ALONE, *IN_SOAK) if soaking() else ALONE)
    ]
    done, missing, ill = leave_many(tmp_path, models_folder, trials=trials, beside=1, seed=5, tell=lambda line: None)
    assert [each for each in done if not each.well] == []
    assert [each.state for each in done if each.accepted] == [each.state for each in done if each.state in ACCEPTED]
    assert (missing, ill) == (0, 0)


def test_a_trial_is_well_only_if_it_ended_in_time_with_its_code_and_took_everything_along() -> None:
    def trial(**how: object) -> Trial:
        found = Trial("streaming", closes=True, stalls=False, message="m", gone_s=1.0, code=129)
        for name, value in how.items():
            setattr(found, name, value)
        return found

    assert trial().well
    assert trial(closes=False, code=143).well
    ill = ({"gone_s": 5.1}, {"gone_s": None}, {"code": 120}, {"code": 0}, {"survivors": 1}, {"trouble": "no"})
    assert [how for how in ill if trial(**how).well] == []


def test_a_reply_streams_to_its_end_and_is_kept_while_the_terminal_does_not_read_and_is_shown_when_it_does(
    environment: dict[str, str], home: Path
) -> None:
    with chat(environment | {"CLEW_SAMPLING__MAX_TOKENS": "100"}) as terminal:
        at = terminal.until(b"ready")
        process = psutil.Process(terminal.process.pid)
        threads = process.num_threads()
        process.send_signal(signal.SIGCONT)  # without a stop it starts nothing twice
        terminal.press("ç".encode())
        at = terminal.until("ç".encode(), since=at)
        assert process.num_threads() <= threads

        terminal.press(STORY.encode() + b"\r")
        at = terminal.until(b"writing", since=at)
        terminal.stalled.set()
        reply = whole_reply(home / "memory")
        assert len(reply) > 100
        stalled_at = len(terminal.painted)
        terminal.stalled.clear()
        last = next(line for line in reversed(reply.splitlines()) if line.strip()).split()[-1]
        terminal.until(last.strip("*_`#").encode(), since=stalled_at)
        terminal.until(b"ready", since=stalled_at)


@pytest.mark.parametrize(
    ("closes", "stalls"),
    [
        pytest.param(True, True, id="closed-stalled"),
        pytest.param(True, False, id="closed-reading", marks=pytest.mark.soak),
        pytest.param(False, True, id="sigterm-stalled", marks=pytest.mark.soak),
        pytest.param(False, False, id="sigterm-reading", marks=pytest.mark.soak),
    ],
)
def test_a_question_from_the_shell_ends_with_its_terminal_and_keeps_what_came(
    environment: dict[str, str], home: Path, closes: bool, stalls: bool
) -> None:
    trial = Trial("asking", closes=closes, stalls=False, message=STORY)
    with chat(environment, [sys.executable, "-m", "tui", "ask", STORY]) as terminal:
        terminal.until(b"accepted 01")
        at = terminal.until(b"\n", since=len(terminal.painted))  # of the reply
        if stalls:
            terminal.stalled.set()
        assert at
        lose(terminal, trial, home)
    assert trial.well, trial
    with closing(LogReader.open(home / "memory")) as reader:
        assert reader.exchanges(limit=1)[0].turn.text == STORY


def whole_reply(memory: Path) -> str:
    """The reply in the log, once it has ended there."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with suppress(MemoryMissing), closing(LogReader.open(memory)) as reader:
            for found in reader.exchanges(limit=1):
                if found.reply is not None and found.reply.text:
                    return found.reply.text
    raise AssertionError("no reply was stored while the terminal did not read")


@pytest.mark.parametrize("begun", ["suspended", "background"])
def test_a_shell_ends_a_clew_that_is_stopped_or_in_the_background(environment: dict[str, str], begun: str) -> None:
    with chat(environment | {"PS1": "$ ", "LC_ALL": "C.UTF-8"}, ["bash", "--norc", "--noprofile", "-i"]) as terminal:
        python = f"{shlex.quote(sys.executable)} -m tui --new"
        terminal.press(f"{python} {'&' if begun == 'background' else ''}\r".encode())
        if begun == "suspended":
            terminal.until(b"ready")
            terminal.press(b"\x1a")
        shell = psutil.Process(terminal.process.pid)
        stopped(shell)
        at = terminal.until(b"$ ")
        (clew,) = shell.children()
        terminal.press(b"kill %1\r")
        clew.wait(PATIENCE_S)
        terminal.press(b"\r")  # at its next prompt the shell tells of it
        terminal.until(b"Exit 143", since=at)


def stopped(shell: psutil.Process) -> None:
    """Wait until what the shell started is stopped."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if [child.status() for child in shell.children()] == [psutil.STATUS_STOPPED]:
            return
        time.sleep(0.05)
    raise AssertionError("it was not stopped")


@pytest.mark.parametrize("closes", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["closed", "sigterm"])
def test_a_first_download_that_is_ended_leaves_no_process_behind(home: Path, closes: bool) -> None:
    trial = Trial("pulling", closes=closes, stalls=False, message="")
    with silent_index() as nowhere:
        environment = os.environ | {"CLEW_HOME": str(home), "PIP_INDEX_URL": nowhere, "PIP_NO_INDEX": "0"}
        with chat(environment, [sys.executable, "-m", "tui", "models", "pull"]) as terminal:
            process = psutil.Process(terminal.process.pid)
            deadline = time.monotonic() + PATIENCE_S
            while not process.children() and time.monotonic() < deadline:
                time.sleep(0.05)
            lose(terminal, trial, home)
    assert trial.well, trial
