"""Where turns stand in the tree: their places, for good, and what they follow once deleted turns are passed by.

A turn keeps the place it was given: `parent` and `depth`. What it is read to follow is `above`, the nearest turn above
it that is not deleted, and there REPLIES_TO leads; a deleted turn follows nothing, and its `above` stays what it was.
`jump` is a turn further up, chosen by the depth alone, so that any turn of a path is found in few steps.
"""

from functools import lru_cache

from graph.sink import Sink, node


def place(sink: Sink, turn: str, parent: str | None) -> None:
    """Put a turn below `parent`."""
    if parent is None:
        sink.set_node("Turn", turn, {"parent": None, "depth": 0, "jump": None, "above": None})
        return
    over = node(sink, "Turn", parent)
    depth, above = over["depth"] + 1, kept(sink, parent) if over["deleted"] else parent
    jump = parent if _reach(depth) == depth - 1 else node(sink, "Turn", over["jump"])["jump"]
    if above is not None:
        sink.put_rel("REPLIES_TO", turn, above)
    sink.set_node("Turn", turn, {"parent": parent, "depth": depth, "jump": jump, "above": above})


def kept(sink: Sink, turn: str | None) -> str | None:
    """The turn, or the nearest one above it, that is not deleted."""
    while turn is not None and (now := node(sink, "Turn", turn))["deleted"]:
        turn = now["above"]
    return turn


def pass_by(sink: Sink, turn: str, seq: int) -> None:
    """A turn is deleted: what followed it follows what it followed, and so do heads that stood there."""
    above = node(sink, "Turn", turn)["above"]
    if above is not None:
        sink.drop_rel("REPLIES_TO", turn, above)
    for _, child in sink.starts(("REPLIES_TO",), turn, to="Turn"):
        sink.drop_rel("REPLIES_TO", child, turn)
        if above is not None:
            sink.put_rel("REPLIES_TO", child, above)
        sink.set_node("Turn", child, {"above": above, "touched": seq})
    for _, session in sink.starts(("HEAD",), turn, to="Turn"):
        sink.drop_rel("HEAD", session, turn)
        if above is not None:
            sink.put_rel("HEAD", session, above)


def is_over(sink: Sink, upper: str, lower: str) -> bool:
    """Whether turn `upper` is a strict ancestor of turn `lower`; one that waits has no place, and is of none."""
    above, below = node(sink, "Turn", upper)["depth"], node(sink, "Turn", lower)["depth"]
    return above is not None and below is not None and above < below and _at(sink, lower, above) == upper


def _at(sink: Sink, turn: str, depth: int) -> str:
    """The turn at `depth` on the path of `turn`."""
    while (here := node(sink, "Turn", turn))["depth"] > depth:
        turn = here["jump"] if _reach(here["depth"]) >= depth else here["parent"]
    return turn


@lru_cache(maxsize=10_000)
def _reach(depth: int) -> int:
    """The depth that the jump of a turn at `depth` leads to: less the smallest of the numbers 2^k - 1 it is made of."""
    left = depth
    while left:
        largest = (1 << ((left + 1).bit_length() - 1)) - 1
        if left in (largest, 2 * largest):
            return depth - largest
        left -= largest
    return 0
