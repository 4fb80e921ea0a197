"""Which turns are live, kept up to date while heads move.

A turn is live while it is at or above a head of a session of its own world that is not deleted, and is neither hidden
nor deleted itself. `heads` counts those heads, so that moving one touches only the turns between its two places.
Turns of another world on the path are passed by: what a what-if holds keeps nothing of main alive, and the reverse.
Every turn whose count changes is touched by the event, so that whoever keeps a copy finds what is new by its number;
and where something derived hangs on a turn that begins or ceases to stand, it hears of it.
"""

from collections.abc import Iterator
from typing import Any

from graph.flow import flow
from graph.sink import Sink, node
from graph.sources import stands


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
            change_turn(sink, turn, seq, heads=now["heads"] + step)


def change_turn(sink: Sink, turn: str, seq: int, **changes: Any) -> None:
    """Set what decides whether a turn is live, and tell what hangs on it if that makes a difference."""
    now = node(sink, "Turn", turn)
    heads, hidden, deleted = (changes.get(name, now[name]) for name in ("heads", "hidden", "deleted"))
    live = heads > 0 and not hidden and not deleted
    stood = stands("Turn", now) if now["evidence"] else None
    sink.set_node("Turn", turn, {**changes, "live": live, "touched": seq})
    if stood is not None and stands("Turn", node(sink, "Turn", turn)) != stood:
        flow(sink, "Turn", turn, -1 if stood else 1, seq)


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
