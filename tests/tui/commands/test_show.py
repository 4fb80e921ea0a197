"""`clew show`: one exchange or one session, whole."""

from contextlib import closing
from pathlib import Path

import pytest

from graph.events import Recalled, Role, Sampling, TurnDeleted, TurnHidden, TurnUnhidden
from graph.reader import LogReader
from tests.graph import talk
from tests.tui.commands.conftest import FIGURES, Clew, Record, Remember, Said, refused


def test_an_exchange_is_shown_by_either_turn_with_all_figures_and_words_as_such(clew: Clew, remember: Remember) -> None:
    said = remember("What is \x1b[31mbread?", "Baked\ndough.", project="kitchen")
    whole = clew("show", said.turn, "--json").json
    assert whole == clew("show", said.reply, "--json").json == clew("show", said.turn[:25].lower(), "--json").json
    assert set(whole) == {"turn", "reply", "project", "tools", "context"}
    assert (whole["tools"], whole["context"], whole["project"]) == ([], [], "kitchen")
    assert whole["turn"]["text"] == "What is \x1b[31mbread?"
    shown = {"session": said.session, "index": 1, "role": "assistant", "speaker": "assistant", "truncated": False}
    shown |= FIGURES | {"text": "Baked\ndough."}
    assert {key: whole["reply"][key] for key in shown} == shown
    page = clew("show", said.turn)
    assert page.code == 0
    assert "\x1b" not in page.out
    figures = ("prompt 12 tokens", "7 evaluated", "reply 3 tokens", "first after 15 ms", "1.25 s in all", "fake")
    for piece in ("What is ␛[31mbread?", "Baked\ndough.", "project kitchen", *figures, said.session, said.reply):
        assert piece in page.out


def test_the_sampling_a_reply_was_made_with_is_told(clew: Clew, remember: Remember, record: Record) -> None:
    said, sampling = remember("What is bread?"), Sampling(temperature=0.2, seed=7)
    record(talk.reply("01ANEW", said.session, parent=said.turn, model="fake", sampling=sampling, text="Dough."))
    whole = clew("show", said.turn, "--json").json
    assert (whole["turn"]["sampling"], whole["reply"]["sampling"]) == (None, sampling.model_dump())
    assert "temperature 0.2, top_k 40" in clew("show", "last").out
    assert "seed 7" in clew("show", "last").out


def test_a_session_is_shown_as_its_thread_and_an_id_of_nothing_is_66(clew: Clew, remember: Remember) -> None:
    first = remember("one", title="Counting")
    second = remember("two", session=first.session)
    for named in (first.session, first.session.lower(), "last"):
        whole = clew("show", named, "--json").json
        assert whole["session"]["name"] == "Counting"
        assert [turn["id"] for turn in whole["thread"]] == [first.turn, first.reply, second.turn, second.reply]
    ended = clew("show", "last")
    assert ended.out.startswith("Counting\n")
    assert ended.out.index("one") < ended.out.index("two")
    nothing = ("01NOSUCH", "x", "", "\udcff\udcfe", "' OR 1=1 --", "%")
    refused(clew, *((("show", "--", id), 66, "There is no message, chat or memory") for id in nothing))


SEARCHED = 'search_memory(query="sea stars", limit=5)\n- #ABC123 2026-01-02, user: "Purple sea stars"'


def looked_up(remember: Remember) -> tuple[Said, Said]:
    """A turn, and an exchange whose reply was given it by recall, and by a tool beside another one."""
    old = remember("Purple sea stars", "Lovely.")
    pack = [Recalled(id=old.reply, ranks={"lexical": 2}, score=0.5)]
    found = [Recalled(id=old.turn, ranks={"tool": 1})]
    return old, remember("Which sea stars?", "The red ones.", recalled=pack, tool=SEARCHED, found=found)


def test_an_exchange_tells_what_tools_gave_it_too(clew: Clew, remember: Remember) -> None:
    old, said = looked_up(remember)
    whole = clew("show", said.turn, "--json").json
    (tool,) = whole["tools"]
    assert {key: tool[key] for key in ("id", "role", "tool", "arguments", "result", "hidden")} == {
        "id": said.tool,
        "role": "tool",
        "tool": "search_memory",
        "arguments": {"query": "sea stars", "limit": 5},
        "result": SEARCHED.partition("\n")[2],
        "hidden": False,
    }
    given = [(item["id"], item["by"], item["ranks"], item["text"], item["hidden"]) for item in whole["context"]]
    assert given == [
        (old.reply, said.reply, {"lexical": 2}, "Lovely.", False),
        (old.turn, said.tool, {"tool": 1}, "Purple sea stars", False),
    ]
    pieces = [
        "Which sea stars?",
        f"turn {said.tool}",
        SEARCHED,
        "The red ones.",
        "recalled for the reply: 1",
        "Lovely.",
    ]
    pieces += ["by its words (rank 2)", "found by tools for the reply: 1", f"turn {old.turn}", "looked up by the model"]
    page = clew("show", said.turn).out
    assert [page.index(piece) for piece in pieces] == sorted(page.index(piece) for piece in pieces)
    for part in (said.tool, said.reply):
        assert clew("show", part, "--json").json == whole
        assert clew("show", part).out == page


def test_what_tools_found_before_any_reply_is_told(clew: Clew, remember: Remember, record: Record) -> None:
    said = remember("one")
    tool = {"role": Role.TOOL, "speaker": "tool"}
    record(
        talk.said("Q", said.session, parent=said.reply, text="?"),
        talk.said("T1", said.session, parent="Q", text="themes()\nNone.", **tool),
        talk.said("T2", said.session, parent="T1", text='about(name="Ada")\nNothing.', **tool),
    )
    for id in ("Q", "T1", "T2"):
        whole = clew("show", id, "--json").json
        assert whole["reply"] is None
        assert [each["tool"] for each in whole["tools"]] == ["themes", "about"]


def test_a_hidden_turn_and_what_a_tool_quoted_of_it_keep_quiet(clew: Clew, remember: Remember, record: Record) -> None:
    old, said = looked_up(remember)
    record(TurnHidden(turn=old.turn))
    shown = [
        clew("show", id, *form) for id in (said.reply, said.tool, said.session, old.turn) for form in ((), ("--json",))
    ]
    for ended in shown:
        assert ended.code == 0
        assert "Purple" not in ended.out
    for id in (said.reply, said.session):
        assert "searched memory for “sea stars” · done\n(hidden)" in clew("show", id).out
    (tool,) = clew("show", said.reply, "--json").json["tools"]
    assert (tool["text"], tool["result"], tool["hidden"]) == (None, None, True)
    assert tool["arguments"] == {"query": "sea stars", "limit": 5}
    item = clew("show", said.reply, "--json").json["context"][1]
    assert (item["id"], item["text"], item["hidden"]) == (old.turn, None, True)
    thread = clew("show", said.session, "--json").json["thread"]
    found = [(turn["text"], turn["hidden"]) for turn in thread]
    assert found == [("Which sea stars?", False), (None, True), ("The red ones.", False)]
    turn = clew("show", old.turn, "--json").json["turn"]
    assert (turn["text"], turn["hidden"]) == (None, True)
    record(TurnUnhidden(turn=old.turn))
    for id in (said.reply, said.session, old.turn):
        for form in ((), ("--json",)):
            assert "Purple sea stars" in clew("show", id, *form).out
    record(TurnDeleted(turn=old.turn))
    for form in ((), ("--json",)):
        assert "Purple" not in clew("show", said.session, *form).out


@pytest.mark.restarts
def test_a_reply_names_what_it_was_given_to_read(clew: Clew, remember: Remember, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "cheese.md"
    path.write_text("# Cheese\n\n## Salt\n\nBrine keeps it.\n")
    assert clew("ingest", str(path), "--no-embed").code == 0
    old = remember("I like cheese.")
    learned = clew("remember", "I eat cheese daily.", "--json").json["id"]
    assert clew("blocks", "persona", "You are terse.").code == 0
    with closing(LogReader.open(home / "memory")) as reader:
        (version,) = (block.version for block in reader.blocks())
    (hit,) = [each for each in clew("recall", "brine", "--json").json if each["kind"] == "chunk"]
    pack = [
        Recalled(id=hit["id"], kind="chunk", ranks={"lexical": 1}, score=0.5),
        Recalled(id=learned, kind="observation", ranks={"semantic": 1}),
        Recalled(id=old.turn, ranks={"recency": 1}),
        Recalled(id=f"block:persona@{version}", kind="block", ranks={"pin": 1}),
    ]
    said = remember("How is it kept?", "In brine.", recalled=pack)

    told = clew("show", said.reply).out
    assert f"Cheese › Salt · document passage {hit['id']}\n    Brine keeps it." in told
    assert f"memory {learned}\n    I eat cheese daily." in told
    assert "persona · core block" in told
    assert "hidden or deleted" not in told
    context = clew("show", said.reply, "--json").json["context"]
    assert [(each["kind"], each["hidden"], each["text"]) for each in context] == [
        ("chunk", False, "Brine keeps it."),
        ("observation", False, "I eat cheese daily."),
        ("turn", False, "I like cheese."),
        ("block", False, "You are terse."),
    ]
    assert (context[0]["title"], context[0]["headings"]) == ("Cheese", ["Cheese", "Salt"])

    assert clew("delete", "--document", clew("ingest", "--json").json[0]["id"], "--yes").code == 0
    assert clew("show", said.reply, "--json").json["context"][0]["hidden"] is True
    assert "Brine keeps it" not in clew("show", said.reply).out
