"""A story that goes elsewhere, by an export or a backup: the same cast, stage and views, and nothing erased back."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.events import (
    CastReset,
    CastSet,
    HeadMoved,
    SessionDeleted,
    SessionForked,
    SessionStarted,
    StageSet,
    TurnDeleted,
    TurnWitnessed,
)
from graph.memory import Memory
from graph.transfer.backup import copy_log
from graph.transfer.restoring import install, prepared
from tests.graph.conftest import Open, ignore
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
    put,
    seated,
    stands,
    view,
)
from tests.graph.stories.test_cast import TWO, joins
from tests.graph.stories.test_deleting_stories import deletion, purge, texts
from tests.graph.talk import talk
from tests.graph.transfer.test_merging import bring, exported

MOOD = (MARA, "mood")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory.open(tmp_path / "elsewhere" / "memory", command="test")
    memory.open_graph(ignore)
    yield memory
    memory.close()


@pytest.fixture
def told(memory: Memory) -> Memory:
    """A chat of three, a fork and a what-if of it, another chat of the story, and main."""
    talk(memory, 2)
    play(memory, 4)
    memory.append(
        put("world", "weather", "fair"),
        put(*MOOD, "wary", "p1", by="model", sources=("p0", "p1")),
        joins("p3"),
        asks("p4", "p3", saw=ALL),
        answers("p5", "p4", saw=(YOU, JONAS), speaker=JONAS),
        TurnWitnessed(turn="p5", witnesses=ALL),
    )
    memory.append(CastReset(world=STORY, member=MARA, since=memory.head() - 4))
    memory.append(
        SessionForked(session="f", origin=CHAT, at="p1", world=STORY, client="test"),
        asks("f0", "p1", session="f"),
        put(*MOOD, "bold", "f0", sources=("f0",)),
        CastSet(world=STORY, member="m-ada", seat="guest", after="f0", text="Ada"),
        SessionForked(session="w", origin=CHAT, at="p5", world="w", client="test"),
        put(*MOOD, "late", "p5"),
        put(*MOOD, "other", "p5", world="w"),
        answers("w0", "p5", session="w"),
        SessionStarted(session="second", world=STORY, client="test"),
        asks("n0", session="second", saw=(YOU,)),
        put(*MOOD, "alone", "n0"),
    )
    return memory


def shown(memory: Memory, session: str) -> dict[str, Any]:
    """What a chat of a story comes to, apart from the numbers of its events."""
    cast = memory.readings.cast(session)
    return {
        "cast": [(each.id, each.name, each.seat) for each in cast],
        "stage": stands(memory, session),
        "thread": [(turn.id, turn.text, turn.speaker, turn.witnesses) for turn in memory.readings.thread(session)],
        "views": {member: view(memory, member, session) for member in (*ALL, "m-ada")},
        "story": memory.readings.story_of(session),
    }


CHATS = (CHAT, "f", "w", "second")


@pytest.mark.parametrize("at_once", [1, 5, 99])
def test_the_whole_log_brings_all_stories_and_twice_changes_nothing(told: Memory, other: Memory, at_once: int) -> None:
    export = exported(told)
    done = bring(other, export, at_once=at_once)
    assert (done.refused, done.older) == ({}, 0)
    assert {chat: shown(other, chat) for chat in CHATS} == {chat: shown(told, chat) for chat in CHATS}
    assert other.readings.stories()[0].sessions == told.readings.stories()[0].sessions
    assert [check for check in other.doctor() if not check.ok] == []
    head = other.head()
    again = bring(other, export, at_once=at_once)
    assert (again.new, again.refused, other.head()) == (0, {}, head)


@pytest.mark.parametrize("chat", CHATS)
def test_one_chat_brings_what_it_needs_of_its_story_and_no_more(told: Memory, other: Memory, chat: str) -> None:
    export = exported(told, chat)
    done = bring(other, export)
    assert done.refused == {}
    assert shown(other, chat) == shown(told, chat)
    assert [check for check in other.doctor() if not check.ok] == []
    lines = [line["text"] for line in export if line["kind"] == "stage.set"]
    assert ("alone" in lines) == (chat == "second")
    assert ("bold" in lines) == (chat == "f")
    assert ("late" in lines) == (chat in (CHAT,))
    assert ("Ada" in [line["text"] for line in export]) == (chat == "f")
    assert [line for line in export if line["structure"].get("session") == "s"] == []
    assert (bring(other, export).new, bring(other, exported(told)).refused) == (0, {})
    assert {each: shown(other, each)["thread"] for each in CHATS} == {
        each: shown(told, each)["thread"] for each in CHATS
    }


def test_a_chat_of_no_story_brings_nothing_of_one(told: Memory) -> None:
    assert {line["kind"] for line in exported(told, "s")} == {"session.started", "turn.said"}


def test_a_member_that_was_seated_on_another_path_comes_along_without_a_seat(memory: Memory, other: Memory) -> None:
    play(memory, 2)
    memory.append(SessionStarted(session="second", world=STORY, client="test"))
    memory.append(joins("p1"), asks("n0", session="second", saw=(YOU, JONAS)))
    done = bring(other, exported(memory, "second"))
    assert done.refused == {}
    assert (seated(other, "second"), view(other, JONAS, "second")) == (TWO, ["n0"])
    assert bring(other, exported(memory)).refused == {}


def test_a_name_that_was_given_on_another_path_comes_along(memory: Memory, other: Memory) -> None:
    play(memory, 2)
    memory.append(SessionStarted(session="second", world=STORY, client="test"), asks("n0", session="second"))
    memory.append(
        CastSet(world=STORY, member=MARA, seat="host", after="p1", text="Marta"),
        CastSet(world=STORY, member=YOU, seat=None, after="p1", text="Ivo"),
    )
    bring(other, exported(memory, "second"))
    assert seated(other, "second") == seated(memory, "second") == {"you": "Ivo", "host": "Marta"}
    bring(other, exported(memory))
    assert seated(other) == seated(memory) == {"host": "Marta"}


def test_a_story_that_is_here_grows_by_what_is_new(told: Memory, other: Memory) -> None:
    bring(other, exported(told))
    told.append(answers("p6", "p5", saw=ALL), put(*MOOD, "glad", "p6"), CastReset(world=STORY, member=JONAS, since=0))
    done = bring(other, exported(told, CHAT))
    assert (done.refused, done.new, done.grown) == ({}, 3, {CHAT})
    assert shown(other, CHAT) == shown(told, CHAT)


def test_a_reset_forgets_the_same_turns_wherever_its_story_goes(memory: Memory, other: Memory) -> None:
    talk(other, 30, "x")  # so that events have other numbers
    play(memory, 4)
    bring(other, exported(memory))
    memory.append(CastReset(world=STORY, member=MARA, since=memory.head() - 1), asks("p4", "p3"))
    other.append(asks("o4", "p3"))
    assert bring(other, exported(memory)).refused == {}
    assert view(memory, MARA) == ["p3", "p4"]
    assert view(other, MARA) == ["p3", "o4"]
    other.append(HeadMoved(session=CHAT, turn="p4"))
    assert view(other, MARA) == ["p3", "p4"]
    memory.append(CastReset(world=STORY, member=MARA, since=0))
    bring(other, exported(memory))
    assert view(other, MARA) == ["p0", "p1", "p2", "p3", "p4"]


def test_a_later_decision_here_is_kept(memory: Memory, other: Memory) -> None:
    play(memory, 2)
    bring(other, exported(memory))
    memory.append(
        put(*MOOD, "theirs", "p1"),
        put(*MOOD, "theirs above", "p0"),
        TurnWitnessed(turn="p0", witnesses=()),
        CastSet(world=STORY, member=MARA, seat="host", after="p1", text="Theirs"),
        CastReset(world=STORY, member=YOU, since=1),
    )
    late = exported(memory)
    other.append(
        put(*MOOD, "ours", "p1"),
        TurnWitnessed(turn="p0", witnesses=(YOU,)),
        CastSet(world=STORY, member=MARA, seat="host", after="p1", text="Ours"),
        CastReset(world=STORY, member=YOU, since=0),
    )
    done = bring(other, late)
    assert (done.older, done.refused) == (4, {})
    assert (stands(other), stands(other, at="p0")) == ({MOOD: "ours"}, {MOOD: "theirs above"})
    assert (seated(other)["host"], other.readings.turn("p0").witnesses) == ("Ours", (YOU,))
    memory.append(put(*MOOD, "newest", "p1"), TurnWitnessed(turn="p0", witnesses=(MARA,)))
    bring(other, exported(memory))
    assert (stands(other), other.readings.turn("p0").witnesses) == ({MOOD: "newest"}, (MARA,))


def test_changes_of_a_story_that_are_brought_are_none_of_here(told: Memory, other: Memory) -> None:
    bring(other, exported(told), at_once=3)
    assert other.history.changes.newest(9) == []


def test_words_that_were_erased_there_or_here_do_not_come_back(told: Memory, other: Memory) -> None:
    early = exported(told)
    bring(other, early)
    [seq] = [
        each.seq
        for each in told._reader.events(limit=99)
        if isinstance(each.event, CastSet) and each.event.text == "Jonas"
    ]
    told.erase(seq)
    told.append(TurnDeleted(turn="p0"))
    bring(other, exported(told))
    assert (seated(other)["guest"], stands(other)[MOOD]) == ("", "late")
    other.append(TurnDeleted(turn="f0"))
    assert bring(other, early).new == 0
    assert "wary" not in texts(other)
    assert "bold" not in texts(other)
    [renamed] = told.append(CastSet(world=STORY, member=MARA, seat="host", after="p5", text="Marta"))
    told.erase(renamed.seq)
    with closing(Memory.open(other._folder.parent.parent / "third", command="test")) as third:
        assert bring(third, exported(told)).refused == {}
        assert (seated(third)["guest"], third.readings.turn("p5").speaker) == ("", "")
        assert (seated(told)["host"], seated(third)["host"]) == ("", "")
        assert [check for check in third.doctor() if not check.ok and check.name != "graph"] == []


def test_a_story_that_was_deleted_here_stays_deleted_whatever_comes(told: Memory, other: Memory) -> None:
    bring(other, exported(told))
    for chat in CHATS:
        other.append(*deletion(other, chat))
    told.append(
        answers("p6", "p5", saw=ALL),
        put(MARA, "secret", "a marzipan key", "p5"),
        CastSet(world=STORY, member="m-new", seat="guest", text="Marzipan"),
    )
    done = bring(other, exported(told))
    assert done.refused == {}
    assert done.erased > 0
    assert "arzipan" not in texts(other)
    assert other.readings.stories() == []
    told.append(*begun("again", "again", you="a-you", host="a-host"))
    bring(other, exported(told))
    assert [story.world for story in other.readings.stories()] == ["again"]


def test_a_story_that_was_deleted_there_is_deleted_here(told: Memory, other: Memory) -> None:
    bring(other, exported(told))
    for chat in CHATS:
        told.append(*deletion(told, chat))
    assert bring(other, exported(told)).refused == {}
    assert other.readings.stories() == []
    purge(other)
    assert not {"Mara", "Jonas", "The Lighthouse", "wary", "fair"} & set(texts(other).split("\n"))


def test_a_chat_of_a_story_whose_beginning_is_missing_is_not_taken_for_one_of_main(
    memory: Memory, other: Memory
) -> None:
    play(memory, 2)
    without = [line for line in exported(memory) if line["kind"] not in ("story.begun", "session.started")]
    done = bring(other, without)
    assert sum(done.refused.values()) == len(without)
    assert "the story of session play is not here" in done.refused
    assert other.readings.sessions() == []
    assert bring(other, exported(memory)).refused == {}
    assert view(other, MARA) == ["p0", "p1"]


@pytest.mark.restarts
def test_a_backup_brings_a_story_back_as_it_was_without_what_was_erased_since(
    told: Memory, opening: Open, folder: Path, tmp_path: Path
) -> None:
    file, late = tmp_path / "backup.sqlite", tmp_path / "late.sqlite"
    before = {chat: shown(told, chat) for chat in CHATS}
    copy_log(folder, file)
    told.append(put(*MOOD, "gone", "p5"), TurnWitnessed(turn="p0", witnesses=()), TurnDeleted(turn="f0"))
    told.close()
    with prepared(folder, file) as ready:
        install(folder, ready, stamp="2026-11-21T030405Z")
    memory = opening()
    memory.open_graph(ignore)
    assert {chat: shown(memory, chat) for chat in (CHAT, "w", "second")} == {
        chat: before[chat] for chat in (CHAT, "w", "second")
    }
    assert stands(memory, "f") == {MOOD: "wary", ("world", "weather"): "fair"}
    assert [check for check in memory.doctor() if not check.ok] == []
    copy_log(folder, late)
    for chat in CHATS:
        memory.append(*deletion(memory, chat))
    memory.close()
    with prepared(folder, late) as ready:
        install(folder, ready, stamp="2026-11-21T030406Z")
    memory = opening()
    assert memory.readings.stories() == []
    assert "Jonas" not in texts(memory)
    assert not any(isinstance(each.event, StageSet) and each.event.text for each in memory._reader.events(limit=999))


@pytest.mark.restarts
def test_a_copy_loses_the_words_of_a_story_that_was_deleted_since(whole: Memory, folder: Path, tmp_path: Path) -> None:
    play(whole, 2)
    copy = tmp_path / "copies" / "log.sqlite"
    copy.parent.mkdir(mode=0o700)
    copy_log(folder, copy)
    whole.append(SessionDeleted(session=CHAT))
    assert whole.purge.copy(copy) == 3  # its name, and those of two
    with closing(Memory.open(copy.parent, command="test")) as again:
        assert "Lighthouse" not in texts(again)
