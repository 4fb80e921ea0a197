"""What a what-if learned stands on what it sees, and main never hears of it."""

import tempfile
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import InvalidEvent
from graph.events import (
    CoreWritten,
    Event,
    HeadMoved,
    ObservationDeleted,
    ObservationPromoted,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    ObservationSupported,
    PinCleared,
    PinSet,
    SessionForked,
    SessionTitled,
    TurnDeleted,
    TurnHidden,
    TurnReleased,
    TurnUnhidden,
    TurnWithheld,
)
from graph.memory import Memory
from graph.values import Wanted
from tests.examples import histories
from tests.graph.lessons import observed
from tests.graph.projection.test_belief import block, current, standing, title
from tests.graph.projection.test_belief_histories import memory_of, of
from tests.graph.projection.test_rebuild_equals_live import folded, rows
from tests.graph.talk import said, talk
from tests.reference import told


@pytest.fixture
def apart(whole: Memory) -> Memory:
    """A chat of four turns, s0 to s3, and a what-if that left it at s1 and has two turns of its own, w0 and w1."""
    talk(whole, 4)
    what_if(whole, "w", "s", "s1")
    whole.append(said("w0", "w", parent="s1"), said("w1", "w", parent="w0"))
    return whole


def what_if(memory: Memory, session: str, origin: str, at: str) -> None:
    memory.append(SessionForked(session=session, origin=origin, at=at, world=session, client="test"))


def test_what_it_made_of_its_own_turns_goes_with_them(apart: Memory) -> None:
    apart.append(observed("o", "w1", world="w"), HeadMoved(session="w", turn="w0"))
    assert current(apart) == set()
    apart.append(HeadMoved(session="w", turn="w1"))
    assert current(apart) == {"o"}


def test_a_rewind_in_main_leaves_what_it_made_of_turns_of_main(apart: Memory) -> None:
    (made,) = apart.append(observed("o", "s1", "w0", world="w"))
    apart.append(HeadMoved(session="s", turn=None))
    assert current(apart) == {"o"}
    assert rows(apart, "Observation", ["touched"])["o"] == (made.seq,)


def test_hiding_deleting_and_withholding_hold_in_every_world(apart: Memory) -> None:
    apart.append(observed("o", "s0", world="w"), observed("o1", "s1", world="w"), HeadMoved(session="s", turn=None))
    apart.append(TurnHidden(turn="s0"), TurnWithheld(turn="s1"))
    assert current(apart) == set()
    apart.append(TurnUnhidden(turn="s0"), TurnReleased(turn="s1"))
    assert current(apart) == {"o", "o1"}
    apart.append(TurnDeleted(turn="s0"))
    assert current(apart) == {"o1"}


def test_it_believes_nothing_of_what_follows_the_turn_it_left_at_or_came_later(apart: Memory) -> None:
    apart.append(said("late", parent="s3"))
    for number, source in enumerate(("s2", "s3", "late")):
        apart.append(observed(f"o{number}", source, world="w"))
    assert current(apart) == set()


def test_it_believes_what_main_held_beside_as_that_was_when_it_began(whole: Memory) -> None:
    talk(whole, 2)
    talk(whole, 4, "other")
    whole.append(HeadMoved(session="other", turn="other2"))
    what_if(whole, "w", "s", "s1")
    whole.append(HeadMoved(session="other", turn="other3"))
    whole.append(observed("then", "other2", world="w"), observed("since", "other3", world="w"))
    assert current(whole) == {"then"}
    whole.append(HeadMoved(session="other", turn=None))
    assert current(whole) == {"then"}


def test_one_that_left_another_inherits_what_that_had_and_what_that_inherits(apart: Memory) -> None:
    talk(apart, 1, "after")
    what_if(apart, "v", "w", "w0")
    apart.append(observed("of_main", "s0", world="v"), observed("of_the_other", "w0", world="v"))
    apart.append(observed("followed", "w1", world="v"), observed("came_after", "after0", world="v"))
    assert current(apart) == {"of_main", "of_the_other"}
    apart.append(HeadMoved(session="w", turn=None), HeadMoved(session="s", turn=None))
    assert current(apart) == {"of_main", "of_the_other"}
    apart.append(TurnHidden(turn="w0"))
    assert current(apart) == {"of_main"}


def test_main_believes_nothing_that_was_said_in_it(apart: Memory) -> None:
    apart.append(observed("o", "s0", "w0"))
    assert standing(apart, "o") == (False, "active")


def test_what_it_revises_or_contradicts_of_main_stays_as_it_is_there(apart: Memory) -> None:
    first = observed("o", "s0")
    apart.append(first, observed("other", "s1"))
    apart.append(observed("revised", "w0", before=first, world="w"))
    apart.append(ObservationRetired(observation="other", by_turn="w1"))
    apart.append(ObservationSupported(observation="other", source="w0"))
    assert current(apart) == {"o", "other", "revised"}
    apart.append(HeadMoved(session="w", turn=None))
    assert current(apart) == {"o", "other"}


def test_a_turn_of_main_contradicts_what_it_learned_as_far_as_it_sees_that_turn(apart: Memory) -> None:
    apart.append(observed("o", "w0", world="w"), ObservationRetired(observation="o", by_turn="s2"))
    assert current(apart) == {"o"}  # s2 follows where it left
    apart.append(ObservationRetired(observation="o", by_turn="s1"))
    assert standing(apart, "o") == (True, "invalid")
    apart.append(HeadMoved(session="s", turn=None))
    assert standing(apart, "o") == (True, "invalid")
    apart.append(TurnHidden(turn="s1"))
    assert standing(apart, "o") == (True, "active")


def test_what_it_made_instead_of_mains_gives_way_when_that_lives_again_for_it(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(observed("o", "s0", "s1"), TurnHidden(turn="s1"))
    what_if(whole, "w", "s", "s3")
    whole.append(observed("instead", "s0", world="w", instead_of="o"))
    assert current(whole) == {"instead"}
    whole.append(HeadMoved(session="s", turn="s0"), TurnUnhidden(turn="s1"))
    assert current(whole) == set()  # in main it is gone with the rewind; the what-if has it again
    whole.append(ObservationDeleted(series="o"))
    assert current(whole) == {"instead"}


def test_its_titles_and_blocks_stand_on_what_it_sees(apart: Memory) -> None:
    apart.append(
        SessionTitled(session="w", sources=("s1", "w0"), text="Apart"),
        CoreWritten(block="human", world="w", by="agent", sources=("s0",), text="Likes boats."),
        CoreWritten(block="human", world="w", by="agent", sources=("s2",), text="Never seen."),
        HeadMoved(session="s", turn=None),
    )
    assert (title(apart, "w"), block(apart, "human\nw")) == ("Apart", "Likes boats.")
    apart.append(TurnHidden(turn="s0"), TurnHidden(turn="s1"))
    assert (title(apart, "w"), block(apart, "human\nw")) == (None, None)


def test_a_pin_of_another_world_is_none_in_the_own(apart: Memory) -> None:
    apart.append(observed("o", "s0"), PinSet(turn="s0", world="w"), PinSet(observation="o", world="w"))
    assert rows(apart, "Turn", ["pinned"])["s0"] == rows(apart, "Observation", ["pinned"])["o"] == (False,)
    apart.append(PinSet(turn="s0"), PinSet(observation="o", world="main"), PinCleared(turn="s0", world="w"))
    assert rows(apart, "Turn", ["pinned"])["s0"] == rows(apart, "Observation", ["pinned"])["o"] == (True,)
    apart.append(PinCleared(turn="s0", world="main"), PinSet(turn="w0", world="w"))
    assert rows(apart, "Turn", ["pinned"])["s0"] == (False,)
    assert rows(apart, "Turn", ["pinned"])["w0"] == (True,)


def test_what_it_made_of_two_of_main_follows_how_it_stands_to_them_itself(apart: Memory) -> None:
    one, other = observed("one", "s0"), observed("other", "s1")
    apart.append(one, other)
    apart.append(observed("here", "s0", "s1", parents=("one", "other")))
    apart.append(observed("there", "s0", "s1", parents=("one", "other"), world="w"))
    assert current(apart) == {"one", "other", "here", "there"}
    apart.append(ObservationRetired(observation="one", by_turn="w1"))
    assert current(apart) == {"one", "other", "here"}
    apart.append(HeadMoved(session="w", turn="w0"))
    assert current(apart) == {"one", "other", "here", "there"}
    apart.append(observed("news", "w0", before=other, world="w"))
    assert current(apart) == {"one", "other", "here", "news"}
    apart.append(TurnHidden(turn="w0"))
    assert current(apart) == {"one", "other", "here", "there"}
    apart.append(ObservationRetired(observation="other", by_turn="s3"))
    assert current(apart) == {"one", "there"}  # s3 follows where it left
    apart.append(ObservationRejected(observation="one"))
    assert current(apart) == set()


_MADE = ("one", "two", "here", "there", "above", "one2", "two2", "own")
_TURNS = ("s0", "s1", "s2", "s3", "w0", "w1")
_CHANGES: tuple[Event, ...] = (
    *(ObservationRejected(observation=id) for id in _MADE),
    *(ObservationReturned(observation=id, status="active") for id in _MADE),
    *(ObservationReturned(observation=id, status="candidate") for id in _MADE),
    *(ObservationPromoted(observation=id) for id in _MADE),
    *(ObservationRetired(observation=id, by_turn=turn) for id in ("one", "two", "one2") for turn in _TURNS),
    *(change(turn=turn) for change in (TurnHidden, TurnUnhidden, TurnUnhidden) for turn in _TURNS),
    *(HeadMoved(session="s", turn=turn) for turn in (None, "s0", "s1", "s3")),
    *(HeadMoved(session="w", turn=turn) for turn in (None, "s0", "w0", "w1")),
)


@histories(60)
@given(st.lists(st.sampled_from(_CHANGES), min_size=4, max_size=24))
def test_whatever_becomes_of_its_parents_a_synthesis_stands_as_the_definition_says(changes: list[Event]) -> None:
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        talk(memory, 4)
        what_if(memory, "w", "s", "s1")
        one, two = observed("one", "s0"), observed("two", "s1")
        memory.append(said("w0", "w", parent="s1"), said("w1", "w", parent="w0"), one, two)
        memory.append(
            observed("here", "s0", "s1", parents=("one", "two")),
            observed("there", "s0", "s1", parents=("two", "one"), world="w"),
            observed("one2", "w1", before=one, world="w"),
            observed("two2", "s1", "s3", before=two, status="candidate"),
            observed("own", "w0", world="w"),
            observed("dead", "s0"),
            observed("stead", "w0", world="w", instead_of="dead"),
        )
        memory.append(
            observed("above", "s0", "s1", "w0", parents=("here", "own"), world="w"),
            observed("beside", "s1", "w0", parents=("stead", "two"), world="w"),
        )
        for change in changes:
            try:
                memory.append(change)
            except InvalidEvent:
                continue  # it was judged so, or said, already
            reference = told(each.event for each in memory._reader.events(after=0, limit=500))
            tables = of(folded(memory), "Observation", "world", "live", "status", "current")
            for world in ("main", "w"):
                believed = {id: (each.status, each.current) for id, each in reference.believed(world).items()}
                in_tables = {id: row[2:] for id, row in tables.items() if row[0] == world and row[1]}
                assert in_tables == {id: stand for id, stand in believed.items() if tables[id][0] == world}
                wanted = Wanted(world=world, everything=True)
                found = memory.readings.memories(wanted, now=datetime(2026, 1, 1, tzinfo=UTC), limit=100)
                assert {each.id: (each.status, each.current) for each in found} == believed
