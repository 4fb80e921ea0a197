"""An export taken in elsewhere: the same memory, each event once, nothing erased back, and heads where they belong."""

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import LogDamaged, LogNewer
from graph.events import ReferenceAdded, SessionConfigured
from graph.ids import new_id
from graph.memory import Memory
from graph.reader import LogReader
from graph.transfer.exporting import lines
from graph.transfer.merging import ExportedEvent, ExportSummary, Merge, Merged, read
from tests.examples import histories
from tests.graph.conftest import fresh
from tests.graph.deeds import begin, delete, drop, fork, hide, move, pin, rename, titled, unhide
from tests.graph.lessons import LESSONS, taught
from tests.graph.projection.test_belief_histories import of
from tests.graph.projection.test_rebuild_equals_live import folded
from tests.graph.talk import NOON, reply, said, talk
from tests.graph.teach import forget, observed

Line = dict[str, Any]


def exported(memory: Memory, session: str | None = None) -> list[Line]:
    """The lines of an export as they are in a file, without the first."""
    reader = LogReader.open(memory._folder)
    try:
        found = [json.loads(json.dumps(line)) for line in lines(reader, clew="test", at=1, session=session)]
    finally:
        reader.close()
    assert found[0]["clew"] == "export"
    return found[1:]


def bring(memory: Memory, export: Sequence[Line], *, at_once: int = 7, batches: int | None = None) -> Merged:
    """Import lines; only some `batches` of them if asked."""
    brought = sorted((read(number, line) for number, line in enumerate(export, 2)), key=lambda each: each.seq)
    whole = ExportSummary()
    for each in brought:
        whole.add(each)
    merge = Merge(whole)
    for number, start in enumerate(range(0, len(brought), at_once)):
        if number == batches:
            break
        memory.merge(brought[start : start + at_once], merge)
    return merge.done


def state(memory: Memory) -> Line:
    """What a memory comes to, apart from the numbers and times of its events."""
    tables = folded(memory)
    said_by = dict(of(tables, "Turn", "session", "text", "live", "hidden", "withheld", "significance", "pinned"))
    return {
        "turns": said_by,
        "sessions": of(tables, "Session", "head", "world", "project", "name", "title", "archived", "deleted"),
        "observations": {
            id: columns
            for id, columns in of(tables, "Observation", "text", "live", "status", "current", "confidence").items()
            if columns[0]
        },
        "chunks": of(tables, "Chunk", "live", "text"),
        "blocks": of(tables, "CoreBlock", "text"),
    }


def known(memory: Memory) -> list[str]:
    return sorted(each.text or "" for each in memory.readings.memories(now=NOON))


def path(memory: Memory, session: str) -> list[str]:
    return [turn.id for turn in memory.readings.thread(session)]


@histories(12)
@given(
    LESSONS.map(lambda steps: [step for step in steps if step[0] != 16]), st.integers(3, 50), st.integers(0, 1_000_000)
)
def test_an_empty_memory_becomes_the_same_also_shuffled_and_in_two_goes(
    steps: list[tuple[int, int, int]], at_once: int, seed: int
) -> None:
    lessons = taught(steps)
    with fresh() as one, fresh() as two:
        for event in lessons.events:
            one.append(event)
        export = exported(one)
        random.Random(seed).shuffle(export)
        bring(two, export, at_once=at_once, batches=seed % 5)
        done = bring(two, export, at_once=at_once)
        assert done.refused == {}
        assert state(two) == state(one)
        assert {check.name for check in two.doctor() if not check.ok} == {"graph"}  # which is not open
        head = two.head()
        again = bring(two, export, at_once=at_once)
        assert (again.new, again.refused, two.head()) == (0, {}, head)


def test_turns_keep_when_they_were_said_and_events_their_ids(memory: Memory, other: Memory) -> None:
    talk(memory, 3)
    done = bring(other, exported(memory))
    assert (done.new, done.turns, done.known, done.begun) == (4, 3, 0, {"s"})
    assert [turn.at for turn in other.readings.thread("s")] == [turn.at for turn in memory.readings.thread("s")]
    assert [line["id"] for line in exported(other)] == [line["id"] for line in exported(memory)]
    assert other.readings.session("s").started_at == memory.readings.session("s").started_at


def test_what_was_erased_here_stays_erased(memory: Memory, other: Memory) -> None:
    talk(memory, 3)
    talk(memory, 2, "x")
    memory.append(observed("o", "s0"), observed("p", "s1"))
    export = exported(memory)
    bring(other, export)
    other.append(delete("s2"), forget("p"), drop("x"))
    memory.append(said("on", "x", parent="x1"), observed("q", "s2", text="from s2"))
    memory.append(observed("r", "x0", "on", text="from x"), observed("p2", "s0", after=observed("p", "s1")))
    done = bring(other, exported(memory))
    assert done.refused == {}
    assert done.erased >= 4  # s2, p, on, p2
    assert other.readings.turn("s2").text is None
    assert not other.readings.has_turn("on")
    assert known(other) == ["o"]
    assert other.readings.session("x").deleted


def test_what_the_export_deleted_is_deleted_here(memory: Memory, other: Memory) -> None:
    talk(memory, 4)
    [seq] = [each.seq for each in memory.append(said("half", parent="s3", text="marzipan"))]
    memory.append(observed("o", "s0"), observed("p", "s3"))
    bring(other, exported(memory))
    memory.append(delete("s3"))
    memory.erase(seq)
    done = bring(other, exported(memory))
    assert done.deleted >= 2
    assert (other.readings.turn("s3").text, other.readings.turn("half").text) == (None, None)
    assert known(other) == ["o"]
    assert state(other) == state(memory)


def test_a_head_moves_only_where_nothing_was_done_since_or_the_export_follows_it(memory: Memory, other: Memory) -> None:
    for session in "abcd":
        talk(memory, 4, session)
    bring(other, exported(memory))
    other.append(said("own", "b", parent="b3"), move("c", "c1"))
    other.append(move("d", "d1"))
    for session in "abc":
        memory.append(said(f"{session}4", session, parent=f"{session}3"))
    memory.append(said("d4", "d", parent="d1"))
    done = bring(other, exported(memory), at_once=1)
    heads = {session: other.readings.session(session).head for session in "abcd"}
    assert heads == {"a": "a4", "b": "own", "c": "c1", "d": "d4"}
    assert done.grown == {"a", "b", "c", "d"}
    assert other.readings.turn("b4").parent == "b3"  # beside the own one
    bring(other, exported(memory))
    assert heads == {session: other.readings.session(session).head for session in "abcd"}


def test_a_missing_line_is_bridged_and_comes_in_later(memory: Memory, other: Memory) -> None:
    talk(memory, 5)
    memory.append(observed("o", "s0"), observed("p", "s2"), rename("s", "name"))
    export = exported(memory)
    without = [line for line in export if line["structure"].get("turn") != "s2"]
    done = bring(other, without)
    assert path(other, "s") == ["s0", "s1", "s3", "s4"]
    assert list(done.refused) == ["there is no turn or chunk s2"]
    assert done.first_refused == [(8, "there is no turn or chunk s2")]
    done = bring(other, export)
    assert (done.refused, done.new) == ({}, 2)
    assert other.readings.session("s").head == "s4"
    assert other.readings.turn("s2").parent == "s1"
    assert known(other) == ["o"]  # s2 is beside the path, which goes round it


def test_a_chat_whose_beginning_is_missing_begins_where_its_turns_do(memory: Memory, other: Memory) -> None:
    talk(memory, 2)
    memory.append(fork("f", "s", "s1"), said("f0", "f", parent="s1"))
    export = [line for line in exported(memory) if line["kind"] not in ("session.started", "session.forked")]
    done = bring(other, export)
    assert done.refused == {}
    assert path(other, "s") == ["s0", "s1"]
    assert path(other, "f") == ["s0", "s1", "f0"]
    assert other.readings.session("f").world == "f"  # what it was cannot be told, so nobody else sees it
    assert bring(other, exported(memory)).new == 0


def test_a_later_decision_here_is_kept(memory: Memory, other: Memory) -> None:
    talk(memory, 2)
    memory.append(rename("s", "theirs"), hide("s1"), pin("s0"))
    late = exported(memory)
    bring(other, late[:3])
    other.append(rename("s", "ours"), hide("s1"), unhide("s1"))
    done = bring(other, late)
    assert done.older == 2
    assert other.readings.session("s").name == "ours"
    assert not other.readings.turn("s1").hidden
    assert other.readings.turn("s0").pinned
    memory.append(rename("s", "newest"))
    bring(other, exported(memory))
    assert other.readings.session("s").name == "newest"


def test_a_chat_that_both_imported_elsewhere_is_one(memory: Memory, other: Memory) -> None:
    for number, here in enumerate((memory, other)):
        here.append(begin(f"s{number}", client="import", source="chat"))
        here.append(said(f"a{number}", f"s{number}", source="first", text="first"))
        here.append(reply(f"b{number}", f"s{number}", parent=f"a{number}", source="second", text="second"))
    memory.append(said("c", "s0", parent="b0", text="third"), observed("o", "b0", "c"))
    done = bring(other, exported(memory))
    assert (done.refused, done.known) == ({}, 3)
    assert [turn.text for turn in other.readings.thread("s1")] == ["first", "second", "third"]
    assert [session.id for session in other.readings.sessions()] == ["s1"]
    assert known(other) == ["o"]


def test_one_session_brings_its_paths_and_what_was_learned_from_them_alone(memory: Memory, other: Memory) -> None:
    talk(memory, 4)
    talk(memory, 2, "x")
    memory.append(fork("f", "s", "s1"), said("f0", "f", parent="s1"), observed("of f", "s0", "f0"))
    memory.append(observed("of x", "x0", "f0"), observed("of s", "s3"))
    memory.append(observed("of f 2", "f0", after=observed("of f", "s0", "f0")), titled("f", "a title", "f0"))
    memory.append(move("f", None), move("f", "f0"))
    done = bring(other, exported(memory, "f"))
    assert done.refused == {}
    assert path(other, "f") == ["s0", "s1", "f0"]
    assert path(other, "s") == ["s0", "s1"]
    assert other.readings.session("f").name == "a title"
    assert known(other) == ["of f 2"]
    assert bring(other, exported(memory)).refused == {}
    assert state(other)["observations"] == state(memory)["observations"]


def test_a_line_is_read_or_told_what_it_is(memory: Memory) -> None:
    talk(memory, 1)
    line = exported(memory)[1]
    assert isinstance(read(3, line), ExportedEvent)
    wrong = [line | change for change in ({"seq": "one"}, {"text": 7}, {"structure": {"turn": "t"}})]
    newer = [line | change for change in ({"kind": "turn.sung"}, {"version": 99})]
    for error, refused in ((LogDamaged, [*wrong, [line]]), (LogNewer, newer)):
        for each in refused:
            with pytest.raises(error):
                read(3, each)


def test_a_chat_of_a_what_if_not_here_is_refused_and_comes_with_the_whole(memory: Memory, other: Memory) -> None:
    talk(memory, 2)
    memory.append(fork("w", "s", "s1", "w"))
    memory.append(begin("n", client="notes", world="w"), said("n0", "n"), observed("o", "n0", world="w"))
    lines = exported(memory)
    done = bring(other, [line for line in lines if line["structure"].get("session") == "n"])
    assert sum(done.refused.values()) == 2
    assert not other.readings.has_turn("n0"), "in main it would be seen"
    assert bring(other, lines).refused == {}
    assert other.readings.session("n").world == "w"


@pytest.mark.restarts
def test_a_synthesis_comes_with_both_its_parents_or_not_at_all_and_goes_with_one(memory: Memory, other: Memory) -> None:
    talk(memory, 2, "a")
    talk(memory, 2, "b")
    memory.append(observed("one", "a0"), observed("two", "a1"), observed("three", "b0"))
    memory.append(observed("both", "a0", "a1", parents=("one", "two")))
    memory.append(observed("across", "a0", "b0", parents=("one", "three")))
    memory.append(observed("above", "a0", "a1", "b0", parents=("both", "three")))
    bring(other, exported(memory, "a"))
    assert {each.id: each.parents for each in other.readings.memories(now=NOON)} == {
        "one": (),
        "two": (),
        "both": ("one", "two"),
    }
    bring(other, exported(memory))
    assert state(other) == state(memory)
    memory.append(forget("two"))
    assert bring(other, exported(memory)).deleted > 0
    assert known(other) == ["across", "one", "three"]
    assert state(other) == state(memory)
    other.append(forget("three"))
    bring(other, exported(memory))  # it brings nothing back
    assert known(other) == ["one"]


def test_an_export_attaches_no_file_of_here_and_chooses_no_file_for_a_model(memory: Memory, other: Memory) -> None:
    talk(memory, 2)
    memory.append(ReferenceAdded(reference=new_id(), session="s", category="file", text="/home/ada/.ssh/id_rsa"))
    memory.append(ReferenceAdded(reference=new_id(), session="s", category="page", text="https://example.org/"))
    for model in ("/tmp/evil.gguf", "evil.gguf"):
        memory.append(SessionConfigured(session="s", model=model, text="Be kind."))
    export = exported(memory)
    assert bring(other, export).refused == {}
    assert [each.address for each in other.readings.attached("s")] == ["https://example.org/"]
    about = other.readings.session("s")
    assert (about.model, about.system_prompt) == (None, "Be kind.")
    head = other.head()
    bring(other, export)
    assert other.head() == head
    bring(memory, export)
    assert len(memory.readings.attached("s")) == 2, "where it was said it stays"


@pytest.mark.parametrize("at", [10**30, -1])
def test_a_time_that_no_date_has_is_no_event(memory: Memory, at: int) -> None:
    talk(memory, 1)
    line = exported(memory)[0]
    with pytest.raises(LogDamaged, match="it is no event"):
        read(2, line | {"at": at})
