"""Who saw a turn: as it was said, as it was corrected by hand, and as a crash leaves it."""

from pathlib import Path

import pytest

from graph.errors import InvalidEvent
from graph.memory import Memory
from graph.reader import LogReader
from graph.values import Speaker
from tests.graph.conftest import Open, ignore
from tests.graph.deeds import delete, hide, pin, rate, taken
from tests.graph.stories.deeds import faults, forks, joins, moves_to, put, was_seen
from tests.graph.stories.played import ALL, BOTH, CHAT, JONAS, MARA, STORY, YOU, answers, asks, begun, play, view
from tests.graph.talk import talk


@pytest.fixture
def three(memory: Memory) -> Memory:
    """A chat of three, in which Mara whispers and Jonas is away for a while."""
    play(memory, 2)
    memory.append(joins("p1"), asks("p2", "p1", saw=ALL, addressed=JONAS))
    memory.append(answers("p3", "p2", saw=ALL, speaker=JONAS), answers("p4", "p3", saw=(YOU, MARA)))
    memory.append(asks("p5", "p4", saw=(YOU, JONAS)), asks("note", "p5", saw=(), role="note"))
    return memory


def test_a_thread_is_what_a_member_saw_of_it(three: Memory) -> None:
    assert view(three, MARA) == ["p0", "p1", "p2", "p3", "p4"]
    assert view(three, JONAS) == ["p2", "p3", "p5"]
    assert view(three, YOU) == ["p0", "p1", "p2", "p3", "p4", "p5"]
    assert view(three, "nobody") == []
    assert [turn.id for turn in three.readings.thread(CHAT, witness=JONAS, before="p5")] == ["p2", "p3"]
    turn = three.readings.turn("p2")
    assert (turn.addressed, turn.witnesses, turn.member, turn.speaker) == (JONAS, ALL, YOU, "Ilya")
    assert three.readings.turn("note").witnesses == ()


def test_a_thread_of_a_member_follows_the_path(three: Memory) -> None:
    three.append(moves_to("p3"), answers("q4", "p3", saw=(MARA,)))
    assert view(three, JONAS) == ["p2", "p3"]
    assert view(three, MARA)[-1] == "q4"
    three.append(hide("p3"))
    assert [(turn.id, turn.hidden) for turn in three.readings.thread(CHAT, witness=JONAS)] == [
        ("p2", False),
        ("p3", True),
    ]
    three.append(delete("p2"), moves_to("note"))
    assert view(three, JONAS) == ["p3", "p5"]
    three.append(forks("w", "p4", "w"))
    three.append(answers("w0", "p4", session="w", saw=(JONAS,)))
    assert view(three, JONAS, "w") == ["p3", "w0"]


def test_a_message_that_waited_was_seen_by_whom_it_was_said_to(three: Memory) -> None:
    three.append(asks("late", queued=True, saw=(YOU, JONAS)))
    assert view(three, JONAS) == ["p2", "p3", "p5"]
    three.append(taken("late", CHAT, parent="note"))
    assert view(three, JONAS)[-1] == "late"


def test_what_a_member_did_not_see_takes_none_of_its_pins_away(memory: Memory) -> None:
    play(memory, 2)
    memory.append(joins("p1"), asks("p2", "p1", saw=ALL), asks("p3", "p2", saw=ALL))
    whispers = [asks(f"w{number}", f"w{number - 1}" if number else "p3") for number in range(9)]
    memory.append(*whispers)
    rated = ("p2", *(turn.turn for turn in whispers))
    memory.append(pin("p3"), *(rate(turn, 3, by="model") for turn in rated))
    pins = {each: [turn.id for turn in memory.readings.pinned(STORY, seen_by=(CHAT, each))] for each in (MARA, JONAS)}
    assert pins[JONAS] == ["p2", "p3"]
    assert pins[MARA] == ["p3", *(f"w{number}" for number in range(1, 9))]


@pytest.mark.restarts
def test_a_correction_takes_the_place_of_what_was_said_in_log_and_graph(whole: Memory) -> None:
    play(whole, 2)
    whole.append(forks("w", "p1", "w"), was_seen("p1", (YOU,)))
    assert view(whole, MARA, "w") == view(whole, MARA) == ["p0"], "in every world that has the turn"
    whole.append(joins("p1"), was_seen("p0", (JONAS, YOU)), was_seen("p1"))
    saw = "MATCH (e:Entity)-[:WITNESSED]->(t:Turn) RETURN t.id AS turn, e.id AS who ORDER BY turn, who"
    expected = [{"turn": "p0", "who": JONAS}, {"turn": "p0", "who": YOU}]
    assert whole.query(saw) == expected
    assert (view(whole, JONAS), view(whole, MARA), view(whole, YOU)) == (["p0"], [], ["p0"])
    assert (whole.readings.turn("p0").witnesses, whole.readings.turn("p1").witnesses) == ((JONAS, YOU), ())
    assert faults(whole) == []
    whole.rebuild(ignore)
    assert whole.query(saw) == expected
    assert faults(whole) == []
    whole.append(was_seen("p1", BOTH))
    assert view(whole, MARA) == ["p1"]


def test_a_reply_that_a_crash_cut_off_keeps_its_voice_and_who_heard_it(memory: Memory, opening: Open) -> None:
    play(memory, 1)
    memory.stream("r", session=CHAT, parent="p0", model="m", text="The key", voice=Speaker(MARA, (YOU,)))
    memory.stream("r", session=CHAT, parent="p0", model="m", text="The key is", voice=Speaker(MARA, (YOU,)))
    again = opening()
    turn = again.readings.thread(CHAT)[-1]
    assert again.recovered == 1
    assert (turn.text, turn.member, turn.speaker, turn.witnesses) == ("The key is", MARA, "Mara", (YOU,))
    assert (view(again, MARA), view(again, YOU)) == (["p0"], ["p0", "r"])
    assert opening().recovered == 0


def test_what_could_never_be_a_reply_is_not_kept_while_it_streams(memory: Memory, opening: Open) -> None:
    talk(memory, 1)
    play(memory, 1)
    in_a_story = (Speaker(), Speaker(MARA, None), Speaker(MARA, ("nobody",)), Speaker("assistant", ()))
    in_main = (Speaker(MARA, ()), Speaker(witnesses=()))
    for session, voice in [*((CHAT, each) for each in in_a_story), *(("s", each) for each in in_main)]:
        with pytest.raises(InvalidEvent):
            memory.stream("r", session=session, parent=None, model="m", text="The key", voice=voice)
    assert opening().recovered == 0


def test_whoever_reads_beside_the_holder_sees_the_same(three: Memory, folder: Path) -> None:
    three.append(put(MARA, "mood", "wary", "p3"))
    reader = LogReader.open(folder)
    try:
        assert [turn.id for turn in reader.thread(CHAT, witness=JONAS)] == ["p2", "p3", "p5"]
        assert reader.cast(CHAT) == three.readings.cast(CHAT)
        assert reader.stage(CHAT) == three.readings.stage(CHAT)
        assert reader.stories() == three.readings.stories()
    finally:
        reader.close()


@pytest.mark.restarts
def test_the_past_has_the_cast_stage_and_witnesses_of_then(whole: Memory) -> None:
    whole.append(*begun(), asks("p0"))
    [then] = whole.append(put(MARA, "mood", "wary", "p0"))
    whole.append(joins("p0"), put(MARA, "mood", "calm", "p0"), was_seen("p0"))
    with whole.past(then.seq) as past:
        assert [each.name for each in past.readings.cast(CHAT)] == ["Ilya", "Mara"]
        assert past.readings.stage(CHAT)[MARA, "mood"].text == "wary"
        assert [turn.id for turn in past.readings.thread(CHAT, witness=MARA)] == ["p0"]
        assert [world.id for world in past.readings.worlds()] == ["main", "lighthouse"]
