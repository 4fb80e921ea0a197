"""References in the graph: what a session refers to, and who wrote it."""

from graph.events import ReferenceAdded, ReferenceDropped, ReferenceWritten
from graph.events.codec import Stored
from graph.projection.entities import lose_name, meant, put_author
from graph.projection.sink import Sink, node


def add(sink: Sink, stored: Stored, event: ReferenceAdded) -> None:
    """A session refers to it."""
    known = sink.node("Reference", event.reference)
    refers = known is not None and known["attached"]
    values = {"address": event.text, "seq": stored.seq, "at": stored.at, "attached": True}
    if known is None:
        fixed = {"session": event.session, "kind": event.category, "turn": event.turn}
        sink.put_node("Reference", event.reference, fixed | values)
    else:
        sink.set_node("Reference", event.reference, values)
    if not refers:
        sink.put_rel("REFERS_TO", event.session, event.reference)


def drop(sink: Sink, event: ReferenceDropped) -> None:
    """Its session refers to it no more; who wrote it did so all the same."""
    known = node(sink, "Reference", event.reference)
    if known["attached"]:
        sink.drop_rel("REFERS_TO", known["session"], event.reference)
        sink.set_node("Reference", event.reference, {"attached": False})


def write(sink: Sink, stored: Stored, event: ReferenceWritten) -> None:
    """Somebody wrote it, who is called as it says."""
    handle, _, did = (event.text or "").partition("\n")
    put_author(sink, event.author, handle or None, stored.seq)
    means = meant(sink, event.author, event.reference)
    if not sink.has_rel("WRITTEN_BY", event.reference, means, key=event.author):
        values = {"seq": stored.seq, "told": event.author, "did": did or None}
        sink.put_rel("WRITTEN_BY", event.reference, means, values, key=event.author)


def erase_address(sink: Sink, event: ReferenceAdded, seq: int) -> None:
    """Take an address away, unless it was given again later."""
    if node(sink, "Reference", event.reference)["seq"] == seq:
        sink.set_node("Reference", event.reference, {"address": None})


def erase_author(sink: Sink, event: ReferenceWritten, seq: int) -> None:
    """Take away that somebody wrote it, and its name unless that was given again later."""
    lose_name(sink, event.author, seq)
    means = meant(sink, event.author, event.reference)
    for start, edge in sink.edges("WRITTEN_BY", means, to="Entity"):
        if (start, edge["told"], edge["seq"]) == (event.reference, event.author, seq):
            sink.drop_rel("WRITTEN_BY", start, means, key=event.author)
