"""Every error that can reach a person has its exit code."""

from pathlib import Path

import pytest

import agent.errors
import graph.errors
import models.errors
from agent.errors import EmptyMessage, HomeError, SettingsError
from graph.errors import (
    LogDamaged,
    LogNewer,
    LogUnreadable,
    LogUnwritable,
    MemoryHeld,
    MemoryMissing,
    NotFound,
    QueryTimeout,
)
from models.errors import ContextFull, NotGguf, UnknownModel
from tui.exit_codes import ExitCode, exit_code_of


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EmptyMessage("empty"), 2),
        (graph.errors.Ambiguous("two"), 2),
        (LogDamaged("damaged"), 65),
        (LogNewer("newer"), 65),
        (NotFound("none"), 66),
        (MemoryMissing(Path("memory")), 66),
        (UnknownModel("x"), 69),
        (NotGguf(Path("x.gguf"), "text"), 69),
        (HomeError("read-only"), 73),
        (LogUnwritable("full"), 74),
        (LogUnreadable("locked"), 74),
        (OSError(28, "No space left on device"), 74),
        (MemoryHeld(None), 75),
        (SettingsError("line 3"), 78),
        (QueryTimeout("slow"), 1),
        (ContextFull(9, 8), 1),
        (BrokenPipeError(), 141),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError(), 70),
    ],
)
def test_an_error_has_the_code_that_says_what_to_do_next(error: BaseException, code: int) -> None:
    assert exit_code_of(error) == code


@pytest.mark.parametrize("package", [agent.errors, graph.errors, models.errors])
def test_no_error_of_ours_is_taken_for_a_bug_but_an_invalid_event(package: object) -> None:
    ours = [each for each in vars(package).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert ours
    bugs = {each.__name__ for each in ours if exit_code_of(each.__new__(each)) is ExitCode.SOFTWARE}
    assert bugs <= {"InvalidEvent"}
