"""Every query of the shelf runs on a real memory, and gives what its title says: live, of main, and no more."""

import re
from datetime import datetime
from typing import Any

import pytest

from agent.asking.shelf import Ready, shelf
from graph.console.grammar import checked
from graph.console.parameters import given
from graph.memory import Memory
from tests.agent.asking.asked import answers, as_told
from tests.tables import each

VALUES = {"what": "garden", "one": "anna berg", "other": "BEN"}
DAYS = ("2026-03-10", "2026-11-05")
UNORDERED = {"Pinned"}  # of two halves, which the engine works on side by side
EXPECTED: dict[str, list[list[Any]]] = answers("shelf")


def asked(memory: Memory, name: str, world: str = "main") -> list[list[Any]]:
    """The rows of a ready query, without times of today."""
    ready = next(each for each in shelf() if each.name == name)
    parameters = {key: VALUES[key] if value == "" else value for key, value in ready.parameters.items()}
    rows = memory.console.run(ready.cypher, parameters=parameters, world=world).rows
    return [[as_told(value) for value in row if _lasting(value)] for row in rows]


def _lasting(value: Any) -> bool:
    """Whether a value is no time at which the test itself ran: only those of what was said are known."""
    is_time = re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}(\.\d+)?", str(value)) is not None
    return not is_time or value[:10] in DAYS


def test_the_list_of_what_is_expected_is_the_shelf() -> None:
    assert [each.name for each in shelf()] == list(EXPECTED)
    assert len(EXPECTED) >= 12


def test_a_ready_query_passes_the_first_wall_and_says_what_it_shows() -> None:
    def check(ready: Ready) -> None:
        checked(ready.cypher)
        given(ready.cypher, ready.parameters)
        assert ready.about.endswith(".")
        assert "$world" in ready.cypher or ready.name == "Documents"
        assert all(len(line) < 400 for line in ready.cypher.splitlines())

    each(shelf(), check)


@pytest.mark.process
def test_a_ready_query_gives_what_its_title_says_and_nothing_of_what_was_hidden(told: Memory) -> None:
    def check(row: tuple[str, list[list[Any]]]) -> None:
        found = asked(told, row[0])
        assert (sorted(found, reverse=True) if row[0] in UNORDERED else found) == row[1]

    each(EXPECTED.items(), check)
    assert not re.search("secret|What if", repr(EXPECTED))


@pytest.mark.process
def test_a_ready_query_can_be_asked_of_a_what_if(told: Memory) -> None:
    assert asked(told, "Busiest chats", world="whatif")[0][1] == 1
    assert [row[0] for row in asked(told, "Most mentioned people", world="whatif")] == ["Anna Berg"]


def test_this_month_is_that_of_the_wall_clock_of_here() -> None:
    (ready,) = (each for each in shelf(datetime.fromisoformat("2026-12-01T00:30:00+09:00")) if "month" in each.name)
    assert ready.parameters == {"since": "2026-12-01T00:00:00+09:00"}


@pytest.mark.process
def test_an_empty_memory_has_no_rows_for_any(whole: Memory) -> None:
    for ready in shelf():
        parameters = {key: value or "x" for key, value in ready.parameters.items()}
        assert whole.console.run(ready.cypher, parameters=parameters).rows == ()
