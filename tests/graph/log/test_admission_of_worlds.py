"""What is of a what-if needs one that was begun: nothing is stored in a world that does not exist."""

import pytest

from graph.errors import InvalidEvent
from graph.events import Event
from graph.memory import Memory
from tests.graph.deeds import begin, pin, unpin, what_if, write
from tests.graph.talk import talk
from tests.graph.teach import observed

FORK = what_if("w", "s", "s1")
OF_A_WORLD: list[Event] = [
    observed("p", "s0", world="w"),
    write("human", "Rows.", world="w"),
    begin("notes", client="notes", world="w"),
    pin("s0", world="w"),
    unpin("s0", world="w"),
    pin(observation="o", world="w"),
    unpin(observation="o", world="w"),
]


@pytest.mark.parametrize("event", OF_A_WORLD)
def test_what_is_of_a_world_that_does_not_exist_is_refused(memory: Memory, event: Event) -> None:
    talk(memory, 2)
    memory.append(observed("o", "s0"), write("human", "Rows."))  # main needs no beginning
    head = memory.head()
    with pytest.raises(InvalidEvent, match="there is no world w"):
        memory.append(event)
    assert memory.head() == head
    memory.append(FORK, event)
