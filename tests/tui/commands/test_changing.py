"""`clew hide`, `unhide`, `delete`, `undo` and `marks`: what changes is shown first, and happens only as shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.events import Event, ObservationMade, SessionRenamed
from graph.memory import Memory
from tests.graph.teach import observed, read
from tests.tui.commands.conftest import Ended, Said
from tui.exit_codes import ExitCode

Clew = Callable[..., Ended]
Remember = Callable[..., Said]
Record = Callable[..., None]


def texts(home: Path) -> set[str]:
    memory = Memory.open(home / "memory", command="test")
    try:
        with memory.readings.snapshot() as db:
            return {text for (text,) in db.execute("SELECT text FROM events WHERE text IS NOT NULL")}
    finally:
        memory.close()


def learned(turn: str, text: str = "Sails from Lisbon") -> ObservationMade:
    return observed("01MEMORYOFTHEFERRY00000000", turn, text=text)


@pytest.mark.restarts
def test_delete_shows_first_and_does_nothing_where_nobody_can_be_asked(
    clew: Clew, remember: Remember, record: Record, home: Path
) -> None:
    one = remember("The ferry leaves at nine.")
    record(learned(one.turn))
    ended = clew("delete", one.turn)
    assert ended.code == ExitCode.FAILED
    assert "1 message will be deleted:" in ended.out
    assert "“Sails from Lisbon”" in ended.out
    assert "cannot be undone" in ended.out
    assert "Nothing was deleted. Use --yes to delete it." in ended.err
    dry = clew("delete", one.turn, "--dry-run")
    assert (dry.code, dry.out) == (ExitCode.OK, ended.out)
    assert {"The ferry leaves at nine.", "Sails from Lisbon"} <= texts(home)


@pytest.mark.restarts
def test_delete_of_a_message_erases_it_and_what_was_learned_and_keeps_the_reply(
    clew: Clew, remember: Remember, record: Record, home: Path
) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    record(learned(one.turn))
    ended = clew("delete", one.turn.lower(), "--yes", "--json")
    assert ended.code == ExitCode.OK
    assert [turn["id"] for turn in ended.json["impact"]["gone"]] == [one.turn]
    assert [each["text"] for each in ended.json["impact"]["lost"]] == ["Sails from Lisbon"]
    assert (ended.json["done"], ended.json["purged"]) == (True, True)
    assert texts(home) == {"Noted."}
    again = clew("delete", one.turn, "--yes")
    assert again.code == ExitCode.FAILED
    assert "already deleted" in again.err


@pytest.mark.restarts
def test_delete_of_an_exchange_takes_the_replies_and_what_was_looked_up(
    clew: Clew, remember: Remember, home: Path
) -> None:
    one = remember("The ferry leaves at nine.", "Noted.", tool="recall()\nnothing")
    remember("Another chat.", "Yes.")
    ended = clew("delete", one.reply, "--exchange", "--yes", "--json")
    assert {turn["id"] for turn in ended.json["impact"]["gone"]} == {one.turn, one.tool, one.reply}
    assert texts(home) == {"Another chat.", "Yes."}


@pytest.mark.restarts
def test_an_id_is_found_by_itself_as_a_chat_a_document_or_a_memory(
    clew: Clew, remember: Remember, record: Record, home: Path
) -> None:
    one, two = remember("The ferry leaves at nine.", "Noted."), remember("Another chat.", "Yes.")
    document: list[Event] = read("01DOCUMENT0000000000000000", "01CHUNK0000000000000000000")
    record(*document, learned(two.turn))
    assert clew("delete", one.session, "01DOCUM", "01MEMORY", "--yes").code == ExitCode.OK
    assert texts(home) == {"Another chat.", "Yes."}
    assert clew("delete", one.session, "--yes").code == ExitCode.FAILED
    assert clew("delete", two.turn, "--memory", "--yes").code == ExitCode.NOT_FOUND
    nothing = clew("delete", "01NOTHING", "--yes")
    assert nothing.code == ExitCode.NOT_FOUND
    assert "no message, chat, document or memory 01NOTHING." in nothing.err
    assert clew("delete", two.turn, "--memory", "--session").code == ExitCode.USAGE
    assert texts(home) == {"Another chat.", "Yes."}


@pytest.mark.restarts
def test_words_that_are_left_in_a_file_end_a_delete_with_an_error_and_are_told_of_once(
    clew: Clew, remember: Remember, record: Record, home: Path
) -> None:
    one, two = remember("The Xylophonbanane leaves at nine.", "Noted."), remember("Another Quastenflosser.", "Yes.")
    document: list[Event] = read("01DOCUMENT0000000000000000", "01CHUNK0000000000000000000")
    record(*document, learned(two.turn))
    mine = home / "mine.txt"
    mine.write_text("a Xylophonbanane, a Quastenflosser, and what is read and learned")
    ended = clew("delete", one.turn, "--yes")
    assert ended.code == ExitCode.IO_ERROR
    assert ended.err.count(str(mine)) == 1
    mine.unlink()
    assert clew("delete", two.turn, "--yes").code == ExitCode.OK


@pytest.mark.restarts
def test_where_one_of_several_ids_is_unknown_nothing_is_deleted(clew: Clew, remember: Remember, home: Path) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    assert clew("delete", one.turn, "01NOTHING", "--yes").code == ExitCode.NOT_FOUND
    assert texts(home) == {"The ferry leaves at nine.", "Noted."}


@pytest.mark.restarts
def test_typing_the_word_deletes_and_anything_else_does_not(
    clew: Clew, remember: Remember, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    typed = Typed("no\n")
    monkeypatch.setattr("sys.stdin", typed)
    assert clew("delete", one.turn).code == ExitCode.FAILED
    typed.line = "delete\n"
    assert clew("delete", one.turn).code == ExitCode.OK
    assert texts(home) == {"Noted."}


class Typed:
    """A terminal on which a line is typed."""

    def __init__(self, line: str) -> None:
        self.line = line

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self.line


@pytest.mark.restarts
def test_hide_and_unhide_and_undo_answer_each_other(clew: Clew, remember: Remember, record: Record) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    record(learned(one.turn))
    assert clew("hide", one.turn, "--dry-run", "--json").json["done"] is False
    hidden = clew("hide", one.turn, "--exchange", "--json").json
    assert {turn["id"] for turn in hidden["impact"]["gone"]} == {one.turn, one.reply}
    assert clew("memories", "--json").json == []
    assert clew("hide", one.turn).code == ExitCode.FAILED
    back = clew("unhide", one.turn)
    assert "will be used again" in back.out
    assert [each["text"] for each in clew("memories", "--json").json] == ["Sails from Lisbon"]
    undone = clew("undo", "--json")
    assert undone.json["what"].startswith("unhid the message")
    assert clew("memories", "--json").json == []
    listed: list[dict[str, Any]] = clew("undo", "--list", "--json").json
    assert [each["what"].split(":")[0].split(" ")[0] for each in listed] == ["undid", "unhid", "hid"]
    assert clew("undo", str(listed[0]["seq"])).code == ExitCode.OK
    assert [each["text"] for each in clew("memories", "--json").json] == ["Sails from Lisbon"]


@pytest.mark.restarts
def test_undo_of_a_delete_says_why_not_and_what_can_be_undone(clew: Clew, remember: Remember) -> None:
    one, two = remember("The ferry leaves at nine.", "Noted."), remember("Another chat.", "Yes.")
    assert clew("undo").code == ExitCode.FAILED
    clew("hide", two.turn)
    hidden = clew("undo", "--list", "--json").json[0]["seq"]
    clew("delete", one.turn, "--yes")
    ended = clew("undo")
    assert ended.code == ExitCode.FAILED
    assert f"`clew undo {hidden}` undoes it" in ended.err
    assert "(Deletes cannot be undone" in clew("undo", "--list").out
    assert clew("undo", "1").code == ExitCode.NOT_FOUND


@pytest.mark.restarts
def test_marks_are_set_listed_shown_restored_and_taken_off(clew: Clew, remember: Remember) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    mark = clew("marks", "--add", "before the trip", "--json").json
    assert [each["name"] for each in clew("marks", "--json").json] == ["before the trip"]
    clew("hide", one.turn)
    shown = clew("marks", "--show", mark["id"])
    assert (shown.code, "1 message will be unhidden:" in shown.out) == (ExitCode.OK, True)
    assert clew("marks", "--restore", mark["id"]).code == ExitCode.FAILED
    done = clew("marks", "--restore", mark["id"], "--yes", "--json").json
    assert done["done"] is True
    assert done["notes"] == ["1 message is unhidden."]
    assert [each["reason"] for each in clew("marks", "--json").json] == ["restore", "named"]
    assert clew("undo").code == ExitCode.OK
    assert clew("marks", "--rm", mark["id"]).code == ExitCode.OK
    assert "before a mark was restored" in clew("marks").out
    assert clew("marks", "--rm", mark["id"]).code == ExitCode.NOT_FOUND
    assert clew("marks", "--add", " ").code == ExitCode.USAGE
    assert clew("marks", "--add", "x", "--rm", "y").code == ExitCode.USAGE


@pytest.mark.restarts
def test_what_comes_back_is_shown_in_its_words(clew: Clew, remember: Remember) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    mark = clew("marks", "--add", "before", "--json").json["id"]
    clew("hide", one.turn)
    for preview in (clew("unhide", one.turn, "--dry-run"), clew("marks", "--show", mark)):
        assert "you: The ferry leaves at nine." in preview.out
        assert "(hidden)" not in preview.out
    assert clew("unhide", one.turn, "-n").out.startswith("Unhide the message “The ferry leaves at nine.”")
    back = clew("unhide", one.turn, "-n", "--json").json["impact"]["back"]
    assert [turn["text"] for turn in back] == ["The ferry leaves at nine."]
    again = clew("delete", one.turn, "--dry-run")
    assert "The ferry" not in again.out
    assert "you: (hidden)" in again.out


@pytest.mark.restarts
def test_what_is_only_shown_says_that_nothing_was_changed(clew: Clew, remember: Remember) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    mark = clew("marks", "--add", "before", "--json").json["id"]
    for asked in (("hide", one.turn, "--dry-run"), ("delete", one.turn, "--dry-run")):
        assert clew(*asked).err.endswith("Nothing was changed.\n")
    clew("hide", one.turn)
    for asked in (("unhide", one.turn, "--dry-run"), ("marks", "--show", mark)):
        assert clew(*asked).err.endswith("Nothing was changed.\n")


@pytest.mark.restarts
def test_only_of_what_messages_taught_it_is_said_that_they_stay(clew: Clew, remember: Remember, record: Record) -> None:
    record(learned(remember("The ferry leaves at nine.").turn))
    by_hand = clew("remember", "I own a boat.", "--json").json["id"]
    assert "stay in their chats" not in clew("delete", by_hand, "--memory", "--dry-run").out
    assert "stay in their chats" in clew("delete", "01MEMORYOFTHEFERRY", "--memory", "--dry-run").out


@pytest.mark.restarts
def test_a_mark_needs_a_name_of_its_own(clew: Clew, remember: Remember) -> None:
    remember("The ferry leaves at nine.", "Noted.")
    assert clew("marks", "--add", "").err == "clew: A mark needs a name. No mark was set.\n"
    one = clew("marks", "--add", "here", "--json").json["id"]
    again = clew("marks", "--add", " here ")
    assert again.code == ExitCode.FAILED
    assert f"There is already a mark with that name ({one})." in again.err
    assert len(clew("marks", "--json").json) == 1
    clew("marks", "--rm", one)
    assert clew("marks", "--add", "here").code == ExitCode.OK


@pytest.mark.restarts
def test_a_mark_before_a_rewind_says_where_that_went(clew: Clew, remember: Remember, record: Record) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    record(SessionRenamed(session=one.session, text="Ferries"))
    remember("And back?", "At ten.", session=one.session)
    clew("rewind", one.reply)
    clew("rewind", "start", "--session", one.session)
    start, reply = clew("marks").out.splitlines()
    assert start.endswith("before going back in “Ferries” to its beginning")
    assert reply.endswith("before going back in “Ferries” to “Noted.”")
    told = clew("marks", "--json").json
    assert [(each["session"], each["turn"]) for each in told] == [(one.session, None), (one.session, one.reply)]
    clew("delete", one.reply, "--yes")
    assert "to a deleted message" in clew("marks").out


@pytest.mark.parametrize("command", ["delete", "hide", "unhide"])
@pytest.mark.restarts
def test_an_id_that_is_cut_too_short_is_told_so(clew: Clew, remember: Remember, command: str) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    assert "6 characters or more" in clew(command, one.turn[:5]).err
    assert "6 characters or more" not in clew(command, "01NOTHING").err
    assert "6 characters or more" in clew(command, "").err
