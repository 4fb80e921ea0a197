"""Stories among the worlds: listed with what they are, found by their chats, and asked what a change would do there."""

import pytest

from graph.errors import Ambiguous, NotFound
from graph.events import MAIN_WORLD, StoryBegun
from graph.memory import Memory
from graph.values import Wanted
from tests.graph.deeds import drop, hide, rename
from tests.graph.stories.deeds import begins, forks
from tests.graph.stories.played import CHAT, STORY, asks, begun, play
from tests.graph.talk import NOON, talk
from tests.graph.teach import observed


def test_stories_and_their_what_ifs_are_worlds_with_names(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(forks("if", "s1", "if", origin="s"))
    play(memory, 2)
    memory.append(
        forks("as-if", "p1", "as-if"), rename("as-if", "As if"), StoryBegun(world="unplayed", text="Nobody plays this")
    )
    main, what_if, story, as_if = memory.readings.worlds()
    assert (main.id, main.name, main.story, main.began_at) == (MAIN_WORLD, None, None, None)
    assert (what_if.id, what_if.parent, what_if.story) == ("if", MAIN_WORLD, None)
    assert (story.id, story.name, story.story) == (STORY, "The Lighthouse", STORY)
    assert (story.parent, story.fork, story.session, story.origin) == (None, None, None, None)
    assert story.began_at == memory.readings.stories()[0].at
    assert (as_if.id, as_if.name, as_if.parent, as_if.fork, as_if.session) == ("as-if", "As if", STORY, "p1", "as-if")
    assert (as_if.origin, as_if.story) == (CHAT, STORY)
    of = {id: memory.readings.world(id).id for id in (STORY, "LIGHTH", CHAT, "as-if", "s")}
    assert of == {STORY: STORY, "LIGHTH": STORY, CHAT: STORY, "as-if": "as-if", "s": MAIN_WORLD}
    assert (memory.readings.world_of(CHAT), memory.readings.world_of("as-if")) == (STORY, "as-if")
    for unknown in ("unplayed", "light", "The Lighthouse"):
        with pytest.raises(NotFound):
            memory.readings.world(unknown)
    memory.append(*begun("lighthouse-two", "two", you="a", host="b"))
    assert memory.readings.world(STORY).id == STORY
    with pytest.raises(Ambiguous):
        memory.readings.world("lightho")


def test_a_story_is_a_world_while_a_chat_of_its_own_is_left(memory: Memory) -> None:
    play(memory, 2)
    memory.append(begins("second"), forks("as-if", "p1", "as-if"), drop(CHAT))
    assert [world.id for world in memory.readings.worlds()] == [MAIN_WORLD, STORY, "as-if"]
    memory.append(drop("second"))
    assert [world.id for world in memory.readings.worlds()] == [MAIN_WORLD, "as-if"]
    assert memory.readings.stories()[0].sessions == ("as-if",)
    memory.append(drop("as-if"))
    assert [world.id for world in memory.readings.worlds()] == [MAIN_WORLD]
    assert memory.readings.stories() == []


@pytest.mark.restarts
def test_what_a_change_in_a_story_would_do_is_told_of_its_worlds_alone(whole: Memory) -> None:
    talk(whole, 2)
    play(whole, 2)
    whole.append(observed("o", "s0"), observed("q", "p0", world=STORY), forks("as-if", "p1", "as-if"))
    whole.append(asks("as-if0", "p1", session="as-if"))
    worlds = [world.id for world in whole.readings.worlds() if world.id != MAIN_WORLD]
    hiding = whole.history.rehearse(hide("p0"))
    changes = whole.recall.supposing(worlds, hiding.supposed, also=hiding.observations)
    for world in (STORY, "as-if"):
        assert {id: (was.current, then.current) for id, (was, then) in changes[world].items()} == {"q": (True, False)}
    assert changes.keys() == {STORY, "as-if"}
    of_main = whole.history.rehearse(hide("s0"))
    assert whole.recall.supposing(worlds, of_main.supposed, also=of_main.observations) == {STORY: {}, "as-if": {}}
    whole.append(hide("p0"))
    known = {world: {each.id for each in whole.readings.memories(Wanted(world=world), now=NOON)} for world in worlds}
    assert known == {STORY: set(), "as-if": set()}
    assert [each.id for each in whole.readings.memories(now=NOON)] == ["o"]
