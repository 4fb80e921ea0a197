"""What is of a what-if needs one that was begun: nothing is stored in a world that does not exist."""

import pytest

from graph.errors import InvalidEvent
from graph.events import CoreWritten, Event, PinCleared, PinSet, SessionForked, SessionStarted
from graph.memory import Memory
from tests.graph.talk import talk
from tests.graph.teach import observed

FORK = SessionForked(session="w", origin="s", at="s1", world="w", client="test")
OF_A_WORLD: list[Event] = [
    observed("p", "s0", world="w"),
    CoreWritten(block="human", world="w", by="user", text="Rows."),
    SessionStarted(session="notes", client="notes", world="w"),
    PinSet(turn="s0", world="w"),
    PinCleared(turn="s0", world="w"),
    PinSet(observation="o", world="w"),
    PinCleared(observation="o", world="w"),
]


@pytest.mark.parametrize("event", OF_A_WORLD)
def test_what_is_of_a_world_that_does_not_exist_is_refused(memory: Memory, event: Event) -> None:
    talk(memory, 2)
    memory.append(observed("o", "s0"))
    head = memory.head()
    with pytest.raises(InvalidEvent, match="there is no world w"):
        memory.append(event)
    assert memory.head() == head
    memory.append(FORK, event)


@pytest.mark.parametrize("world", ["main"])
def test_main_needs_no_beginning(memory: Memory, world: str) -> None:
    memory.append(CoreWritten(block="human", world=world, by="user", text="Rows."))
    assert memory.head() == 1
