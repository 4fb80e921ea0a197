"""Every query of the shelf runs on a real memory, and gives what its title says: live, of main, and no more."""

import re
from datetime import datetime
from typing import Any

import pytest

from agent.asking.shelf import shelf
from graph.console.grammar import checked
from graph.console.parameters import given
from graph.memory import Memory

VALUES = {"what": "garden", "one": "anna berg", "other": "BEN"}
SPRING, AUTUMN = "2026-03-10T09:0{}:00", "2026-11-05T15:0{}:00"
UNORDERED = {"Pinned"}  # of two halves, which the engine works on side by side
EXPECTED: dict[str, list[tuple[Any, ...]]] = {
    "Most proven memories": [
        ("The user likes tea.", "preference", 3),
        ("The user lives in Bergen.", "state", 2),
        ("She has a garden.", "fact", 1),
        ("The user plans a boat.", "plan", 1),
    ],
    "What changed this month": [
        ("The user is a boat.", None, "invalid"),
        ("The user plans a boat.", None, "candidate"),
        ("She has a garden.", None, "active"),
        ("The user likes tea.", None, "active"),
        ("The user lives in Bergen.", "The user lives in Oslo.", "active"),
        ("The user lives in Oslo.", None, "superseded"),
    ],
    "Who knows what": [("Anna Berg", 1, ["She has a garden."])],
    "Who said what about …": [
        (SPRING.format(2), "you", "Anna Berg's gardens are in Oslo. ANNA BERG!", "Gardens"),
        (SPRING.format(1), "assistant", "A garden is a fine thing.", "Gardens"),
        (SPRING.format(0), "you", "Anna Berg planted a garden with Ben.", "Gardens"),
    ],
    "Messages never recalled": [
        ("I moved from Oslo to Bergen.", AUTUMN.format(2)),
        ("Ben likes planning boats, and I like tea.", AUTUMN.format(0)),
        ("Anna Berg's gardens are in Oslo. ANNA BERG!", SPRING.format(2)),
    ],
    "Path between two people": [(["anna", "a1", "ben"], 2)],
    "Who stands how to …": [],  # test_relationships.py has some
    "How two are related": [],
    "Whom you know in …": [],
    "What changed about …": [],
    "Most mentioned people": [("Anna Berg", 2, SPRING.format(2)), ("Ben", 2, AUTUMN.format(0))],
    "People mentioned together": [("Anna Berg", "Ben", 1)],
    "Busiest chats": [
        ("Sailing", 4, AUTUMN.format(0), AUTUMN.format(4)),
        ("Gardens", 4, SPRING.format(0), SPRING.format(3)),
    ],
    "Newest memories of a kind": [("The user likes tea.", "active", 0.7)],
    "Memories that no longer hold": [
        ("The user is a boat.", None, "invalid"),
        ("The user lives in Oslo.", "The user lives in Bergen.", "superseded"),
    ],
    "Waiting for your review": [("The user plans a boat.", "plan", 0.4)],
    "Most recalled memories": [("The user likes tea.", 1, AUTUMN.format(4))],
    "Names without memories": [("Ben", "person", 2), ("Oslo", "place", 2), ("Bergen", "place", 1)],
    "Pinned": [
        ("message", "Ben likes planning boats, and I like tea.", AUTUMN.format(0)),
        ("memory", "The user likes tea."),
    ],
    "Documents": [("manual", "markdown", 2)],
    "Slowest replies": [
        (None, 2.5, None, "Oslo is cold."),
        (None, 0.9, None, "A garden is a fine thing."),
        (None, 0.1, None, "Boats need wind."),
    ],
}


def asked(memory: Memory, name: str, world: str = "main") -> list[tuple[Any, ...]]:
    """The rows of a ready query, its path as the ids on it, without times of today."""
    ready = next(each for each in shelf() if each.name == name)
    parameters = {key: VALUES[key] if value == "" else value for key, value in ready.parameters.items()}
    rows = memory.console.run(ready.cypher, parameters=parameters, world=world).rows
    return [tuple(map(_told, filter(_lasting, row))) for row in rows]


def _lasting(value: Any) -> bool:
    """Whether a value is no time at which the test itself ran: only those of what was said are known."""
    is_time = re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}(\.\d+)?", str(value)) is not None
    return not is_time or value[:10] in (SPRING[:10], AUTUMN[:10])


def _told(value: Any) -> Any:
    return [node["id"] for node in value["_nodes"]] if isinstance(value, dict) and "_nodes" in value else value


def test_the_list_of_what_is_expected_is_the_shelf() -> None:
    assert [each.name for each in shelf()] == list(EXPECTED)
    assert len(EXPECTED) >= 12


@pytest.mark.parametrize("name", EXPECTED)
def test_a_ready_query_gives_what_its_title_says(told: Memory, name: str) -> None:
    rows = asked(told, name)
    if name in UNORDERED:
        rows.sort(reverse=True)
    assert rows == EXPECTED[name]


@pytest.mark.parametrize("ready", shelf(), ids=lambda each: each.name)
def test_a_ready_query_passes_the_first_wall_and_says_what_it_shows(ready: Any) -> None:
    checked(ready.cypher)
    given(ready.cypher, ready.parameters)
    assert ready.about.endswith(".")
    assert "$world" in ready.cypher or ready.name == "Documents"
    assert all(len(line) < 400 for line in ready.cypher.splitlines())


@pytest.mark.parametrize("name", EXPECTED)
def test_nothing_of_what_was_hidden_is_shown(told: Memory, name: str) -> None:
    assert "secret" not in repr(asked(told, name))
    assert "What if" not in repr(asked(told, name))


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
