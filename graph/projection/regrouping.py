"""Who is the same as whom: what names an entity is hung on whom it means, at once when that changes.

A turn's MENTIONS and SAID_BY, a reference's WRITTEN_BY, an observation's ABOUT and the RELATES it draws lead to whom
they mean. Each remembers who was told, so that they come apart again as they were put together.
"""

from collections.abc import Callable, Iterable

from graph.events import EntitySplit
from graph.projection import observations
from graph.projection.entities import led_to, meant
from graph.projection.sink import Sink, node


def merge(sink: Sink, entity: str, into: str | None) -> None:
    """An entity is the same as another, or one of its own again."""

    def change() -> None:
        sink.set_node("Entity", entity, {"same_as": into})

    _regroup(sink, led_to(sink, entity), change)


def split(sink: Sink, event: EntitySplit) -> None:
    """Some of what names an entity means the other one; what did, and is not among it, no more."""
    entity, other = event.entity, event.other
    before = sink.edges("SPLIT_FROM", entity, to="Entity")
    wanted = dict.fromkeys(event.items)

    def change() -> None:
        sink.set_node("Entity", entity, {"split": True})
        for there, edge in before:
            if there == other or edge["item"] in wanted:
                sink.drop_rel("SPLIT_FROM", there, entity, key=edge["item"])
        for item in wanted:
            sink.put_rel("SPLIT_FROM", other, entity, {"item": item}, key=item)

    _regroup(sink, led_to(sink, entity, other), change)


def _regroup(sink: Sink, at: Iterable[str], change: Callable[[], None]) -> None:
    """Make a change of who is who, and hang what hangs on some entities on whom it means then."""
    places = list(at)
    told = [
        (rel, start, here, edge)
        for here in places
        for rel in ("MENTIONS", "ABOUT", "WRITTEN_BY")
        for start, edge in sink.edges(rel, here, to="Entity")
    ]
    said = [(turn, here) for here in places for _, turn in sink.starts(("SAID_BY",), here, to="Entity")]
    drawn = {start: observations.drawn(sink, start) for rel, start, _, _ in told if rel == "ABOUT"}
    change()
    for rel, start, here, edge in told:
        means = meant(sink, edge["told"], start)
        if means != here:
            sink.drop_rel(rel, start, here, key=edge["told"])
            sink.put_rel(rel, start, means, edge, key=edge["told"])
    for turn, here in said:
        means = meant(sink, node(sink, "Turn", turn)["speaker"], turn)
        if means != here:
            sink.drop_rel("SAID_BY", turn, here)
            sink.put_rel("SAID_BY", turn, means)
    for observation, ends in drawn.items():
        observations.redraw(sink, observation, ends)
