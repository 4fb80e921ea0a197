"""Which turns are live, kept up to date while heads move, and how what hangs on them hears of it.

A turn is live while it is at or above a head of a session of its own world that is not deleted, and is neither hidden
nor deleted itself. `heads` counts those heads, so that moving one touches only the turns between its two places.
Turns of another world on the path are passed by: what a what-if holds keeps nothing of main alive, and the reverse.
`on_path_since` and `past_on_path` tell when a turn was on a path of its world, for the what-ifs that see the world as
it was.
Every turn whose count changes is touched by the event, so that whoever keeps a copy finds what is new by its number;
and where something derived hangs on a turn that begins or ceases to stand, it hears of it.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from graph.projection.observations import reconsider, recount, settle
from graph.projection.sink import Properties, Sink, node
from graph.projection.sources import find, inherits, is_open, kept, pass_by, stands
from graph.projection.wording import weigh, world_of

# By table of the source, the relationships by which observations hang on it.
_PROOF = {
    "Turn": ("DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY"),
    "Chunk": ("DERIVED_FROM", "SUPPORTED_BY"),
}


def flow(sink: Sink, table: str, source: str, seq: int, *, step: int, elsewhere: int) -> None:
    """Tell all that hangs on a source that it stands again (+1) or no longer (-1), as event `seq` says.

    `step` is for the source's own world, `elsewhere` for those that inherit it.
    """
    step_in = _steps(sink, table, source, step, elsewhere)
    for rel, observation in sink.starts(_PROOF[table], source, to=table):
        now = node(sink, "Observation", observation)
        match rel, step_in(now["world"]):
            case _, 0:
                pass
            case "DERIVED_FROM", here:
                settle(sink, observation, seq, lost_sources=now["lost_sources"] - here)
            case "RETIRED_BY", here:
                settle(sink, observation, seq, contradictions=now["contradictions"] + here)
            case _:  # its confidence and its trend are read from what stands
                sink.set_node("Observation", observation, {"touched": seq})
        if rel == "DERIVED_FROM" and elsewhere:
            recount(sink, observation, seq)
        if rel in ("DERIVED_FROM", "RETIRED_BY"):  # it may stand otherwise in worlds that are not its own
            reconsider(sink, observation, seq)
    for _, wording in sink.starts(("WORDED_FROM",), source, to=table):
        if here := step_in(world_of(sink, wording)):
            weigh(sink, wording, -here)


def _steps(sink: Sink, table: str, source: str, step: int, elsewhere: int) -> Callable[[str], int]:
    """What a change of a source is in a world."""
    if table == "Chunk":
        return lambda world: step
    own = find(sink, source)[1]["world"]

    @cache
    def step_in(world: str) -> int:
        return step if world == own else elsewhere if elsewhere and inherits(sink, world, source) else 0

    return step_in


FEW, MANY = 3, 24  # steps up a path after which more are looked at together, and how many


def move_head(sink: Sink, session: str, target: str | None, *, seq: int) -> None:
    """Put a session's head at turn `target`, as event `seq` says. A deleted session has no head to move."""
    before = node(sink, "Session", session)
    old, world = before["head"], before["world"]
    if before["deleted"] or old == target:
        return
    left, entered = kept(sink, old), kept(sink, target)
    if left != entered and left is not None:
        sink.drop_rel("HEAD", session, left)
    if left != entered and entered is not None:
        sink.put_rel("HEAD", session, entered)
    sink.set_node("Session", session, {"head": target})
    for turn, step in _between(sink, old, target):
        now = node(sink, "Turn", turn)
        if now["world"] == world:
            change_turn(sink, turn, seq, **_counted(sink, now, step, seq))


def change_turn(sink: Sink, turn: str, seq: int, **changes: Any) -> None:
    """Set what decides whether a turn is live, and tell what hangs on it if that makes a difference."""
    now = node(sink, "Turn", turn)
    heads, hidden, deleted = (changes.get(name, now[name]) for name in ("heads", "hidden", "deleted"))
    if deleted and not now["deleted"]:
        pass_by(sink, turn, seq)
    changes |= {"live": heads > 0 and not hidden and not deleted, "touched": seq}
    if now["evidence"] == 0:
        sink.set_node("Turn", turn, changes)
        return
    stood, was_open = stands("Turn", now), is_open(now)
    sink.set_node("Turn", turn, changes)
    now = node(sink, "Turn", turn)
    step, elsewhere = stands("Turn", now) - stood, is_open(now) - was_open
    if step or elsewhere:
        flow(sink, "Turn", turn, seq, step=step, elsewhere=elsewhere)


def _counted(sink: Sink, now: Properties, step: int, seq: int) -> dict[str, Any]:
    """One head more or less at or below a turn. Of the time it was on a path, what-ifs that began then are to know."""
    heads, since = now["heads"] + step, now["on_path_since"]
    if heads > 0:
        return {"heads": heads, "on_path_since": seq if since is None else since}
    changes: dict[str, Any] = {"heads": heads, "on_path_since": None}
    if since <= (node(sink, "World", now["world"])["forked"] or 0):
        past, stretch = now["past_on_path"], f"{since}-{seq}"
        changes["past_on_path"] = f"{past},{stretch}" if past else stretch
    return changes


def _between(sink: Sink, old: str | None, new: str | None) -> Iterator[tuple[str, int]]:
    """The turns a head leaves (-1) and enters (+1) between two places, up to where their paths meet."""
    if new is not None and node(sink, "Turn", new)["parent"] == old:  # as nearly always
        yield new, +1
        return
    left = entered = 0
    while old != new:
        above_old, above_new = _depth(sink, old), _depth(sink, new)
        if old is not None and above_old >= above_new:
            yield old, -1
            left += 1
            old = _parent(sink, old, left)
        elif new is not None:
            yield new, +1
            entered += 1
            new = _parent(sink, new, entered)


def _parent(sink: Sink, turn: str, steps: int) -> str | None:
    """What is above a turn that is so many `steps` up; whoever went a few will go more."""
    if steps % MANY == FEW:
        sink.foresee("REPLIES_TO", turn, MANY)
    parent: str | None = node(sink, "Turn", turn)["parent"]
    return parent


def _depth(sink: Sink, turn: str | None) -> int:
    return -1 if turn is None else int(node(sink, "Turn", turn)["depth"])
