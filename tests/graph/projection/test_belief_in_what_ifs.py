"""What a what-if learned stands on what it sees, and main never hears of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import InvalidEvent
from graph.events import Event
from graph.memory import Memory
from graph.values import Wanted
from tests.examples import histories
from tests.graph.conftest import fresh
from tests.graph.deeds import delete, hide, move, pin, release, titled, unhide, unpin, what_if, withhold, write
from tests.graph.projection.test_belief import block, current, standing, title
from tests.graph.projection.test_belief_histories import of
from tests.graph.projection.test_rebuild_equals_live import folded, rows
from tests.graph.talk import NOON, said, talk
from tests.graph.teach import forget, give_back, observed, promote, reject, retire, support
from tests.reference import told


@pytest.fixture
def apart(memory: Memory) -> Memory:
    """A chat of four turns, s0 to s3, and a what-if that left it at s1 and has two turns of its own, w0 and w1."""
    leave(memory)
    return memory


def leave(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(what_if("w", "s", "s1"), said("w0", "w", parent="s1"), said("w1", "w", parent="w0"))


def test_what_it_made_of_its_own_turns_goes_with_them_and_a_rewind_in_main_leaves_what_it_has(apart: Memory) -> None:
    (*_, made) = apart.append(observed("own", "w1", world="w"), observed("both", "s1", "w0", world="w"))
    apart.append(observed("of_main", "s0", "w0"))
    assert standing(apart, "of_main") == (False, "active"), "main believes nothing that was said in it"
    apart.append(move("w", "w0"))
    assert current(apart) == {"both"}
    apart.append(move("w", "w1"))
    assert current(apart) == {"own", "both"}
    apart.append(move("s", None))
    assert current(apart) == {"own", "both"}
    assert rows(apart, "Observation", ["touched"])["both"] == (made.seq,)


def test_hiding_deleting_and_withholding_hold_in_every_world(apart: Memory) -> None:
    apart.append(observed("o", "s0", world="w"), observed("o1", "s1", world="w"), move("s", None))
    apart.append(hide("s0"), withhold("s1"))
    assert current(apart) == set()
    apart.append(unhide("s0"), release("s1"))
    assert current(apart) == {"o", "o1"}
    apart.append(delete("s0"))
    assert current(apart) == {"o1"}


def test_it_believes_what_main_held_when_it_began_and_nothing_that_follows_or_came_later(memory: Memory) -> None:
    talk(memory, 4)
    talk(memory, 4, "other")
    memory.append(move("other", "other2"), what_if("w", "s", "s1"))
    memory.append(move("other", "other3"), said("late", parent="s3"))
    memory.append(observed("then", "other2", world="w"), observed("since", "other3", world="w"))
    memory.append(*(observed(f"of_{source}", source, world="w") for source in ("s2", "s3", "late")))
    assert current(memory) == {"then"}
    memory.append(move("other", None))
    assert current(memory) == {"then"}


def test_one_that_left_another_inherits_what_that_had_and_what_that_inherits(apart: Memory) -> None:
    talk(apart, 1, "after")
    apart.append(what_if("v", "w", "w0"))
    apart.append(observed("of_main", "s0", world="v"), observed("of_the_other", "w0", world="v"))
    apart.append(observed("followed", "w1", world="v"), observed("came_after", "after0", world="v"))
    assert current(apart) == {"of_main", "of_the_other"}
    apart.append(move("w", None), move("s", None))
    assert current(apart) == {"of_main", "of_the_other"}
    apart.append(hide("w0"))
    assert current(apart) == {"of_main"}


def test_what_it_revises_or_contradicts_of_main_stays_as_it_is_there(apart: Memory) -> None:
    first = observed("o", "s0")
    apart.append(first, observed("other", "s1"))
    apart.append(observed("revised", "w0", after=first, world="w"))
    apart.append(retire("other", "w1"))
    apart.append(support("other", "w0"))
    assert current(apart) == {"o", "other", "revised"}
    apart.append(move("w", None))
    assert current(apart) == {"o", "other"}


def test_a_turn_of_main_contradicts_what_it_learned_as_far_as_it_sees_that_turn(apart: Memory) -> None:
    apart.append(observed("o", "w0", world="w"), retire("o", "s2"))
    assert current(apart) == {"o"}  # s2 follows where it left
    apart.append(retire("o", "s1"))
    assert standing(apart, "o") == (True, "invalid")
    apart.append(move("s", None))
    assert standing(apart, "o") == (True, "invalid")
    apart.append(hide("s1"))
    assert standing(apart, "o") == (True, "active")


def test_what_it_made_instead_of_mains_gives_way_when_that_lives_again_for_it(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(observed("o", "s0", "s1"), hide("s1"), what_if("w", "s", "s3"))
    memory.append(observed("instead", "s0", world="w", instead_of="o"))
    assert current(memory) == {"instead"}
    memory.append(move("s", "s0"), unhide("s1"))
    assert current(memory) == set()  # in main it is gone with the rewind; the what-if has it again
    memory.append(forget("o"))
    assert current(memory) == {"instead"}


def test_its_titles_and_blocks_stand_on_what_it_sees(apart: Memory) -> None:
    apart.append(
        titled("w", "Apart", "s1", "w0"),
        write("human", "Likes boats.", "s0", by="agent", world="w"),
        write("human", "Never seen.", "s2", by="agent", world="w"),
        move("s", None),
    )
    assert (title(apart, "w"), block(apart, "human\nw")) == ("Apart", "Likes boats.")
    apart.append(hide("s0"), hide("s1"))
    assert (title(apart, "w"), block(apart, "human\nw")) == (None, None)


def test_a_pin_of_another_world_is_none_in_the_own(apart: Memory) -> None:
    apart.append(observed("o", "s0"), pin("s0", world="w"), pin(observation="o", world="w"))
    assert rows(apart, "Turn", ["pinned"])["s0"] == rows(apart, "Observation", ["pinned"])["o"] == (False,)
    apart.append(pin("s0"), pin(observation="o", world="main"), unpin("s0", world="w"))
    assert rows(apart, "Turn", ["pinned"])["s0"] == rows(apart, "Observation", ["pinned"])["o"] == (True,)
    apart.append(unpin("s0", world="main"), pin("w0", world="w"))
    assert rows(apart, "Turn", ["pinned"])["s0"] == (False,)
    assert rows(apart, "Turn", ["pinned"])["w0"] == (True,)


def test_what_it_made_of_two_of_main_follows_how_it_stands_to_them_itself(apart: Memory) -> None:
    one, other = observed("one", "s0"), observed("other", "s1")
    apart.append(one, other)
    apart.append(observed("here", "s0", "s1", parents=("one", "other")))
    apart.append(observed("there", "s0", "s1", parents=("one", "other"), world="w"))
    assert current(apart) == {"one", "other", "here", "there"}
    apart.append(retire("one", "w1"))
    assert current(apart) == {"one", "other", "here"}
    apart.append(move("w", "w0"))
    assert current(apart) == {"one", "other", "here", "there"}
    apart.append(observed("news", "w0", after=other, world="w"))
    assert current(apart) == {"one", "other", "here", "news"}
    apart.append(hide("w0"))
    assert current(apart) == {"one", "other", "here", "there"}
    apart.append(retire("other", "s3"))
    assert current(apart) == {"one", "there"}  # s3 follows where it left
    apart.append(reject("one"))
    assert current(apart) == set()


_MADE = ("one", "two", "here", "there", "above", "one2", "two2", "own")
_TURNS = ("s0", "s1", "s2", "s3", "w0", "w1")
_CHANGES: tuple[Event, ...] = (
    *(reject(id) for id in _MADE),
    *(give_back(id, "active") for id in _MADE),
    *(give_back(id, "candidate") for id in _MADE),
    *(promote(id) for id in _MADE),
    *(retire(id, turn) for id in ("one", "two", "one2") for turn in _TURNS),
    *(change(turn) for change in (hide, unhide, unhide) for turn in _TURNS),
    *(move("s", turn) for turn in (None, "s0", "s1", "s3")),
    *(move("w", turn) for turn in (None, "s0", "w0", "w1")),
)


@histories(60)
@given(st.lists(st.sampled_from(_CHANGES), min_size=4, max_size=24))
def test_whatever_becomes_of_its_parents_a_synthesis_stands_as_the_definition_says(changes: list[Event]) -> None:
    with fresh() as memory:
        leave(memory)
        one, two = observed("one", "s0"), observed("two", "s1")
        memory.append(
            one,
            two,
            observed("here", "s0", "s1", parents=("one", "two")),
            observed("there", "s0", "s1", parents=("two", "one"), world="w"),
            observed("one2", "w1", after=one, world="w"),
            observed("two2", "s1", "s3", after=two, status="candidate"),
            observed("own", "w0", world="w"),
            observed("dead", "s0"),
            observed("stead", "w0", world="w", instead_of="dead"),
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
                found = memory.readings.memories(wanted, now=NOON, limit=100)
                assert {each.id: (each.status, each.current) for each in found} == believed
