"""Short ways to say what is learned of it: observations and their reviews, entities, documents."""

from typing import Any, Literal

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
from tests.graph.deeds import done_to


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


promote = done_to("observation", ObservationPromoted)
reject = done_to("observation", ObservationRejected)
forget = done_to("series", ObservationDeleted)


def retire(observation: str, by_turn: str | None = None) -> ObservationRetired:
    """Contradicted by a turn, or by hand."""
    return ObservationRetired(observation=observation, by_turn=by_turn)


def give_back(observation: str, status: Literal["active", "candidate"]) -> ObservationReturned:
    return ObservationReturned(observation=observation, status=status)


def support(observation: str, source: str, amount: float = 0.0) -> ObservationSupported:
    return ObservationSupported(observation=observation, source=source, amount=amount)


def noted(entity: str, name: str, turn: str, **more: Any) -> EntityNoted:
    """A turn names a person, or an entity of another category."""
    return EntityNoted.model_validate({"entity": entity, "text": name, "by_turn": turn, "category": "person", **more})


def read(document: str, *chunks: str, new: tuple[str, ...] | None = None, **more: Any) -> list[Any]:
    """A reading of a document, and of its chunks that are `new` (all, unless given); a chunk's text is its id."""
    pieces = [
        ChunkRead(chunk=chunk, document=document, headings=1, text=f"Head\n{chunk}")
        for chunk in (chunks if new is None else new)
    ]
    fields = {"category": "markdown", "size": 7, "text": f"{document}\n/tmp/{document}.md"}
    return [*pieces, DocumentRead.model_validate({"document": document, "chunks": chunks, **fields, **more})]
