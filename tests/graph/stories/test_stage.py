"""What is on a stage is what comes of playing the path again: by turns, by their words, and by no other story."""

from pathlib import Path

import pytest

from graph.events import StageSet, TextErased
from graph.memory import Memory
from tests.graph.conftest import change, ignore
from tests.graph.deeds import delete, hide, unhide
from tests.graph.stories.deeds import faults, forks, moves_to, put, sits
from tests.graph.stories.played import CHAT, MARA, answers, asks, play, stands

MOOD, WEATHER = (MARA, "mood"), ("world", "weather")


def test_the_last_line_on_the_path_counts_and_going_back_takes_it_along(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*WEATHER, "fair"), put(*MOOD, "wary", "p1"), put(*MOOD, "calm", "p3"))
    assert stands(memory) == {MOOD: "calm", WEATHER: "fair"}
    line = memory.readings.stage(CHAT)[MOOD]
    assert (line.text, line.by, line.after, line.value) == ("calm", "user", "p3", None)
    memory.append(moves_to("p2"))
    assert stands(memory) == {MOOD: "wary", WEATHER: "fair"}
    memory.append(answers("q3", "p2"), put(*MOOD, "glad", "q3"))
    assert stands(memory) == {MOOD: "glad", WEATHER: "fair"}
    memory.append(moves_to("p3"))
    assert stands(memory) == {MOOD: "calm", WEATHER: "fair"}
    memory.append(moves_to(None))
    assert stands(memory) == {WEATHER: "fair"}


def test_the_path_tells_the_order_of_lines_and_not_the_log(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*MOOD, "calm", "p3"), put(*MOOD, "wary", "p1"), put(*MOOD, "sad"))
    assert stands(memory) == {MOOD: "calm"}
    assert stands(memory, at="p2") == {MOOD: "wary"}
    assert stands(memory, at="p0") == {MOOD: "sad"}
    memory.append(put(*MOOD, "bold", "p3"), put(*MOOD, None, "p2"))
    assert stands(memory) == {MOOD: "bold"}
    assert stands(memory, at="p2") == {MOOD: None}


def test_a_line_holds_while_all_turns_stand_that_its_words_may_come_from(memory: Memory) -> None:
    play(memory, 4)
    memory.append(
        put(*MOOD, "wary", "p1", by="rule", sources=("p1",)), put(*MOOD, "calm", "p3", by="model", sources=("p2", "p3"))
    )
    assert stands(memory) == {MOOD: "calm"}
    memory.append(hide("p2"))
    assert stands(memory) == {MOOD: "wary"}
    memory.append(hide("p1"))
    assert stands(memory) == {}
    memory.append(unhide("p1"), unhide("p2"))
    assert stands(memory) == {MOOD: "calm"}
    memory.append(moves_to("p1"), asks("q2", "p1"), answers("q3", "q2"))
    memory.append(put(*MOOD, "stolen", "q3", sources=("p2",)))
    assert stands(memory) == {MOOD: "wary"}, "its source is on another path"
    memory.append(moves_to("p3"), delete("p2"))
    assert stands(memory) == {MOOD: "wary"}


def test_a_line_goes_with_the_words_of_a_deleted_turn_and_one_that_comes_later_has_none(memory: Memory) -> None:
    play(memory, 4)
    [line] = memory.append(put(*MOOD, "has a lantern", "p3", sources=("p1",)))
    memory.append(delete("p1"))
    [late] = memory.append(put("world", "place", "where the lantern is", "p3", sources=("p1", "p2")))
    for seq in (line.seq, late.seq):
        event = memory._reader.event(seq)
        assert isinstance(event, StageSet)
        assert event.text is None
    assert stands(memory) == {}


def test_what_was_set_at_a_turn_that_is_deleted_stays_at_it_and_below_it(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*MOOD, "wary", "p1"), put(*WEATHER, "storm", "p3"), delete("p1"))
    assert stands(memory) == {MOOD: "wary", WEATHER: "storm"}
    memory.append(delete("p3"))
    assert memory.readings.stands_at(CHAT) == "p3"
    assert stands(memory) == {MOOD: "wary", WEATHER: "storm"}
    memory.append(asks("p4", "p3"))
    assert stands(memory) == {MOOD: "wary", WEATHER: "storm"}
    memory.append(asks("q4", "p2"))
    assert stands(memory) == {MOOD: "wary"}


def test_a_message_that_waits_stands_nowhere_until_it_is_taken(memory: Memory) -> None:
    play(memory, 2)
    memory.append(asks("waits", queued=True), put(*MOOD, "eager", "waits", sources=("waits",)))
    assert stands(memory) == {}
    assert stands(memory, at="waits") == {MOOD: "eager"}


def test_regenerated_replies_have_stages_of_their_own(memory: Memory) -> None:
    play(memory, 2)
    memory.append(put(*MOOD, "wary", "p1", sources=("p1",)), answers("r1", "p0"))
    memory.append(put(*MOOD, "glad", "r1", sources=("r1",)), asks("r2", "r1"))
    assert (stands(memory), stands(memory, at="p1")) == ({MOOD: "glad"}, {MOOD: "wary"})


def test_forks_share_what_stands_above_them_in_their_world(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*MOOD, "calm", "p3"), forks("f", "p1"))
    memory.append(asks("f0", "p1", session="f"), put(*MOOD, "bold", "f0"), put(*WEATHER, "fog", "p0"))
    assert stands(memory, "f") == {MOOD: "bold", WEATHER: "fog"}
    assert stands(memory) == {MOOD: "calm", WEATHER: "fog"}


def test_a_what_if_of_a_what_if_has_what_both_had_when_they_were_left(memory: Memory) -> None:
    play(memory, 4)
    memory.append(put(*MOOD, "one", "p1"), forks("w", "p3", "w"))
    memory.append(put(*WEATHER, "two", "p3", world="w"), put(*MOOD, "late", "p2"))
    memory.append(forks("v", "p3", "v", origin="w"))
    memory.append(put(*WEATHER, "late", "p3", world="w"), put("world", "place", "three", "p3", world="v"))
    assert stands(memory, "v") == {MOOD: "one", WEATHER: "two", ("world", "place"): "three"}
    assert stands(memory, "w") == {MOOD: "one", WEATHER: "late"}
    assert stands(memory) == {MOOD: "late"}


@pytest.mark.restarts
def test_the_words_of_a_line_can_be_erased_alone(whole: Memory) -> None:
    play(whole, 2)
    [line] = whole.append(put(*MOOD, "wary of xylophones", "p1"))
    stored = "MATCH (l:StageLine) WHERE l.aspect = 'mood' RETURN l.text AS text"
    assert whole.query(stored) == [{"text": "wary of xylophones"}]
    whole.append(TextErased(events=(line.seq,)))
    assert stands(whole) == {MOOD: None}
    assert whole.query(stored) == [{"text": None}]
    whole.rebuild(ignore)
    assert whole.query(stored) == [{"text": None}]
    assert faults(whole) == []


@pytest.mark.restarts
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE stage_lines SET owner = 'm-you' WHERE aspect = 'mood'",
        "DELETE FROM stage_lines WHERE aspect = 'seat'",
        "UPDATE turns SET witnesses = '' WHERE id = 'p1'",
        "UPDATE worlds SET story = NULL",
        "DELETE FROM links WHERE rel = 'SET_FROM'",
    ],
)
def test_tables_of_stories_changed_by_hand_are_found_and_made_anew(whole: Memory, folder: Path, damage: str) -> None:
    play(whole, 2)
    whole.append(put(*MOOD, "wary", "p1", sources=("p1",)))
    before = whole.readings.stage(CHAT), whole.readings.cast(CHAT), whole.readings.thread(CHAT)
    change(folder, damage)
    assert faults(whole) == ["tables"]
    whole.rebuild(ignore)
    assert faults(whole) == []
    assert before == (whole.readings.stage(CHAT), whole.readings.cast(CHAT), whole.readings.thread(CHAT))


def test_a_seat_is_a_line_beside_the_others(memory: Memory) -> None:
    play(memory, 2)
    memory.append(sits(MARA, "guest", "p1"), put(*MOOD, "wary", "p1"))
    lines = memory.readings.stage(CHAT)
    assert (lines[MARA, "seat"].value, lines[MARA, "seat"].text) == ("guest", None)
    assert lines[MOOD].text == "wary"
