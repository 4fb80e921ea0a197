"""`clew recall`, `recent`, `about`, `themes`: the memory asked from the shell, on a real log and graph."""

import re
from pathlib import Path

import pytest

from graph.events import PinSet, Recalled, TurnHidden
from graph.readings.newest import NODE_KINDS
from models.store import DEFAULT_EMBEDDER
from tests.graph.talk import reply, said
from tests.tui.commands.conftest import Clew, Record, Remember, Said, held, refused
from tui.commands.log import KINDS

HARD = ['"*AND(', "🦑", "\x1b[2J", "the and of", "潮だまり", "x" * 20_000, "tide " * 4_000]

pytestmark = pytest.mark.usefixtures("words_only")


@pytest.fixture
def crete(remember: Remember) -> Said:
    about = remember("The tide pools at Falassarna were the best", "Go at dawn.", title="Crete")
    remember("How long do I proof a sourdough?", "Overnight.", title="Bread")
    return about


@pytest.mark.restarts
def test_a_hit_comes_with_everything_that_put_it_at_its_rank_and_people_read_when_who_and_why(
    clew: Clew, crete: Said, remember: Remember
) -> None:
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
    remember("hay " * 100 + "needle")
    page = clew("recall", "tide", "pools")
    about = r"1 \w{26} \d{4}-\d\d-\d\d \d\d:\d\d you Crete\n    The tide pools at .*\n    by its words"
    assert re.search(about, page.out)
    assert "needle\n" in clew("recall", "hay").out, "what is piped has every word"
    assert page.err.count("nothing-here") == 1, "it is told once that there is no embedder"


@pytest.mark.restarts
def test_filters_narrow_it_down(clew: Clew, crete: Said, remember: Remember) -> None:
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


@pytest.mark.restarts
def test_any_words_may_be_recalled_for(clew: Clew, crete: Said) -> None:
    for query in HARD:
        ended = clew("recall", "--json", "--", query)
        assert ended.code == 0, query[:8]
        assert isinstance(ended.json, list), query[:8]


@pytest.mark.restarts
def test_without_a_memory_and_with_an_empty_one_it_says_so_only(clew: Clew, record: Record, home: Path) -> None:
    asked = (("recall", "tide"), ("recent",), ("recent", "--kind", "observation"), ("about", "Ada"), ("themes",))
    for command in asked:
        ended = clew(*command)
        assert (ended.code, ended.out) == (0, "")
        assert ended.err.startswith(("Nothing", "No matching", "There is nothing", "There are too few"))
    assert not (home / "memory" / "log.sqlite").exists()
    record()
    for command in asked:
        ended = clew(*command)
        assert (ended.code, ended.out) == (0, "")
        found = clew(*command, "--json").json
        assert found == [] or found.get("turns") == [] or found.get("themes") == []


def test_about_tells_how_much_where_and_what_and_recent_what_is_live_beside_another_clew_too(
    clew: Clew, remember: Remember, record: Record, crete: Said, home: Path
) -> None:
    about = clew("about", "Falassarna", "--json").json
    assert about["mentioned"] == 1
    assert [session["id"] for session in about["sessions"]] == [crete.session]
    assert [turn["id"] for turn in about["turns"]] == [crete.turn]
    page = clew("about", "Falassarna").out
    assert "named in 1 other " in page
    assert "The tide pools at Falassarna" in page
    assert "Nothing in the memory mentions Nobody." in clew("about", "Nobody").err

    last = remember("And butter?", "Churned.")
    entries = clew("recent", "--json").json
    assert entries[0]["said"] == "And butter?"
    assert len(entries) == 3
    record(TurnHidden(turn=last.turn))
    with held(home):
        refused(clew, *((command, 75, "clew (chat)") for command in (("recall", "tide"), ("themes",))))
        assert len(clew("recent", "--json").json) == 2
        assert clew("about", "Falassarna", "--json").json["mentioned"] == 1
    assert len(clew("recent", "--json", "--limit", "1").json) == 1
    assert clew("recent", "--json", "--limit", "0").json == []
    assert "How long do I proof" in clew("recent").out


@pytest.mark.restarts
def test_recent_shows_any_kind_of_node_and_several_at_once(clew: Clew, crete: Said, home: Path) -> None:
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
    with held(home):
        assert len(clew("recent", "--kind", "turn", "--kind", "session", "--json").json) > 2
        assert clew("recent", "--kind", "observation").code == 75


@pytest.mark.restarts
def test_words_come_through_a_pipe_where_they_are_asked_for(clew: Clew, crete: Said) -> None:
    for arguments in (("recall", "-", "--json"), ("recall", "--json")):
        ended = clew(*arguments, stdin=b"the tide pools\n")
        assert ended.code == 0
        assert ended.json[0]["id"] == crete.turn
    refused(clew, (("recall", "-"), 2, "nothing to search for"), stdin=b" \n ")
    refused(clew, (("recall", "-"), 65, "longer than 1 MiB"), stdin=b"x" * (1 << 20) + b"xx")


def test_meaning_finds_what_no_word_does_and_no_chat_model_is_loaded(answering: Clew, crete: Said) -> None:
    embedder = {"CLEW_EMBEDDER": DEFAULT_EMBEDDER}
    assert answering("recall", "warm", **embedder).code == 0  # embeds nothing yet, or all: then vectors may be there
    ended = answering("recall", "seaside holiday", "--json", **embedder)
    assert ended.code == 0, ended.err
    assert "smollm2" not in ended.err


def test_a_reply_is_shown_with_what_was_recalled_for_it_and_of_a_long_paste_with_the_stretch_that_fits_the_question(
    clew: Clew, crete: Said, record: Record, remember: Remember
) -> None:
    pack = (
        Recalled(id=crete.turn, score=2.0, ranks={"lexical": 1, "semantic": 3}, boosts={"speaker": 0.5}),
        Recalled(id=crete.reply, ranks={"graph": 2}, path=(("lexical", crete.turn), ("REPLIES_TO", crete.reply))),
    )
    record(
        said("Q", crete.session, parent=crete.reply, text="Pools?"),
        reply("A", crete.session, parent="Q", text="Yes.", recalled=pack),
        PinSet(turn=crete.turn),
        TurnHidden(turn=crete.reply),
    )
    out = clew("show", "A").out
    assert "recalled for the reply: 2" in out
    assert "The tide pools at Falassarna" in out
    assert "by its words (rank 1), by its meaning (rank 3); you are named" in out
    assert "(now hidden or deleted)" in out
    stored = clew("show", "A", "--json").json["reply"]["recalled"]
    assert [item["id"] for item in stored] == [crete.turn, crete.reply]
    assert stored[0]["ranks"] == {"lexical": 1, "semantic": 3}

    rows = [f"Row {number} of the export." for number in range(900)]
    rows[400] = "The ferry to Naxos leaves at dawn."
    pasted = remember("\n".join(rows), "Thank you.", title="Export")
    stretch = [Recalled(id=pasted.turn, ranks={"lexical": 1})]
    asked = remember("When does the ferry to Naxos leave?", "Yes.", session=pasted.session, recalled=stretch)
    out = clew("show", asked.reply).out
    assert "ferry to Naxos leaves at dawn" in out
    assert "Row 0 " not in out


@pytest.mark.restarts
def test_documents_are_found_where_nothing_was_ever_said(clew: Clew, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Cheese\n\nBrine keeps cheese.\n")
    assert clew("ingest", str(tmp_path / "a.md"), "--no-embed").code == 0
    (hit,) = clew("recall", "brine", "--json").json
    assert (hit["kind"], hit["session_name"], hit["text"]) == ("chunk", "Cheese", "Brine keeps cheese.")
