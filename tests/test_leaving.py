"""A terminal that goes away takes clew with it, and one that does not read holds nothing up."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from bench.leaving import STATES, Trial, chat, leave_many, lose, message, silent_index
from graph.errors import MemoryMissing
from graph.reader import LogReader

pytestmark = pytest.mark.process

STORY = "Tell me a long story about a lighthouse and its keeper."
PATIENCE_S = 120.0


def test_clew_goes_with_its_terminal_in_every_state_and_loses_nothing(tmp_path: Path, models_folder: Path) -> None:
    trials = [
        Trial(state, closes=number % 2 == 0, stalls=number % 3 == 1, message=message(state, str(number)))
        for number, state in enumerate(("streaming", *STATES, "streaming"))
    ]
    done, missing, ill = leave_many(tmp_path, models_folder, trials=trials, beside=1, seed=5, tell=lambda line: None)
    assert [each for each in done if not each.well] == []
    assert sum(each.accepted for each in done) == 4
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
    home: Path, models_folder: Path
) -> None:
    with chat(os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models_folder)}) as terminal:
        at = terminal.until(b"ready")
        terminal.press(STORY.encode() + b"\r")
        at = terminal.until(b"writing", since=at)
        terminal.stalled.set()
        reply = whole_reply(home / "memory")
        assert len(reply) > 200
        stalled_at = len(terminal.painted)
        terminal.stalled.clear()
        last = next(line for line in reversed(reply.splitlines()) if line.strip()).split()[-1]
        terminal.until(last.strip("*_`#").encode(), since=stalled_at)
        terminal.until(b"ready", since=stalled_at)


@pytest.mark.parametrize("stalls", [False, True], ids=["reading", "stalled"])
@pytest.mark.parametrize("closes", [True, False], ids=["closed", "sigterm"])
def test_a_question_from_the_shell_ends_with_its_terminal_and_keeps_what_came(
    home: Path, models_folder: Path, closes: bool, stalls: bool
) -> None:
    environment = os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models_folder)}
    trial = Trial("asking", closes=closes, stalls=False, message=STORY)
    with chat(environment, [sys.executable, "-m", "tui", "ask", STORY]) as terminal:
        terminal.until(b"accepted 01")
        at = terminal.until(b"\n", since=len(terminal.painted))  # of the reply
        if stalls:
            terminal.stalled.set()
        assert at
        lose(terminal, trial, home)
    assert trial.well, trial
    reader = LogReader.open(home / "memory")
    assert reader.exchanges(limit=1)[0].turn.text == STORY
    reader.close()


def test_a_sigcont_without_a_stop_starts_nothing_twice(home: Path, models_folder: Path) -> None:
    with chat(os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models_folder)}) as terminal:
        at = terminal.until(b"ready")
        process = psutil.Process(terminal.process.pid)
        before = process.num_threads()
        process.send_signal(signal.SIGCONT)
        terminal.press("ç".encode())
        terminal.until("ç".encode(), since=at)
        assert process.num_threads() <= before


def whole_reply(memory: Path) -> str:
    """The reply in the log, once it has ended there."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            reader = LogReader.open(memory)
        except MemoryMissing:
            continue
        try:
            found = reader.exchanges(limit=1)
        finally:
            reader.close()
        if found and found[0].reply is not None and found[0].reply.text:
            return found[0].reply.text
    raise AssertionError("no reply was stored while the terminal did not read")


@pytest.mark.parametrize("begun", ["suspended", "background"])
def test_a_shell_ends_a_clew_that_is_stopped_or_was_begun_in_the_background(
    home: Path, models_folder: Path, begun: str
) -> None:
    environment = os.environ | {"CLEW_HOME": str(home), "CLEW_MODELS": str(models_folder), "PS1": "$ "}
    with chat(environment, ["bash", "--norc", "--noprofile", "-i"]) as terminal:
        python = f"{sys.executable} -m tui --new"
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


@pytest.mark.parametrize("closes", [True, False], ids=["closed", "sigterm"])
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
