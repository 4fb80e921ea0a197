"""A memory held against the reference: what a world shows, and what it should, a line for each difference."""

from collections.abc import Iterator
from datetime import UTC, datetime

from bench.person import Person
from graph.values import Filters, Wanted

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def differences(person: Person, world: str, word: str) -> Iterator[str]:
    """What of a world is not as the definitions say; `word` is what recall is asked for."""
    memory, reference = person.memory, person.reference
    standing, believed = reference.standing(world), reference.believed(world)
    observations = memory.readings.memories(Wanted(world=world, everything=True), now=NOW, limit=10_000)
    pairs: list[tuple[str, object, object]] = [
        ("turns", memory.readings.sees(world, reference.home), reference.sees(world)),
        ("pins", {turn.id for turn in memory.readings.pinned(world)}, reference.pinned(world)),
        ("blocks", {block.name: block.text for block in memory.readings.blocks(world)}, reference.blocks(world)),
        (
            "memories",
            {each.id: (each.status, each.current, each.proof_count) for each in observations},
            {id: (stand.status, stand.current, stand.proof) for id, stand in believed.items()},
        ),
    ]
    for name, found, expected in pairs:
        if found != expected:
            yield f"{name} of {world}: {_apart(found, expected)}"
    for session in sorted(
        each for each in reference.head if world in reference.story and reference.world[each] == world
    ):
        yield from _played(person, session)
    active = {id for id, stand in believed.items() if stand.current and stand.status == "active"}
    for hit in memory.recall.search(word, filters=Filters(world=world), now=NOW, timezone=UTC, limit=50):
        if hit.id not in (standing if hit.kind == "turn" else active):
            yield f"recall in {world}: {hit.kind} {hit.id} is not live"


def _played(person: Person, session: str) -> Iterator[str]:
    """What of a chat of a story is not as its path says: who plays, what is on the stage, who saw what."""
    readings, reference = person.memory.readings, person.reference
    cast = [(each.id, each.name, each.seat, each.since) for each in readings.cast(session)]
    stage = {key: line.text for key, line in readings.stage(session).items() if key[1] not in ("seat", "reset")}
    pairs: list[tuple[str, object, object]] = [
        ("cast", cast, reference.cast(session)),
        ("stage", stage, reference.stage(session)),
    ]
    for member in person.members(session):
        seen = [turn.id for turn in readings.thread(session, witness=member)]
        pairs.append((f"view of {member}", seen, reference.view(session, member)))
    for name, found, expected in pairs:
        if found != expected:
            yield f"{name} in {session}: {_apart(found, expected)}"


def _apart(found: object, expected: object) -> str:
    """Only what is different of two sets or dictionaries."""
    if isinstance(found, dict) and isinstance(expected, dict):
        found, expected = set(found.items()), set(expected.items())
    if isinstance(found, set) and isinstance(expected, set):
        return f"{sorted(found - expected)} too many, {sorted(expected - found)} missing"
    return f"{found} instead of {expected}"
