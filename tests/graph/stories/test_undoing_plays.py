"""What is set by hand in a story is undone and done again, alone and in any order, and a mark brings all of it back."""

from collections.abc import Callable

import pytest

from graph.errors import CannotUndo
from graph.events import CastSet, Event, Undone
from graph.history.undoing import UserChange
from graph.memory import Memory
from tests.graph.deeds import delete, drop
from tests.graph.stories.deeds import faults, joins, moves_to, put, resets, sits, was_seen
from tests.graph.stories.played import BOTH, CHAT, MARA, STORY, YOU, answers, asks, begun, play, seated, stands, view
from tests.graph.stories.test_cast import THREE, TWO

MOOD = (MARA, "mood")
Told = Callable[[Memory], object]


def views(memory: Memory) -> object:
    return view(memory, MARA), view(memory, YOU)


def said_there(memory: Memory) -> object:
    """What is on the stage, but for what was taken away."""
    return {key: text for key, text in stands(memory).items() if text is not None}


def undo(memory: Memory, entry: UserChange | None = None) -> None:
    """Undo a change, the newest that stands unless one is given."""
    change = entry or memory.history.changes.standing(1)[0]
    memory.append(Undone(events=change.seqs), *memory.history.changes.undoing(change))


def redo(memory: Memory) -> None:
    undo(memory, memory.history.changes.newest(1)[0])


DEEDS: list[tuple[str, Event, Told]] = [
    ("a line", put(*MOOD, "calm", "p3"), said_there),
    ("a line where none was", put(YOU, "place", "cellar", "p3"), said_there),
    ("a line that is taken away", put(*MOOD, None, "p1"), said_there),
    ("a line with proof", put(*MOOD, "calm", "p3", sources=("p2", "p3")), said_there),
    ("a guest", joins("p3"), seated),
    ("a member that leaves", sits(MARA, None, "p3"), seated),
    ("a seat that is taken over", joins("p3", MARA, None), seated),
    ("another name", sits(MARA, "host", "p3", "Marta"), seated),
    ("a name for all paths", sits(MARA, "host", None, "Marta"), seated),
    ("a reset", resets(MARA, 8), views),
    ("who saw a turn", was_seen("p2", (YOU,)), views),
]


@pytest.fixture
def played(memory: Memory) -> Memory:
    play(memory, 4)
    memory.append(put(*MOOD, "wary", "p1", sources=("p1",)))
    memory.append(was_seen("p1", (YOU,)))
    memory.append(resets(MARA, 6))
    return memory


@pytest.mark.parametrize(("what", "event", "told"), DEEDS, ids=[what for what, _, _ in DEEDS])
def test_a_change_is_undone_and_done_again(played: Memory, what: str, event: Event, told: Told) -> None:
    before = told(played)
    played.append(event)
    after = told(played)
    assert after != before
    undo(played)
    assert told(played) == before
    redo(played)
    assert told(played) == after
    redo(played)
    assert told(played) == before
    assert faults(played, "graph") == []


def test_what_a_rule_or_a_model_set_is_no_change_of_a_person(memory: Memory) -> None:
    play(memory, 2)
    memory.append(put(*MOOD, "wary", "p1", by="rule"))
    memory.append(put(*MOOD, "calm", "p1", by="model", sources=("p1",)))
    assert memory.history.changes.standing(9) == []
    memory.append(put(*MOOD, "glad", "p1"))
    undo(memory)
    line = memory.readings.stage(CHAT)[MOOD]
    assert (line.text, line.by) == ("calm", "model")
    memory.append(delete("p1"))
    assert stands(memory) == {MOOD: None}, "it keeps its proof, and what was undone stays undone"


def test_a_story_that_is_begun_is_deleted_and_not_undone(memory: Memory) -> None:
    memory.append(*begun())
    assert memory.history.changes.newest(9) == []


def test_an_older_line_is_undone_below_a_newer_one_that_stays(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*MOOD, "wary", "p1"))
    older = memory.history.changes.standing(1)[0]
    memory.append(put(*MOOD, "calm", "p3"))
    undo(memory, older)
    assert (stands(memory), stands(memory, at="p2")) == ({MOOD: "calm"}, {MOOD: None})


def test_a_line_is_undone_while_its_path_is_left(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*MOOD, "calm", "p3"))
    change = memory.history.changes.standing(1)[0]
    memory.append(moves_to("p1"), answers("q1", "p1"))
    undo(memory, change)
    memory.append(moves_to("p3"))
    assert stands(memory) == {MOOD: None}


def test_what_was_changed_again_is_not_undone_out_of_order(memory: Memory) -> None:
    play(memory, 2)
    memory.append(put(*MOOD, "wary", "p1"))
    first = memory.history.changes.standing(1)[0]
    memory.append(put(*MOOD, "calm", "p1"))
    with pytest.raises(CannotUndo, match="The mood of “Mara” has been changed again since"):
        memory.history.changes.undoing(first)
    memory.append(was_seen("p0"))
    saw = memory.history.changes.standing(1)[0]
    memory.append(was_seen("p0", (YOU,)))
    with pytest.raises(CannotUndo, match="The message “p0” has been changed again since"):
        memory.history.changes.undoing(saw)


def test_nothing_is_undone_of_what_was_deleted_since(memory: Memory) -> None:
    play(memory, 2)
    memory.append(was_seen("p1"))
    saw = memory.history.changes.standing(1)[0]
    memory.append(put(*MOOD, "wary", "p0"))
    line = memory.history.changes.standing(1)[0]
    memory.append(delete("p1"))
    with pytest.raises(CannotUndo, match="has since been deleted"):
        memory.history.changes.undoing(saw)
    memory.append(joins("p0"))
    guest = memory.history.changes.standing(1)[0]
    memory.append(drop(CHAT))
    with pytest.raises(CannotUndo, match="The seat of m-jonas has since been deleted"):
        memory.history.changes.undoing(guest)
    with pytest.raises(CannotUndo):
        memory.history.changes.undoing(line)
    assert memory.history.changes.of_event(line.seq).lost


def test_going_back_to_a_mark_brings_the_stage_of_then_back(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*MOOD, "wary", "p1"), joins("p1"))
    then = memory.head() + 1
    memory.append(
        put(*MOOD, "bold", "p1"),
        put("world", "weather", "storm", "p1"),
        sits("m-jonas", None, "p1"),
        was_seen("p1"),
        resets(MARA, 8),
    )
    memory.append(asks("p4", "p3"), put(*MOOD, "late", "p4"), was_seen("p4"))
    memory.append(*begun("second", "other", you="o-you", host="o-host"), put("o-host", "mood", "new", world="second"))
    events, erased = memory.history.marks.restoring(then)
    assert erased == 0
    assert {event.world for event in events if isinstance(event, CastSet)} == {STORY}
    memory.append(*events)
    assert stands(memory) == {MOOD: "wary", ("world", "weather"): None}
    assert (seated(memory), memory.readings.turn("p1").witnesses) == (THREE, BOTH)
    assert view(memory, MARA) == ["p0", "p1", "p2", "p3"]
    assert (seated(memory, "other"), stands(memory, "other")) == (TWO, {("o-host", "mood"): "new"})
