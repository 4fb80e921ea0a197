"""With its last chat a story goes, every word of it, from every file; with another one left nothing of it goes."""

from pathlib import Path

import pytest

from graph.events import Event, StoryBegun, TextErased
from graph.events.codec import Stored
from graph.log.byte_search import forms_of, look
from graph.memory import Memory
from tests.graph.conftest import Open, ignore, purge
from tests.graph.deeds import delete, drop, rename, write
from tests.graph.stories.deeds import begins, faults, forks, joins, put, was_seen
from tests.graph.stories.played import CHAT, JONAS, MARA, STORY, asks, begun, seated, stands
from tests.graph.talk import talk

TITLE, NAME, CARD, LINE, SAID, BLOCK, WHAT_IF = WORDS = (
    *("Xylolighthouse", "Zquibberton", "Quaffarious", "Wrambling", "Jixtering", "Vexolating", "Plunkorious"),
)


def deletion(memory: Memory, session: str) -> list[Event]:
    """What the agent appends where a chat is deleted."""
    reach = memory.history.reach
    own, _ = reach.own_turns(session)
    words = reach.words_of_session(session)
    events: list[Event] = [*(delete(turn) for turn in own), drop(session)]
    return [*events, TextErased(events=words)] if words else events


def holding(folder: Path) -> set[str]:
    """The words that a file of the memory has."""
    return {word for _, held in look(folder, forms_of(WORDS)) for word in held or ()}


def texts(memory: Memory) -> str:
    """All texts that the log has."""
    every: list[Stored] = memory._reader.events(limit=999)
    return "\n".join(getattr(each.event, "text", None) or "" for each in every)


@pytest.fixture
def told(whole: Memory) -> Memory:
    """A story whose every word can be looked for, with a fork, and a what-if; and a chat of main."""
    talk(whole, 2)
    whole.append(StoryBegun(world=STORY, text=TITLE), *begun()[1:], joins(None, name=NAME))
    whole.append(put(JONAS, "card", f"{CARD} by trade"), rename(CHAT, TITLE), asks("p0", text=f"A {SAID} key"))
    whole.append(joins("p0", JONAS, f"{NAME} the Second"), put(JONAS, "mood", LINE, "p0", by="rule", sources=("p0",)))
    whole.append(put(JONAS, "place", LINE, "p0"), write("human", BLOCK, world=STORY))
    return whole


@pytest.mark.restarts
def test_with_the_only_chat_all_words_of_a_story_go_from_every_file(told: Memory, folder: Path, opening: Open) -> None:
    told.rebuild(ignore)
    assert holding(folder) == set(WORDS) - {WHAT_IF}
    rehearsal = told.history.rehearse(*deletion(told, CHAT))
    assert set(rehearsal.texts) >= {each.seq for each in told._reader.events(limit=99) if TITLE in text_of(each)}
    told.append(*deletion(told, CHAT))
    assert not any(word in texts(told) for word in WORDS)
    assert told.readings.stories() == []
    assert [world.id for world in told.readings.worlds()] == ["main"]
    stage = told.query("MATCH (l:StageLine) WHERE l.text IS NOT NULL RETURN l.text AS text")
    names = told.query("MATCH (e:Entity) WHERE e.kind = 'character' AND e.name IS NOT NULL RETURN e.name AS name")
    assert (stage, names) == ([], [])
    assert told.query(f"MATCH (w:World {{id: '{STORY}'}}) RETURN w.name AS name") == [{"name": None}]
    purge(told)
    assert holding(folder) == set()
    assert faults(told) == []
    told.rebuild(ignore)
    assert faults(told) == []
    assert [turn.text for turn in told.readings.thread("s")] == ["s0", "s1"]
    again = opening()
    assert holding(folder) == set()
    assert again.readings.sessions()[0].id == "s"


def text_of(stored: Stored) -> str:
    return getattr(stored.event, "text", None) or ""


@pytest.mark.restarts
@pytest.mark.parametrize("last", [CHAT, "f", "w", "second"])
def test_with_one_chat_left_the_story_stays_and_with_that_it_goes(told: Memory, folder: Path, last: str) -> None:
    told.append(
        forks("f", "p0"), forks("w", "p0", "w"), put("world", "weather", WHAT_IF, "p0", world="w"), begins("second")
    )
    for session in {CHAT, "f", "w", "second"} - {last}:
        assert told.history.reach.story_ending_with(session) is None
        told.append(*deletion(told, session))
    assert told.history.reach.story_ending_with(last) == TITLE
    assert told.history.reach.story_ending_with("s") is None
    purge(told)
    kept = texts(told)
    assert all(word in kept for word in (TITLE, NAME, CARD, LINE, BLOCK, WHAT_IF))
    [story] = told.readings.stories()
    assert (story.name, story.sessions) == (TITLE, (last,))
    assert seated(told, last)["guest"] == f"{NAME} the Second"
    assert stands(told, last)[JONAS, "card"] == f"{CARD} by trade"
    told.append(*deletion(told, last))
    assert not any(word in texts(told) for word in WORDS)
    purge(told)
    assert holding(folder) == set()
    assert faults(told) == []


def test_chats_that_are_deleted_together_take_the_story_along(told: Memory) -> None:
    told.append(forks("f", "p0"))
    told.append(drop(CHAT), drop("f"))
    assert TITLE in texts(told), "a chat's own name goes with what its plan erases"
    assert not any(word in texts(told) for word in (NAME, CARD, LINE, BLOCK))


def test_deleting_a_chat_of_main_or_of_another_story_erases_nothing_of_a_story(told: Memory) -> None:
    told.append(*begun("second", "other", you="o-you", host="o-host"), drop("s"))
    assert not told.purge.waiting()
    told.append(drop("other"))
    assert {NAME, CARD, LINE} <= {word for word in WORDS if word in texts(told)}
    assert [story.name for story in told.readings.stories()] == [TITLE]
    assert set(told.purge.waiting().values()) == {"The Lighthouse", "Ilya", "Mara"}


@pytest.mark.restarts
def test_corrections_and_resets_of_a_deleted_story_are_no_trouble(told: Memory) -> None:
    told.append(was_seen("p0", (MARA,)))
    told.append(*deletion(told, CHAT), was_seen("p0"), put(JONAS, "mood", None))
    assert faults(told) == []
    assert told.readings.cast(CHAT) == told.readings.cast(CHAT, at="p0")
