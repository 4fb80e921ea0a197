"""`clew log`, as a person and as a program use it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from graph.events import TurnHidden, TurnUnhidden
from graph.memory import Memory
from graph.reader import LogReader

Run = Callable[..., Any]


def test_the_newest_exchange_comes_first_with_exactly_the_promised_keys(clew: Run, remember: Run) -> None:
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


def test_programs_get_summaries_of_long_messages(clew: Run, remember: Run) -> None:
    said = remember("long " * 10_000, "short")
    (entry,) = clew("log", "--json").json
    assert (len(entry["said"]), entry["said"][-1], entry["reply"], entry["cut"]) == (500, "…", "short", True)
    assert clew("show", said.turn, "--json").json["turn"]["text"] == "long " * 10_000


def test_filters_keep_what_they_name(clew: Run, remember: Run) -> None:
    mine = remember("in a project", project="garden", client="chat")
    remember("elsewhere", project="house")
    for option in (
        ("--project", "garden"),
        ("--client", "chat"),
        ("--session", mine.session),
        ("--session", mine.session.lower()),
    ):
        assert [entry["turn"] for entry in clew("log", "--json", *option).json] == [mine.turn], option
    for nobodys in ("nobody's", "\udcff", "%"):
        assert clew("log", "--json", "--client", nobodys).json == []
        assert clew("log", "--json", "--project", nobodys).code == 66


def test_since_includes_its_own_moment_and_nothing_before(clew: Run, remember: Run, home: Any) -> None:
    said = remember("exactly then")
    at = LogReader.open(home / "memory").turn(said.turn).at
    assert [entry["turn"] for entry in clew("log", "--json", "--since", at.isoformat()).json] == [said.turn]
    later = (at + timedelta(milliseconds=1)).isoformat()
    assert clew("log", "--json", "--since", later).json == []
    assert [entry["turn"] for entry in clew("log", "--json", "--since", "1h").json] == [said.turn]
    assert clew("log", "--json", "--until", at.isoformat()).json == []
    assert [entry["turn"] for entry in clew("log", "--json", "--until", later).json] == [said.turn]


def test_the_limit_is_twenty_unless_told_and_zero_is_an_empty_list(clew: Run, remember: Run, home: Any) -> None:
    said = remember("number 0")
    for number in range(1, 22):
        said = remember(f"number {number}", session=said.session)
    assert len(clew("log", "--json").json) == 20
    assert len(clew("log", "--json", "--limit", "21").json) == 21
    assert clew("log", "--json", "--limit", "0").json == []
    assert len(clew("log", "--json", "--limit", "100000").json) == 22
    assert clew("log", "--limit", "-1").code == 2


def test_a_home_without_a_memory_has_an_empty_log(clew: Run, home: Any) -> None:
    ended = clew("log", "--json")
    assert (ended.code, ended.json) == (0, [])
    assert clew("log").err == "No matching messages.\n"
    assert not (home / "memory" / "log.sqlite").exists()


def test_people_get_summaries_that_no_terminal_obeys(clew: Run, remember: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.commands.log.width", lambda: 100)
    remember("line one\nline \x1b[2Jtwo [bold]", "all \x9b31mred " + "and long " * 100)
    ended = clew("log")
    lines = ended.out.splitlines()
    assert len(lines) == 3
    assert lines[1] == "> line one line ␛[2Jtwo [bold]"
    assert lines[2].startswith("  all �31mred and long")
    assert lines[2].endswith("…")


def test_what_is_piped_has_every_word(clew: Run, remember: Run) -> None:
    remember("where " * 100 + "is the needle", "in the " + "hay " * 100 + "stack")
    ended = clew("log")
    assert "is the needle\n" in ended.out
    assert "stack\n" in ended.out
    assert "…" not in ended.out


def test_a_message_without_a_reply_says_so(clew: Run, remember: Run, home: Any) -> None:
    from graph.events import Role, TurnSaid

    said = remember("answered")
    memory = Memory.open(home / "memory", command="test")
    memory.append(
        TurnSaid(
            turn="01ZZZZZZZZZZZZZZZZZZZZZZZZ",
            session=said.session,
            parent=said.reply,
            role=Role.USER,
            speaker="you",
            client="ask",
            text="still open",
        )
    )
    memory.close()
    entry = clew("log", "--json", "--limit", "1").json[0]
    assert (entry["said"], entry["reply"], entry["reply_turn"]) == ("still open", None, None)
    assert "(no reply yet)" in clew("log", "--limit", "1").out


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (("--since", "soon"), 2, "'soon' is not a valid time"),
        (("--session", "02NOSUCH"), 66, "There is no chat 02NOSUCH"),
        (("--session", "0"), 2, "2 chats have ids starting with 0"),
        (("--limit", "many"), 2, "Invalid value for '--limit'"),
    ],
)
def test_what_makes_no_sense_is_named(clew: Run, remember: Run, argv: tuple[str, ...], code: int, says: str) -> None:
    remember("one")
    remember("two")
    ended = clew("log", *argv)
    assert ended.code == code
    assert says in ended.err
    assert ended.out == ""


def test_a_damaged_log_is_65_and_says_what_is_safe(clew: Run, remember: Run, home: Any) -> None:
    remember("one")
    (home / "memory" / "log.sqlite").write_bytes(b"this is no database" * 1000)
    ended = clew("log")
    assert ended.code == 65
    assert ended.err.startswith("clew: ")


def test_the_log_is_read_beside_a_clew_that_holds_the_memory(clew: Run, remember: Run, home: Any) -> None:
    said = remember("one")
    memory = Memory.open(home / "memory", command="the other one")
    try:
        assert clew("log", "--json").json[0]["turn"] == said.turn
        assert clew("sessions", "--json").json[0]["id"] == said.session
        assert clew("show", said.turn, "--json").json["turn"]["id"] == said.turn
    finally:
        memory.close()


@pytest.mark.parametrize(
    ("part", "says"), [("turn", ("> (hidden)", "  An answer.")), ("reply", ("> A secret.", "  (hidden)"))]
)
def test_a_hidden_turn_is_listed_without_its_words_until_it_is_back(
    clew: Run, remember: Run, record: Run, part: str, says: tuple[str, str]
) -> None:
    said = remember("A secret.", "An answer.")
    (whole,) = clew("log", "--json").json
    record(TurnHidden(turn=getattr(said, part)))
    assert tuple(clew("log").out.splitlines()[1:]) == says
    word = {"turn": "said", "reply": "reply"}[part]
    assert clew("log", "--json").json == [whole | {word: None, "hidden": True}]
    record(TurnUnhidden(turn=getattr(said, part)))
    assert clew("log", "--json").json == [whole]
    assert "A secret." in clew("log").out
