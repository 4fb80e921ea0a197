"""`clew show`: one exchange or one session, whole."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.events import Recalled, Role, Sampling, TurnDeleted, TurnHidden, TurnSaid, TurnUnhidden
from graph.reader import LogReader

Run = Callable[..., Any]


@pytest.mark.parametrize("part", ["turn", "reply"])
def test_an_exchange_is_shown_whole_by_either_of_its_turns(clew: Run, remember: Run, part: str) -> None:
    said = remember("What is bread?", "Baked\ndough.", project="kitchen")
    whole = clew("show", getattr(said, part), "--json").json
    assert set(whole) == {"turn", "reply", "project", "tools", "context"}
    assert (whole["tools"], whole["context"]) == ([], [])
    assert whole["project"] == "kitchen"
    assert whole["turn"]["text"] == "What is bread?"
    reply = whole["reply"]
    assert reply["text"] == "Baked\ndough."
    assert {key: reply[key] for key in ("session", "index", "role", "speaker", "model", "truncated")} == {
        "session": said.session,
        "index": 1,
        "role": "assistant",
        "speaker": "assistant",
        "model": "fake",
        "truncated": False,
    }
    figures = ("prompt_tokens", "evaluated_tokens", "completion_tokens", "first_token_ms", "total_ms", "prompt_hash")
    assert [reply[name] for name in figures] == [12, 7, 3, 15.25, 1250.0, "0123456789abcdef"]


def test_people_see_every_figure_and_the_words_as_words(clew: Run, remember: Run) -> None:
    said = remember("What is \x1b[31mbread?", "Baked\ndough.", project="kitchen")
    ended = clew("show", said.turn)
    assert ended.code == 0
    assert "\x1b" not in ended.out
    for piece in (
        "What is ␛[31mbread?",
        "Baked\ndough.",
        "project kitchen",
        "prompt 12 tokens",
        "7 evaluated",
        "reply 3 tokens",
        "first after 15 ms",
        "1.25 s in all",
        "fake",
        said.session,
        said.reply,
    ):
        assert piece in ended.out


def test_the_sampling_a_reply_was_made_with_is_told(clew: Run, remember: Run, record: Run) -> None:
    said, sampling = remember("What is bread?"), Sampling(temperature=0.2, seed=7)
    answer = TurnSaid(
        turn="01ANEW", session=said.session, parent=said.turn, role=Role.ASSISTANT, speaker="assistant", client="ask",
        model="fake", sampling=sampling, text="Dough.",
    )  # fmt: skip
    record(answer)
    whole = clew("show", said.turn, "--json").json
    assert (whole["turn"]["sampling"], whole["reply"]["sampling"]) == (None, sampling.model_dump())
    assert "temperature 0.2, top_k 40" in clew("show", "last").out
    assert "seed 7" in clew("show", "last").out


def test_a_session_is_shown_as_its_thread(clew: Run, remember: Run) -> None:
    first = remember("one", title="Counting")
    second = remember("two", session=first.session)
    for named in (first.session, first.session.lower(), "last"):
        whole = clew("show", named, "--json").json
        assert whole["session"]["name"] == "Counting"
        assert [turn["id"] for turn in whole["thread"]] == [first.turn, first.reply, second.turn, second.reply]
    ended = clew("show", "last")
    assert ended.out.startswith("Counting\n")
    assert ended.out.index("one") < ended.out.index("two")


def test_the_beginning_of_a_turns_id_is_enough(clew: Run, remember: Run) -> None:
    said = remember("one")
    assert clew("show", said.turn[:25].lower(), "--json").json["turn"]["id"] == said.turn


@pytest.mark.parametrize("id", ["01NOSUCH", "x", "", "\udcff\udcfe", "' OR 1=1 --", "%"])
@pytest.mark.restarts
def test_an_id_of_nothing_is_66(clew: Run, remember: Run, id: str) -> None:
    remember("one")
    ended = clew("show", "--", id)
    assert (ended.code, ended.out) == (66, "")
    assert "There is no message, chat or memory" in ended.err


def test_a_home_without_a_memory_has_nothing_to_show(clew: Run) -> None:
    ended = clew("show", "last")
    assert ended.code == 66
    assert "There is no memory in" in ended.err


SEARCHED = 'search_memory(query="sea stars", limit=5)\n- #ABC123 2026-01-02, user: "Purple sea stars"'


def looked_up(remember: Run) -> tuple[Any, Any]:
    """A turn, and an exchange whose reply was given it by recall, and by a tool beside another one."""
    old = remember("Purple sea stars", "Lovely.")
    pack = [Recalled(id=old.reply, ranks={"lexical": 2}, score=0.5)]
    found = [Recalled(id=old.turn, ranks={"tool": 1})]
    return old, remember("Which sea stars?", "The red ones.", recalled=pack, tool=SEARCHED, found=found)


@pytest.mark.parametrize("part", ["turn", "tool", "reply"])
def test_an_exchange_tells_what_tools_gave_it_too(clew: Run, remember: Run, part: str) -> None:
    old, said = looked_up(remember)
    whole = clew("show", getattr(said, part), "--json").json
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
    told = clew("show", getattr(said, part)).out
    places = [
        told.index(piece)
        for piece in (
            "Which sea stars?",
            f"turn {said.tool}",
            SEARCHED,
            "The red ones.",
            "recalled for the reply: 1",
            "Lovely.",
            "by its words (rank 2)",
            "found by tools for the reply: 1",
            f"turn {old.turn}",
            "looked up by the model",
        )
    ]
    assert places == sorted(places)


def test_what_tools_found_before_any_reply_is_told(clew: Run, remember: Run, record: Run) -> None:
    said = remember("one")
    tool = {"session": said.session, "role": Role.TOOL, "speaker": "tool", "client": "ask"}
    record(
        TurnSaid(
            turn="Q", session=said.session, parent=said.reply, role=Role.USER, speaker="you", client="ask", text="?"
        ),
        TurnSaid(turn="T1", parent="Q", text="themes()\nNone.", **tool),
        TurnSaid(turn="T2", parent="T1", text='about(name="Ada")\nNothing.', **tool),
    )
    for id in ("Q", "T1", "T2"):
        whole = clew("show", id, "--json").json
        assert whole["reply"] is None
        assert [each["tool"] for each in whole["tools"]] == ["themes", "about"]


def test_a_hidden_turn_keeps_its_words_to_itself_and_so_does_what_a_tool_quoted_of_it(
    clew: Run, remember: Run, record: Run
) -> None:
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
    assert [(turn["text"], turn["hidden"]) for turn in thread] == [
        ("Which sea stars?", False),
        (None, True),
        ("The red ones.", False),
    ]
    turn = clew("show", old.turn, "--json").json["turn"]
    assert (turn["text"], turn["hidden"]) == (None, True)
    record(TurnUnhidden(turn=old.turn))
    for id in (said.reply, said.session, old.turn):
        for form in ((), ("--json",)):
            assert "Purple sea stars" in clew("show", id, *form).out


def test_what_a_tool_quoted_of_a_deleted_turn_is_left_out(clew: Run, remember: Run, record: Run) -> None:
    old, said = looked_up(remember)
    record(TurnDeleted(turn=old.turn))
    for form in ((), ("--json",)):
        assert "Purple" not in clew("show", said.session, *form).out


@pytest.mark.restarts
def test_a_reply_names_the_document_and_the_memory_that_it_was_given(
    clew: Run, remember: Run, home: Path, tmp_path: Path
) -> None:
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
