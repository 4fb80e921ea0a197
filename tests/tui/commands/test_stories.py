"""Stories from the shell: begun, played with `clew ask`, cast and cards; what cannot be is refused in words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.errors import AgentError
from agent.home import Home
from agent.settings import Settings
from agent.story.cards import read_card
from tests.agent.story.cards import make
from tests.fakes import FakeGenerator
from tests.tui.commands.conftest import Ended
from tests.tui.commands.test_asking import OneModel
from tui.commands.answering import run_question
from tui.commands.replies import AskRequest, ReplyPrinter
from tui.exit_codes import ExitCode

Run = Callable[..., Ended]
PLAIN = Settings(tools="off", kv_mb=1, reflect=False, recall=False)
MARA: dict[str, Any] = {
    "name": "Mara",
    "description": "A keeper of the lighthouse.",
    "first_mes": "You came, {{user}}.",
    "alternate_greetings": ["Who is there?"],
    "tags": "sea, storm",
}


@pytest.fixture
def mara(tmp_path: Path) -> Path:
    """The file of a card, with something to put right."""
    path = tmp_path / "mara.json"
    path.write_text(json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": MARA}))
    return path


@pytest.fixture
def begun(clew: Run, mara: Path) -> str:
    """A story with a guest, and its chat."""
    ended = clew("story", "begin", "The Lighthouse", "--host", str(mara), "--guest", "Jonas", "--you", "Ada")
    assert (ended.code, ended.err) == (0, "Written as one text, and split at its commas: tags.\n")
    return ended.out.strip()


def ask(session: str, text: str, *replies: str, as_json: bool = False, whisper: str | None = None) -> ExitCode:
    """`clew ask` with a scripted model."""
    request = AskRequest(text, session=session, whisper=whisper)
    loader = OneModel(lambda: FakeGenerator(*replies))
    return run_question(Home.resolve(), PLAIN, request, ReplyPrinter(as_json=as_json), loader=loader)


@pytest.mark.restarts
def test_a_story_is_begun_listed_and_found_by_its_name(clew: Run, begun: str) -> None:
    (listed,) = clew("story", "list", "--json").json
    assert (listed["name"], listed["sessions"]) == ("The Lighthouse", [begun])
    assert begun in clew("story", "list").out
    cast = clew("story", "cast", "the lighthouse", "--json").json
    assert [(each["name"], each["seat"], each["present"]) for each in cast] == [
        ("Ada", "you", True), ("Mara", "host", True), ("Jonas", "guest", True),
    ]  # fmt: skip
    assert clew("story", "away", begun, "jonas").err == "Jonas is away and sees nothing of what follows.\n"
    assert clew("story", "cast", begun).out == "● Ada  you\n● Mara  host\n○ Jonas  guest\n"
    assert clew("story", "present", begun, "Jonas").code == 0
    (session,) = clew("sessions", "--json").json
    assert session["story"] == listed["story"]
    assert "(story) The Lighthouse" in clew("sessions").out


@pytest.mark.restarts
def test_it_is_played_with_ask_and_a_whisper_is_heard_by_one(
    clew: Run, begun: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(begun, "Good evening, Jonas.", "Evening.") is ExitCode.OK
    told = capsys.readouterr()
    assert told.out == "Evening.\n"
    assert told.err.endswith("Jonas:\n")
    assert ask(begun, "The gold is here.", "Ssh.", as_json=True, whisper="mara") is ExitCode.OK
    reply = json.loads(capsys.readouterr().out)
    assert (reply["reply"], reply["speaker"]) == ("Ssh.", "Mara")
    assert "gold" not in clew("story", "seen", begun, "Jonas").out
    seen = clew("story", "seen", begun, "Mara", "--json").json
    assert [(each["speaker"], each["text"]) for each in seen] == [
        ("Mara", "You came, Ada."), ("Ada", "Good evening, Jonas."), ("Jonas", "Evening."),
        ("Ada", "The gold is here."), ("Mara", "Ssh."),
    ]  # fmt: skip
    shown = clew("show", reply["reply_turn"], "--json").json
    assert len(shown["reply"]["witnesses"]) == 2
    assert "Mara · " in clew("show", reply["reply_turn"]).out


@pytest.mark.restarts
def test_a_note_has_no_reply_and_is_no_failure(begun: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(begun, "((make it rain))", "never") is ExitCode.OK
    told = capsys.readouterr()
    assert told.out == ""
    assert "nobody in the story hears that, and there is no reply" in told.err
    assert ask(begun, "((and snow))", "never", as_json=True) is ExitCode.OK
    reply = json.loads(capsys.readouterr().out)
    assert (reply["reply"], reply["session"]) == (None, begun)


@pytest.mark.restarts
def test_whoever_does_not_play_hears_no_whisper(begun: str) -> None:
    with pytest.raises(AgentError, match="Who plays: Ada, Mara, Jonas"):
        ask(begun, "Hello.", "never", whisper="Zoe")


def test_a_whisper_needs_a_chat(clew: Run) -> None:
    ended = clew("ask", "Hello.", "--whisper", "Mara")
    assert ended.code == ExitCode.USAGE
    assert "--whisper needs --session" in ended.err


@pytest.mark.restarts
def test_a_story_is_exported_as_somebody_saw_it_and_scene_by_scene(
    clew: Run, begun: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert clew("story", "scene", begun, "The cellar").code == 0
    ask(begun, "The gold is here.", "Ssh.", whisper="mara")
    ask(begun, "Good evening, Jonas.", "Evening.")
    assert clew("story", "scene", begun, "close").code == 0
    ask(begun, "What now?", "Sleep.")
    capsys.readouterr()
    whole = clew("export", "--session", begun, "--as", "jonas", "--format", "markdown").out
    assert whole.startswith("# The Lighthouse as Jonas saw it\n")
    assert "gold" not in whole
    assert "Sleep." in whole
    assert whole.endswith("## What Jonas keeps of it\n\n- The cellar. Ada: Good evening, Jonas. Jonas: Evening.\n")
    out = tmp_path / "cellar.jsonl"
    assert clew("export", "--session", begun, "--scene", "the CELLAR", "-o", str(out)).code == 0
    told = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(each["speaker"], each["text"], each["saw"]) for each in told] == [
        ("Ada", "The gold is here.", ["Ada", "Mara"]), ("Mara", "Ssh.", ["Ada", "Mara"]),
        ("Ada", "Good evening, Jonas.", ["Ada", "Mara", "Jonas"]), ("Jonas", "Evening.", ["Ada", "Mara", "Jonas"]),
    ]  # fmt: skip
    refused = clew("export", "--session", begun, "--scene", "The attic")
    assert "There is no scene “The attic”. Nothing was written. The scenes are: “The cellar”." in refused.err
    assert "Who plays: Ada, Mara, Jonas" in clew("export", "--session", begun, "--as", "Zoe").err
    assert clew("export", "--as", "Mara").code == ExitCode.USAGE


@pytest.mark.restarts
def test_a_card_goes_out_as_json_and_in_a_picture(clew: Run, begun: str, tmp_path: Path) -> None:
    out, picture = tmp_path / "out.json", tmp_path / "face.png"
    picture.write_bytes(make.png())
    assert clew("story", "card", begun, "mara", "--out", str(out)).code == 0
    assert read_card(out.read_bytes()).greetings == ("You came, {{user}}.", "Who is there?")
    drawn = tmp_path / "out.png"
    assert clew("story", "card", begun, "mara", "--out", str(drawn), "--png", str(picture)).code == 0
    assert read_card(drawn.read_bytes()).name == "Mara"
    refused = clew("story", "card", begun, "mara", "--out", str(tmp_path / "no.png"), "--png", str(out))
    assert refused.code == ExitCode.BAD_DATA
    assert "The picture is not a whole PNG" in refused.err
    assert not (tmp_path / "no.png").exists()


def test_a_card_is_shown_and_nothing_is_stored(clew: Run, mara: Path, home: Path) -> None:
    ended = clew("card", str(mara))
    assert ended.code == 0
    assert ended.out.startswith("Mara\nsea, storm\n\nWho it is\nA keeper of the lighthouse.\n")
    assert ended.err == "Written as one text, and split at its commas: tags.\n"
    told = clew("card", str(mara), "--json").json
    assert (told["name"], told["tags"], told["book_entries"]) == ("Mara", ["sea", "storm"], None)
    assert told["notes"] == ["Written as one text, and split at its commas: tags."]
    assert not home.exists()


@pytest.mark.parametrize(
    ("content", "code", "told"),
    [
        (None, 66, "There is no file"),
        ("{nope", 65, "The card's JSON cannot be read"),
        ("[]", 65, "holds no character card"),
        ("hello", 65, "The file holds no card in the form of JSON, PNG or CHARX"),
    ],
)
def test_what_is_no_card_is_refused_in_a_sentence(
    clew: Run, tmp_path: Path, content: str | None, code: int, told: str
) -> None:
    path = tmp_path / "card.json"
    if content is not None:
        path.write_text(content)
    for words in (("card", str(path)), ("story", "begin", "Twins", "--host", str(path))):
        ended = clew(*words)
        assert (ended.code, ended.out) == (code, "")
        assert told in ended.err
        assert ended.err.count("\n") == 1


@pytest.mark.restarts
def test_what_cannot_be_is_refused_in_words(clew: Run, begun: str) -> None:
    assert clew("story", "cast", "nowhere").code == ExitCode.NOT_FOUND
    twins = clew("story", "begin", "Twins", "--host", "Mara", "--guest", "mara")
    assert (twins.code, "Nothing was begun" in twins.err) == (1, True)
    nobody = clew("story", "present", begun, "Zoe")
    assert (nobody.code, "Who plays: Ada, Mara, Jonas." in nobody.err) == (1, True)


def test_where_there_are_no_stories_the_list_says_how_to_begin_one(clew: Run) -> None:
    ended = clew("story", "list")
    assert (ended.code, ended.out) == (0, "")
    assert "clew story begin NAME --host FILE" in ended.err
    assert clew("story", "list", "--json").json == []


@pytest.mark.restarts
def test_scenes_time_and_what_somebody_knows(clew: Run, begun: str) -> None:
    assert clew("story", "scene", begun, "The tower").err == "The tower begins.\n"
    assert ask(begun, "The key is under the stone, Mara.", "I know.", whisper="Mara") is ExitCode.OK
    assert clew("story", "skip", begun, "dusk", "--tell", "The sun sets.").err == "It is dusk.\n"
    again = clew("story", "skip", begun, "Dusk")
    assert (again.code, "It is Dusk already." in again.err) == (1, True)
    stage = clew("story", "stage", begun, "--json").json
    assert {"owner": "world", "of": "world", "aspect": "clock", "text": "dusk", "by": "user"} in stage
    assert any(each["of"] == "Mara" and "under the stone" in each["text"] for each in stage)
    assert not any(each["of"] == "Jonas" and each["aspect"].startswith("scene:") for each in stage)
    assert "✓ Ada: The key is under the stone, Mara." in clew("knows", "Mara", "key", "stone").out
    assert "✗ Ada: The key is under the stone, Mara." in clew("knows", "Jonas", "key", "stone").out
    told = clew("knows", "Jonas", "key", "--session", begun, "--json").json
    assert (told["topic"], told["goes_by"]) == ("key", None)
    assert "Nobody called “Bob” plays here" in clew("knows", "Bob", "key").err
    closed = clew("story", "scene", begun, "close")
    assert (closed.code, "No scene is open." in closed.err) == (1, True)


@pytest.mark.restarts
def test_without_a_story_nobody_knows_anything(clew: Run) -> None:
    ended = clew("knows", "Mara", "key")
    assert (ended.code, "There are no stories yet." in ended.err) == (1, True)


def test_a_story_that_was_only_begun_is_the_last_chat(clew: Run, begun: str) -> None:
    assert clew("log", "--session", "last", "--json").code == 0
    assert clew("tree", "last").out.count("You came, Ada.") >= 1
