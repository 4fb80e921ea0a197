"""The memory kept from the shell: stated, listed, reviewed, corrected, forgotten, pinned; blocks and projects."""

import re
from pathlib import Path
from typing import Any

import pytest

from graph.events import ObservationKind, Role, SessionStarted, TurnHidden, TurnUnhidden
from graph.ids import new_id
from tests.graph.talk import said
from tests.graph.teach import observed
from tests.tui.commands.conftest import Clew, Record, Remember, Terminal, held, refused

KEYS = """id later text kind status confidence proof_count trend sources supports corrected about project scope world
origin proposed_by grounded pinned live current series supersedes at first_seen reference_count last_referenced_at tags
relationship parents fact_type whose"""


def stated(clew: Clew, text: str, *options: str) -> Any:
    ended = clew("remember", text, "--json", *options)
    assert ended.code == 0, ended.err
    return ended.json


@pytest.fixture
def candidate(remember: Remember, record: Record) -> str:
    """A candidate that a message taught."""
    taught, id = remember("Tea, perhaps."), new_id()
    kind, text = ObservationKind.PREFERENCE, "The user may like tea"
    record(observed(id, taught.turn, category=kind, status="candidate", text=text))
    return id


@pytest.mark.restarts
def test_what_is_remembered_is_listed_with_everything_there_is_to_it(clew: Clew) -> None:
    made = stated(clew, "I live in Lyon.")
    assert set(made) == set(KEYS.split())
    told = (made["text"], made["kind"], made["status"], made["confidence"])
    assert told == ("I live in Lyon.", "fact", "active", 1.0)
    assert (made["proof_count"], made["trend"], made["pinned"]) == (1, "new", False)
    (listed,) = clew("memories", "--json").json
    assert listed == made | {"shown_in": "main"}
    page = clew("memories")
    assert made["id"] in page.out
    assert "I live in Lyon." in page.out


@pytest.mark.restarts
def test_memories_are_narrowed_down(clew: Clew, candidate: str) -> None:
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


def test_nothing_is_learned_yet_and_no_memory_is_made_by_asking(clew: Clew, home: Path) -> None:
    for command in ("memories", "review", "blocks", "projects"):
        ended = clew(command, "--json")
        assert (ended.code, ended.out) == (0, "[]\n")
        assert clew(command).code == 0
    assert not (home / "memory" / "log.sqlite").exists()
    assert "memories yet" in clew("memories").err
    stated(clew, "I live in Lyon.")
    ended = clew("memories", "--limit", "0")
    assert (ended.code, ended.out, ended.err) == (0, "", ""), "none is asked for, though there is one"


@pytest.mark.restarts
def test_the_review_names_the_program_that_proposed_something(clew: Clew, record: Record) -> None:
    session, call, id = new_id(), new_id(), new_id()
    record(
        SessionStarted(session=session, client="mcp"),
        said(call, session, role=Role.TOOL, speaker="Helper (over MCP)", client="mcp"),
        observed(id, call, status="candidate", grounded=False, text="The user keeps bees"),
    )
    assert "proposed by Helper (over MCP)" in clew("review").out
    assert [each["proposed_by"] for each in clew("review", "--json").json] == ["Helper (over MCP)"]
    edited = clew("review", "--edit", id, "I keep bees on the roof.", "--json").json
    assert edited["proposed_by"] is None


@pytest.mark.restarts
def test_a_candidate_is_decided_on_once_and_restored_behind_what_took_its_place(clew: Clew, candidate: str) -> None:
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

    refused(clew, (("review", "--restore", candidate), 1, f"clew review --reject {edited['id']}"))
    assert clew("review", "--reject", edited["id"]).code == 0
    assert [each["id"] for each in clew("review", "--json").json] == [candidate]

    clew("review", "--reject", candidate)
    clew("correct", candidate, "I like coffee.")
    ended = clew("review", "--restore", candidate, "--json")
    assert (ended.code, ended.json["status"]) == (0, "superseded")
    assert "no longer rejected: superseded" in ended.err
    refused(clew, (("correct", candidate, "I like milk."), 1, "I like coffee."))


@pytest.mark.restarts
def test_a_correction_has_a_story(clew: Clew) -> None:
    old = stated(clew, "I live in Lyon.")
    new = clew("correct", old["id"][:14], "I live in Porto.", "--json").json
    assert (new["supersedes"], set(old["sources"]) < set(new["sources"])) == (old["id"], True)
    story = clew("show", new["id"], "--json").json
    found = [(each["text"], each["status"]) for each in story["revisions"]]
    assert found == [("I live in Lyon.", "superseded"), ("I live in Porto.", "active")]
    proof = [[proof["text"] for proof in each["proof"]] for each in story["revisions"]]
    assert proof == [["I live in Lyon."], ["I live in Porto."]], "the words that it corrects prove what it corrects"
    page = clew("show", new["id"].lower()).out
    assert page.count("from: ") == 2
    assert page.index("1. ") < page.index("2. ")


@pytest.mark.restarts
def test_forgetting_is_shown_and_asked_for_by_a_word_or_by_yes(clew: Clew, monkeypatch: pytest.MonkeyPatch) -> None:
    made = stated(clew, "I live in Lyon.")
    ended = clew("forget", made["id"])
    assert ended.code == 1, "nobody can be asked"
    assert "I live in Lyon." in ended.out
    assert "--yes" in ended.err
    assert len(clew("memories", "--json").json) == 1
    assert clew("forget", made["id"], "--yes").code == 0
    assert clew("memories", "--all", "--json").json == []
    assert clew("forget", made["id"], "--yes").code == 66

    another = stated(clew, "I row.")
    monkeypatch.setattr("sys.stdin", Terminal("forget\n"))
    typed = clew("forget", another["id"])
    assert (typed.code, "This cannot be undone" in typed.err) == (0, True)
    assert clew("memories", "--all", "--json").json == []


@pytest.mark.restarts
def test_a_memory_or_a_message_is_pinned_by_the_beginning_of_its_id(clew: Clew, remember: Remember) -> None:
    message = remember("The tide pools were the best.")
    made = stated(clew, "I live in Lyon.")
    assert clew("pin", made["id"], "--json").json == {"kind": "memory", "id": made["id"], "pinned": True}
    assert [each["id"] for each in clew("memories", "--pinned", "--json").json] == [made["id"]]
    assert clew("pin", message.reply, "--json").json == {"kind": "turn", "id": message.reply, "pinned": True}
    assert clew("show", message.turn, "--json").json["reply"]["pinned"] is True
    assert clew("pin", made["id"], "--off", "--json").json["pinned"] is False
    assert clew("memories", "--pinned", "--json").json == []
    refused(clew, (("pin", "01ARZ3NDEK"), 66, "no memory or message"))


@pytest.mark.restarts
def test_a_core_block_is_written_shown_and_emptied(clew: Clew) -> None:
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
def test_projects_are_made_listed_archived_and_named_in_any_case_of_letters(clew: Clew, remember: Remember) -> None:
    remember("The tide pools were the best.", project="travel")
    assert clew("projects", "--make", "boats", "--about", "All about rowing").code == 0
    found = {each["name"]: each for each in clew("projects", "--json").json}
    assert (found["travel"]["sessions"], found["boats"]["description"]) == (1, "All about rowing")
    archived = {each["name"]: each["status"] for each in clew("projects", "--archive", "travel", "--json").json}
    assert archived == {"travel": "archived", "boats": "active"}
    assert clew("projects", "--archive", "cars").code == 66
    for argv in (("remember", "The lions sleep.", "--project", "boots"), ("memories", "--project", "boots")):
        refused(clew, (argv, 66, "no project boots"), (argv, 66, "Projects: boats, travel."))
    assert clew("memories", "--json").json == []
    assert stated(clew, "The oars are new.", "--project", "BOATS")["project"] == "boats"
    clew("projects", "--make", "BOATS", "--about", "Rowing")
    assert ("boats", "Rowing") in [(each["name"], each["description"]) for each in clew("projects", "--json").json]


@pytest.mark.restarts
def test_a_stand_in_for_what_is_back_is_labelled_as_not_in_use(clew: Clew, remember: Remember, record: Record) -> None:
    one, two = remember("I drink tea."), remember("Tea it is, always.")
    first, second = new_id(), new_id()
    made = observed(first, one.turn, two.turn, text="The user drinks tea")
    again = {"observation": second, "series": second, "sources": (two.turn,), "instead_of": first}
    record(made, TurnHidden(turn=one.turn), made.model_copy(update=again))
    assert "not in use" not in clew("memories").out
    record(TurnUnhidden(turn=one.turn))
    told = clew("memories", "--all").out
    assert told.count("not in use (the version it replaced came back)") == 1
    assert re.search(rf"{first}.* active ", told)
    assert re.search(rf"{second}.* not in use", told)
    assert "not in use" in clew("show", second).out


def test_while_another_clew_has_the_memory_it_is_named(clew: Clew, home: Path) -> None:
    home.mkdir(mode=0o700)
    asked = (("memories",), ("review",), ("remember", "x y"), ("blocks",), ("projects",), ("pin", "01ARZ3NDEK"))
    with held(home):
        refused(clew, *((argv, 75, "in use") for argv in asked))


def test_what_is_shown_obeys_no_terminal_and_what_is_piped_is_taken(clew: Clew) -> None:
    ended = clew("remember", "-", stdin=b"I own\x1b[2J a boat")
    assert ended.code == 0, ended.err
    assert "\x1b" not in clew("memories").out


@pytest.mark.restarts
def test_a_memory_is_made_from_two_and_shows_both_and_what_cannot_be_says_why_and_where_to_look(clew: Clew) -> None:
    lyon, boat = stated(clew, "I live in Lyon."), stated(clew, "I like my boat.", "--kind", "preference")
    pair = ("synthesize", lyon["id"], boat["id"])
    unknown = (("show", "01ARZ3NDEK"), ("forget", "01ARZ3NDEK"), ("correct", "01ARZ3NDEK", "x"))
    refused(
        clew,
        (("synthesize", lyon["id"], lyon["id"], "Both."), 1, "Both are the same memory"),
        (("synthesize", lyon["id"], "NOSUCHID1", "Both."), 66, "There is no memory NOSUCHID1"),
        ((*pair, " "), 2, "Missing text"),
        ((*pair, "word " * 31), 1, "That is 31 words"),
        ((*pair, "I like my boat."), 1, "same memory is already there"),
        *((argv, 66, "clew memories") for argv in unknown),
    )
    assert len(clew("memories", "--json").json) == 2

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
    assert clew("memories", "--type", "opinion", "--json").json == []
    assert clew("undo").code == 0
    assert [each["id"] for each in clew("memories", "--type", "opinion", "--json").json] == [boat["id"]]
