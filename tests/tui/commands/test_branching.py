"""Going back and branching on the command line: regenerate, edit, rewind, fork and tree, and where they show."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from graph.events import HeadMoved, SessionForked, TurnDeleted, TurnHidden, TurnSaid
from graph.reader import LogReader
from tests.graph.talk import reply
from tests.tui.commands.conftest import Clew, Record, Remember, Said, refused

SHORT = {"CLEW_SAMPLING__MAX_TOKENS": "12", "CLEW_SAMPLING__TEMPERATURE": "1.5"}


def other(turn: str, said: Said, text: str) -> TurnSaid:
    """Another reply to what was said."""
    return reply(turn, said.session, parent=said.turn, text=text)


def path(home: Path, session: str) -> Sequence[str]:
    with closing(LogReader.open(home / "memory")) as reader:
        return [turn.id for turn in reader.thread(session)]


def test_a_reply_is_made_anew_and_a_message_edited_by_the_real_model(answering: Clew, home: Path) -> None:
    first = answering("ask", "Name an animal.", "--json", **SHORT).json
    session = first["session"]
    anew = answering("regenerate", "--json", **SHORT)
    assert anew.code == 0, anew.err
    assert f"accepted {first['turn']}\n" in anew.err
    assert anew.json["reply_turn"] != first["reply_turn"]
    assert anew.json["evaluated_tokens"] == anew.json["prompt_tokens"]  # each command begins cold
    assert path(home, session) == [first["turn"], anew.json["reply_turn"]]
    again = answering("regenerate", first["reply_turn"], **SHORT)
    assert again.code == 0, again.err
    edited = answering("edit", first["turn"], "Name", "a colour.", "--json", **SHORT)
    assert edited.code == 0, edited.err
    assert path(home, session) == [edited.json["turn"], edited.json["reply_turn"]]
    tree = answering("tree", "--json").json
    assert [(turn["role"], turn["alternative"], turn["on_path"]) for turn in tree["turns"]] == [
        ("user", "1/2", False),
        ("assistant", "1/3", False),
        ("assistant", "2/3", False),
        ("assistant", "3/3", False),
        ("user", "2/2", True),
        ("assistant", None, True),
    ]
    assert answering("doctor", "--no-model").code == 0


@pytest.mark.restarts
def test_a_rewind_says_first_what_changes_and_how_to_take_it_back(clew: Clew, remember: Remember, home: Path) -> None:
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
def test_a_rewind_or_fork_to_no_place_is_refused(clew: Clew, remember: Remember, record: Record, home: Path) -> None:
    said = remember("one", "I.")
    second = remember("two", "II.", session=said.session)
    foreign = remember("elsewhere")
    record(TurnHidden(turn=said.turn), TurnDeleted(turn=said.reply))
    refused(
        clew,
        (("rewind", said.turn), 1, "is hidden"),
        (("rewind", said.reply), 1, "deleted permanently"),
        (("rewind", foreign.turn, "--session", said.session), 1, "belongs to another chat"),
        (("rewind", second.reply), 1, "is already there"),
        (("rewind", "01NOTHING"), 66, ""),
        (("rewind", said.session), 66, ""),
        (("fork", said.session, "--at", foreign.turn), 1, "belongs to another chat"),
        (("fork", "--at", "01NOTHING"), 66, ""),
    )
    assert path(home, said.session) == [said.turn, second.turn, second.reply]


@pytest.mark.restarts
def test_a_fork_is_a_chat_of_its_own_and_a_what_if_a_world(clew: Clew, remember: Remember, home: Path) -> None:
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


def test_what_stands_in_a_turns_place_is_shown_with_it_and_drawn_in_a_tree_with_its_path_and_its_head(
    clew: Clew, remember: Remember, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    said = remember("one", "I.", title="Numbers")
    second = remember("two", "II.", session=said.session)
    moved = HeadMoved(session=said.session, turn=said.turn)
    record(moved, other("OTHER", said, "Uno.\x1b[31m"), TurnHidden(turn=second.turn))
    drawn = clew("tree").out.splitlines()
    assert drawn == [
        f"Numbers  {said.session}",
        f"● {said.turn}  you: one",
        f"├─ ○ {said.reply}  ‹1/2› clew: I.",
        f"│  ○ {second.turn}  you: (hidden)",
        f"│  ○ {second.reply}  clew: II.",
        "└─ ● OTHER  ‹2/2› clew: Uno.␛[31m  ◀ the chat is here",
    ]
    assert "‹1/2›" in clew("show", said.reply).out
    thread = clew("show", said.session, "--json").json["thread"]
    assert [turn["alternatives"] for turn in thread] == [[], [said.reply, "OTHER"]]
    assert "‹2/2›" in clew("show", said.session).out


@pytest.mark.restarts
def test_shared_ids_name_the_chat_they_were_said_in(clew: Clew, remember: Remember, record: Record, home: Path) -> None:
    said = remember("one", "I.")
    remember("two", "II.", session=said.session)
    record(SessionForked(session="FORK", origin=said.session, at=said.reply, client="test"))
    assert clew("rewind", said.turn, "--session", "FORK").code == 0
    assert path(home, "FORK") == [said.turn]
    assert len(path(home, said.session)) == 4


@pytest.mark.restarts
def test_where_there_is_no_chat_it_is_said_how_to_begin_one(clew: Clew, remember: Remember) -> None:
    assert clew("delete", remember("Hello.", "Hi.").session, "--yes").code == 0
    for command in ("tree", "fork", "regenerate"):
        ended = clew(command)
        assert ended.code == 66
        assert "There is no chat to continue yet" in ended.err
        assert "Start one with `clew`" in ended.err
        assert "--session" not in ended.err


def test_an_edit_without_words_and_an_empty_id_are_wrong_usage(clew: Clew, remember: Remember, home: Path) -> None:
    said = remember("one")
    empty = (("fork", ""), ("tree", " "), ("rewind", ""), ("fork", "--at", ""))
    refused(
        clew,
        (("edit", said.turn), 2, "The message is empty"),
        (("edit", said.turn, "  "), 2, "The message is empty"),
        *((argv, 2, "The id is empty") for argv in empty),
    )
    assert path(home, said.session) == [said.turn, said.reply]
