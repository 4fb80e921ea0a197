"""What a what-if sees of other worlds: all that leads to the turn it left at, and its parent as that was then.

Of its parent it sees the turns that were on the path of a head right after the event it began with, and what the parent
itself inherits, but nothing that follows the turn it left at. Nothing that happens later changes what a world inherits;
hiding, deleting and withholding are no part of it.
"""

from graph.places import is_over
from graph.sink import Properties, Sink, node


def inherits(sink: Sink, world: str, turn: str) -> bool:
    """Whether a world inherits a turn of another one."""
    found = node(sink, "Turn", turn)
    while (here := sink.node("World", world)) is not None and here["fork"] is not None:
        fork = here["fork"]
        if turn == fork or is_over(sink, turn, fork):
            return True
        if is_over(sink, fork, turn):
            return False
        if found["world"] == here["parent"]:
            return was_on_a_path(found, here["seq"])
        world = here["parent"]
    return False


def sees_revision(sink: Sink, world: str, revision: Properties) -> bool:
    """Whether a world may see an observation: one of its own or of a world above it, if its sources stand there."""
    while world != revision["world"]:
        here = sink.node("World", world)
        if here is None or here["parent"] is None:
            return False
        world = here["parent"]
    return True


def was_on_a_path(turn: Properties, seq: int) -> bool:
    """Whether a turn was on the path of a head of its world right after event `seq`, at which a what-if left that."""
    if turn["on_path_since"] is not None and turn["on_path_since"] <= seq:
        return True
    past = [stretch.split("-") for stretch in (turn["past_on_path"] or "").split(",") if stretch]
    return any(int(first) <= seq < int(end) for first, end in past)
