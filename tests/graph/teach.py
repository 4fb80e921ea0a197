"""Short ways to say what is learned of it: observations and their reviews, entities, documents."""

from typing import Any

from graph import events
from graph.events import Event, ObservationMade
from tests.graph.deeds import deed


def observed(id: str, *sources: str, after: ObservationMade | None = None, **more: Any) -> ObservationMade:
    """An active observation of its sources, or a revision of the one it comes `after`; its text is its id."""
    first: dict[str, Any] = {"series": id, "supersedes": None, "sources": sources}
    if after is not None:
        named = tuple(dict.fromkeys((*after.sources, *sources)))
        first = {"series": after.series, "supersedes": after.observation, "sources": named}
    fields = {
        "observation": id,
        "category": events.ObservationKind.FACT,
        "status": "active",
        "confidence": 0.7,
        "grounded": True,
        "origin": "model",
        "text": id,
    }
    return ObservationMade.model_validate({**fields, **first, **more})


def related(id: str, subject: str, kind: str, object: str, *sources: str, **more: Any) -> list[Event]:
    """An observation of how two stand to each other, and that it says so."""
    told = {name: more.pop(name) for name in ("word", "since", "until", "polarity") if name in more}
    made = observed(id, *sources, category=events.ObservationKind.RELATIONSHIP, about=(subject, object), **more)
    relation = events.Relation(subject=subject, kind=kind, object=object, **told)
    return [made, events.RelationNoted.of(id, relation)]


promote, reject = deed(events.ObservationPromoted, "observation"), deed(events.ObservationRejected, "observation")
retire = deed(events.ObservationRetired, "observation", "by_turn")  # by a turn, or by hand
give_back = deed(events.ObservationReturned, "observation", "status")
support = deed(events.ObservationSupported, "observation", "source", "amount")
reinforce = deed(events.ObservationReinforced, "observation", "by_turn", "step", "before", "after")
forget, remove = deed(events.ObservationDeleted, "series"), deed(events.DocumentRemoved, "document")
noted = deed(events.EntityNoted, "entity", "text", "by_turn", category="person")


def read(document: str, *chunks: str, new: tuple[str, ...] | None = None, **more: Any) -> list[Any]:
    """A reading of a document, and of its chunks that are `new` (all, unless given); a chunk's text is its id."""
    pieces = [
        events.ChunkRead(chunk=chunk, document=document, headings=1, text=f"Head\n{chunk}")
        for chunk in (chunks if new is None else new)
    ]
    fields = {"category": "markdown", "size": 7, "text": f"{document}\n/tmp/{document}.md"}
    return [*pieces, events.DocumentRead.model_validate({"document": document, "chunks": chunks, **fields, **more})]
