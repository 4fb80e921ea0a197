"""States in RAM: bounded, and the one used longest ago leaves first."""

import pytest

from models import machine
from models.parked import Parked, ParkedStates
from models.protocols import KVState


def parked(size: int) -> Parked:
    return Parked(KVState((1, 2, 3), memoryview(bytes(size))), {})


def keys(states: ParkedStates[str]) -> list[str]:
    return [key for key, _ in states.items()]


def test_past_the_limit_the_one_used_longest_ago_is_given_back() -> None:
    states = ParkedStates[str](limit=300)
    for key in "ABC":
        assert states.put(key, parked(100)) == []
    first = states.get("A")  # so now B is the oldest
    assert first is not None
    assert [key for key, _ in states.put("D", parked(150))] == ["B", "C"]
    assert keys(states) == ["A", "D"]
    assert states.get("A") is first
    # One that alone is too large is given back, and pushes the others out.
    assert [key for key, _ in states.put("E", parked(400))] == ["D", "A", "E"]
    assert keys(states) == []
    # A key has one state, and its place is counted once.
    for size in (200, 250, 300):
        assert states.put("A", parked(size)) == []
    assert [each.size for _, each in states.items()] == [300]


def test_where_memory_is_short_less_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: 600)
    states = ParkedStates[str](limit=10_000)
    assert states.put("A", parked(200)) == []
    assert [key for key, _ in states.put("B", parked(200))] == ["A"]


def test_a_state_is_let_go_of_only_if_it_is_still_the_one_that_was_meant() -> None:
    states = ParkedStates[str]()
    old, new = parked(1), parked(1)
    states.put("A", old)
    states.put("A", new)
    states.remove("A", old)
    assert states.get("A") is new
    states.remove("A", new)
    assert states.get("A") is None


def test_what_is_to_be_forgotten_is_gone() -> None:
    states = ParkedStates[str]()
    for key in "ABC":
        states.put(key, Parked(KVState((1,), memoryview(b"x")), {"of": key}))
    states.forget(lambda key, each: key == "A" or each.note == {"of": "B"})
    assert keys(states) == ["C"]
