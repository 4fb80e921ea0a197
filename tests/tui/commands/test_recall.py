"""`clew recall`, `recent`, `about`, `themes`: the memory asked from the shell, on a real log and graph."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.events import PinSet, Recalled, Role, TurnHidden, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.readings.newest import NODE_KINDS
from tui.commands.log import KINDS

Run = Callable[..., Any]
HARD = ['"*AND(', "🦑", "\x1b[2J", "the and of", "潮だまり", "x" * 20_000, "tide " * 4_000]


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No embedder: found by words, which needs no model's file."""
    monkeypatch.setenv("CLEW_EMBEDDER", "nothing-here")


@pytest.fixture
def crete(remember: Run) -> Any:
    said = remember("The tide pools at Falassarna were the best", "Go at dawn.", title="Crete")
    remember("How long do I proof a sourdough?", "Overnight.", title="Bread")
    return said


@pytest.mark.usefixtures("words_only")
@pytest.mark.restarts
def test_a_hit_comes_with_everything_that_put_it_at_its_rank(clew: Run, crete: Any) -> None:
    ended = clew("recall", "the tide pools", "-k", "1", "--json")
    assert ended.code == 0
    (hit,) = ended.json
    assert hit["id"] == crete.turn
    assert (hit["rank"], hit["session"], hit["session_name"], hit["role"]) == (1, crete.session, "Crete", "user")
    assert hit["at"].endswith("+00:00")
    assert {reason["strategy"]: reason["rank"] for reason in hit["reasons"]}["lexical"] == 1
    assert set(hit) == {
        *("rank", "kind", "id", "session", "session_name", "role", "speaker", "at", "text", "score"),
        *("reasons", "boosts", "path", "why", "world", "later"),
    }
    assert hit["why"].startswith("by its words (rank 1)")


@pytest.mark.usefixtures("words_only")
@pytest.mark.restarts
def test_people_read_when_who_and_why(clew: Run, crete: Any, remember: Run) -> None:
    remember("hay " * 100 + "needle")
    ended = clew("recall", "tide", "pools")
    assert re.search(
        r"1 \w{26} \d{4}-\d\d-\d\d \d\d:\d\d you Crete\n    The tide pools at .*\n    by its words", ended.out
    )
    assert "needle\n" in clew("recall", "hay").out, "what is piped has every word"
    assert "nothing-here" in ended.err  # told once that there is no embedder
    assert ended.err.count("nothing-here") == 1


@pytest.mark.usefixtures("words_only")
@pytest.mark.restarts
def test_filters_narrow_it_down(clew: Run, crete: Any, remember: Run) -> None:
    boat = remember("The tide pools are best by boat", "Row there.", project="travel")

    def found(*options: str) -> list[str]:
        return [hit["id"] for hit in clew("recall", "tide pools dawn sourdough", "--json", *options).json]

    assert crete.reply in found("--role", "assistant")
    assert crete.turn not in found("--role", "assistant,note")
    assert set(found("--session", crete.session.lower())) == {crete.turn, crete.reply}
    assert set(found("--project", "Travel")) == set(found("--session", boat.session)) == {boat.turn, boat.reply}
    assert not {boat.turn, boat.reply} & set(found())
    assert found("--session", boat.session, "--project", "travel") == found("--session", boat.session)
    assert clew("recall", "boat").err.count("outside of projects; use --project NAME for one") == 1
    assert clew("recall", "boat", "--project", "trains").code == 66
    assert found("--until", "2020-01-01") == []
    assert crete.turn in found("--since", "1h")
    assert crete.turn in found("--person", "you")
    assert found("--person", "\udcff") == []


@pytest.mark.usefixtures("words_only")
@pytest.mark.parametrize("query", HARD, ids=lambda query: query[:8].encode("unicode-escape").decode())
@pytest.mark.restarts
def test_any_words_may_be_recalled_for(clew: Run, crete: Any, query: str) -> None:
    ended = clew("recall", "--json", "--", query)
    assert ended.code == 0
    assert isinstance(ended.json, list)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("recall", " "), "nothing to search for"),
        (("recall", '""'), "nothing to search for"),
        (("recall", "x", "--role", "wizard"), "'wizard' is not a role"),
        (("recall", "x", "--since", "soonish"), "soonish"),
        (("recall", "x", "--until", "soonish"), "soonish"),
        (("recall", "x", "-k", "0"), "'-k'"),
        (("recent", "--since", "soonish"), "soonish"),
        (("recent", "--kind", "wizard"), "Choose from: turn, session, observation"),
        (("about", " "), "clew about Ada"),
        (("themes", "--limit", "0"), "'--limit'"),
    ],
)
def test_what_makes_no_sense_is_explained_with_exit_code_2(clew: Run, arguments: tuple[str, ...], words: str) -> None:
    ended = clew(*arguments)
    assert ended.code == 2
    assert words in " ".join(ended.err.split())
    assert ended.out == ""


@pytest.mark.parametrize(
    "command",
    [("recall", "tide"), ("recent",), ("recent", "--kind", "observation"), ("about", "Ada"), ("themes",)],
)
def test_without_a_memory_and_with_an_empty_one_it_says_so_and_makes_none(
    clew: Run, home: Path, command: tuple[str, ...]
) -> None:
    ended = clew(*command)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith(("Nothing", "No matching", "There is nothing", "There are too few"))
    assert not (home / "memory" / "log.sqlite").exists()
    Memory.open(home / "memory", command="test").close()
    ended = clew(*command)
    assert (ended.code, ended.out) == (0, "")
    found = clew(*command, "--json").json
    assert found == [] or found.get("turns") == [] or found.get("themes") == []


def test_another_clew_is_named_where_the_memory_is_needed_whole(clew: Run, crete: Any, home: Path) -> None:
    memory = Memory.open(home / "memory", command="clew (chat)")
    try:
        for command in (("recall", "tide"), ("themes",)):
            ended = clew(*command)
            assert ended.code == 75
            assert "clew (chat)" in ended.err
        assert len(clew("recent", "--json").json) == 2
        assert clew("about", "Falassarna", "--json").json["mentioned"] == 1
    finally:
        memory.close()


def test_recent_is_what_is_live_newest_first(clew: Run, remember: Run, crete: Any, home: Path) -> None:
    last = remember("And butter?", "Churned.")
    entries = clew("recent", "--json").json
    assert entries[0]["said"] == "And butter?"
    assert len(entries) == 3
    memory = Memory.open(home / "memory", command="test")
    memory.append(TurnHidden(turn=last.turn))
    memory.close()
    assert len(clew("recent", "--json").json) == 2
    assert len(clew("recent", "--json", "--limit", "1").json) == 1
    assert clew("recent", "--json", "--limit", "0").json == []
    assert "How long do I proof" in clew("recent").out


@pytest.mark.restarts
def test_recent_shows_any_kind_of_node_and_several_at_once(clew: Run, crete: Any, home: Path) -> None:
    assert KINDS == NODE_KINDS
    clew("remember", "I keep bees.")
    kinds = [f"--kind={kind}" for kind in KINDS]
    entries = clew("recent", *kinds, "--json").json
    assert {(each["kind"], each["text"]) for each in entries} >= {
        ("observation", "I keep bees."),
        ("turn", "I keep bees."),
        ("session", "Notes"),
    }
    assert [each["at"] for each in entries] == sorted((each["at"] for each in entries), reverse=True)
    assert {each["kind"] for each in clew("recent", "--kind", "Session", "--json").json} == {"session"}
    assert "  I keep bees.\n" in clew("recent", "--kind", "observation").out
    assert clew("recent", "--kind", "document").err == "There is nothing of that kind in the memory.\n"
    memory = Memory.open(home / "memory", command="clew (chat)")
    try:
        assert len(clew("recent", "--kind", "turn", "--kind", "session", "--json").json) > 2
        assert clew("recent", "--kind", "observation").code == 75
    finally:
        memory.close()


def test_about_tells_how_much_where_and_what(clew: Run, crete: Any) -> None:
    about = clew("about", "Falassarna", "--json").json
    assert about["mentioned"] == 1
    assert [session["id"] for session in about["sessions"]] == [crete.session]
    assert [turn["id"] for turn in about["turns"]] == [crete.turn]
    page = clew("about", "Falassarna").out
    assert "named in 1 other " in page
    assert "The tide pools at Falassarna" in page
    assert "Nothing in the memory mentions Nobody." in clew("about", "Nobody").err


def test_words_come_through_a_pipe_where_they_are_asked_for(spawn: Run, crete: Any) -> None:
    for arguments in (("recall", "-", "--json"), ("recall", "--json")):
        ended = spawn(*arguments, stdin=b"the tide pools\n", CLEW_EMBEDDER="nothing-here")
        assert ended.code == 0
        assert json.loads(ended.out)[0]["id"] == crete.turn
    ended = spawn("recall", "-", stdin=b" \n ")
    assert ended.code == 2
    assert "nothing to search for" in " ".join(ended.err.split())
    ended = spawn("recall", "-", stdin=b"x" * (1 << 20) + b"xx")
    assert ended.code == 65
    assert "longer than 1 MiB" in ended.err


def test_meaning_finds_what_no_word_does_and_no_chat_model_is_loaded(spawn: Run, crete: Any) -> None:
    assert spawn("recall", "warm").code == 0  # embeds nothing yet, or all: the second time the vectors may be there
    ended = spawn("recall", "seaside holiday", "--json")
    assert ended.code == 0, ended.err
    assert "smollm2" not in ended.err


def test_a_reply_is_shown_with_what_was_recalled_for_it(clew: Run, crete: Any, home: Path) -> None:
    memory = Memory.open(home / "memory", command="test")
    turn, reply = new_id(), new_id()
    pack = (
        Recalled(id=crete.turn, score=2.0, ranks={"lexical": 1, "semantic": 3}, boosts={"speaker": 0.5}),
        Recalled(id=crete.reply, ranks={"graph": 2}, path=(("lexical", crete.turn), ("REPLIES_TO", crete.reply))),
    )
    head = memory.readings.session(crete.session).head
    base = {"session": crete.session, "client": "test"}
    memory.append(
        TurnSaid(turn=turn, parent=head, role=Role.USER, speaker="you", text="Pools?", **base),
        TurnSaid(turn=reply, parent=turn, role=Role.ASSISTANT, speaker="assistant", text="Yes.", recalled=pack, **base),
        PinSet(turn=crete.turn),
        TurnHidden(turn=crete.reply),
    )
    memory.close()
    out = clew("show", reply).out
    assert "recalled for the reply: 2" in out
    assert "The tide pools at Falassarna" in out
    assert "by its words (rank 1), by its meaning (rank 3); you are named" in out
    assert "(now hidden or deleted)" in out
    stored = clew("show", reply, "--json").json["reply"]["recalled"]
    assert [item["id"] for item in stored] == [crete.turn, crete.reply]
    assert stored[0]["ranks"] == {"lexical": 1, "semantic": 3}


def test_of_a_long_paste_the_stretch_that_fits_the_question_is_shown(clew: Run, remember: Run, home: Path) -> None:
    rows = [f"Row {number} of the export." for number in range(9000)]
    rows[4000] = "The ferry to Naxos leaves at dawn."
    said = remember("\n".join(rows), "Thank you.", title="Export")
    memory = Memory.open(home / "memory", command="test")
    turn, reply = new_id(), new_id()
    base = {"session": said.session, "client": "test"}
    pack, asked = (Recalled(id=said.turn, ranks={"lexical": 1}),), "When does the ferry to Naxos leave?"
    memory.append(
        TurnSaid(
            turn=turn,
            parent=memory.readings.session(said.session).head,
            role=Role.USER,
            speaker="you",
            text=asked,
            **base,
        ),
        TurnSaid(turn=reply, parent=turn, role=Role.ASSISTANT, speaker="assistant", text="Yes.", recalled=pack, **base),
    )
    memory.close()
    out = clew("show", reply).out
    assert "ferry to Naxos leaves at dawn" in out
    assert "Row 0 " not in out


@pytest.mark.process
def test_the_help_of_each_says_what_it_does() -> None:
    for command in ("recall", "recent", "about", "themes"):
        done = subprocess.run(
            [sys.executable, "-m", "tui", command, "--help"], capture_output=True, text=True, check=True
        )
        assert "--json" in done.stdout


@pytest.mark.usefixtures("words_only")
@pytest.mark.restarts
def test_documents_are_found_where_nothing_was_ever_said(clew: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Cheese\n\nBrine keeps cheese.\n")
    assert clew("ingest", str(tmp_path / "a.md"), "--no-embed").code == 0
    (hit,) = clew("recall", "brine", "--json").json
    assert (hit["kind"], hit["session_name"], hit["text"]) == ("chunk", "Cheese", "Brine keeps cheese.")
