"""What each world sees and believes, in lawful histories of heads, forks and what-ifs, as the definitions say it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import Ambiguous, NotFound
from graph.events import Event, ObservationMade, PinCleared, PinSet, SessionForked
from graph.memory import Memory
from graph.values import Filters, Observation, Wanted
from tests.examples import histories
from tests.graph.conftest import ignore
from tests.graph.talk import (
    NOON,
    begin,
    delete,
    drop,
    hide,
    move,
    pin,
    rate,
    release,
    rename,
    reply,
    said,
    taken,
    talk,
    unhide,
    what_if,
    withhold,
    write,
)
from tests.graph.teach import forget, observed, promote, reject, retire, support
from tests.reference import MAIN, Reference

STEPS = st.lists(
    st.tuples(st.integers(0, 24), st.integers(0, 999), st.integers(0, 999), st.booleans()), min_size=8, max_size=45
)


@dataclass
class History:
    """Turns numbers into what may follow; the reference tells what there is."""

    reference: Reference = field(default_factory=Reference)
    events: list[Event] = field(default_factory=list)
    waiting: list[tuple[str, str]] = field(default_factory=list)

    def add(self, *events: Event) -> None:
        for event in events:
            self.reference.apply(event)
            self.events.append(event)

    def step(self, what: int, a: int, b: int, flag: bool) -> None:
        """One event, where there is one to be had."""
        known = self.reference
        sessions = list(known.head)
        turns = list(known.parent)
        if what == 0 or not sessions:
            self.add(begin(f"s{len(known.world)}"))
            return
        session = sessions[a % len(sessions)]
        turn = turns[b % len(turns)] if turns else None
        if what <= 7 or turn is None:
            self._say(session, turn if flag and b % 3 == 0 else known.head[session], queued=what == 7)
        elif what <= 16:
            self._go(what, session, turn, a, flag)
        else:
            self._learn(what, session, turn, a, b, flag)

    def _say(self, session: str, parent: str | None, *, queued: bool) -> None:
        id = f"t{len(self.events)}"
        if queued:
            self.waiting.append((id, session))
            self.add(said(id, session, queued=True, text=f"word {id}"))
        else:
            self.add((reply if len(self.events) % 3 else said)(id, session, parent=parent, text=f"word {id}"))

    def _go(self, what: int, session: str, turn: str, a: int, flag: bool) -> None:
        known = self.reference
        match what:
            case 8 | 9:
                self.add(move(session, None if a % 9 == 0 else turn))
            case 10 | 11 | 12:
                fork = f"s{len(known.world)}"
                world = fork if flag or what == 10 else known.world[session]
                self.add(SessionForked(session=fork, origin=session, at=turn, world=world, client="test"))
            case 13:
                self.add(unhide(turn) if turn in known.hidden else hide(turn))
            case 14:
                self.add(delete(turn) if flag else rate(turn, a % 4, by="user"))
            case 15:
                self.add(release(turn) if turn in known.withheld else withhold(turn))
            case _ if self.waiting:
                waits, home = self.waiting.pop()
                self.add(taken(waits, home, parent=known.head.get(home)))
            case _ if flag and len(known.head) > 2:
                self.add(drop(session))

    def _learn(self, what: int, session: str, turn: str, a: int, b: int, flag: bool) -> None:
        known, world = self.reference, self.reference.world[session]
        seen = (world, *known.worlds[world].above)
        made = [each for each in known.made.values() if each.series not in known.deleted and each.world in seen]
        old = made[b % len(made)] if made else None
        turns = list(known.parent)
        other = turns[a % len(turns)]
        if what <= 18 or old is None:
            self._observe(world, turn, other, None, old if flag and b % 5 == 0 else None)
            return
        match what:
            case 19:
                self._observe(world, turn, turn, old, None)
            case 20:
                self._prove(old, turn, flag)
            case 21:
                self._review(old, flag)
            case 22:
                pins = PinSet if flag or a % 3 else PinCleared
                self.add(pins(turn=turn, world=world if b % 2 else None))
            case 23:
                text = "" if a % 5 == 0 else f"block {len(self.events)}"
                sources = (turn,) if flag else ()
                self.add(write(f"b{b % 2}", text, *sources, world=world))
            case _ if a % 6 == 0:
                self._forget(old.series)
            case _:
                pins = PinSet if flag or a % 3 else PinCleared
                self.add(pins(observation=old.observation, world=world if b % 2 else None))

    def _forget(self, series: str) -> None:
        """A series, and what was made instead of one of it: that goes with it, as the Agent has it."""
        made = self.reference.made
        self.add(forget(series))
        for each in list(made.values()):
            instead = made.get(each.instead_of or "")
            if instead is not None and instead.series == series and each.series not in self.reference.deleted:
                self._forget(each.series)

    def _observe(
        self, world: str, one: str, other: str, after: ObservationMade | None, instead: ObservationMade | None
    ) -> None:
        """Where the world sees what it comes from, mostly: a model that learns reads nothing else."""
        id = f"o{len(self.events)}"
        status = "candidate" if len(self.events) % 4 == 0 else "active"
        gone = instead.observation if instead is not None else None
        sources = dict.fromkeys((one, other))
        more = {"world": world, "status": status, "instead_of": gone, "text": f"word {id}"}
        self.add(observed(id, *sources, after=after, **more))

    def _prove(self, old: ObservationMade, turn: str, flag: bool) -> None:
        known = self.reference
        if flag and turn not in known.accused.get(old.observation, ()):
            self.add(retire(old.observation, turn))
        elif not flag and turn not in known.supports.get(old.observation, ()) and turn not in old.sources:
            self.add(support(old.observation, turn, amount=0.1))

    def _review(self, old: ObservationMade, flag: bool) -> None:
        judged = self.reference.judged[old.observation]
        if judged == "candidate" and flag:
            self.add(promote(old.observation))
        elif judged != "invalid":
            self.add(reject(old.observation))


@contextmanager
def memory_of(folder: str) -> Iterator[Memory]:
    memory = Memory.open(Path(folder) / "memory", command="test")
    try:
        memory.open_graph(ignore)
        yield memory
    finally:
        memory.close()


def written(steps: list[tuple[int, int, int, bool]]) -> History:
    history = History()
    for step in steps:
        history.step(*step)
    return history


@histories(25)
@given(STEPS, st.integers(0, 99))
def test_every_world_sees_and_believes_what_the_definitions_say(
    steps: list[tuple[int, int, int, bool]], asked: int
) -> None:
    history = written(steps)
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        early = history.events[: asked * len(history.events) // 100]  # recall keeps what it read then
        if early:
            memory.append(*early)
            recalled(memory, MAIN, history)
        for event in history.events[len(early) :]:
            memory.append(event)
        for world in history.reference.worlds:
            compare(memory, world, history)


def compare(memory: Memory, world: str, history: History) -> None:
    """One world of the memory with that of the reference."""
    known = history.reference
    sees, stands = known.sees(world), known.standing(world)
    assert memory.readings.sees(world, known.home) == sees
    assert memory.recall.in_world(world).seen(known.home) == {turn: turn in stands for turn in sees}
    assert {turn.id for turn in memory.readings.recent("turn", 999, world=world)} == stands
    assert recalled(memory, world, history) == stands
    believed = known.believed(world)
    found = memories(memory, world)
    assert {id: (each.status, each.current, each.proof_count) for id, each in found.items()} == {
        id: (stand.status, stand.current, stand.proof) for id, stand in believed.items()
    }
    current = {id for id, stand in believed.items() if stand.current}
    assert {each.id for each in memory.readings.memories(Wanted(world=world), now=NOON)} == current
    assert memory.readings.observations(known.made, world=world).keys() == believed.keys()
    active = {id for id in current if believed[id].status == "active"}
    near = memory.near("word", vector=None, world=world, project=None, limit=99, status=("active",))
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


def recalled(memory: Memory, world: str, history: History) -> set[str]:
    """The turns that recall answers with in a world, where every one of them has the word."""
    filters = Filters(world=world, kinds=frozenset({"turn"}))
    hits = memory.recall.search("word", filters=filters, now=NOON, timezone=UTC, limit=999)
    return {hit.id for hit in hits}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        yield memory


def test_worlds_are_listed_with_where_they_come_from_and_found_by_their_sessions(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(what_if("WHATIF1", "s", "s1"))
    memory.append(rename("WHATIF1", "by the sea"))
    memory.append(SessionForked(session="f", origin="WHATIF1", at="s1", world="WHATIF1", client="x"))
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
