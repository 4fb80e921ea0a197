"""`--as-of`, `--true-at` and `clew query`, from the command line to a real log and graph."""

import csv
import io
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graph.events import SessionForked
from graph.ids import new_id
from graph.memory import Memory
from tests.graph.talk import said
from tests.tui.commands.conftest import Clew, Record, Remember, held, refused
from tui.commands.choosing import end_of, when

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("words_only")]

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
ASKING = (("memories",), ("recall", "boat"), ("query", "RETURN 1"))


@pytest.fixture
def lisbon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock that is an hour ahead of UTC in summer."""
    monkeypatch.setenv("TZ", "Europe/Lisbon")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def boats(clew: Clew, remember: Remember, home: Path) -> int:
    """Something learned, then corrected; the event before the correction."""
    remember("The boat is at Whitby", "Noted.", title="Boats")
    first = clew("remember", "My boat is called Wren", "--json").json["id"]
    with held(home) as memory:
        before = memory.head()
    assert clew("correct", first, "My boat is called Heron").code == 0
    return before


@pytest.mark.usefixtures("lisbon")
def test_a_day_means_its_end_on_the_users_clock() -> None:
    assert end_of("2026-07-01", now=NOW) == datetime(2026, 7, 1, 22, 59, 59, 999_000, tzinfo=UTC)
    assert end_of("2026-01-01", now=NOW) == datetime(2026, 1, 1, 23, 59, 59, 999_000, tzinfo=UTC)
    assert end_of("2026-07-01T10:00", now=NOW) == datetime(2026, 7, 1, 9, tzinfo=UTC)
    assert end_of("3d", now=NOW) == NOW - timedelta(days=3)
    assert end_of("9999-12-31", now=NOW).year == 9999
    assert when("#12") == 12
    assert when(None) is None


def test_memories_and_what_is_recalled_are_those_of_then_and_the_moment_is_said(clew: Clew, boats: int) -> None:
    def found(*options: str) -> str:
        return " ".join(hit["text"] for hit in clew("recall", "what is my boat called", "--json", *options).json)

    (now,) = clew("memories", "--json").json
    assert (now["text"], "as_of" in now) == ("My boat is called Heron", False)
    ended = clew("memories", "--as-of", f"#{boats}", "--json")
    assert ended.code == 0
    assert [(each["text"], each["current"], each["as_of"]) for each in ended.json] == [
        ("My boat is called Wren", True, boats)
    ]
    assert f"As clew knew it right after event {boats}" in ended.err
    today = datetime.now().astimezone().date().isoformat()
    ended = clew("memories", "--as-of", today)
    assert "Heron" in ended.out
    assert f"As clew knew it on {today} 23:59" in ended.err

    assert "Heron" in found()
    then = found("--as-of", f"#{boats}")
    assert ("Heron" in then, "Wren" in then) == (False, True)
    assert found("--true-at", "2020-01-01") == ""
    assert "Wren" in found("--true-at", "2100-01-01", "--as-of", f"#{boats}")


def test_before_the_first_event_there_is_nothing_and_the_code_says_so(clew: Clew, boats: int) -> None:
    for asked in ASKING:
        ended = clew(*asked, "--as-of", "1999-12-31")
        assert (ended.code, ended.out) == (66, "")
        assert "There was nothing at 1999-12-31" in ended.err
        assert "The first event is from" in ended.err
        assert clew(*asked, "--as-of", "#99999").code == 66
        wrong = clew(*asked, "--as-of", "once upon a time")
        assert wrong.code == 2
        assert "#EVENT" in wrong.err
        assert "2025-03-01T14:30" in wrong.err


def test_a_what_if_is_asked_by_its_chat(clew: Clew, remember: Remember, record: Record) -> None:
    begun, fork = remember("The boat is at Whitby", "Noted."), new_id()
    record(
        SessionForked(session=fork, origin=begun.session, at=begun.reply, world=fork, client="test"),
        said(new_id(), fork, parent=begun.reply, text="The boat sank off Whitby"),
    )

    def found(*options: str) -> str:
        return " ".join(hit["text"] for hit in clew("recall", "boat Whitby", "--json", *options).json)

    assert "sank" not in found()
    assert "sank" in found("--world", fork)
    assert clew("recall", "boat", "--world", "01ZZZZZZ").code == 66
    assert clew("memories", "--world", fork, "--json").json == []


def test_a_query_is_answered_in_three_forms_as_of_then_and_from_what_is_piped_in(clew: Clew, boats: int) -> None:
    cypher = "MATCH (o:Observation) RETURN o.text AS text, o.current AS current ORDER BY o.seq"
    rows = [("My boat is called Wren", False), ("My boat is called Heron", True)]
    ended = clew("query", cypher, "--json")
    assert ended.json["columns"] == ["text", "current"]
    assert [tuple(row.values()) for row in ended.json["rows"]] == rows
    assert ended.json["total"] == 2
    assert ended.err.startswith("2 rows, ")
    ended = clew("query", cypher, "--format", "csv")
    assert list(csv.reader(io.StringIO(ended.out))) == [["text", "current"], *([a, str(b).lower()] for a, b in rows)]
    ended = clew("query", cypher, "--limit", "1")
    assert ended.out.split("\n") == ["text                    current", "My boat is called Wren  false", ""]
    assert ended.err.startswith("1 of 2 rows, ")
    ended = clew("query", cypher, "--as-of", f"#{boats}", "--json")
    assert ended.json["rows"] == [{"text": "My boat is called Wren", "current": True}]
    assert ended.json["as_of"] == boats
    ended = clew("query", "-", "--json", stdin=b"MATCH (o:Observation)\n// all of them\nRETURN count(*) AS n")
    assert ended.json["rows"] == [{"n": 2}]


def test_a_wrong_query_and_one_that_takes_too_long_end_with_their_codes(clew: Clew, remember: Remember) -> None:
    remember("The boat is at Whitby")
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)"
    refused(
        clew,
        (("query", "MATCH (t:Turn) RETURN t.nope"), 2, "t has no property nope"),
        (("query", slow, "--timeout", "0.05"), 1, "took too long"),
    )


def test_nothing_that_was_said_is_obeyed_by_a_terminal(clew: Clew, remember: Remember) -> None:
    remember("red \x1b[31m alert\x07 at\ndawn", "Noted.")
    cypher = "MATCH (t:Turn) WHERE t.role = 'user' RETURN t.text AS text, t"
    for form in ("table", "csv", "json"):
        out = clew("query", cypher, "--format", form).out
        assert not {"\x1b", "\x07"} & set(out)
        assert "alert" in out


def test_the_past_is_asked_without_todays_graph(clew: Clew, boats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*args: object) -> None:
        raise AssertionError("the graph of today was opened")

    monkeypatch.setattr(Memory, "open_graph", opened)
    for asked in (("memories",), ("recall", "boat"), ("query", "MATCH (m:Meta) RETURN m.applied")):
        then = clew(*asked, "--as-of", f"#{boats}", "--json")
        assert then.code == 0
        assert "Heron" not in str(then.json)
