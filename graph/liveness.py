"""Which turns are live, kept up to date while heads move.

A turn is live while it is at or above a head of a session of its own world that is not deleted, and is neither hidden
nor deleted itself. `heads` counts those heads, so that moving one touches only the turns between its two places.
Turns of another world on the path are passed by: what a what-if holds keeps nothing of main alive, and the reverse.
Every turn whose count changes is touched by the event, so that whoever keeps a copy finds what is new by its number.
"""

from collections.abc import Iterator

from graph.sink import Properties, Sink


def move_head(sink: Sink, session: str, target: str | None, *, seq: int) -> None:
    """Put a session's head at turn `target`, as event `seq` says. A deleted session has no head to move."""
    before = node(sink, "Session", session)
    old = before["head"]
    if before["deleted"] or old == target:
        return
    if old is not None:
        sink.drop_rel("HEAD", session, old)
    if target is not None:
        sink.put_rel("HEAD", session, target)
    sink.set_node("Session", session, {"head": target})
    for turn, step in _between(sink, old, target):
        now = node(sink, "Turn", turn)
        if now["world"] == before["world"]:
            heads = now["heads"] + step
            live = is_live(heads, hidden=now["hidden"], deleted=now["deleted"])
            sink.set_node("Turn", turn, {"heads": heads, "live": live, "touched": seq})


def is_live(heads: int, *, hidden: bool, deleted: bool) -> bool:
    """Whether a turn with so many heads at or below it is live."""
    return heads > 0 and not hidden and not deleted


def node(sink: Sink, table: str, id: str) -> Properties:
    """A node that the log's rules say is there."""
    found = sink.node(table, id)
    if found is None:
        raise LookupError(f"the graph has no {table} {id}")
    return found


def _between(sink: Sink, old: str | None, new: str | None) -> Iterator[tuple[str, int]]:
    """The turns a head leaves (-1) and enters (+1) between two places, up to where their paths meet."""
    while old != new:
        above_old, above_new = _depth(sink, old), _depth(sink, new)
        if old is not None and above_old >= above_new:
            yield old, -1
            old = node(sink, "Turn", old)["parent"]
        elif new is not None:
            yield new, +1
            new = node(sink, "Turn", new)["parent"]


def _depth(sink: Sink, turn: str | None) -> int:
    return -1 if turn is None else int(node(sink, "Turn", turn)["depth"])
