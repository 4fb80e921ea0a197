"""`clew query --ask`: a question in plain words, the query it is on stderr, its rows on stdout."""

from pathlib import Path

import pytest

from tests.tui.commands.conftest import Clew, Remember, refused


@pytest.fixture(autouse=True)
def _no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an embedder nor a chat model: common questions are understood by their words."""
    monkeypatch.setenv("CLEW_EMBEDDER", "nothing-here")
    monkeypatch.setenv("CLEW_MODEL", "nothing-here.gguf")


@pytest.mark.process
def test_a_common_question_is_told_and_run_and_what_may_not_be_meant_only_shown(clew: Clew, remember: Remember) -> None:
    remember("The boat is at Whitby", "Noted.")
    ended = clew("query", "--ask", "How often did I mention the boat?", "--json")
    assert (ended.code, ended.json["rows"][0]["messages"]) == (0, 1)
    assert "How many of your messages have the word “boat”" in ended.err
    assert "MATCH (t:Turn)" in ended.err
    assert '$what = "boat"' in ended.err
    asked = ("query", "--ask", "Which message has the most letters?")
    refused(
        clew,
        (asked, 2, "MATCH (t:Turn)"),
        (asked, 2, "may not be what you asked. Nothing was run"),
        (("query", "--ask", "What is the weather tomorrow?"), 2, "Nothing was run"),
        (("query", "--ask", ""), 2, "Nothing was run"),
        (("query", "--ask", "How many chats are there?", "--param", "n=1"), 2, "takes no --param"),
    )


@pytest.mark.restarts
def test_a_model_that_is_missing_is_named_and_not_fetched(
    clew: Clew, remember: Remember, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_MODEL", "smollm2-135m")
    monkeypatch.setenv("CLEW_MODELS", str(tmp_path / "none"))
    remember("The boat is at Whitby", "Noted.")
    told = "clew: smollm2-135m is not installed. Download it with `clew models pull smollm2-135m`."
    refused(
        clew,
        (("query", "--ask", "What is the weather tomorrow?"), 69, told),
        (("ask", "Hello?"), 69, told),
        (("ask", "Hello?", "--model", "smollm2-135m"), 69, told),
    )
    assert list((tmp_path / "none").iterdir()) == []


@pytest.mark.process
@pytest.mark.restarts
def test_of_which_project_an_answer_is_is_said_and_can_be_chosen(clew: Clew, remember: Remember) -> None:
    for place in ("boats", "rails"):
        remember("Hello.", project=place)
        assert clew("relate", f"Ada works_with {place.title()}", "--project", place).code == 0
    assert clew("relate", "Ada works_with Kim").code == 0
    listed = clew("relations", "Ada").out.splitlines()
    for of, mark in (("Boats", "project boats"), ("Rails", "project rails"), ("Kim", "1 proof")):
        assert mark in next(line for line in listed if of in line)
    in_boats = clew("relations", "Ada", "--project", "Boats").out
    assert ("Boats" in in_boats, "Kim" in in_boats, "Rails" in in_boats) == (True, True, False)

    asked = ("query", "--ask", "Who works with Ada?")
    every = clew(*asked)
    assert {name for name in ("Boats", "Rails", "Kim") if name in every.out} == {"Boats", "Rails", "Kim"}
    assert "The answer is of all projects, and of none; --project NAME keeps to one." in every.err
    one = clew(*asked, "--project", "boats")
    assert {name for name in ("Boats", "Rails", "Kim") if name in one.out} == {"Boats", "Kim"}
    assert "of all projects" not in one.err
    refused(
        clew,
        ((*asked, "--project", "cars"), 66, "There is no project cars"),
        (("relations", "--project", "cars"), 66, "There is no project cars"),
    )
