"""What is played and what is said in main are apart: nothing of either is read, named, recalled or learned there."""

from datetime import UTC, datetime

import pytest

from graph.events import MAIN_WORLD
from graph.memory import Memory
from graph.readings.newest import NODE_KINDS, NodeKind
from graph.values import Filters, Wanted
from tests.graph.deeds import pin, rate, rename, titled, write
from tests.graph.stories.deeds import forks
from tests.graph.stories.played import CHAT, MARA, STORY, YOU, answers, asks, play
from tests.graph.talk import NOON, reply, said, talk
from tests.graph.teach import noted, observed

NOW = datetime(2026, 11, 20, tzinfo=UTC)
KINDS: list[NodeKind] = [kind for kind in NODE_KINDS if kind != "observation"]


@pytest.fixture
def both(whole: Memory) -> Memory:
    """The same in main and in a story, all of it about a lantern."""
    talk(whole, 2)
    whole.append(said("s2", parent="s1", text="My lantern, says Ada", speaker="Ada"), rate("s2", 3, by="user"))
    whole.append(pin("s0"), observed("o", "s2", text="Ada has a lantern", about=("Ada",)), pin(observation="o"))
    whole.append(write("human", "Rows a boat."), noted("bob", "Bob", "s0"), forks("if", "s1", "if", origin="s"))
    whole.append(said("if0", "if", parent="s1", text="A lantern, if"))
    play(whole, 2)
    whole.append(asks("p2", "p1", text="My lantern, I play"), answers("p3", "p2", text="Your lantern!"))
    whole.append(rate("p3", 3, by="user"), pin("p0"))
    whole.append(observed("q", "p2", world=STORY, text="Ilya has a lantern", about=(YOU,)), pin(observation="q"))
    whole.append(write("human", "Keeps the light.", world=STORY), titled(CHAT, "The lantern", "p2"))
    whole.append(forks("as-if", "p3", "as-if"), rename("as-if", "Another lantern"))
    whole.append(asks("as-if0", "p3", session="as-if", text="A lantern, as if"))
    return whole


OF_STORY = {"p0", "p1", "p2", "p3"}
WORLDS: list[tuple[str, set[str], set[str], str]] = [  # its turns, its memories, what its core block says
    (MAIN_WORLD, {"s0", "s1", "s2"}, {"o"}, "Rows a boat."),
    ("if", {"s0", "s1", "if0"}, set(), "Rows a boat."),
    (STORY, OF_STORY, {"q"}, "Keeps the light."),
    ("as-if", {*OF_STORY, "as-if0"}, {"q"}, "Keeps the light."),
]
EVERY_TURN = {turn for _, turns, _, _ in WORLDS for turn in turns}


def test_a_world_reads_and_recalls_its_own_alone(both: Memory) -> None:
    readings = both.readings
    for world, turns, memories, block in WORLDS:
        assert readings.sees(world, EVERY_TURN) == turns
        assert {turn.id for turn in readings.recent("turn", 99, world=world)} == turns
        assert {each.turn.id for each in readings.recent("exchange", 99, world=world)} <= turns
        assert {turn.id for turn in readings.pinned(world)} <= turns
        assert {each.id for each in readings.memories(Wanted(world=world), now=NOON)} == memories
        assert {each.text for each in readings.blocks(world)} == {block}
        hits = both.recall.search("lantern", filters=Filters(world=world), now=NOW, timezone=UTC, limit=99)
        assert {hit.id for hit in hits if hit.kind == "turn"} <= turns
        assert {hit.id for hit in hits if hit.kind == "observation"} == memories
        near = both.near("lantern", vector=None, world=world, project=None, limit=99)
        assert {each.observation.id for each in near} == memories
        assert sum(readings.significance(world).values()) == len(turns & {"s2", "p3"})
        assert {each.id for each in readings.newest(KINDS, 99, world=world)} & EVERY_TURN == turns
    assert {turn for each in readings.unreflected(99) for turn in each.turns} <= {"s0", "s1", "s2", "if0"}


def test_people_of_a_cast_and_people_of_main_do_not_know_one_another(both: Memory) -> None:
    readings = both.readings
    assert {each.name for each in readings.everyone()} == {"you", "assistant", "Ada", "Bob"}
    assert {each.name for each in readings.everyone(world=STORY)} == {"Ilya", "Mara"}
    assert (readings.entities(["Mara", "Bob"]), readings.meant(["Mara"])) == ({"Bob": "bob"}, {})
    assert readings.entities(["mara", "Bob"], world=STORY) == {"mara": MARA}
    assert (readings.about("Mara").kind, readings.about("Mara", world=STORY).said) == ("word", 2)
    assert readings.about("Ada", world=STORY).said == 0
    assert {turn.id for turn in readings.about("lantern").turns} == {"s2"}
    assert {turn.id for turn in readings.about("lantern", world=STORY).turns} == {"p2", "p3"}
    assert set(readings.speakers()) == {"you", "assistant", "Ada"}
    assert [each.id for each in readings.newest(["entity"], 9)] == ["Ada", "bob"]
    there = readings.newest(["entity"], 9, world=STORY)
    assert [(each.id, each.text) for each in there] == [(MARA, "Mara"), (YOU, "Ilya")]


def test_main_lists_its_own_what_ifs_as_new_and_the_search_of_everything_says_where_things_are(both: Memory) -> None:
    assert [each.id for each in both.readings.newest(["world", "session"], 9)] == ["if", "s"]
    assert {each.id for each in both.readings.newest(["world", "session"], 9, world=STORY)} == {CHAT, "as-if"}
    found = {each.turn.id: (each.world, each.turn.speaker) for each in both.readings.search("lantern")}
    assert found == {
        "s2": (MAIN_WORLD, "Ada"),
        "if0": ("if", "you"),
        "p2": (STORY, "Ilya"),
        "p3": (STORY, "Mara"),
        "as-if0": ("as-if", "Ilya"),
    }


def test_notes_and_tools_of_a_story_are_seen_by_whom_they_say(memory: Memory) -> None:
    play(memory, 2)
    memory.append(asks("n", "p1", role="note", saw=(), text="(is this too dark?)"))
    memory.append(said("t", CHAT, parent="n", role="tool", speaker="dice", witnesses=(), text="4"))
    memory.append(reply("r", CHAT, parent="t", speaker=MARA, witnesses=(YOU, MARA)))
    speakers = {turn.id: (turn.speaker, turn.member) for turn in memory.readings.thread(CHAT)}
    assert speakers["n"] == ("Ilya", YOU)
    assert speakers["t"] == ("dice", None)
    assert [turn.id for turn in memory.readings.thread(CHAT, witness=MARA)] == ["p0", "p1", "r"]
