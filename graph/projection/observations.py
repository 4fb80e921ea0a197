"""Observations in the graph: what each revision stands on, and what it says about the others.

A revision is live while all its sources stand and its series was not deleted. It is invalid while it was judged so or a
turn that stands contradicts it; else superseded while a later revision says more; else what it was judged. It is
current while it is live, not invalid, not superseded, and the one that it was made instead of is not live.
`lost_sources`, `newer_revisions` and `contradictions` count what those words ask for, so that a change touches a
revision and those it bears on.

All this is counted in the world of the observation: what a what-if revises or contradicts of main stays as it is in
main, and what it made of turns of main stands while it sees them (sources.py).

A synthesis is made from two others and stands on all that they do, so that it is live no longer than either; it is
current only while both are in use, in its own world. So what is retired, superseded or taken back under review takes
what was made from it out of use, and brings it back; and the deletion of a series is one of its syntheses too.

A revision says more than the one before it while it is live and in use, or while one that supersedes it says more: so
what was under review and then edited takes its predecessor's place. Hence a change may pass along the whole series.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from graph.events import (
    ObservationMade,
    ObservationReinforced,
    ObservationRetired,
    ObservationSupported,
    RelationNoted,
)
from graph.events.codec import Stored
from graph.projection.entities import meant
from graph.projection.sink import Properties, Sink, node
from graph.projection.sources import fallen, find, hang, sees_revision, stands_in, told, unhang

_RELATION = ("relation", "subject", "object", "since", "until", "polarity", "word")
_DECIDING = ("judged", "deleted", "lost_sources", "newer_revisions", "contradictions", "instead_of")


def make(sink: Sink, stored: Stored, event: ObservationMade) -> None:
    """A revision is new."""
    id, seq, sources = event.observation, stored.seq, tuple(dict.fromkeys(event.sources))
    if event.supersedes is not None:
        first_seen = node(sink, "Observation", event.supersedes)["first_seen"]
    else:
        first_seen = min(told(sink, sources))
    properties = {
        "seq": seq,
        "text": event.text,
        "kind": event.category.value,
        "status": event.status,
        "judged": event.status,
        "confidence": event.confidence,
        "grounded": event.grounded,
        "origin": event.origin,
        "world": event.world,
        "project": event.project,
        "scope": ",".join(sorted(set(event.tags))) or event.project or "global",
        "at": stored.at,
        "first_seen": first_seen,
        "series": event.series,
        "supersedes": event.supersedes,
        "instead_of": event.instead_of,
        "live": False,
        "current": False,
        "pinned": False,
        "deleted": False,
        "lost_sources": fallen(sink, event.world, sources),
        "newer_revisions": 0,
        "contradictions": 0,
        "substitutes": 0,
        "parents": 0,
        "syntheses": 0,
        "touched": seq,
    }
    sink.put_node("Observation", id, properties)
    _relate(sink, event, sources)
    settle(sink, id, seq)


def relate(sink: Sink, event: RelationNoted, seq: int) -> None:
    """It says how two entities stand to each other: an edge between them, for as long as it is in force and in use."""
    relation = event.relation
    if relation is None:
        return
    fields = {
        "relation": relation.kind,
        "subject": relation.subject,
        "object": relation.object,
        "since": relation.since,
        "until": relation.until,
        "polarity": relation.polarity,
        "word": relation.word,
    }
    sink.set_node("Observation", event.observation, {**fields, "touched": seq})
    _tell(sink, event.observation, (relation.subject, relation.object))
    redraw(sink, event.observation, None)


def unrelate(sink: Sink, observation: str, seq: int) -> None:
    """What it said of two entities is erased."""
    now, before = node(sink, "Observation", observation), drawn(sink, observation)
    made = sink.event(now["seq"])
    about = made.about if isinstance(made, ObservationMade) else ()
    for end in {now["subject"], now["object"]} - {None, *about}:
        sink.drop_rel("ABOUT", observation, meant(sink, end, observation), key=end)
    sink.set_node("Observation", observation, {**dict.fromkeys(_RELATION), "touched": seq})
    redraw(sink, observation, before)


def support(sink: Sink, event: ObservationSupported, seq: int) -> None:
    """A source says the same; it is proof, but nothing hangs its life on it."""
    at = find(sink, event.source)[1]["at"]
    hang(sink, "SUPPORTED_BY", event.observation, event.source, {"at": at, "amount": event.amount})
    sink.set_node("Observation", event.observation, {"touched": seq})


def reinforce(sink: Sink, event: ObservationReinforced, seq: int) -> None:
    """A turn echoed it."""
    at = node(sink, "Turn", event.by_turn)["at"]
    hang(sink, "REINFORCED_BY", event.observation, event.by_turn, {"at": at, "amount": event.step})
    sink.set_node("Observation", event.observation, {"touched": seq})


def retire(sink: Sink, event: ObservationRetired, seq: int) -> None:
    """It is contradicted, by hand or by a turn."""
    if event.by_turn is None:
        settle(sink, event.observation, seq, judged="invalid")
        return
    is_new = hang(sink, "RETIRED_BY", event.observation, event.by_turn)
    now = node(sink, "Observation", event.observation)
    counts = is_new and stands_in(sink, now["world"], event.by_turn)
    settle(sink, event.observation, seq, contradictions=now["contradictions"] + counts)


def give_back(sink: Sink, observation: str, status: str, seq: int) -> None:
    """It stands as `status` again, whatever was said against it so far."""
    for turn in sink.ends("RETIRED_BY", observation, to="Turn"):
        unhang(sink, "RETIRED_BY", observation, turn)
    settle(sink, observation, seq, judged=status, contradictions=0)


def delete(sink: Sink, series: str, seq: int) -> None:
    """All revisions of a series are gone for good, and of what was made from it and another."""
    found = {series: None}
    ahead = [series]
    for revision in ahead:
        later = [each for _, each in sink.starts(("SUPERSEDES",), revision, to="Observation")]
        later += _made_from(sink, revision)
        ahead += [each for each in later if each not in found]
        found.update(dict.fromkeys(later))
    for revision in reversed(ahead):
        settle(sink, revision, seq, deleted=True)
        recount(sink, revision, seq)  # it may have lived in another world


def settle(sink: Sink, observation: str, seq: int, **changes: Any) -> None:
    """Change what decides how a revision stands, work that out anew, and pass on what it means for others."""
    _settle_series(sink, observation, seq, changes)
    reconsider(sink, observation, seq)


def _settle_series(sink: Sink, observation: str, seq: int, changes: dict[str, Any]) -> None:
    """A revision, and those before it as far as it matters to them."""
    here: str | None = observation
    while here is not None:
        now = node(sink, "Observation", here)
        was_live, said_more, before, edge = now["live"], _says_more(now), now["supersedes"], drawn(sink, here)
        sink.set_node("Observation", here, {**changes, **_standing(sink, now, changes), "touched": seq})
        now = node(sink, "Observation", here)
        redraw(sink, here, edge)
        if now["live"] != was_live:
            recount(sink, here, seq)
        if _says_more(now) == said_more or before is None:
            return
        earlier = node(sink, "Observation", before)
        if earlier["world"] != now["world"]:
            return
        here, changes = before, {"newer_revisions": earlier["newer_revisions"] + (-1 if said_more else 1)}


def recount(sink: Sink, observation: str, seq: int) -> None:
    """Work out anew what was made instead of a revision: that may live again, or no longer, in some world."""
    if not node(sink, "Observation", observation)["substitutes"]:
        return
    for _, other in sink.starts(("INSTEAD_OF",), observation, to="Observation"):
        _weigh(sink, other, seq)
        reconsider(sink, other, seq)


def reconsider(sink: Sink, observation: str, seq: int) -> None:
    """Work out anew what was made from a revision, or another of its series: how that stands changed in some world."""
    series = node(sink, "Observation", observation)["series"]
    if not node(sink, "Observation", series)["syntheses"]:
        return
    revisions = [series]
    for revision in revisions:
        revisions += [later for _, later in sink.starts(("SUPERSEDES",), revision, to="Observation")]
        for made in _made_from(sink, revision):
            now = node(sink, "Observation", made)
            if _standing(sink, now, {})["current"] != now["current"]:
                _weigh(sink, made, seq)
            reconsider(sink, made, seq)  # also where it stands as before, in a world below its own it may not


def _weigh(sink: Sink, observation: str, seq: int) -> None:
    """Work out anew how a revision stands, of which nothing changed but what it depends on."""
    now = node(sink, "Observation", observation)
    edge = drawn(sink, observation)
    sink.set_node("Observation", observation, {**_standing(sink, now, {}), "touched": seq})
    redraw(sink, observation, edge)


def _made_from(sink: Sink, observation: str) -> list[str]:
    """What was made from a revision and another memory."""
    return [made for _, made in sink.starts(("SYNTHESIZED_FROM",), observation, to="Observation")]


def _standing(sink: Sink, now: Properties, changes: dict[str, Any]) -> dict[str, Any]:
    """Live, status and current of a revision with some changes."""
    decided = {name: changes.get(name, now[name]) for name in _DECIDING}
    live = decided["lost_sources"] == 0 and not decided["deleted"]
    if decided["judged"] == "invalid" or decided["contradictions"] > 0:
        status = "invalid"
    else:
        status = "superseded" if decided["newer_revisions"] > 0 else decided["judged"]
    current = live and status in ("candidate", "active")
    if current and decided["instead_of"] is not None:
        current = not _lives_in(sink, now["world"], decided["instead_of"])
    if current and now["parents"]:
        current = _has_parents_in(sink, now["world"], now["id"])
    return {"live": live, "status": status, "current": current}


def _lives_in(sink: Sink, world: str, observation: str) -> bool:
    """Whether a revision is live in a world, its own or another."""
    now = node(sink, "Observation", observation)
    if now["world"] == world:
        return bool(now["live"])
    if now["deleted"] or not sees_revision(sink, world, now):
        return False
    sources = [source for table in ("Turn", "Chunk") for source in sink.ends("DERIVED_FROM", observation, to=table)]
    return fallen(sink, world, sources) == 0


def _has_parents_in(sink: Sink, world: str, observation: str) -> bool:
    """Whether all that a synthesis was made from is in use in a world."""
    return all(_in_use(sink, world, each) for each in sink.ends("SYNTHESIZED_FROM", observation, to="Observation"))


def _in_use(sink: Sink, world: str, observation: str) -> bool:
    """Whether a revision is in use in a world, its own or one below it."""
    now = node(sink, "Observation", observation)
    if now["world"] == world:
        return bool(now["current"] and now["status"] == "active")
    if now["judged"] != "active" or not _lives_in(sink, world, observation):
        return False
    if _contradicted_in(sink, world, observation) or _revised_in(sink, world, observation):
        return False
    if now["instead_of"] is not None and _lives_in(sink, world, now["instead_of"]):
        return False
    return not now["parents"] or _has_parents_in(sink, world, observation)


def _contradicted_in(sink: Sink, world: str, observation: str) -> bool:
    return any(stands_in(sink, world, turn) for turn in sink.ends("RETIRED_BY", observation, to="Turn"))


def _revised_in(sink: Sink, world: str, observation: str) -> bool:
    """Whether a later revision says more than one in a world."""
    return any(
        _says_more_in(sink, world, each) for _, each in sink.starts(("SUPERSEDES",), observation, to="Observation")
    )


def _says_more_in(sink: Sink, world: str, observation: str) -> bool:
    now = node(sink, "Observation", observation)
    if now["world"] == world:
        return _says_more(now)
    if not _lives_in(sink, world, observation):
        return False
    in_use = now["judged"] == "active" and not _contradicted_in(sink, world, observation)
    return in_use or _revised_in(sink, world, observation)


def drawn(sink: Sink, observation: str) -> tuple[str, str] | None:
    """The two between whom it draws an edge: while it is in force and in use, and they are two."""
    now = node(sink, "Observation", observation)
    if now["relation"] is None or not now["current"] or now["status"] != "active":
        return None
    ends = meant(sink, now["subject"], observation), meant(sink, now["object"], observation)
    return ends if ends[0] != ends[1] else None


def redraw(sink: Sink, observation: str, before: tuple[str, str] | None) -> None:
    """Draw the edge that it says, in place of the one between those of `before`."""
    ends = drawn(sink, observation)
    if ends == before:
        return
    if before is not None:
        sink.drop_rel("RELATES", *before, key=observation)
    if ends is not None:
        now = node(sink, "Observation", observation)
        edge = {name: now[name] for name in ("since", "until", "polarity", "confidence", "world")}
        sink.put_rel("RELATES", *ends, edge | {"observation": observation, "kind": now["relation"]}, key=observation)


def _tell(sink: Sink, observation: str, entities: Iterable[str]) -> None:
    """It is about some entities, or whom it means by them."""
    for entity in dict.fromkeys(entities):
        means = meant(sink, entity, observation)
        if not sink.has_rel("ABOUT", observation, means, key=entity):
            sink.put_rel("ABOUT", observation, means, {"told": entity}, key=entity)


def _says_more(now: Properties) -> bool:
    in_use = now["judged"] == "active" and now["contradictions"] == 0
    return bool(now["live"] and (in_use or now["newer_revisions"] > 0))


def _relate(sink: Sink, event: ObservationMade, sources: tuple[str, ...]) -> None:
    id = event.observation
    for source in sources:
        hang(sink, "DERIVED_FROM", id, source, {"at": find(sink, source)[1]["at"]})
    if event.supersedes is not None:
        sink.put_rel("SUPERSEDES", id, event.supersedes)
    if event.instead_of is not None:
        sink.put_rel("INSTEAD_OF", id, event.instead_of)
        there = node(sink, "Observation", event.instead_of)["substitutes"]
        sink.set_node("Observation", event.instead_of, {"substitutes": there + 1})
    _tell(sink, id, event.about)
    _descend(sink, event)


def _descend(sink: Sink, event: ObservationMade) -> None:
    """What it was made from: two parents, or those of the revision before it."""
    parents: Sequence[str] = event.parents or ()
    if event.supersedes is not None and node(sink, "Observation", event.supersedes)["parents"]:
        parents = sink.ends("SYNTHESIZED_FROM", event.supersedes, to="Observation")
    for parent in parents:
        sink.put_rel("SYNTHESIZED_FROM", event.observation, parent)
        series = node(sink, "Observation", parent)["series"]
        made = node(sink, "Observation", series)["syntheses"]
        sink.set_node("Observation", series, {"syntheses": made + 1})
    if parents:
        sink.set_node("Observation", event.observation, {"parents": len(parents)})
