"""Going back and branching on the command line: regenerate, edit, rewind, fork and tree, and where they show."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.events import Event, HeadMoved, SessionForked, TurnDeleted, TurnHidden, TurnSaid
from graph.memory import Memory
from graph.reader import LogReader
from tests.graph.talk import reply

Run = Callable[..., Any]
SHORT = {"CLEW_SAMPLING__MAX_TOKENS": "12", "CLEW_SAMPLING__TEMPERATURE": "1.5"}


@pytest.fixture
def record(home: Path) -> Callable[..., None]:
    """Store events beside what was remembered."""

    def store(*events: Event) -> None:
        memory = Memory.open(home / "memory", command="test")
        memory.append(*events)
        memory.close()

    return store


def other(turn: str, said: Any, text: str) -> TurnSaid:
    """Another reply to what was said."""
    return reply(turn, said.session, parent=said.turn, text=text)


def path(home: Path, session: str) -> Sequence[str]:
    with closing(LogReader.open(home / "memory")) as reader:
        return [turn.id for turn in reader.thread(session)]


def test_a_reply_is_made_anew_and_a_message_edited_by_the_real_model(spawn: Run, home: Path) -> None:
    first = spawn("ask", "Name an animal.", "--json", **SHORT).json
    session = first["session"]
    anew = spawn("regenerate", "--json", **SHORT)
    assert anew.code == 0, anew.err
    assert f"accepted {first['turn']}\n" in anew.err
    assert anew.json["reply_turn"] != first["reply_turn"]
    assert anew.json["evaluated_tokens"] == anew.json["prompt_tokens"]  # a process of its own begins cold
    assert path(home, session) == [first["turn"], anew.json["reply_turn"]]
    again = spawn("regenerate", first["reply_turn"], **SHORT)
    assert again.code == 0, again.err
    edited = spawn("edit", first["turn"], "Name", "a colour.", "--json", **SHORT)
    assert edited.code == 0, edited.err
    assert path(home, session) == [edited.json["turn"], edited.json["reply_turn"]]
    tree = spawn("tree", "--json").json
    assert [(turn["role"], turn["alternative"], turn["on_path"]) for turn in tree["turns"]] == [
        ("user", "1/2", False),
        ("assistant", "1/3", False),
        ("assistant", "2/3", False),
        ("assistant", "3/3", False),
        ("user", "2/2", True),
        ("assistant", None, True),
    ]
    assert spawn("doctor").code == 0


@pytest.mark.restarts
def test_a_rewind_says_first_what_changes_and_how_to_take_it_back(clew: Run, remember: Run, home: Path) -> None:
    said = remember("one", "I.")
    second = remember("two", "II.", session=said.session)
    shown = clew("rewind", said.reply.lower(), "--dry-run")
    assert shown.code == 0, shown.err
    assert "Go back to the reply “I.”" in shown.out
    assert "2 messages will be removed" in shown.out
    assert "two" in shown.out
    assert "Nothing was changed." in shown.err
    assert path(home, said.session)[-1] == second.reply
    done = clew("rewind", said.reply, "--json")
    assert done.code == 0, done.err
    assert done.json["was"] == second.reply
    assert [turn["id"] for turn in done.json["impact"]["gone"]] == [second.turn, second.reply]
    assert path(home, said.session) == [said.turn, said.reply]
    forward = clew("rewind", second.reply)
    assert "`clew undo` undoes it" in forward.err
    assert "2 messages will be unhidden" in forward.out
    assert clew("rewind", "start", "--session", said.session).code == 0
    assert path(home, said.session) == []


@pytest.mark.restarts
def test_a_rewind_to_what_is_no_place_is_refused_by_name(clew: Run, remember: Run, record: Run, home: Path) -> None:
    said = remember("one", "I.")
    second = remember("two", "II.", session=said.session)
    foreign = remember("elsewhere")
    record(TurnHidden(turn=said.turn), TurnDeleted(turn=said.reply))
    for turn, why in (
        ((said.turn,), "is hidden"),
        ((said.reply,), "deleted permanently"),
        ((foreign.turn, "--session", said.session), "belongs to another chat"),
        ((second.reply,), "is already there"),
    ):
        ended = clew("rewind", *turn)
        assert ended.code == 1, turn
        assert why in ended.err
        assert ended.out == ""
    assert clew("rewind", "01NOTHING").code == 66
    assert clew("rewind", said.session).code == 66
    assert path(home, said.session) == [said.turn, second.turn, second.reply]


@pytest.mark.restarts
def test_a_fork_is_a_chat_of_its_own_and_a_what_if_a_world_of_its_own(clew: Run, remember: Run, home: Path) -> None:
    said = remember("one", "I.", title="Numbers")
    remember("two", "II.", session=said.session)
    fork = clew("fork", said.session, "--at", said.reply, "--name", "Another way")
    assert fork.code == 0, fork.err
    assert path(home, fork.out.strip()) == [said.turn, said.reply]
    what_if = clew("fork", said.session, "--what-if", "--json").json
    assert what_if["world"] == what_if["session"]
    listed = {each["id"]: each for each in clew("sessions", "--json").json}
    assert listed[fork.out.strip()]["name"] == "Another way"
    assert listed[what_if["session"]]["world"] == what_if["session"]
    assert "(what-if)" in clew("sessions").out
    drawn = clew("tree", said.session).out
    assert f"↳ fork {fork.out.strip()}  Another way" in drawn
    assert f"↳ what-if {what_if['session']}" in drawn
    assert f"what-if {what_if['session']}" in clew("show", what_if["session"]).out


@pytest.mark.restarts
def test_a_fork_needs_a_place(clew: Run, remember: Run) -> None:
    said = remember("one")
    elsewhere = remember("two")
    assert clew("fork", "--at", "01NOTHING").code == 66
    ended = clew("fork", said.session, "--at", elsewhere.turn)
    assert (ended.code, "belongs to another chat" in ended.err) == (1, True)


def test_a_tree_is_drawn_with_its_path_its_head_and_what_is_beside(
    clew: Run, remember: Run, record: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = remember("one", "I.", title="Numbers")
    second = remember("two", "II.", session=said.session)
    record(
        HeadMoved(session=said.session, turn=said.turn),
        other("OTHER", said, "Uno.\x1b[31m"),
        TurnHidden(turn=second.turn),
    )
    drawn = clew("tree").out.splitlines()
    assert drawn == [
        f"Numbers  {said.session}",
        f"● {said.turn}  you: one",
        f"├─ ○ {said.reply}  ‹1/2› clew: I.",
        f"│  ○ {second.turn}  you: (hidden)",
        f"│  ○ {second.reply}  clew: II.",
        "└─ ● OTHER  ‹2/2› clew: Uno.␛[31m  ◀ the chat is here",
    ]


def test_what_stands_in_a_turns_place_is_shown_with_it(clew: Run, remember: Run, record: Run) -> None:
    said = remember("one", "I.")
    record(HeadMoved(session=said.session, turn=said.turn), other("OTHER", said, "Uno."))
    assert "‹1/2›" in clew("show", said.reply).out
    thread = clew("show", said.session, "--json").json["thread"]
    assert [turn["alternatives"] for turn in thread] == [[], [said.reply, "OTHER"]]
    assert "‹2/2›" in clew("show", said.session).out


@pytest.mark.restarts
def test_ids_that_several_chats_share_name_the_chat_they_were_said_in(
    clew: Run, remember: Run, record: Run, home: Path
) -> None:
    said = remember("one", "I.")
    remember("two", "II.", session=said.session)
    record(SessionForked(session="FORK", origin=said.session, at=said.reply, client="test"))
    assert clew("rewind", said.turn, "--session", "FORK").code == 0
    assert path(home, "FORK") == [said.turn]
    assert len(path(home, said.session)) == 4


@pytest.mark.parametrize("command", [("regenerate",), ("rewind", "start"), ("fork",), ("tree",)])
def test_without_a_chat_there_is_nothing_to_go_back_in(clew: Run, remember: Run, command: Sequence[str]) -> None:
    assert clew(*command).code == 66


@pytest.mark.parametrize("text", [(), ("  ",)])
def test_an_edit_without_words_is_wrong_usage(spawn: Run, remember: Run, home: Path, text: Sequence[str]) -> None:
    said = remember("one")
    ended = spawn("edit", said.turn, *text)
    assert (ended.code, "The message is empty" in ended.err) == (2, True)
    assert path(home, said.session) == [said.turn, said.reply]


@pytest.mark.parametrize("command", [("fork", ""), ("tree", " "), ("rewind", ""), ("fork", "--at", "")])
def test_an_empty_id_means_nothing(clew: Run, remember: Run, command: tuple[str, ...]) -> None:
    remember("Hello.", "Hi.")
    ended = clew(*command)
    assert (ended.code, ended.out) == (2, "")
    assert "The id is empty" in ended.err


@pytest.mark.parametrize("command", ["tree", "fork", "regenerate"])
@pytest.mark.restarts
def test_where_there_is_no_chat_it_is_said_how_to_begin_one(clew: Run, remember: Run, command: str) -> None:
    said = remember("Hello.", "Hi.")
    assert clew("delete", said.session, "--yes").code == 0
    ended = clew(command)
    assert ended.code == 66
    assert "There is no chat to continue yet" in ended.err
    assert "Start one with `clew`" in ended.err
    assert "--session" not in ended.err
