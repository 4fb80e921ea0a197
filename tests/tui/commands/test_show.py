"""`clew show`: one exchange or one session, whole."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize("part", ["turn", "reply"])
def test_an_exchange_is_shown_whole_by_either_of_its_turns(clew: Run, remember: Run, part: str) -> None:
    said = remember("What is bread?", "Baked\ndough.", project="kitchen")
    whole = clew("show", getattr(said, part), "--json").json
    assert set(whole) == {"turn", "reply", "project"}
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
def test_an_id_of_nothing_is_66(clew: Run, remember: Run, id: str) -> None:
    remember("one")
    ended = clew("show", "--", id)
    assert (ended.code, ended.out) == (66, "")
    assert "There is no turn and no session" in ended.err


def test_a_home_without_a_memory_has_nothing_to_show(clew: Run) -> None:
    ended = clew("show", "last")
    assert ended.code == 66
    assert "There is no memory in" in ended.err
