"""What each world sees and believes, in lawful histories of heads, forks and what-ifs, as the definitions say it."""

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import Ambiguous, NotFound
from graph.events import Event, ObservationMade, TurnSaid
from graph.memory import Memory
from graph.values import Filters, Observation, Wanted
from tests.examples import histories, soaking
from tests.graph.conftest import fresh
from tests.graph.deeds import drop, fork, hide, move, pin, rename, what_if, write
from tests.graph.lessons import taught
from tests.graph.talk import NOON, said, talk
from tests.graph.teach import observed
from tests.reference import MAIN, Reference, told

# Talk, and what is learned of it: turns, forks, heads, pins, observations and blocks; no erased texts, no documents.
STEP = st.tuples(st.integers(0, 15) | st.integers(17, 36) | st.just(43), st.integers(0, 999), st.integers(0, 999))
STEPS = st.lists(STEP, min_size=8, max_size=60 if soaking() else 40)


def worded(event: Event) -> Event:
    """The event with a word that all turns and observations have."""
    if isinstance(event, TurnSaid | ObservationMade):
        return event.model_copy(update={"text": f"word {event.text}"})
    return event


@histories(25)
@given(STEPS, st.integers(0, 99))
def test_every_world_sees_and_believes_what_the_definitions_say(steps: list[tuple[int, int, int]], asked: int) -> None:
    events = [worded(event) for event in taught(steps).events]
    known = told(events)
    with fresh() as memory:
        early = events[: asked * len(events) // 100]  # recall keeps what it read then
        if early:
            memory.append(*early)
            recalled(memory, MAIN)
        for event in events[len(early) :]:
            memory.append(event)
        for world in known.worlds:
            compare(memory, world, known)


def compare(memory: Memory, world: str, known: Reference) -> None:
    """One world of the memory with that of the reference."""
    sees, stands = known.sees(world), known.standing(world)
    assert memory.readings.sees(world, known.home) == sees
    assert memory.recall.in_world(world).seen(known.home) == {turn: turn in stands for turn in sees}
    assert {turn.id for turn in memory.readings.recent("turn", 999, world=world)} == stands
    assert recalled(memory, world) == stands
    believed = known.believed(world)
    found = memories(memory, world)
    assert {id: (each.status, each.current, each.proof_count) for id, each in found.items()} == {
        id: (stand.status, stand.current, stand.proof) for id, stand in believed.items()
    }
    current = {id for id, stand in believed.items() if stand.current}
    assert {each.id for each in memory.readings.memories(Wanted(world=world), now=NOON)} == current
    assert memory.readings.observations(known.made, world=world).keys() == believed.keys()
    active = {id for id in current if believed[id].status == "active"}
    near = memory.near("word", vector=None, world=world, project=None, limit=99)
    assert {each.observation.id for each in near} == active
    for id, each in list(found.items())[:2]:
        story = memory.readings.memory(id, world=world)
        assert story.observation.proof_count == each.proof_count
        live = {p.id for p in story.proofs[id] if p.live and p.relation in ("DERIVED_FROM", "SUPPORTED_BY")}
        assert len(live) == each.proof_count
    by_hand = {turn.id for turn in memory.readings.pinned(world) if turn.pinned}
    assert by_hand == known.pinned(world)
    on = {item for item, is_on in known.worlds[world].pins.items() if is_on}
    pinned = {id for id in current if known.made[id].series in on}
    assert {each.id for each in memory.readings.memories(Wanted(world=world, pinned=True), now=NOON)} == pinned
    assert {block.name: block.text for block in memory.readings.blocks(world)} == known.blocks(world)
    rated = memory.readings.significance(world)
    assert rated == {each: len(memory.readings.rated(each, 999, world=world)) for each in range(4)}


def memories(memory: Memory, world: str) -> dict[str, Observation]:
    everything = Wanted(world=world, everything=True)
    return {each.id: each for each in memory.readings.memories(everything, now=NOON, limit=999)}


def recalled(memory: Memory, world: str) -> set[str]:
    """The turns that recall answers with in a world, where every one of them has the word."""
    filters = Filters(world=world, kinds=frozenset({"turn"}))
    hits = memory.recall.search("word", filters=filters, now=NOON, timezone=UTC, limit=999)
    return {hit.id for hit in hits}


def test_worlds_are_listed_with_where_they_come_from_and_found_by_their_sessions(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(what_if("WHATIF1", "s", "s1"))
    memory.append(rename("WHATIF1", "by the sea"))
    memory.append(fork("f", "WHATIF1", "s1", "WHATIF1", client="x"))
    (forked,) = memory.append(what_if("WHATIF2", "f", "s0"))
    main, one, two = memory.readings.worlds()
    assert (main.id, main.parent, main.seq) == (MAIN, None, 0)
    assert (one.id, one.name, one.parent, one.fork, one.session) == ("WHATIF1", "by the sea", MAIN, "s1", "WHATIF1")
    assert (two.parent, two.fork, two.seq, two.began_at) == ("WHATIF1", "s0", forked.seq, forked.at)
    assert [memory.readings.world(id) for id in (MAIN, "s", "WHATIF1", "f", "whatif2")] == [main, main, one, one, two]
    for unknown in ("nobody", "WHAT"):
        with pytest.raises(NotFound):
            memory.readings.world(unknown)
    with pytest.raises(Ambiguous):
        memory.readings.world("whatif")
    memory.append(drop("WHATIF1"))
    assert memory.readings.world("f").id == "WHATIF1"  # another session is still in it
    memory.append(drop("f"))
    assert [world.id for world in memory.readings.worlds()] == [MAIN, "WHATIF2"]
    assert memory.readings.sees("WHATIF2", ["s0", "s1"]) == {"s0"}


def test_a_revision_and_a_contradiction_in_a_what_if_leave_main_as_it_was(memory: Memory) -> None:
    talk(memory, 4)
    first = observed("o", "s0")
    memory.append(first, what_if("w", "s", "s3"))
    memory.append(said("w0", "w", parent="s3"), observed("r", "w0", after=first, world="w"))
    memory.append(pin(observation="o", world="w"))
    assert standing(memory, MAIN) == {"o": ("active", True, 1)}
    assert standing(memory, "w") == {"o": ("superseded", False, 1), "r": ("active", True, 2)}
    assert [each.id for each in memory.readings.pinned_observations("w")] == ["r"]
    assert memory.readings.pinned_observations() == []
    assert [each.id for each in memory.readings.memory("r").revisions] == ["o", "r"]
    assert [each.id for each in memory.readings.memory("o").revisions] == ["o"]
    with pytest.raises(NotFound, match="another world"):
        memory.readings.memory("r", world=MAIN)
    memory.append(move("s", None))  # what a what-if has of main does not go with main's head
    assert (standing(memory, MAIN), memory.readings.believed(["o"])) == ({}, {})
    assert standing(memory, "w") == {"o": ("superseded", False, 1), "r": ("active", True, 2)}
    assert memory.readings.believed(["o", "r"], world="w").keys() == {"o", "r"}
    memory.append(hide("s0"))  # but that is so everywhere
    assert standing(memory, "w") == {}


def standing(memory: Memory, world: str) -> dict[str, tuple[str, bool, int]]:
    return {id: (each.status, each.current, each.proof_count) for id, each in memories(memory, world).items()}


def test_a_core_block_of_main_is_a_what_ifs_until_it_writes_its_own(memory: Memory) -> None:
    talk(memory, 2)
    (one,) = memory.append(write("b", "main"))
    memory.append(what_if("w", "s", "s1"))
    memory.append(write("b", "main later"))
    assert [(block.text, block.world) for block in memory.readings.blocks("w")] == [("main", MAIN)]
    assert memory.readings.block_versions([one.seq], world="w") == {one.seq}
    memory.append(write("b", "", world="w"))
    assert memory.readings.blocks("w") == []
    assert memory.readings.block_versions([one.seq], world="w") == set()
    assert [block.text for block in memory.readings.blocks()] == ["main later"]
