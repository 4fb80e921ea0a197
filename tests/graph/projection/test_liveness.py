"""What is live after forks, what-ifs, rewinds, hiding and deleting."""

from graph.memory import Memory
from tests.graph.deeds import begin, delete, drop, fork, hide, move, unhide, what_if
from tests.graph.projection.test_rebuild_equals_live import asked_for, rows
from tests.graph.talk import reply, said, talk


def live(memory: Memory) -> set[str]:
    return {id for id, (on,) in rows(memory, "Turn", ["live"]).items() if on}


def test_a_rewind_takes_what_follows_and_of_two_alternatives_the_one_below_the_head_is_live(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(move("s", "s1"))
    assert live(memory) == {"s0", "s1"}
    memory.append(move("s", "s3"))
    assert live(memory) == {"s0", "s1", "s2", "s3"}
    memory.append(move("s", None))
    assert live(memory) == set()
    memory.append(reply("other", parent="s0"))
    assert live(memory) == {"s0", "other"}


def test_a_fork_into_main_keeps_alive_what_its_origin_rewinds(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(fork("f", "s", "s2"), move("s", "s0"))
    assert live(memory) == {"s0", "s1", "s2"}
    since = {turn: times(memory)[turn] for turn in ("s0", "s2")}
    assert since == {"s0": (2, None), "s2": (4, None)}, "a second head does not change since when"
    memory.append(drop("f"))
    assert live(memory) == {"s0"}


def test_neither_main_nor_a_what_if_keeps_anything_of_the_other_alive(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(fork("w", "s", "s2", "what-if"))
    memory.append(said("w0", "w", parent="s2"))
    assert live(memory) == {"s0", "s1", "s2", "s3", "w0"}
    memory.append(move("s", "s0"))
    assert live(memory) == {"s0", "w0"}
    memory.append(move("s", "w0"))
    memory.append(move("w", "s1"))
    assert live(memory) == {"s0", "s1", "s2"}


def test_hiding_is_reversible_and_deleting_is_not(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(hide("s0"))
    assert live(memory) == {"s1"}
    memory.append(unhide("s0"))
    assert live(memory) == {"s0", "s1"}
    memory.append(delete("s0"), unhide("s0"))
    assert live(memory) == {"s1"}
    memory.append(said("waits", queued=True), begin("gone"))
    memory.append(drop("gone"), said("late", "gone"))
    assert live(memory) == {"s1"}, "neither what waits nor what is said in a deleted session"


def test_a_head_move_touches_only_the_turns_between_its_places(whole: Memory) -> None:
    talk(whole, 30)
    written = asked_for(whole, lambda cypher: cypher.startswith("MATCH (n:`Turn`") and " SET " in cypher)
    whole.append(move("s", "s25"))
    assert sorted(written) == ["s26", "s27", "s28", "s29"]


def test_it_is_known_since_when_a_turn_is_on_a_path_and_when_it_was_for_those_that_left_then(memory: Memory) -> None:
    talk(memory, 3)  # events 2 to 4 are its turns
    memory.append(move("s", "s0"))  # 5
    assert times(memory) == {"s0": (2, None), "s1": (None, None), "s2": (None, None)}  # nobody left while they were
    memory.append(move("s", "s2"))  # 6
    memory.append(what_if("w", "s", "s0"))  # 7
    memory.append(move("s", "s1"))  # 8
    memory.append(move("s", None))  # 9
    assert times(memory) == {"s0": (None, "2-9"), "s1": (None, "6-9"), "s2": (None, "6-8")}
    memory.append(move("s", "s2"))  # 10
    memory.append(what_if("v", "s", "s0"))  # 11
    memory.append(drop("s"))  # 12
    assert times(memory) == {"s0": (None, "2-9,10-12"), "s1": (None, "6-9,10-12"), "s2": (None, "6-8,10-12")}


def times(memory: Memory) -> dict[str, tuple[object, ...]]:
    return rows(memory, "Turn", ["on_path_since", "past_on_path"])
