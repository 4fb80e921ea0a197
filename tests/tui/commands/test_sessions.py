"""`clew sessions`."""

from graph.events import SessionArchived, SessionDeleted
from tests.tui.commands.conftest import Clew, Record, Remember


def test_the_newest_activity_comes_first(clew: Clew, remember: Remember) -> None:
    older = remember("one", title="Bread", project="kitchen")
    newer = remember("two", title="Butter")
    listed = clew("sessions", "--json").json
    assert [each["id"] for each in listed] == [newer.session, older.session]
    assert (listed[1]["name"], listed[1]["project"], listed[1]["turns"]) == ("Bread", "kitchen", 2)
    remember("three", session=older.session)
    assert [each["id"] for each in clew("sessions", "--json").json] == [older.session, newer.session]
    assert clew("sessions").out.splitlines()[0].endswith("[kitchen] Bread")
    assert [each["id"] for each in clew("sessions", "--limit", "1", "--json").json] == [older.session]


def test_archived_ones_are_listed_apart_and_no_deleted_ones(clew: Clew, remember: Remember, record: Record) -> None:
    kept, archived, deleted = remember("one"), remember("two"), remember("three")
    record(SessionArchived(session=archived.session), SessionDeleted(session=deleted.session))
    assert [each["id"] for each in clew("sessions", "--json").json] == [kept.session]
    assert [each["id"] for each in clew("sessions", "--archived", "--json").json] == [archived.session]


def test_a_title_cannot_paint_the_terminal(clew: Clew, remember: Remember) -> None:
    remember("one", title="\x1b]0;owned\x07 [bold]x[/bold]")
    assert clew("sessions").out.rstrip("\n").endswith("␛]0;owned␇ [bold]x[/bold]")


def test_none_at_all_is_an_empty_list(clew: Clew) -> None:
    ended = clew("sessions", "--json")
    assert (ended.code, ended.json) == (0, [])
    assert "no chats yet" in clew("sessions").err
    assert "no archived chats" in clew("sessions", "--archived").err
