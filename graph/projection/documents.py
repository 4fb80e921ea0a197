"""Documents and their chunks: a chunk is live while the latest reading of a document that was not removed holds it."""

from graph.events import ChunkRead, DocumentRead
from graph.events.codec import Stored
from graph.projection.liveness import flow
from graph.projection.sink import Sink, node


def read_chunk(sink: Sink, stored: Stored, event: ChunkRead) -> None:
    """A piece of a document is there, for a later reading to hold."""
    properties = {
        "seq": stored.seq,
        "document": event.document,
        "text": event.text,
        "headings": event.headings,
        "at": stored.at,
        "live": False,
        "evidence": 0,
        "touched": stored.seq,
    }
    sink.put_node("Chunk", event.chunk, properties)


def read_document(sink: Sink, stored: Stored, event: DocumentRead) -> None:
    """A document is what this reading says."""
    if sink.node("Document", event.document) is None:
        sink.put_node("Document", event.document, {"deleted": False})
    title, _, path = (event.text or "").partition("\n")
    values = {
        "title": title if event.text is not None else None,
        "path": path if event.text is not None else None,
        "type": event.category,
        "project": event.project,
        "tags": ",".join(sorted(set(event.tags))),
        "size": event.size,
        "at": stored.at,
        "seq": stored.seq,
    }
    sink.set_node("Document", event.document, values)
    removed = node(sink, "Document", event.document)["deleted"]
    _hold(sink, event.document, () if removed else event.chunks, stored.seq)


def remove_document(sink: Sink, document: str, seq: int) -> None:
    """A document is gone for good, and holds nothing."""
    sink.set_node("Document", document, {"deleted": True})
    _hold(sink, document, (), seq)


def _hold(sink: Sink, document: str, chunks: tuple[str, ...], seq: int) -> None:
    """Let a document hold these chunks, in this order, and no others."""
    before = [chunk for _, chunk in sink.starts(("PART_OF",), document, to="Document")]
    for chunk in set(before) - set(chunks):
        sink.drop_rel("PART_OF", chunk, document)
    for chunk in sorted(set(before) - set(chunks)):
        _change(sink, chunk, node(sink, "Chunk", chunk)["position"], seq, live=False)
    for position, chunk in enumerate(dict.fromkeys(chunks)):
        if chunk not in before:
            sink.put_rel("PART_OF", chunk, document)
        _change(sink, chunk, position, seq, live=True)


def _change(sink: Sink, chunk: str, position: int, seq: int, *, live: bool) -> None:
    now = node(sink, "Chunk", chunk)
    was_live, hangs = now["live"], now["evidence"] > 0
    if was_live == live and now["position"] == position:
        return
    sink.set_node("Chunk", chunk, {"position": position, "live": live, "touched": seq})
    if hangs and was_live != live:
        step = 1 if live else -1
        flow(sink, "Chunk", chunk, seq, step=step, elsewhere=step)
