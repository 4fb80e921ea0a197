"""What was not reflected on is found by a query: exchanges, imported turns in runs, and what is left of the dead."""

from collections.abc import Collection

import pytest

from graph.events import ReflectionDone, Role, StopReason
from graph.ids import as_datetime
from graph.memory import Memory
from tests.graph.conftest import Open
from tests.graph.deeds import assign, begin, delete, drop, fork, hide, move, release, taken, unhide, withhold
from tests.graph.talk import reply, said, talk
from tests.graph.teach import forget, observed, read, reject, support


def left(memory: Memory, limit: int = 50) -> list[tuple[str, ...]]:
    found = memory.readings.unreflected(limit)
    if limit == 50:
        assert memory.readings.unreflected_count() == len(found)
    return [each.turns for each in found]


def done(memory: Memory, *turns: str, instead_of: str | None = None) -> None:
    memory.append(ReflectionDone(reflection="r", turns=turns, instead_of=instead_of, trust="model"))


def test_exchanges_that_ended_come_as_they_were_said_until_a_reflection_names_them(memory: Memory) -> None:
    talk(memory, 5)
    talk(memory, 2, "t")
    assert left(memory) == [("s0", "s1"), ("s2", "s3"), ("t0", "t1")]
    assert left(memory, 1) == [("s0", "s1")]
    assert left(memory, 0) == []
    done(memory, "s2", "s3")
    assert left(memory) == [("s0", "s1"), ("t0", "t1")]
    assert [each.session for each in memory.readings.unreflected(2)] == ["s", "t"]


def test_a_reply_has_all_that_was_said_since_the_one_before_it_without_tools(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(said("q1", parent="s1"), said("q2", queued=True), taken("q2", "s", parent="q1"))
    memory.append(said("tool", parent="q2", role=Role.TOOL, speaker="search"))
    memory.append(reply("a", parent="tool", stop_reason=StopReason.STOPPED), said("open", parent="a"))
    memory.append(reply("streaming", parent="open", stop_reason=None))
    assert left(memory) == [("s0", "s1"), ("q1", "q2", "a")]


def test_what_is_not_live_or_kept_out_of_memory_waits_until_it_is_back(memory: Memory) -> None:
    talk(memory, 4)
    for out, back in (
        (hide("s0"), unhide("s0")),
        (hide("s1"), unhide("s1")),
        (withhold("s0"), release("s0")),
        (withhold("s1"), release("s1")),
    ):
        memory.append(out)
        assert left(memory) == [("s2", "s3")]
        memory.append(back)
        assert left(memory) == [("s0", "s1"), ("s2", "s3")]
    memory.append(move("s", "s0"))
    assert left(memory) == []
    memory.append(reply("other", parent="s0"))
    assert left(memory) == [("s0", "other")]
    memory.append(move("s", "s3"))
    assert left(memory) == [("s0", "s1"), ("s2", "s3")]
    memory.append(move("s", None))
    assert left(memory) == []
    memory.append(said("s4", parent="s3"), reply("s5", parent="s4"))
    assert left(memory, 1) == [("s0", "s1")], "what is said below a path that was left brings it back"
    assert left(memory) == [("s0", "s1"), ("s2", "s3"), ("s4", "s5")]
    done(memory, "s2", "s3")
    memory.append(move("s", None))
    assert left(memory) == []
    memory.append(said("s6", parent="s3"), reply("s7", parent="s6"))
    assert left(memory) == [("s0", "s1"), ("s6", "s7")]


def test_deleted_turns_are_left_out_and_deleted_chats_and_notes_have_none(memory: Memory) -> None:
    talk(memory, 2)
    talk(memory, 2, "gone")
    memory.append(said("q1", parent="s1"), said("q2", parent="q1"), reply("a", parent="q2"), delete("q1"))
    memory.append(drop("gone"), delete("s0"))
    memory.append(begin("n", client="notes"), said("note", "n", role=Role.NOTE))
    assert left(memory) == [("q2", "a")]


def test_each_exchange_knows_its_world_and_its_project(memory: Memory) -> None:
    memory.append(begin("s", project="boats"), said("q"), reply("a", parent="q"))
    memory.append(fork("w", "s", "a", world="what-if"))
    memory.append(said("wq", "w", parent="a"), reply("wa", "w", parent="wq"))
    found = memory.readings.unreflected(9)
    assert [(each.turns, each.world, each.project) for each in found] == [
        (("q", "a"), "main", "boats"),
        (("wq", "wa"), "what-if", None),
    ]
    memory.append(assign("s", "sails"), assign("w", "oars"))
    assert [each.project for each in memory.readings.unreflected(9)] == ["sails", "oars"]
    memory.append(assign("s", None))
    assert [each.project for each in memory.readings.unreflected(9)] == [None, "oars"]
    assert memory.readings.session("s").project is None


def imported(memory: Memory, session: str, turns: int, at: int) -> None:
    """People speak under their names, and nobody replies."""
    memory.append(begin(session, client="import", source=session, said_at=at))
    for number in range(turns):
        parent = f"{session}{number - 1}" if number else None
        speaker, source = ("Ann" if number % 2 else "Bob"), f"{session}:{number}"
        turn = said(f"{session}{number}", session, parent=parent, speaker=speaker, source=source, said_at=at + number)
        memory.append(turn)


def test_imported_turns_come_in_runs_after_all_exchanges_the_first_told_first(memory: Memory) -> None:
    talk(memory, 2)
    imported(memory, "b", 8, at=2_000)
    imported(memory, "a", 7, at=1_000)
    assert left(memory) == [
        ("s0", "s1"),
        ("a0", "a1", "a2", "a3", "a4", "a5"),
        ("a6",),
        ("b0", "b1", "b2", "b3", "b4", "b5"),
        ("b6", "b7"),
    ]
    done(memory, "s0", "s1")
    done(memory, "b0", "b1", "b2", "b3", "b4", "b5")
    memory.append(withhold("a3"))
    assert left(memory, 3) == [("a0", "a1", "a2"), ("a4", "a5", "a6"), ("b6", "b7")]


def told_before(memory: Memory, session: str, replies: Collection[int], turns: int) -> None:
    """An imported chat of people, in which some turns are replies."""
    memory.append(begin(session, client="import", source=session))
    for number in range(turns):
        make, parent = (reply if number in replies else said), (f"{session}{number - 1}" if number else None)
        memory.append(make(f"{session}{number}", session, parent=parent, source=f"{session}:{number}"))


def test_an_imported_run_begins_with_a_person_and_ends_with_the_replies_to_it(memory: Memory) -> None:
    told_before(memory, "i", (0, 2, 4, 6), 7)
    assert left(memory) == [("i1", "i2"), ("i3", "i4"), ("i5", "i6")]
    done(memory, "i1", "i2", "i3", "i4", "i5", "i6")
    assert left(memory) == []
    memory.append(said("new", "i", parent="i6"), reply("answer", "i", parent="new"))
    assert left(memory) == [("new", "answer")]
    done(memory, "new", "answer")
    told_before(memory, "k", (6, 8), 9)
    assert left(memory) == [tuple(f"k{number}" for number in range(7)), ("k7", "k8")], "however long it is"


def test_a_new_process_finds_the_same_and_so_does_a_rebuilt_log(memory: Memory, opening: Open) -> None:
    talk(memory, 6)
    imported(memory, "a", 3, at=1_000)
    done(memory, "s2", "s3")
    before = left(memory)
    again = opening()
    assert left(again) == before == [("s0", "s1"), ("s4", "s5"), ("a0", "a1", "a2")]
    again._log.rebuild_tables()
    assert left(again) == before
    assert again.readings.turn("a0").at == as_datetime(1_000)


def asked_whether_living(memory: Memory) -> list[int]:
    """Of how many turns it is asked from now on whether they live, each time."""
    asked: list[int] = []
    living = memory.readings._living

    def counting(db: object, turns: list[str], world: str) -> set[str]:
        asked.append(len(turns))
        return living(db, turns, world)  # type: ignore[arg-type]

    memory.readings._living = counting  # type: ignore[method-assign,assignment]
    return asked


def test_whether_imported_turns_live_is_asked_for_many_at_once(memory: Memory) -> None:
    imported(memory, "a", 90, at=1_000)
    asked = asked_whether_living(memory)
    assert len(memory.readings.unreflected(50)) == 15
    assert len(asked) < 12  # for each page, and for runs over the end of one


def test_hundreds_that_are_out_are_looked_at_once(memory: Memory) -> None:
    talk(memory, 4)
    talk(memory, 300, "old")
    memory.append(move("old", None))
    assert left(memory) == [("s0", "s1"), ("s2", "s3")]
    asked = asked_whether_living(memory)
    assert left(memory, 3) == [("s0", "s1"), ("s2", "s3")]
    assert sum(asked) == 4


@pytest.fixture
def reflected(memory: Memory) -> Memory:
    """Six turns that were all reflected on."""
    talk(memory, 6)
    for turn in ("s1", "s3", "s5"):
        done(memory, turn)
    return memory


def test_what_is_left_of_a_dead_observation_is_reflected_on_anew_once(reflected: Memory) -> None:
    first = observed("m1", "s0", "s2")
    reflected.append(assign("s", "boats"), first, observed("n1", "s4"))
    assert left(reflected) == []
    reflected.append(hide("s0"))
    (unit,) = reflected.readings.unreflected(9)
    assert (unit.turns, unit.session, unit.project, unit.instead_of) == (("s2",), "s", "boats", "m1")
    done(reflected, "s2", instead_of="m1")
    assert left(reflected) == []
    reflected.append(unhide("s0"), hide("s2"))
    assert left(reflected) == [("s0",)]
    reflected.append(hide("s0"))
    assert left(reflected) == []  # nothing of it is left


def test_it_is_the_last_revision_whose_turns_are_left_supports_among_them(reflected: Memory) -> None:
    first = observed("m1", "s0")
    reflected.append(first, observed("m2", "s2", after=first), support("m2", "s4", amount=0.1))
    for out, back in ((hide("s0"), unhide("s0")), (withhold("s0"), release("s0")), (delete("s0"), None)):
        assert left(reflected) == []
        reflected.append(out)
        assert [(each.turns, each.instead_of) for each in reflected.readings.unreflected(9)] == [(("s2", "s4"), "m2")]
        reflected.append(*([back] if back is not None else []))


def test_what_died_by_a_rewind_a_review_or_was_forgotten_is_not_reflected_on_anew(reflected: Memory) -> None:
    reflected.append(observed("m1", "s0", "s4"), observed("m2", "s0", "s2"), observed("m3", "s0", "s2"))
    reflected.append(move("s", "s3"))
    assert left(reflected) == []
    reflected.append(reject("m2"), forget("m3"), hide("s4"))
    assert left(reflected) == [("s0",)]
    reflected.append(hide("s0"))
    assert left(reflected) == []


def test_a_chunk_that_is_read_no_more_leaves_the_turns_beside_it(memory: Memory) -> None:
    talk(memory, 2)
    done(memory, "s1")
    memory.append(*read("d", "c1", "c2"), observed("m1", "c1", "s0"), observed("m2", "c1", "c2"))
    assert left(memory) == []
    memory.append(*read("d", "c2", new=()))
    assert sorted(left(memory)) == [("c2",), ("s0",)]
