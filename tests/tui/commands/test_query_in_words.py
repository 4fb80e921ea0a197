"""`clew query --ask`: a question in plain words, the query it is on stderr, its rows on stdout."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an embedder nor a chat model: common questions are understood by their words."""
    monkeypatch.setenv("CLEW_EMBEDDER", "nothing-here")
    monkeypatch.setenv("CLEW_MODEL", "nothing-here.gguf")


@pytest.mark.process
def test_a_common_question_is_told_as_a_query_and_answered(clew: Run, remember: Run) -> None:
    remember("The boat is at Whitby", "Noted.")
    ended = clew("query", "--ask", "How often did I mention the boat?", "--json")
    assert (ended.code, ended.json["rows"][0]["messages"]) == (0, 1)
    assert "How many of your messages have the word “boat”" in ended.err
    assert "MATCH (t:Turn)" in ended.err
    assert '$what = "boat"' in ended.err


@pytest.mark.process
def test_a_query_that_may_not_be_meant_is_shown_and_not_run(clew: Run, remember: Run) -> None:
    remember("The boat is at Whitby", "Noted.")
    ended = clew("query", "--ask", "Which message has the most letters?")
    assert (ended.code, ended.out) == (2, "")
    assert "MATCH (t:Turn)" in ended.err
    assert "may not be what you asked. Nothing was run" in ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("What is the weather tomorrow?",), "Nothing was run"),
        (("",), "Nothing was run"),
        (("How many chats are there?", "--param", "n=1"), "takes no --param"),
    ],
)
def test_what_becomes_no_query_is_a_wrong_use(clew: Run, remember: Run, words: tuple[str, ...], told: str) -> None:
    remember("The boat is at Whitby", "Noted.")
    ended = clew("query", "--ask", *words)
    assert (ended.code, ended.out) == (2, "")
    assert told in " ".join(ended.err.replace("│", " ").split())


@pytest.mark.parametrize(
    "command",
    [
        ("query", "--ask", "What is the weather tomorrow?"),
        ("ask", "Hello?"),
        ("ask", "Hello?", "--model", "smollm2-135m"),
    ],
)
def test_a_model_that_is_missing_is_named_and_not_fetched(
    clew: Run, remember: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CLEW_MODEL", "smollm2-135m")
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path / "none"))
    monkeypatch.setattr("sys.stdin", None)
    remember("The boat is at Whitby", "Noted.")
    ended = clew(*command)
    assert (ended.code, ended.out) == (69, "")
    assert "clew: smollm2-135m is not installed. Download it with `clew models pull smollm2-135m`." in ended.err
    assert list((tmp_path / "none").iterdir()) == []
