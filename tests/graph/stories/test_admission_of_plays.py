"""What a story refuses, and what is refused to everything else: each in one sentence, and nothing is stored."""

import pytest

from graph.errors import InvalidEvent
from graph.events import CastSet, EntityKinded, EntityMerged, EntityNamed, Event, SessionForked, StageSet, StoryBegun
from graph.memory import Memory
from tests.graph.deeds import begin, move, taken
from tests.graph.stories.deeds import begins, faults, forks, moves_to, put, resets, sits, was_seen
from tests.graph.stories.played import CHAT, JONAS, MARA, STORY, YOU, answers, asks, begun, play
from tests.graph.talk import reply, said, talk
from tests.graph.teach import noted, read


@pytest.fixture
def told(memory: Memory) -> Memory:
    """Main with a document, a story with a what-if, and another story; in each of them something waits."""
    talk(memory, 2)
    memory.append(*read("doc", "chunk"), said("waits", queued=True))
    play(memory, 2)
    memory.append(asks("p-waits", queued=True), forks("w", "p1", "w"), sits("m-own", "guest", None, "Own", "w"))
    memory.append(sits("m-late", "guest", None, "Late"), *begun("second", "other", you="o-you", host="o-host"))
    memory.append(asks("o0", session="other", speaker="o-you", saw=()))
    return memory


def cast(member: str, world: str = STORY, text: str | None = None, after: str | None = None) -> CastSet:
    return sits(member, "guest", after, text, world)


def fork(at: str, world: str, origin: str = CHAT) -> SessionForked:
    return forks("f", at, world, origin=origin)


REFUSED: list[tuple[Event, str]] = [
    (StoryBegun(world=STORY, text="Again"), "there is a world lighthouse already"),
    (StoryBegun(world="main", text="Main"), "there is a world main already"),
    (StoryBegun(world="w", text="A what-if"), "there is a world w already"),
    (StoryBegun(world="new", text=" "), "the story has no fit name"),
    (StoryBegun(world="new", text=None), "the story has no fit name"),
    (begin("n", world="new"), "there is no world new"),
    (cast(JONAS, "main", "Jonas"), "main is no story"),
    (cast(JONAS, "new", "Jonas"), "new is no story"),
    (cast(JONAS), "m-jonas is no member that was named"),
    (cast(JONAS, text="two\nlines"), "the member of the cast has no fit name"),
    (cast("m jonas", text="Jonas"), "the member of the cast has no fit id"),
    (cast("", text="Jonas"), "the member of the cast has no fit id"),
    (cast("you", text="Jonas"), "you is no member that was named"),
    (cast("o-host"), "o-host is of another story"),
    (cast("o-host", text="Jonas"), "o-host is of another story"),
    (cast(MARA, after="s0"), "turn s0 is of another story"),
    (resets(MARA, 0, "main"), "main is no story"),
    (resets(JONAS), "m-jonas is no member of the cast"),
    (resets("o-host"), "o-host is no member of the cast"),
    (resets(MARA, 999), "an event after which a member would remember does not exist"),
    (put(MARA, "mood", "wary", world="main"), "main is no story"),
    (put(MARA, "mood", "wary", world="new"), "new is no story"),
    (put(" ", "mood", "wary"), "what stands on the stage has no fit name"),
    (put(MARA, "", "wary"), "the aspect has no fit name"),
    (put(MARA, "seat", "host"), "the seat of a member is no line of the stage"),
    (put(MARA, "reset", "0"), "the reset of a member is no line of the stage"),
    (put(MARA, "mood", "wary", "nowhere"), "there is no turn nowhere"),
    (put(MARA, "mood", "wary", "s1"), "turn s1 is of another story"),
    (put(MARA, "mood", "wary", "p1", sources=("p0", "p0")), "it names a source twice"),
    (put(MARA, "mood", "wary", "p1", sources=("p0", "nowhere")), "there is no turn nowhere"),
    (put(MARA, "mood", "wary", "p1", sources=("chunk",)), "there is no turn chunk"),
    (put(MARA, "mood", "wary", "p1", sources=("p0", "s0")), "turn s0 is of another story"),
    (put(MARA, "mood", "wary", "p1", sources=("o0",)), "turn o0 is of another story"),
    (was_seen("s0", (MARA,)), "s0 is of no story"),
    (was_seen("s0"), "s0 is of no story"),
    (was_seen("nowhere"), "there is no turn nowhere"),
    (was_seen("p0", (MARA, JONAS)), "m-jonas is no member of the cast"),
    (was_seen("p0", ("o-host",)), "o-host is no member of the cast"),
    (was_seen("p0", ("m-own",)), "m-own is no member of the cast"),
    (said("t", witnesses=()), "only what is said in a story is addressed, or witnessed"),
    (said("t", witnesses=(MARA,)), "only what is said in a story is addressed, or witnessed"),
    (said("t", addressed=MARA), "only what is said in a story is addressed, or witnessed"),
    (said("t", CHAT), "it does not say who of the cast saw it"),
    (asks("t", witnesses=None), "it does not say who of the cast saw it"),
    (asks("t", role="note", witnesses=None), "it does not say who of the cast saw it"),
    (asks("t", saw=(YOU, JONAS)), "m-jonas is no member of the cast"),
    (asks("t", saw=("you",)), "you is no member of the cast"),
    (asks("t", addressed="o-host"), "o-host is no member of the cast"),
    (asks("t", speaker="you"), "you is no member of the cast"),
    (answers("t", speaker="assistant"), "assistant is no member of the cast"),
    (answers("t", saw=("m-own",)), "m-own is no member of the cast"),
    (answers("t", session="w", saw=("m-late",)), "m-late is no member of the cast"),
    (asks("t", "s1"), "turn s1 is of another story"),
    (asks("t", "o0"), "turn o0 is of another story"),
    (reply("t", parent="p1"), "turn p1 is of another story"),
    (taken("waits", "s", parent="p1"), "turn p1 is of another story"),
    (taken("p-waits", CHAT, parent="s1"), "turn s1 is of another story"),
    (move("s", "p1"), "turn p1 is of another story"),
    (moves_to("s1"), "turn s1 is of another story"),
    (moves_to("o0"), "turn o0 is of another story"),
    (fork("s1", STORY), "turn s1 is of another story"),
    (fork("p1", "main"), "the world main is another's"),
    (fork("p1", "second"), "the world second is another's"),
    (fork("s1", STORY, "s"), "the world lighthouse is another's"),
    (noted(MARA, "Mara", "s0"), "m-mara is of the cast of a story"),
    (EntityNamed(entity=MARA, text="Marta"), "m-mara is of the cast of a story"),
    (EntityKinded(entity=MARA, category="place"), "m-mara is of the cast of a story"),
    (EntityMerged(entity=MARA, into="you"), "m-mara is of the cast of a story"),
]


def test_nothing_of_another_story_or_of_nobody_is_stored(told: Memory) -> None:
    head, missed = told.head(), []
    for event, why in REFUSED:
        try:
            told.append(event)
        except InvalidEvent as error:
            if str(error) != f"The event was not stored: {why}.":
                missed.append(f"{event}: {error}")
        else:
            missed.append(f"{event}: it was stored")
    assert missed == []
    assert told.head() == head


LAWFUL: list[Event] = [
    cast(JONAS, text="Jonas"),
    cast(MARA),
    cast(MARA, after="on a path that was not brought along"),
    cast("m-own", after="p1"),  # a member of a what-if comes into the story itself
    cast("m-late", "w"),
    resets(MARA, 1, "w"),
    put("lamp room", "light", "out", "p1", sources=("p0", "p1")),
    put(MARA, "mood", None),
    StageSet(world="w", owner="m-own", aspect="mood", after="p0", by="model", sources=("p0",), text="glad"),
    was_seen("p1", ("m-late", MARA)),
    was_seen("p1"),
    asks("t1", "p1", saw=()),
    asks("t2", "p1", saw=("m-late",), addressed="m-late"),
    said("t3", CHAT, parent="p1", role="tool", speaker="dice", witnesses=()),
    asks("t4", "p1", role="note", saw=()),
    answers("t5", "p1", session="w", saw=("m-own",), speaker="m-own"),
    taken("p-waits", CHAT, parent="p1"),
    move("w", "p0"),
    moves_to(None),
    fork("p1", STORY),
    fork("p0", "f"),
    begins("n"),
    StoryBegun(world="third", text="The Lighthouse"),
    noted("mara", "Mara", "s0"),
]


@pytest.mark.parametrize("event", LAWFUL, ids=lambda event: event.kind)
def test_what_a_story_allows_is_stored(told: Memory, event: Event) -> None:
    told.append(event)
    assert faults(told, "graph") == []


def test_a_member_of_a_what_if_is_one_of_the_story_once_it_is_seated_there(told: Memory) -> None:
    told.append(cast("m-own", after="p1"), answers("t", "p1", saw=("m-own",), speaker="m-own"))
    assert told.readings.turn("t").speaker == "Own"
    told.append(cast("m-late", "w"), answers("v", "p1", session="w", saw=("m-late",)))
