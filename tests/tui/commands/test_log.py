"""`clew log`, as a person and as a program use it."""

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from graph.events import TurnHidden, TurnUnhidden
from graph.reader import LogReader
from tests.graph.talk import said
from tests.tui.commands.conftest import Clew, Record, Remember, held, refused


def test_the_newest_exchange_comes_first_with_exactly_the_promised_keys(clew: Clew, remember: Remember) -> None:
    first = remember("What is bread?", "Baked dough.")
    second = remember("And butter?", "Churned cream.", session=first.session)
    ended = clew("log", "--json")
    assert ended.code == 0
    assert [entry["turn"] for entry in ended.json] == [second.turn, first.turn]
    entry = dict(ended.json[1])
    assert entry.pop("at").endswith("+00:00")
    assert entry == {
        "turn": first.turn,
        "reply_turn": first.reply,
        "session": first.session,
        "said": "What is bread?",
        "reply": "Baked dough.",
    }


def test_filters_keep_what_they_name(clew: Clew, remember: Remember) -> None:
    mine = remember("in a project", project="garden", client="chat")
    remember("elsewhere", project="house")
    session = (("--session", mine.session), ("--session", mine.session.lower()))
    for option in (("--project", "garden"), ("--client", "chat"), *session):
        assert [entry["turn"] for entry in clew("log", "--json", *option).json] == [mine.turn], option
    for nobodys in ("nobody's", "\udcff", "%"):
        assert clew("log", "--json", "--client", nobodys).json == []
        assert clew("log", "--json", "--project", nobodys).code == 66


def test_since_includes_its_own_moment_and_nothing_before(clew: Clew, remember: Remember, home: Path) -> None:
    asked = remember("exactly then")
    with closing(LogReader.open(home / "memory")) as reader:
        at = reader.turn(asked.turn).at
    assert [entry["turn"] for entry in clew("log", "--json", "--since", at.isoformat()).json] == [asked.turn]
    later = (at + timedelta(milliseconds=1)).isoformat()
    assert clew("log", "--json", "--since", later).json == []
    assert [entry["turn"] for entry in clew("log", "--json", "--since", "1h").json] == [asked.turn]
    assert clew("log", "--json", "--until", at.isoformat()).json == []
    assert [entry["turn"] for entry in clew("log", "--json", "--until", later).json] == [asked.turn]


def test_the_limit_is_twenty_unless_told_and_zero_is_an_empty_list(clew: Clew, remember: Remember, home: Path) -> None:
    session = remember("number 0").session
    for number in range(1, 22):
        remember(f"number {number}", session=session)
    assert len(clew("log", "--json").json) == 20
    assert len(clew("log", "--json", "--limit", "21").json) == 21
    assert clew("log", "--json", "--limit", "0").json == []
    assert len(clew("log", "--json", "--limit", "100000").json) == 22


def test_people_and_programs_get_summaries_that_no_terminal_obeys_and_what_is_piped_has_every_word(
    clew: Clew, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = remember("where " * 100 + "is the needle", "all \x9b31mred " + "and hay " * 100 + "stack")
    ended = clew("log")
    assert "is the needle\n" in ended.out
    assert "stack\n" in ended.out
    assert "…" not in ended.out
    (entry,) = clew("log", "--json").json
    assert (len(entry["said"]), entry["said"][-1], len(entry["reply"]), entry["cut"]) == (500, "…", 500, True)
    assert clew("show", long.turn, "--json").json["turn"]["text"] == "where " * 100 + "is the needle"
    remember("line one\nline \x1b[2Jtwo [bold]", session=long.session)
    monkeypatch.setattr("tui.commands.log.width", lambda: 100)
    lines = clew("log").out.splitlines()
    assert len(lines) == 6
    assert lines[1] == "> line one line ␛[2Jtwo [bold]"
    assert lines[5].startswith("  all �31mred and hay")
    assert lines[5].endswith("…")


def test_without_a_memory_the_log_is_empty_and_a_message_without_a_reply_says_so(
    clew: Clew, remember: Remember, record: Record, home: Path
) -> None:
    ended = clew("log", "--json")
    assert (ended.code, ended.json) == (0, [])
    assert clew("log").err == "No matching messages.\n"
    assert not (home / "memory" / "log.sqlite").exists()
    answered = remember("answered")
    record(said("01ZZZZZZZZZZZZZZZZZZZZZZZZ", answered.session, parent=answered.reply, text="still open"))
    entry = clew("log", "--json", "--limit", "1").json[0]
    assert (entry["said"], entry["reply"], entry["reply_turn"]) == ("still open", None, None)
    assert "(no reply yet)" in clew("log", "--limit", "1").out


def test_what_makes_no_sense_is_named_and_a_damaged_log_too(clew: Clew, remember: Remember, home: Path) -> None:
    remember("one")
    remember("two")
    refused(
        clew,
        (("log", "--since", "soon"), 2, "'soon' is not a valid time"),
        (("log", "--session", "02NOSUCH"), 66, "There is no chat 02NOSUCH"),
        (("log", "--session", "0"), 2, "2 chats have ids starting with 0"),
        (("log", "--limit", "many"), 2, "Invalid value for '--limit'"),
        (("log", "--limit", "-1"), 2, ""),
    )
    (home / "memory" / "log.sqlite").write_bytes(b"this is no database" * 1000)
    ended = clew("log")
    assert ended.code == 65
    assert ended.err.startswith("clew: ")


def test_the_log_is_read_beside_a_clew_that_holds_the_memory(clew: Clew, remember: Remember, home: Path) -> None:
    asked = remember("one")
    with held(home):
        assert clew("log", "--json").json[0]["turn"] == asked.turn
        assert clew("sessions", "--json").json[0]["id"] == asked.session
        assert clew("show", asked.turn, "--json").json["turn"]["id"] == asked.turn


@pytest.mark.parametrize(
    ("part", "says"), [("turn", ("> (hidden)", "  An answer.")), ("reply", ("> A secret.", "  (hidden)"))]
)
def test_a_hidden_turn_is_listed_without_its_words_until_it_is_back(
    clew: Clew, remember: Remember, record: Record, part: str, says: tuple[str, str]
) -> None:
    asked = remember("A secret.", "An answer.")
    (whole,) = clew("log", "--json").json
    record(TurnHidden(turn=getattr(asked, part)))
    assert tuple(clew("log").out.splitlines()[1:]) == says
    word = {"turn": "said", "reply": "reply"}[part]
    assert clew("log", "--json").json == [whole | {word: None, "hidden": True}]
    record(TurnUnhidden(turn=getattr(asked, part)))
    assert clew("log", "--json").json == [whole]
    assert "A secret." in clew("log").out
