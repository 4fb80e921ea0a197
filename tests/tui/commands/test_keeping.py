"""The memory kept from the shell: stated, listed, reviewed, corrected, forgotten, pinned; blocks and projects."""

import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.killing import CLEW
from graph.events import (
    Event,
    ObservationKind,
    ObservationMade,
    Role,
    SessionStarted,
    TurnHidden,
    TurnSaid,
    TurnUnhidden,
)
from graph.ids import new_id
from graph.memory import Memory

Run = Callable[..., Any]
KEYS = {
    *(
        "id",
        "later",
        "text",
        "kind",
        "status",
        "confidence",
        "proof_count",
        "trend",
        "sources",
        "supports",
        "corrected",
        "about",
        "project",
    ),
    *(
        "scope",
        "world",
        "origin",
        "proposed_by",
        "grounded",
        "pinned",
        "live",
        "current",
        "series",
        "supersedes",
        "at",
        "first_seen",
    ),
    *("reference_count", "last_referenced_at", "tags", "relationship", "parents", "fact_type", "whose"),
}


def stated(clew: Run, text: str, *options: str) -> Any:
    ended = clew("remember", text, "--json", *options)
    assert ended.code == 0, ended.err
    return ended.json


@pytest.fixture
def candidate(remember: Run, record: Run) -> str:
    """A candidate that a message taught."""
    said = remember("Tea, perhaps.")
    id = new_id()
    event: Event = ObservationMade(
        observation=id,
        series=id,
        category=ObservationKind.PREFERENCE,
        status="candidate",
        confidence=0.6,
        grounded=True,
        origin="model",
        sources=(said.turn,),
        text="The user may like tea",
    )
    record(event)
    return id


@pytest.mark.restarts
def test_what_is_remembered_is_listed_with_everything_there_is_to_it(clew: Run) -> None:
    made = stated(clew, "I live in Lyon.")
    assert set(made) == KEYS
    assert (made["text"], made["kind"], made["status"], made["confidence"]) == (
        "I live in Lyon.",
        "fact",
        "active",
        1.0,
    )
    assert (made["proof_count"], made["trend"], made["pinned"]) == (1, "new", False)
    (listed,) = clew("memories", "--json").json
    assert listed == made | {"shown_in": "main"}
    page = clew("memories")
    assert made["id"] in page.out
    assert "I live in Lyon." in page.out


@pytest.mark.restarts
def test_memories_are_narrowed_down(clew: Run, candidate: str) -> None:
    lyon = stated(clew, "I live in Lyon.", "--kind", "identity")["id"]
    clew("projects", "--make", "boats")
    boat = stated(clew, "I own a boat.", "--project", "boats")["id"]

    def found(*options: str) -> set[str]:
        ended = clew("memories", "--json", *options)
        assert ended.code == 0, ended.err
        return {each["id"] for each in ended.json}

    assert found() == {lyon, boat, candidate}
    assert found("--status", "Candidate") == {candidate}
    assert found("--kind", "identity") == {lyon}
    assert found("--project", "boats") == {boat}
    assert found("--project", "BOATS") == {boat}
    assert found("boat") == {boat}
    assert found("--trend", "stale") == set()
    assert found("--pinned") == set()
    assert len(found("--limit", "1")) == 1
    assert found("--limit", "0") == set()


@pytest.mark.parametrize("option", [("--status", "good"), ("--kind", "x"), ("--trend", "up"), ("--limit", "-1")])
def test_a_filter_that_is_none_is_wrong_usage(clew: Run, option: tuple[str, str]) -> None:
    assert clew("memories", *option).code == 2


def test_nothing_is_learned_yet_and_no_memory_is_made_by_asking(clew: Run, home: Path) -> None:
    for command in ("memories", "review", "blocks", "projects"):
        ended = clew(command, "--json")
        assert (ended.code, ended.out) == (0, "[]\n")
        assert clew(command).code == 0
    assert not (home / "memory" / "log.sqlite").exists()


@pytest.mark.restarts
def test_the_review_names_the_program_that_proposed_something(clew: Run, record: Run) -> None:
    session, call, id = new_id(), new_id(), new_id()
    record(
        SessionStarted(session=session, client="mcp"),
        TurnSaid(
            turn=call, session=session, parent=None, role=Role.TOOL, speaker="Helper (over MCP)", client="mcp", text="…"
        ),
        ObservationMade(
            observation=id,
            series=id,
            category=ObservationKind.FACT,
            status="candidate",
            confidence=0.5,
            grounded=False,
            origin="model",
            sources=(call,),
            text="The user keeps bees",
        ),
    )
    assert "proposed by Helper (over MCP)" in clew("review").out
    assert [each["proposed_by"] for each in clew("review", "--json").json] == ["Helper (over MCP)"]
    edited = clew("review", "--edit", id, "I keep bees on the roof.", "--json").json
    assert edited["proposed_by"] is None


@pytest.mark.restarts
def test_a_candidate_is_decided_on_once(clew: Run, candidate: str) -> None:
    assert [each["id"] for each in clew("review", "--json").json] == [candidate]
    ended = clew("review", "--promote", candidate[:12], "--json")
    assert (ended.code, ended.json["status"]) == (0, "active")
    again = clew("review", "--promote", candidate)
    assert again.code == 1
    assert "already in use" in again.err
    assert clew("review", "--restore", candidate, "--json").json["status"] == "candidate"
    assert clew("review", "--reject", candidate, "--json").json["status"] == "invalid"
    clew("review", "--restore", candidate)
    edited = clew("review", "--edit", candidate, "I like green tea.", "--json").json
    assert (edited["text"], edited["status"], edited["supersedes"]) == ("I like green tea.", "active", candidate)
    assert clew("review", "--json").json == []
    assert clew("review", "--promote", candidate, "--reject", candidate).code == 2


@pytest.mark.restarts
def test_a_correction_has_a_story(clew: Run) -> None:
    old = stated(clew, "I live in Lyon.")
    new = clew("correct", old["id"][:14], "I live in Porto.", "--json").json
    assert (new["supersedes"], set(old["sources"]) < set(new["sources"])) == (old["id"], True)
    story = clew("show", new["id"], "--json").json
    assert [(each["text"], each["status"]) for each in story["revisions"]] == [
        ("I live in Lyon.", "superseded"),
        ("I live in Porto.", "active"),
    ]
    proof = [[proof["text"] for proof in each["proof"]] for each in story["revisions"]]
    assert proof == [["I live in Lyon."], ["I live in Porto."]], "the words that it corrects prove what it corrects"
    page = clew("show", new["id"].lower()).out
    assert page.count("from: ") == 2
    assert page.index("1. ") < page.index("2. ")
    assert "from: " in page


@pytest.mark.restarts
def test_without_yes_where_nobody_can_be_asked_it_only_shows_what_would_be_forgotten(clew: Run) -> None:
    made = stated(clew, "I live in Lyon.")
    ended = clew("forget", made["id"])
    assert ended.code == 1
    assert "I live in Lyon." in ended.out
    assert "--yes" in ended.err
    assert len(clew("memories", "--json").json) == 1
    assert clew("forget", made["id"], "--yes").code == 0
    assert clew("memories", "--all", "--json").json == []
    assert clew("forget", made["id"], "--yes").code == 66


@pytest.mark.process
def test_at_a_terminal_forgetting_is_asked_for_by_a_word(clew: Run, environment: dict[str, str]) -> None:
    made = stated(clew, "I live in Lyon.")
    ours, theirs = pty.openpty()
    os.write(ours, b"forget\n")
    ended = subprocess.run(
        [*CLEW, "forget", made["id"]], stdin=theirs, capture_output=True, env=environment, check=False, timeout=120
    )
    os.close(ours)
    os.close(theirs)
    assert ended.returncode == 0
    assert b"This cannot be undone" in ended.stderr
    assert clew("memories", "--all", "--json").json == []


@pytest.mark.restarts
def test_a_memory_or_a_message_is_pinned_by_the_beginning_of_its_id(clew: Run, remember: Run) -> None:
    said = remember("The tide pools were the best.")
    made = stated(clew, "I live in Lyon.")
    assert clew("pin", made["id"], "--json").json == {"kind": "memory", "id": made["id"], "pinned": True}
    assert [each["id"] for each in clew("memories", "--pinned", "--json").json] == [made["id"]]
    assert clew("pin", said.reply, "--json").json == {"kind": "turn", "id": said.reply, "pinned": True}
    assert clew("show", said.turn, "--json").json["reply"]["pinned"] is True
    assert clew("pin", made["id"], "--off", "--json").json["pinned"] is False
    assert clew("memories", "--pinned", "--json").json == []
    missing = clew("pin", "01ARZ3NDEK")
    assert missing.code == 66
    assert "no memory or message" in missing.err


@pytest.mark.restarts
def test_a_core_block_is_written_shown_and_emptied(clew: Run) -> None:
    assert clew("blocks", "persona", "You", "are", "terse.").code == 0
    (block,) = clew("blocks", "--json").json
    assert (block["name"], block["text"], block["by"]) == ("persona", "You are terse.", "user")
    assert "You are terse." in clew("blocks", "persona").out
    assert clew("blocks", "human").code == 66
    assert clew("blocks", "persona", "x" * 2001).code == 1
    assert clew("blocks", "two words", "x").code == 1
    assert clew("blocks", "persona", "").code == 0
    assert clew("blocks", "--json").json == []


@pytest.mark.restarts
def test_projects_are_made_listed_and_archived(clew: Run, remember: Run) -> None:
    remember("The tide pools were the best.", project="travel")
    assert clew("projects", "--make", "boats", "--about", "All about rowing").code == 0
    found = {each["name"]: each for each in clew("projects", "--json").json}
    assert (found["travel"]["sessions"], found["boats"]["description"]) == (1, "All about rowing")
    archived = {each["name"]: each["status"] for each in clew("projects", "--archive", "travel", "--json").json}
    assert archived == {"travel": "archived", "boats": "active"}
    assert clew("projects", "--archive", "cars").code == 66


@pytest.mark.restarts
def test_a_project_that_there_is_not_is_an_error_that_names_those_there_are(clew: Run) -> None:
    clew("projects", "--make", "Zoo")
    for argv in (("remember", "The lions sleep.", "--project", "Zop"), ("memories", "--project", "Zop")):
        ended = clew(*argv)
        assert ended.code == 66
        assert "no project Zop" in ended.err
        assert "Projects: Zoo." in ended.err
    assert clew("memories", "--json").json == []


@pytest.mark.restarts
def test_a_project_is_the_same_in_any_case_of_letters(clew: Run) -> None:
    clew("projects", "--make", "Zoo")
    assert stated(clew, "The lions sleep.", "--project", "zoo")["project"] == "Zoo"
    clew("projects", "--make", "ZOO", "--about", "Animals")
    assert [(each["name"], each["description"]) for each in clew("projects", "--json").json] == [("Zoo", "Animals")]


def test_asking_for_no_memories_at_all_does_not_say_that_there_are_none(clew: Run) -> None:
    assert "memories yet" in clew("memories").err
    stated(clew, "I live in Lyon.")
    ended = clew("memories", "--limit", "0")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


@pytest.mark.restarts
def test_a_stand_in_for_what_came_back_is_labelled_as_not_in_use(clew: Run, remember: Run, record: Run) -> None:
    one, two = remember("I drink tea."), remember("Tea it is, always.")
    first, second = new_id(), new_id()
    made = ObservationMade(
        observation=first,
        series=first,
        category=ObservationKind.PREFERENCE,
        status="active",
        confidence=0.8,
        grounded=True,
        origin="model",
        sources=(one.turn, two.turn),
        text="The user drinks tea",
    )
    again = {"observation": second, "series": second, "sources": (two.turn,), "instead_of": first}
    record(made, TurnHidden(turn=one.turn), made.model_copy(update=again))
    assert "not in use" not in clew("memories").out
    record(TurnUnhidden(turn=one.turn))
    told = clew("memories", "--all").out
    assert told.count("not in use (the version it replaced came back)") == 1
    assert re.search(rf"{first}.* active ", told)
    assert re.search(rf"{second}.* not in use", told)
    assert "not in use" in clew("show", second).out


@pytest.mark.restarts
def test_restoring_a_candidate_that_was_edited_says_what_took_its_place(clew: Run, candidate: str) -> None:
    edited = clew("review", "--edit", candidate, "I like green tea.", "--json").json["id"]
    ended = clew("review", "--restore", candidate)
    assert ended.code == 1
    assert f"clew review --reject {edited}" in ended.err
    assert clew("review", "--reject", edited).code == 0
    assert [each["id"] for each in clew("review", "--json").json] == [candidate]


@pytest.mark.restarts
def test_what_was_rejected_and_corrected_is_restored_behind_its_correction(clew: Run, candidate: str) -> None:
    clew("review", "--reject", candidate)
    clew("correct", candidate, "I like coffee.")
    ended = clew("review", "--restore", candidate, "--json")
    assert (ended.code, ended.json["status"]) == (0, "superseded")
    assert "no longer rejected: superseded" in ended.err
    again = clew("correct", candidate, "I like milk.")
    assert again.code == 1
    assert "I like coffee." in again.err


@pytest.mark.parametrize(
    "argv", [("memories",), ("review",), ("remember", "x y"), ("blocks",), ("projects",), ("pin", "01ARZ3NDEK")]
)
def test_while_another_clew_has_the_memory_it_is_named(clew: Run, home: Path, argv: tuple[str, ...]) -> None:
    home.mkdir(mode=0o700)
    holder = Memory.open(home / "memory", command="test")
    try:
        ended = clew(*argv)
    finally:
        holder.close()
    assert ended.code == 75
    assert "in use" in ended.err


@pytest.mark.parametrize("argv", [("remember",), ("remember", "  "), ("correct", "01ARZ3NDEK", " ")])
def test_nothing_to_keep_is_wrong_usage(clew: Run, argv: tuple[str, ...]) -> None:
    assert clew(*argv).code == 2


def test_what_is_shown_obeys_no_terminal_and_what_is_piped_is_taken(clew: Run, spawn: Run) -> None:
    ended = spawn("remember", "-", stdin=b"I own\x1b[2J a boat")
    assert ended.code == 0, ended.err
    assert "\x1b" not in clew("memories").out


@pytest.mark.restarts
def test_an_unknown_id_names_where_to_look(clew: Run) -> None:
    stated(clew, "I live in Lyon.")
    for argv in (("show", "01ARZ3NDEK"), ("forget", "01ARZ3NDEK"), ("correct", "01ARZ3NDEK", "x")):
        ended = clew(*argv)
        assert ended.code == 66
        assert "clew memories" in ended.err


@pytest.mark.restarts
def test_a_memory_is_made_from_two_and_shows_both(clew: Run) -> None:
    lyon, boat = stated(clew, "I live in Lyon."), stated(clew, "I like my boat.", "--kind", "preference")
    made = clew("synthesize", lyon["id"], boat["id"][:14], "I like my boat in Lyon.", "--json")
    assert (made.code, made.json["parents"], made.json["status"]) == (0, [lyon["id"], boat["id"]], "active")
    assert f"`clew show {made.json['id']}` shows both" in made.err
    shown = clew("show", made.json["id"])
    assert ("made from" in shown.out, "I live in Lyon." in shown.out, boat["id"] in shown.out) == (True, True, True)
    story = clew("show", made.json["id"], "--json").json
    assert [each["text"] for each in story["made_from"]] == ["I live in Lyon.", "I like my boat."]
    waits = clew("synthesize", made.json["id"], stated(clew, "I row.")["id"])
    assert (waits.code, "candidate" in waits.out, "waits for review" in waits.err) == (0, True, True)
    assert clew("review", "--reject", boat["id"]).code == 0
    assert "not in use (what it was made from no longer is)" in clew("show", made.json["id"]).out
    assert [each["id"] for each in clew("memories", "--type", "opinion", "--json").json] == []
    assert clew("undo").code == 0
    assert [each["id"] for each in clew("memories", "--type", "opinion", "--json").json] == [boat["id"]]


@pytest.mark.restarts
@pytest.mark.parametrize(
    ("ids", "text", "code", "says"),
    [
        (("0", "0"), ["Both."], 1, "Both are the same memory"),
        (("0", "NOSUCHID1"), ["Both."], 66, "There is no memory NOSUCHID1"),
        (("0", "1"), [" "], 2, "Missing text"),
        (("0", "1"), ["word " * 31], 1, "That is 31 words"),
        (("0", "1"), ["I row."], 1, "same memory is already there"),
    ],
)
def test_what_cannot_be_made_from_two_says_why(
    clew: Run, ids: tuple[str, str], text: list[str], code: int, says: str
) -> None:
    known = [stated(clew, "I live in Lyon.")["id"], stated(clew, "I row.")["id"]]
    chosen = [known[int(id)] if id.isdigit() else id for id in ids]
    ended = clew("synthesize", *chosen, *text)
    assert (ended.code, says in ended.err) == (code, True), ended.err
    assert len(clew("memories", "--json").json) == 2
    assert clew("memories", "--type", "rumour").code == 2
