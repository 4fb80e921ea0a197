"""Who plays is told by the path: seats, names and resets come and go with the turns that they were set at."""

import pytest

from graph.errors import NotFound
from graph.events import CastSet
from graph.memory import Memory
from tests.graph.conftest import ignore
from tests.graph.deeds import delete
from tests.graph.stories.deeds import begins, faults, forks, joins, moves_to, put, resets, sits
from tests.graph.stories.played import (
    ALL,
    CHAT,
    JONAS,
    MARA,
    STORY,
    YOU,
    answers,
    asks,
    begun,
    play,
    seated,
    stands,
    view,
)
from tests.graph.talk import talk

TWO = {"you": "Ilya", "host": "Mara"}
THREE = {**TWO, "guest": "Jonas"}


def test_a_story_is_a_world_without_a_parent_with_a_cast_by_seats(memory: Memory) -> None:
    play(memory, 2)
    [story] = memory.readings.stories()
    assert (story.world, story.name, story.sessions) == (STORY, "The Lighthouse", (CHAT,))
    assert memory.readings.story_of(CHAT) == STORY
    assert memory.readings.session(CHAT).story == STORY
    assert [(each.id, each.name, each.seat, each.since) for each in memory.readings.cast(CHAT)] == [
        (YOU, "Ilya", "you", 0),
        (MARA, "Mara", "host", 0),
    ]
    turn = memory.readings.turn("p1")
    assert (turn.member, turn.speaker, turn.witnesses) == (MARA, "Mara", (YOU, MARA))
    with pytest.raises(NotFound):
        memory.readings.cast("nowhere")


def test_a_guest_comes_and_goes_with_the_turn_it_was_seated_at(memory: Memory) -> None:
    play(memory, 4)
    memory.append(joins("p3"), asks("p4", "p3", saw=ALL), answers("p5", "p4", saw=ALL, speaker=JONAS))
    assert seated(memory) == THREE
    assert memory.readings.turn("p5").speaker == "Jonas"
    memory.append(moves_to("p2"))
    assert seated(memory) == TWO
    assert seated(memory, at="p3") == seated(memory, at="p5") == THREE
    memory.append(asks("q3", "p2"))
    assert seated(memory) == TWO, "on another path nobody came"
    memory.append(moves_to("p5"))
    assert seated(memory) == THREE
    memory.append(sits(JONAS, None, "p5"), asks("p6", "p5"))
    assert seated(memory) == TWO
    assert seated(memory, at="p4") == THREE


def test_a_fork_in_the_same_world_has_the_cast_of_the_path_it_shares(memory: Memory) -> None:
    play(memory, 4)
    memory.append(joins("p1"), forks("f", "p3"))
    memory.append(forks("g", "p0"))
    assert (seated(memory, "f"), seated(memory, "g")) == (THREE, TWO)
    memory.append(asks("f0", "p3", session="f"), sits(MARA, None, "f0"))
    assert seated(memory, "f") == {"you": "Ilya", "guest": "Jonas"}
    memory.append(begins("second"))
    assert (seated(memory), seated(memory, "second")) == (THREE, TWO), "it begins with what is ahead of every turn"


def test_a_what_if_has_the_cast_stage_and_witnesses_of_when_it_left(memory: Memory) -> None:
    play(memory, 4)
    memory.append(joins("p1"), put(MARA, "mood", "wary", "p2"), resets(MARA))
    memory.append(forks("w", "p2", "w"))
    memory.append(
        put(MARA, "mood", "calm", "p2"),
        put("world", "weather", "storm"),
        sits("m-late", "host", "p1", "Late"),
        resets(MARA, memory.head()),
    )
    assert seated(memory, "w") == THREE
    assert stands(memory, "w") == {(MARA, "mood"): "wary"}
    assert view(memory, MARA, "w") == ["p0", "p1", "p2"]
    assert (view(memory, MARA), seated(memory)["host"]) == ([], "Late")
    memory.append(
        asks("w0", "p2", session="w"),
        put(MARA, "mood", "glad", "w0", world="w"),
        put("world", "weather", "fog", "p0", world="w"),
        sits("m-own", "guest", "w0", "Own", "w"),
        resets(YOU, memory.head() - 1, "w"),
    )
    assert stands(memory, "w") == {(MARA, "mood"): "glad", ("world", "weather"): "fog"}
    assert seated(memory, "w") == {**TWO, "guest": "Own"}
    assert (view(memory, YOU, "w"), view(memory, YOU)) == (["w0"], ["p0", "p1", "p2", "p3"])
    assert stands(memory) == {(MARA, "mood"): "calm", ("world", "weather"): "storm"}
    assert seated(memory)["guest"] == "Jonas"
    assert memory.readings.story_of("w") == STORY
    assert memory.readings.stories()[0].sessions == ("w", CHAT)


def test_a_seat_is_of_whoever_took_it_last_and_still_has_it(memory: Memory) -> None:
    play(memory, 4)
    memory.append(joins("p1"), joins("p3", "m-ada", "Ada"))
    assert seated(memory)["guest"] == "Ada"
    assert seated(memory, at="p2")["guest"] == "Jonas"
    memory.append(sits("m-ada", "host", "p3"))
    assert seated(memory) == {"you": "Ilya", "host": "Ada", "guest": "Jonas"}
    assert seated(memory, at="p2") == THREE


def test_a_member_is_called_otherwise_everywhere_and_two_may_have_one_name(memory: Memory) -> None:
    play(memory, 2)
    memory.append(sits(MARA, "host", "p1", "Marta"))
    memory.append(joins("p1", name="Marta"))
    assert [turn.speaker for turn in memory.readings.thread(CHAT)] == ["Ilya", "Marta"]
    assert seated(memory) == {"you": "Ilya", "host": "Marta", "guest": "Marta"}
    assert [branch.speaker for branch in memory.readings.tree(CHAT)[0].children] == ["Marta"]
    memory.append(moves_to("p0"))
    assert seated(memory) == {"you": "Ilya", "host": "Marta"}, "a name is of no path"


def names_of(memory: Memory, member: str) -> list[int]:
    """The events that seated a member."""
    events = memory._reader.events(limit=99)
    return [each.seq for each in events if isinstance(each.event, CastSet) and each.event.member == member]


@pytest.mark.restarts
def test_a_name_that_is_erased_is_gone_from_log_and_graph_and_another_can_be_given(whole: Memory) -> None:
    play(whole, 2)
    whole.erase(names_of(whole, MARA)[0])
    assert seated(whole) == {"you": "Ilya", "host": ""}
    assert (whole.readings.turn("p1").speaker, whole.readings.turn("p1").member) == ("", MARA)
    assert whole.query(f"MATCH (e:Entity {{id: '{MARA}'}}) RETURN e.name AS name") == [{"name": None}]
    whole.append(sits(MARA, "host", "p1", "Marta"))
    assert whole.readings.turn("p1").speaker == "Marta"
    assert faults(whole) == []
    whole.rebuild(ignore)
    assert faults(whole) == []
    assert whole.query(f"MATCH (e:Entity {{id: '{MARA}'}}) RETURN e.name AS name") == [{"name": "Marta"}]


@pytest.mark.restarts
@pytest.mark.parametrize("erased", [(0,), (1,), (2,), (0, 1), (1, 2)])
def test_where_the_last_name_is_erased_no_earlier_one_comes_back(whole: Memory, erased: tuple[int, ...]) -> None:
    """Of a member that was called Mara, then Marta, and then Martha; live and made anew the same."""
    play(whole, 2)
    whole.append(sits(MARA, "host", "p1", "Marta"))
    whole.append(sits(MARA, "guest", "p1", "Martha"))
    whole.append(sits(MARA, "host", "p1"))
    whole.erase(*(names_of(whole, MARA)[number] for number in erased))
    name = None if 2 in erased else "Martha"
    for _ in range(2):
        assert seated(whole)["host"] == (name or "")
        assert whole.query(f"MATCH (e:Entity {{id: '{MARA}'}}) RETURN e.name AS name") == [{"name": name}]
        assert faults(whole) == []
        whole.rebuild(ignore)


def test_a_reset_ends_what_a_member_knows_in_every_chat_and_is_taken_back(memory: Memory) -> None:
    play(memory, 4)
    memory.append(forks("f", "p1"))
    memory.append(answers("f0", "p1", session="f"), resets(MARA, memory.head()))
    assert (view(memory, MARA), view(memory, MARA, "f")) == ([], ["f0"])
    assert view(memory, YOU) == ["p0", "p1", "p2", "p3"]
    memory.append(asks("p4", "p3"), moves_to("p1"), asks("q2", "p1"))
    assert view(memory, MARA) == ["q2"], "going back brings nothing back"
    [mara] = [each for each in memory.readings.cast(CHAT) if each.id == MARA]
    assert mara.since > 0
    memory.append(resets(MARA))
    assert view(memory, MARA) == ["p0", "p1", "q2"]


def test_stories_know_nothing_of_one_another(memory: Memory) -> None:
    talk(memory, 2)
    play(memory, 2)
    memory.append(*begun("second", "other", you="o-you", host="o-host"))
    memory.append(joins("p1"), put("world", "weather", "storm"))
    assert seated(memory, "other") == TWO
    assert stands(memory, "other") == {}
    assert [story.world for story in memory.readings.stories()] == [STORY, "second"]
    assert memory.readings.cast("s") == []
    assert (memory.readings.story_of("s"), memory.readings.stage("s")) == (None, {})
    memory.append(delete("p1"))
    assert seated(memory) == {**TWO, "guest": "Jonas"}, "what was set at it stays"
    memory.append(asks("p2", "p0"))
    assert seated(memory) == TWO, "but on a path of its own"
