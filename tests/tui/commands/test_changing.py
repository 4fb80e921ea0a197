"""`clew hide`, `unhide`, `delete`, `undo` and `marks`: what changes is shown first, and happens only as shown."""

from pathlib import Path
from typing import Any

import pytest

from graph.events import Event, ObservationMade, SessionRenamed
from tests.graph.teach import observed, read
from tests.tui.commands.conftest import Clew, Record, Remember, Terminal, held, refused
from tui.exit_codes import ExitCode

pytestmark = pytest.mark.restarts


def texts(home: Path) -> set[str]:
    with held(home) as memory, memory.readings.snapshot() as db:
        return {text for (text,) in db.execute("SELECT text FROM events WHERE text IS NOT NULL")}


def learned(turn: str, text: str = "Sails from Lisbon") -> ObservationMade:
    return observed("01MEMORYOFTHEFERRY00000000", turn, text=text)


def test_delete_shows_first_and_erases_a_message_and_what_was_learned_only_by_yes_or_a_word(
    clew: Clew, remember: Remember, record: Record, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = remember("The ferry leaves at nine.", "Noted."), remember("And back?", "At ten.")
    record(learned(one.turn))
    before = texts(home)
    ended = clew("delete", one.turn)
    assert ended.code == ExitCode.FAILED, "nobody can be asked"
    assert "1 message will be deleted:" in ended.out
    assert "“Sails from Lisbon”" in ended.out
    assert "cannot be undone" in ended.out
    assert "Nothing was deleted. Use --yes to delete it." in ended.err
    dry = clew("delete", one.turn, "--dry-run")
    assert (dry.code, dry.out) == (ExitCode.OK, ended.out)
    monkeypatch.setattr("sys.stdin", Terminal("no\n"))
    assert clew("delete", one.turn).code == ExitCode.FAILED
    assert texts(home) == before

    ended = clew("delete", one.turn.lower(), "--yes", "--json")
    assert ended.code == ExitCode.OK
    assert [turn["id"] for turn in ended.json["impact"]["gone"]] == [one.turn]
    assert [each["text"] for each in ended.json["impact"]["lost"]] == ["Sails from Lisbon"]
    assert (ended.json["done"], ended.json["purged"]) == (True, True)
    assert texts(home) == {"Noted.", "And back?", "At ten."}
    refused(clew, (("delete", one.turn, "--yes"), ExitCode.FAILED, "already deleted"))
    monkeypatch.setattr("sys.stdin", Terminal("delete\n"))
    assert clew("delete", two.turn).code == ExitCode.OK
    assert texts(home) == {"Noted.", "At ten."}


def test_delete_of_an_exchange_takes_replies_and_what_was_found(clew: Clew, remember: Remember, home: Path) -> None:
    one = remember("The ferry leaves at nine.", "Noted.", tool="recall()\nnothing")
    remember("Another chat.", "Yes.")
    ended = clew("delete", one.reply, "--exchange", "--yes", "--json")
    assert {turn["id"] for turn in ended.json["impact"]["gone"]} == {one.turn, one.tool, one.reply}
    assert texts(home) == {"Another chat.", "Yes."}


def test_an_id_is_found_by_itself_as_a_chat_a_document_or_a_memory_and_where_one_is_unknown_nothing_is_deleted(
    clew: Clew, remember: Remember, record: Record, home: Path
) -> None:
    one, two = remember("The ferry leaves at nine.", "Noted."), remember("Another chat.", "Yes.")
    document: list[Event] = read("01DOCUMENT0000000000000000", "01CHUNK0000000000000000000")
    record(*document, learned(two.turn))
    assert clew("delete", one.session, "01DOCUM", "01MEMORY", "--yes").code == ExitCode.OK
    assert texts(home) == {"Another chat.", "Yes."}
    assert clew("delete", one.session, "--yes").code == ExitCode.FAILED
    assert clew("delete", two.turn, "--memory", "--yes").code == ExitCode.NOT_FOUND
    refused(clew, (("delete", "01NOTHING", "--yes"), 66, "no message, chat, document or memory 01NOTHING."))
    assert clew("delete", two.turn, "01NOTHING", "--yes").code == ExitCode.NOT_FOUND
    assert clew("delete", two.turn, "--memory", "--session").code == ExitCode.USAGE
    assert texts(home) == {"Another chat.", "Yes."}


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


def test_marks_are_set_by_names_of_their_own_listed_shown_restored_taken_off(clew: Clew, remember: Remember) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    assert clew("marks", "--add", "").err == "clew: A mark needs a name. No mark was set.\n"
    mark = clew("marks", "--add", "before the trip", "--json").json
    again = f"There is already a mark with that name ({mark['id']})."
    refused(clew, (("marks", "--add", " before the trip "), ExitCode.FAILED, again))
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
    assert clew("marks", "--add", "before the trip").code == ExitCode.OK, "the name is free again"
    assert clew("marks", "--add", " ").code == ExitCode.USAGE
    assert clew("marks", "--add", "x", "--rm", "y").code == ExitCode.USAGE


def test_what_comes_back_is_shown_in_words_and_only_shown_it_changes_nothing(clew: Clew, remember: Remember) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    mark = clew("marks", "--add", "before", "--json").json["id"]
    for asked in (("hide", one.turn, "--dry-run"), ("delete", one.turn, "--dry-run")):
        assert clew(*asked).err.endswith("Nothing was changed.\n")
    clew("hide", one.turn)
    for preview in (clew("unhide", one.turn, "--dry-run"), clew("marks", "--show", mark)):
        assert preview.err.endswith("Nothing was changed.\n")
        assert "you: The ferry leaves at nine." in preview.out
        assert "(hidden)" not in preview.out
    assert clew("unhide", one.turn, "-n").out.startswith("Unhide the message “The ferry leaves at nine.”")
    back = clew("unhide", one.turn, "-n", "--json").json["impact"]["back"]
    assert [turn["text"] for turn in back] == ["The ferry leaves at nine."]
    again = clew("delete", one.turn, "--dry-run")
    assert "The ferry" not in again.out
    assert "you: (hidden)" in again.out


def test_only_of_what_messages_taught_it_is_said_that_they_stay(clew: Clew, remember: Remember, record: Record) -> None:
    record(learned(remember("The ferry leaves at nine.").turn))
    by_hand = clew("remember", "I own a boat.", "--json").json["id"]
    assert "stay in their chats" not in clew("delete", by_hand, "--memory", "--dry-run").out
    assert "stay in their chats" in clew("delete", "01MEMORYOFTHEFERRY", "--memory", "--dry-run").out


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


def test_an_id_that_is_cut_too_short_is_told_so(clew: Clew, remember: Remember) -> None:
    one = remember("The ferry leaves at nine.", "Noted.")
    for command in ("delete", "hide", "unhide"):
        assert "6 characters or more" in clew(command, one.turn[:5]).err
        assert "6 characters or more" not in clew(command, "01NOTHING").err
        assert "6 characters or more" in clew(command, "").err
