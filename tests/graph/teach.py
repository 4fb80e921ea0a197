"""Short ways to say what is learned of it: observations and their reviews, entities, documents."""

from typing import Any

from graph.events import (
    ChunkRead,
    DocumentRead,
    EntityNoted,
    ObservationDeleted,
    ObservationKind,
    ObservationMade,
    ObservationPromoted,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    ObservationSupported,
)
from tests.graph.deeds import deed


def observed(id: str, *sources: str, after: ObservationMade | None = None, **more: Any) -> ObservationMade:
    """An active observation of its sources, or a revision of the one it comes `after`; its text is its id."""
    first: dict[str, Any] = {"series": id, "supersedes": None, "sources": sources}
    if after is not None:
        named = tuple(dict.fromkeys((*after.sources, *sources)))
        first = {"series": after.series, "supersedes": after.observation, "sources": named}
    fields = {
        "observation": id,
        "category": ObservationKind.FACT,
        "status": "active",
        "confidence": 0.7,
        "grounded": True,
        "origin": "model",
        "text": id,
    }
    return ObservationMade.model_validate({**fields, **first, **more})


promote, reject = deed(ObservationPromoted, "observation"), deed(ObservationRejected, "observation")
retire = deed(ObservationRetired, "observation", "by_turn")  # by a turn, or by hand
give_back = deed(ObservationReturned, "observation", "status")
support = deed(ObservationSupported, "observation", "source", "amount")
forget = deed(ObservationDeleted, "series")
noted = deed(EntityNoted, "entity", "text", "by_turn", category="person")


def read(document: str, *chunks: str, new: tuple[str, ...] | None = None, **more: Any) -> list[Any]:
    """A reading of a document, and of its chunks that are `new` (all, unless given); a chunk's text is its id."""
    pieces = [
        ChunkRead(chunk=chunk, document=document, headings=1, text=f"Head\n{chunk}")
        for chunk in (chunks if new is None else new)
    ]
    fields = {"category": "markdown", "size": 7, "text": f"{document}\n/tmp/{document}.md"}
    return [*pieces, DocumentRead.model_validate({"document": document, "chunks": chunks, **fields, **more})]
