"""A story that goes elsewhere, by an export or a backup: the same cast, stage and views, and nothing erased back."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.events import CastSet, StageSet
from graph.memory import Memory
from graph.transfer.backup import copy_log
from graph.transfer.restoring import install, prepared
from tests.graph.conftest import Open, fresh, purge, with_graph
from tests.graph.deeds import delete, drop
from tests.graph.stories.deeds import begins, faults, forks, joins, moves_to, put, resets, sits, was_seen
from tests.graph.stories.played import ALL, CHAT, JONAS, MARA, YOU, answers, asks, begun, play, seated, stands, view
from tests.graph.stories.test_cast import TWO
from tests.graph.stories.test_deleting_stories import deletion, texts
from tests.graph.talk import talk
from tests.graph.transfer.test_merging import bring, exported

MOOD = (MARA, "mood")


@pytest.fixture
def told(memory: Memory) -> Memory:
    """A chat of three, a fork and a what-if of it, another chat of the story, and main."""
    talk(memory, 2)
    play(memory, 4)
    memory.append(put("world", "weather", "fair"), put(*MOOD, "wary", "p1", by="model", sources=("p0", "p1")))
    memory.append(joins("p3"), asks("p4", "p3", saw=ALL), answers("p5", "p4", saw=(YOU, JONAS), speaker=JONAS))
    memory.append(was_seen("p5", ALL))
    memory.append(resets(MARA, memory.head() - 4))
    memory.append(forks("f", "p1"), asks("f0", "p1", session="f"), put(*MOOD, "bold", "f0", sources=("f0",)))
    memory.append(sits("m-ada", "guest", "f0", "Ada"), forks("w", "p5", "w"), put(*MOOD, "late", "p5"))
    memory.append(put(*MOOD, "other", "p5", world="w"), answers("w0", "p5", session="w"), begins("second"))
    memory.append(asks("n0", session="second", saw=(YOU,)), put(*MOOD, "alone", "n0"))
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


@pytest.mark.restarts
def test_the_whole_log_brings_all_stories_and_twice_changes_nothing(told: Memory) -> None:
    export = exported(told)
    for at_once in (1, 5, 99):
        with fresh(graph=True) as other:
            done = bring(other, export, at_once=at_once)
            assert (done.refused, done.older) == ({}, 0)
            assert {chat: shown(other, chat) for chat in CHATS} == {chat: shown(told, chat) for chat in CHATS}
            assert other.readings.stories()[0].sessions == told.readings.stories()[0].sessions
            assert other.history.changes.newest(9) == [], "what is brought is no change of here"
            assert faults(other) == []
            head = other.head()
            again = bring(other, export, at_once=at_once)
            assert (again.new, again.refused, other.head()) == (0, {}, head)


@pytest.mark.restarts
def test_one_chat_brings_what_it_needs_of_its_story_and_no_more(told: Memory) -> None:
    whole, threads = exported(told), {chat: shown(told, chat)["thread"] for chat in CHATS}
    for chat in CHATS:
        with fresh(graph=True) as other:
            export = exported(told, chat)
            assert bring(other, export).refused == {}
            assert shown(other, chat) == shown(told, chat)
            assert faults(other) == []
            only_in = {"alone": "second", "bold": "f", "late": CHAT, "Ada": "f"}
            texts_of = {line["text"] for line in export}
            assert {text: text in texts_of for text in only_in} == {text: chat == of for text, of in only_in.items()}
            assert [line for line in export if line["structure"].get("session") == "s"] == []
            assert (bring(other, export).new, bring(other, whole).refused) == (0, {})
            assert {each: shown(other, each)["thread"] for each in CHATS} == threads
    kinds = {line["kind"] for line in exported(told, "s")}
    assert kinds == {"session.started", "turn.said"}, "a chat of no story brings nothing of one"


def test_members_and_names_of_another_path_come_along_without_a_seat(memory: Memory, other: Memory) -> None:
    play(memory, 2)
    memory.append(begins("second"), joins("p1"), asks("n0", session="second", saw=(YOU, JONAS)))
    assert bring(other, exported(memory, "second")).refused == {}
    assert (seated(other, "second"), view(other, JONAS, "second")) == (TWO, ["n0"])
    memory.append(sits(MARA, "host", "p1", "Marta"), sits(YOU, None, "p1", "Ivo"))
    bring(other, exported(memory, "second"))
    assert seated(other, "second") == seated(memory, "second") == {"you": "Ivo", "host": "Marta"}
    assert bring(other, exported(memory)).refused == {}
    assert seated(other) == seated(memory) == {"host": "Marta", "guest": "Jonas"}


def test_a_story_that_is_here_grows_by_what_is_new(told: Memory, other: Memory) -> None:
    bring(other, exported(told))
    told.append(answers("p6", "p5", saw=ALL), put(*MOOD, "glad", "p6"), resets(JONAS))
    done = bring(other, exported(told, CHAT))
    assert (done.refused, done.new, done.grown) == ({}, 3, {CHAT})
    assert shown(other, CHAT) == shown(told, CHAT)


def test_a_reset_forgets_the_same_turns_wherever_its_story_goes(memory: Memory, other: Memory) -> None:
    talk(other, 30, "x")  # so that events have other numbers
    play(memory, 4)
    bring(other, exported(memory))
    memory.append(resets(MARA, memory.head() - 1), asks("p4", "p3"))
    other.append(asks("o4", "p3"))
    assert bring(other, exported(memory)).refused == {}
    assert view(memory, MARA) == ["p3", "p4"]
    assert view(other, MARA) == ["p3", "o4"]
    other.append(moves_to("p4"))
    assert view(other, MARA) == ["p3", "p4"]
    memory.append(resets(MARA))
    bring(other, exported(memory))
    assert view(other, MARA) == ["p0", "p1", "p2", "p3", "p4"]


def test_a_later_decision_here_is_kept(memory: Memory, other: Memory) -> None:
    play(memory, 2)
    bring(other, exported(memory))
    memory.append(put(*MOOD, "theirs", "p1"), put(*MOOD, "theirs above", "p0"), was_seen("p0"))
    memory.append(sits(MARA, "host", "p1", "Theirs"), resets(YOU, 1))
    late = exported(memory)
    other.append(put(*MOOD, "ours", "p1"), was_seen("p0", (YOU,)), sits(MARA, "host", "p1", "Ours"), resets(YOU))
    done = bring(other, late)
    assert (done.older, done.refused) == (4, {})
    assert (stands(other), stands(other, at="p0")) == ({MOOD: "ours"}, {MOOD: "theirs above"})
    assert (seated(other)["host"], other.readings.turn("p0").witnesses) == ("Ours", (YOU,))
    memory.append(put(*MOOD, "newest", "p1"), was_seen("p0", (MARA,)))
    bring(other, exported(memory))
    assert (stands(other), other.readings.turn("p0").witnesses) == ({MOOD: "newest"}, (MARA,))


def test_words_that_were_erased_there_or_here_do_not_come_back(told: Memory, other: Memory) -> None:
    early = exported(told)
    bring(other, early)
    [seq] = [
        each.seq
        for each in told._reader.events(limit=99)
        if isinstance(each.event, CastSet) and each.event.text == "Jonas"
    ]
    told.erase(seq)
    told.append(delete("p0"))
    bring(other, exported(told))
    assert (seated(other)["guest"], stands(other)[MOOD]) == ("", "late")
    other.append(delete("f0"))
    assert bring(other, early).new == 0
    assert "wary" not in texts(other)
    assert "bold" not in texts(other)
    [renamed] = told.append(sits(MARA, "host", "p5", "Marta"))
    told.erase(renamed.seq)
    with closing(Memory.open(other._folder.parent.parent / "third", command="test")) as third:
        assert bring(third, exported(told)).refused == {}
        assert (seated(third)["guest"], third.readings.turn("p5").speaker) == ("", "")
        assert (seated(told)["host"], seated(third)["host"]) == ("", "")
        assert faults(third, "graph") == []


def test_a_story_that_was_deleted_here_stays_deleted_whatever_comes(told: Memory, other: Memory) -> None:
    bring(other, exported(told))
    for chat in CHATS:
        other.append(*deletion(other, chat))
    told.append(answers("p6", "p5", saw=ALL), put(MARA, "secret", "a marzipan key", "p5"))
    told.append(sits("m-new", "guest", None, "Marzipan"))
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


def test_a_chat_of_a_story_whose_start_is_missing_is_not_taken_for_one_of_main(memory: Memory, other: Memory) -> None:
    play(memory, 2)
    without = [line for line in exported(memory) if line["kind"] not in ("story.begun", "session.started")]
    done = bring(other, without)
    assert sum(done.refused.values()) == len(without)
    assert "the story of session play is not here" in done.refused
    assert other.readings.sessions() == []
    assert bring(other, exported(memory)).refused == {}
    assert view(other, MARA) == ["p0", "p1"]


@pytest.mark.restarts
def test_backups_bring_a_story_back_without_erasures(told: Memory, opening: Open, folder: Path, tmp_path: Path) -> None:
    file, late = tmp_path / "backup.sqlite", tmp_path / "late.sqlite"
    before = {chat: shown(told, chat) for chat in CHATS}
    copy_log(folder, file)
    told.append(put(*MOOD, "gone", "p5"), was_seen("p0"), delete("f0"))
    told.close()
    with prepared(folder, file) as ready:
        install(folder, ready, stamp="2026-11-21T030405Z")
    memory = with_graph(opening)
    assert {chat: shown(memory, chat) for chat in (CHAT, "w", "second")} == {
        chat: before[chat] for chat in (CHAT, "w", "second")
    }
    assert stands(memory, "f") == {MOOD: "wary", ("world", "weather"): "fair"}
    assert faults(memory) == []
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
    whole.append(drop(CHAT))
    assert whole.purge.copy(copy) == 3  # its name, and those of two
    with closing(Memory.open(copy.parent, command="test")) as again:
        assert "Lighthouse" not in texts(again)
