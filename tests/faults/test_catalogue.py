"""The seeded faults keep their places while code moves, and their tests are there."""

import ast
from collections import Counter

import pytest

from tests.faults.catalogue import PACKAGES, ROOT, load, misplaced, missing_tests
from tests.faults.run import Ended, chosen, failed_in, judged, table

FAULTS = load()
ONE = FAULTS[0]
SAID = """F
=========================== short test summary info ============================
FAILED tests/agent/test_text.py::test_a_blank_message_is_refused[ - \\n] - Failed: DID NOT RAISE
FAILED tests/agent/test_text.py::test_a_blank_message_is_refused[] - Failed: DID NOT RAISE
ERROR tests/graph/log/test_lock.py::test_a_brief_holder_is_waited_for - OSError
!!!!!!!!!!!!!!!!!!!!!!!!!! stopping after 1 failures !!!!!!!!!!!!!!!!!!!!!!!!!!!
"""


def test_every_fault_has_its_place_once_in_its_file() -> None:
    assert misplaced(FAULTS) == [], "take it along: tests/faults/run.py says how"


def test_every_test_that_is_to_catch_one_is_there() -> None:
    assert missing_tests(FAULTS) == []


def test_there_are_enough_faults_in_every_package_and_none_twice() -> None:
    assert len(FAULTS) >= 60
    assert [id for id, times in Counter(fault.id for fault in FAULTS).items() if times > 1] == []
    places = Counter((fault.file, fault.before) for fault in FAULTS)
    assert [place for place, times in places.items() if times > 1] == []
    by_package = Counter(fault.file.partition("/")[0] for fault in FAULTS)
    assert {package for package in PACKAGES if by_package[package] >= 8} == set(PACKAGES)


def test_a_fault_is_a_small_mistake_and_no_error_of_syntax() -> None:
    for fault in FAULTS:
        assert fault.before != fault.after, fault.id
        assert fault.before.strip().count("\n") <= 2, fault.id
        ast.parse(fault.in_place(ROOT), fault.id)


def test_what_has_moved_is_named_with_where_it_was() -> None:
    moved = [
        ONE.model_copy(update={"file": "agent/nowhere.py"}),
        ONE.model_copy(update={"before": "words that are nowhere"}),
        ONE.model_copy(update={"caught_by": ("tests/agent/test_text.py::test_nothing",)}),
    ]
    assert misplaced(moved) == [
        f"{ONE.id}: there is no file agent/nowhere.py (any more)",
        f"{ONE.id}: its text stands 0 times in {ONE.file}, and not once",
    ]
    assert missing_tests(moved) == [f"{ONE.id}: there is no test_nothing in tests/agent/test_text.py"]


def test_the_tests_that_failed_are_named_once_each() -> None:
    caught = (
        "tests/agent/test_text.py::test_a_blank_message_is_refused",
        "tests/graph/log/test_lock.py::test_a_brief_holder_is_waited_for",
    )
    assert failed_in(SAID) == caught
    assert str(judged(ONE, Ended(1, SAID, 2.0))) == f"caught by {', '.join(caught)}"


def test_a_fault_counts_as_caught_only_where_a_test_failed_or_never_ended() -> None:
    ends = [Ended(0, "3 passed", 1.0), Ended(2, "an error while collecting", 1.0), Ended(None, "", 300.0)]
    verdicts = [judged(ONE, ended) for ended in ends]
    assert [bool(verdict.caught) for verdict in verdicts] == [False, False, True]
    assert table(verdicts).splitlines() == [
        f"{ONE.id}    1.0 s  SURVIVED",
        f"{ONE.id}    1.0 s  NOT RUN: pytest ended with 2",
        f"{ONE.id}  300.0 s  caught by the time limit",
        "3 faults: 1 caught, 2 not",
    ]


def test_only_the_faults_that_are_named_are_chosen() -> None:
    assert chosen(FAULTS, [ONE.id, ONE.id]) == [ONE]
    assert chosen(FAULTS, []) == list(FAULTS)
    with pytest.raises(ValueError, match="no fault nonsense"):
        chosen(FAULTS, ["nonsense"])
