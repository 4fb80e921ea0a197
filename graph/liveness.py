"""Which turns are live, kept up to date while heads move.

A turn is live while it is at or above a head of a session of its own world that is not deleted, and is neither hidden
nor deleted itself. `heads` counts those heads, so that moving one touches only the turns between its two places.
Turns of another world on the path are passed by: what a what-if holds keeps nothing of main alive, and the reverse.
"""

from collections.abc import Iterator

from graph.changes import Change, DropRel, Properties, PutRel, SetNode, View


def move_head(view: View, session: str, target: str | None) -> Iterator[Change]:
    """Put a session's head at turn `target`. A deleted session has no head to move."""
    before = node(view, "Session", session)
    old = before["head"]
    if before["deleted"] or old == target:
        return
    if old is not None:
        yield DropRel("HEAD", session, old)
    if target is not None:
        yield PutRel("HEAD", session, target)
    yield SetNode("Session", session, {"head": target})
    for turn, step in _between(view, old, target):
        now = node(view, "Turn", turn)
        if now["world"] == before["world"]:
            heads = now["heads"] + step
            yield SetNode("Turn", turn, {"heads": heads, "live": is_live({**now, "heads": heads})})


def is_live(turn: Properties) -> bool:
    """Whether a turn with these properties is live."""
    return bool(turn["heads"] and not turn["hidden"] and not turn["deleted"])


def node(view: View, table: str, id: str) -> Properties:
    """A node that the log's rules say is there."""
    found = view.node(table, id)
    if found is None:
        raise LookupError(f"the graph has no {table} {id}")
    return found


def _between(view: View, old: str | None, new: str | None) -> Iterator[tuple[str, int]]:
    """The turns a head leaves (-1) and enters (+1) between two places, up to where their paths meet."""
    while old != new:
        above_old, above_new = _depth(view, old), _depth(view, new)
        if old is not None and above_old >= above_new:
            yield old, -1
            old = node(view, "Turn", old)["parent"]
        elif new is not None:
            yield new, +1
            new = node(view, "Turn", new)["parent"]


def _depth(view: View, turn: str | None) -> int:
    return -1 if turn is None else int(node(view, "Turn", turn)["depth"])
