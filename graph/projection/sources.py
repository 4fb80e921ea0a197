"""What derived things hang on: turns in their places, what a what-if inherits of them, and whether those stand.

A turn keeps the place it was given: `parent` and `depth`. What it is read to follow is `above`, the nearest turn above
it that is not deleted, and there REPLIES_TO leads; a deleted turn follows nothing, and its `above` stays what it was.
`jump` is a turn further up, chosen by the depth alone, so that any turn of a path is found in few steps.

Of its parent it sees the turns that were on the path of a head right after the event it began with, and what the parent
itself inherits, but nothing that follows the turn it left at. Nothing that happens later changes what a world inherits;
hiding, deleting and withholding are no part of it.

In its own world a turn stands while it is live and not withheld: what the user keeps out of memory stays in its chat,
but nothing that was made of it is believed. A what-if sees turns of other worlds, whatever their heads
do since; there a turn stands while it is open: not hidden, not deleted, not withheld. Chunks are of all worlds.
Every relationship to a source counts in its `evidence`, so that a turn on which nothing hangs costs nothing when it
comes or goes.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from graph.projection.sink import NOTHING, Properties, Sink, node


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
    return was_between(turn["on_path_since"], turn["past_on_path"], seq)


def was_between(since: int | None, past: str | None, seq: int) -> bool:
    """The same of a turn's `on_path_since` and `past_on_path`."""
    if since is not None and since <= seq:
        return True
    stretches = [stretch.split("-") for stretch in (past or "").split(",") if stretch]
    return any(int(first) <= seq < int(end) for first, end in stretches)


def find(sink: Sink, source: str) -> tuple[str, Properties]:
    """The table and properties of a source."""
    turn = sink.node("Turn", source)
    return ("Turn", turn) if turn is not None else ("Chunk", node(sink, "Chunk", source))


def stands(table: str, source: Properties) -> bool:
    """Whether what is made from a source in its own world may be believed."""
    return bool(source["live"]) and not (table == "Turn" and source["withheld"])


def is_open(turn: Properties) -> bool:
    """Whether what is made from a turn may be believed in the worlds that inherit it."""
    return not (turn["hidden"] or turn["deleted"] or turn["withheld"])


def stands_in(sink: Sink, world: str, source: str) -> bool:
    """Whether what is made from a source may be believed in a world."""
    table, found = find(sink, source)
    if table == "Chunk" or found["world"] == world:
        return stands(table, found)
    return is_open(found) and inherits(sink, world, source)


def fallen(sink: Sink, world: str, sources: Iterable[str]) -> int:
    """How many of some sources do not stand in a world."""
    return sum(not stands_in(sink, world, source) for source in sources)


def told(sink: Sink, sources: tuple[str, ...]) -> list[int]:
    """When each was said, in UTC milliseconds."""
    return [int(find(sink, source)[1]["at"]) for source in sources]


def hang(sink: Sink, rel: str, start: str, source: str, properties: Mapping[str, Any] = NOTHING) -> bool:
    """Put a relationship to a source, if it is not there; True if it is new."""
    table, found = find(sink, source)
    if sink.has_rel(rel, start, source, to=table):
        return False
    sink.put_rel(rel, start, source, properties, to=table)
    sink.set_node(table, source, {"evidence": found["evidence"] + 1})
    return True


def unhang(sink: Sink, rel: str, start: str, source: str) -> None:
    """Drop a relationship to a source."""
    table, found = find(sink, source)
    sink.drop_rel(rel, start, source, to=table)
    sink.set_node(table, source, {"evidence": found["evidence"] - 1})
