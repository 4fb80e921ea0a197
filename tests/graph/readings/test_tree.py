"""What stands in a turn's place, where branches end, the shape of a session, and what deleted turns leave of it."""

import pytest

from graph.errors import Ambiguous, NotFound
from graph.events import MarkSet, Role, TurnSaid
from graph.memory import Memory
from graph.values import Alternatives, Branch
from tests.examples import soaking
from tests.graph.conftest import Open
from tests.graph.deeds import begin, delete, drop, fork, hide, move, taken
from tests.graph.talk import reply, said, talk


def tool(turn: str, session: str = "s", *, parent: str | None) -> TurnSaid:
    return said(turn, session, parent=parent, role=Role.TOOL, speaker="tool")


def shape(branches: tuple[Branch, ...]) -> list[object]:
    """Turns, each followed by the list of what is below it."""
    found: list[object] = []
    for branch in branches:
        found += [branch.turn, *([shape(branch.children)] if branch.children else [])]
    return found


def at(branches: tuple[Branch, ...], turn: str) -> Branch:
    """One branch, wherever it is."""
    left = list(branches)
    while left:
        branch = left.pop()
        if branch.turn == turn:
            return branch
        left += branch.children
    raise AssertionError(turn)


@pytest.fixture
def branched(memory: Memory) -> Memory:
    """u1 with the replies r1, r2 (by way of a tool) and r3; below r1 the messages u2 and u2b; the head at r3."""
    memory.append(begin("s"), said("u1"), reply("r1", parent="u1"), said("u2", parent="r1"), reply("a2", parent="u2"))
    memory.append(said("u2b", parent="r1"), move("s", "u1"), tool("t", parent="u1"), reply("r2", parent="t"))
    memory.append(reply("r3", parent="u1"))
    return memory


def test_replies_to_one_message_stand_in_each_others_place_also_by_way_of_tools(branched: Memory) -> None:
    found = branched.readings.alternatives("s", ["u1", "r3", "r1", "t", "u2", "a2"])
    assert found == {
        "r1": Alternatives(("r1", "r2", "r3"), 0),
        "r3": Alternatives(("r1", "r2", "r3"), 2),
        "u2": Alternatives(("u2", "u2b"), 0),
    }
    assert found["r3"].label == "3/3"
    branched.append(delete("r2"), hide("r1"))
    assert branched.readings.alternatives("s", ["r3"]) == {"r3": Alternatives(("r1", "r3"), 1)}, "but no deleted ones"


def test_first_messages_stand_in_each_others_place_and_one_that_waits_is_none(memory: Memory) -> None:
    memory.append(begin("s"), said("a"), reply("b", parent="a"), said("c", queued=True))
    assert memory.readings.alternatives("s", ["a", "c"]) == {}
    memory.append(said("d"), taken("c", "s", parent=None))
    assert memory.readings.alternatives("s", ["d", "b"]) == {"d": Alternatives(("a", "d", "c"), 1)}


def test_of_another_sessions_turns_only_those_above_its_fork_are_a_forks_own(branched: Memory) -> None:
    branched.append(fork("f", "s", "u2"), reply("fork-reply", "f", parent="u2"))
    every = ("u1", "r1", "t", "r2", "r3", "u2", "a2", "u2b", "fork-reply")
    own = [turn for turn in every if branched.readings.belongs("f", turn)]
    assert own == ["u1", "r1", "u2", "fork-reply"]
    assert branched.readings.alternatives("f", own) == {}
    assert branched.readings.alternatives("s", ["a2"]) == {}
    assert not branched.readings.belongs("s", "fork-reply")
    branched.append(fork("g", "f", "fork-reply"), said("z", "g", parent="fork-reply"))
    assert shape(branched.readings.tree("g")) == ["u1", ["r1", ["u2", ["fork-reply", ["z"]]]]], (
        "and of a fork of a fork"
    )
    assert branched.readings.tip("g", "u1") == "z"
    assert branched.readings.tip("f", "u1") == "fork-reply"


def test_an_alternative_made_in_a_fork_stands_beside_the_turn_of_its_origin_there_alone(branched: Memory) -> None:
    branched.append(fork("f", "s", "a2"))
    branched.append(move("f", "u2"), reply("mine", "f", parent="u2"))
    branched.append(said("other", "f", parent=None))
    assert branched.readings.alternatives("f", ["mine", "other"]) == {
        "mine": Alternatives(("a2", "mine"), 1),
        "other": Alternatives(("u1", "other"), 1),
    }
    assert branched.readings.alternatives("s", ["a2", "u1"]) == {}


def test_the_newest_end_below_a_turn_is_no_deleted_one_whose_followers_stand_where_it_stood(branched: Memory) -> None:
    tips = {turn: branched.readings.tip("s", turn) for turn in ("r1", "u2", "u1", "r3")}
    assert tips == {"r1": "u2b", "u2": "a2", "u1": "r3", "r3": "r3"}
    branched.append(delete("u2b"))
    assert branched.readings.tip("s", "r1") == "a2"
    branched.append(said("v1", parent="r2"), said("v3", parent="r3"), delete("r2"), delete("u1"))
    assert branched.readings.alternatives("s", ["r3", "v1"]) == {"r3": Alternatives(("r1", "r3"), 1)}
    assert branched.readings.turn("v1").parent == "t"
    assert branched.readings.turn("r3").parent is None
    assert shape(branched.readings.tree("s")) == ["r1", ["u2", ["a2"]], "r3", ["v3"], "v1"]


def test_a_tree_has_the_path_the_head_what_is_hidden_and_the_forks_that_leave(branched: Memory) -> None:
    branched.append(hide("u2"), fork("f", "s", "t"))
    branched.append(fork("g", "s", "u1"), drop("g"))
    tree = branched.readings.tree("s")
    assert shape(tree) == ["u1", ["r1", ["u2", ["a2"], "u2b"], "r2", "r3"]]
    assert {turn for turn in ("u1", "r1", "u2", "a2", "u2b", "r2", "r3") if at(tree, turn).on_path} == {"u1", "r3"}
    assert at(tree, "r3").head
    assert not at(tree, "u1").head
    assert (at(tree, "u2").hidden, at(tree, "u2").text, at(tree, "a2").text) == (True, None, "a2")
    assert at(tree, "u1").forks == ("f",)


def test_the_tree_of_a_long_chat_is_made_without_end(memory: Memory) -> None:
    ids = talk(memory, turns := 3_000 if soaking() else 1_200)
    (branch,) = memory.readings.tree("s")
    count = 1
    while branch.children:
        (branch,) = branch.children
        count += 1
    assert (count, branch.turn, branch.head) == (turns, ids[-1], True)


def test_deleted_turns_are_passed_by_in_a_thread_and_counted_in_no_page(memory: Memory) -> None:
    talk(memory, 8)
    memory.append(delete("s3"), delete("s4"), delete("s7"))
    assert [turn.id for turn in memory.readings.thread("s")] == ["s0", "s1", "s2", "s5", "s6"]
    assert [turn.id for turn in memory.readings.thread("s", limit=3)] == ["s2", "s5", "s6"]
    assert [turn.id for turn in memory.readings.thread("s", before="s5", limit=2)] == ["s1", "s2"]
    assert memory.readings.turn("s5").parent == "s2"
    assert memory.readings.session("s").head == "s6"
    assert [turn.deleted for turn in (memory.readings.turn("s3"), memory.readings.turn("s5"))] == [True, False]
    talk(memory, 2, "t")
    memory.append(delete("t1"), said("next", "t", parent="t1"))
    assert memory.readings.turn("next").parent == "t0", "what is said after the last follows the one above"
    memory.append(delete("t0"))
    assert memory.readings.turn("next").parent is None
    memory.append(delete("next"))
    assert memory.readings.session("t").head is None
    assert memory.readings.thread("t") == []


def test_a_reply_whose_message_was_deleted_is_shown_alone_and_without_deleted_turns_of_tools(branched: Memory) -> None:
    talk(branched, 4, "d")
    branched.append(delete("d2"), tool("t2", parent="t"), reply("r4", parent="t2"), delete("t2"))
    assert [each.turn.id for each in branched.readings.exchanges(session="d")] == ["d0"]
    assert branched.readings.exchange("d3").turn.id == "d3"
    assert branched.readings.exchange("d2").turn.deleted
    exchange = branched.readings.exchange("r4")
    assert (exchange.turn.id, [each.id for each in exchange.tools]) == ("u1", ["t"])


def test_a_turn_is_found_by_the_beginning_of_its_id(memory: Memory) -> None:
    memory.append(begin("s"), said("ABCDEF1"), said("ABCDEF2", parent="ABCDEF1"))
    assert memory.readings.turn_named("abcdef1").id == "ABCDEF1"
    with pytest.raises(Ambiguous):
        memory.readings.turn_named("abcdef")
    with pytest.raises(NotFound):
        memory.readings.turn_named("abcde")


def test_what_a_deleted_session_said_may_be_quoted_where_a_fork_goes_on_with_it(branched: Memory) -> None:
    branched.append(fork("f", "s", "r1"), drop("s"))
    assert branched.readings.quotable(["u1", "r1", "u2", "r3"]).keys() == {"u1", "r1"}
    branched.append(drop("f"))
    assert branched.readings.quotable(["u1", "r1"]) == {}


def test_a_head_that_went_back_for_a_reply_that_never_came_is_where_it_was_at_the_next_start(opening: Open) -> None:
    memory = opening()
    talk(memory, 4)
    memory.append(move("s", "s0"))
    memory.append(tool("t", parent="s0"))
    memory.append(said("waits", queued=True))
    talk(memory, 4, "c")
    memory.append(move("c", "c0"))
    memory.stream("new", session="c", parent="c0", model="m", text="the first wor")
    again = opening()
    assert [turn.id for turn in again.readings.thread("s")] == ["s0", "s1", "s2", "s3", "waits"]
    assert again.recovered == 1, "one that was cut off stays beside the one before"
    assert [turn.id for turn in again.readings.thread("c")] == ["c0", "new"]
    assert again.readings.alternatives("c", ["new"]) == {"new": Alternatives(("c1", "new"), 1)}


def test_where_a_person_went_back_to_or_at_a_message_without_a_reply_the_head_stays(opening: Open) -> None:
    memory = opening()
    for session, turn in (("s", "s0"), ("t", "t1")):
        talk(memory, 4, session)
        memory.append(MarkSet(mark=f"m{session}", reason="rewind"), move(session, turn))
    talk(memory, 2, "u")
    memory.append(said("other", "u", parent=None), move("u", "u1"))
    memory.append(move("u", "other"))
    again = opening()
    assert [again.readings.session(session).head for session in "stu"] == ["s0", "t1", "other"]
