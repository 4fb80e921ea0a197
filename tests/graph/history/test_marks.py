"""Marks in the log: which are offered, and when the next one is due."""

from datetime import UTC, datetime, timedelta

from graph.events import MarkCleared, MarkSet
from graph.memory import Memory
from tests.graph.talk import talk

HOUR = timedelta(hours=1)


def marked(memory: Memory, *marks: MarkSet) -> None:
    for mark in marks:
        memory.append(mark)


def later(days: int = 0) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


def offered(memory: Memory, days: int = 0) -> list[str]:
    return [each.id for each in memory.history.marks.offered(now=later(days))]


def test_five_automatic_marks_are_offered_those_of_rewinds_for_two_weeks_and_named_ones_always(memory: Memory) -> None:
    marked(memory, MarkSet(mark="named", reason="named", text="then"))
    marked(memory, MarkSet(mark="r", reason="rewind"), MarkSet(mark="s", reason="restore"))
    assert offered(memory, days=13) == ["s", "r", "named"]
    assert offered(memory, days=15) == ["named"]
    marked(memory, *(MarkSet(mark=f"a{number}", reason="automatic") for number in range(7)))
    assert offered(memory, days=15) == ["a6", "a5", "a4", "a3", "a2", "named"]
    memory.append(MarkCleared(mark="a5"))
    assert offered(memory, days=15) == ["a6", "a4", "a3", "a2", "a1", "named"]
    memory.append(MarkCleared(mark="named"))
    assert "named" not in offered(memory)


def test_a_mark_is_due_after_so_many_events_or_so_long(memory: Memory) -> None:
    assert not memory.history.marks.is_due(events=1, after=HOUR, now=later())
    talk(memory, 9)  # ten events
    assert memory.history.marks.is_due(events=10, after=HOUR, now=later())
    assert not memory.history.marks.is_due(events=11, after=HOUR, now=later())
    assert memory.history.marks.is_due(events=11, after=HOUR, now=later(days=1))
    memory.append(MarkSet(mark="a", reason="automatic"))
    assert not memory.history.marks.is_due(events=10, after=HOUR, now=later(days=1)), "nothing happened since"
