"""Stories from the shell: begun, played with `clew ask`, cast and cards; what cannot be is refused in words."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.errors import AgentError
from agent.home import Home
from agent.settings import Settings
from agent.story.cards import read_card
from tests.agent.story.cards import make
from tests.fakes import FakeGenerator
from tests.tui.commands.conftest import Clew, Ended, refused
from tests.tui.commands.test_asking import OneModel
from tui.commands.answering import run_question
from tui.commands.replies import AskRequest, ReplyPrinter
from tui.exit_codes import ExitCode

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
def begun(clew: Clew, mara: Path) -> str:
    """A story with a guest, and its chat."""
    ended = clew("story", "begin", "The Lighthouse", "--host", str(mara), "--guest", "Jonas", "--you", "Ada")
    assert (ended.code, ended.err) == (0, "Written as one text, and split at its commas: tags.\n")
    return ended.out.strip()


@pytest.fixture
def ask(begun: str, capsys: pytest.CaptureFixture[str]) -> Clew:
    """`clew ask` in that chat, with a scripted model."""

    def call(text: str, *replies: str, as_json: bool = False, whisper: str | None = None) -> Ended:
        capsys.readouterr()
        request = AskRequest(text, session=begun, whisper=whisper)
        loader = OneModel(lambda: FakeGenerator(*replies))
        code = run_question(Home.resolve(), PLAIN, request, ReplyPrinter(as_json=as_json), loader=loader)
        return Ended(code, *capsys.readouterr())

    return call


@pytest.mark.restarts
def test_a_story_is_begun_listed_and_found_by_its_name(clew: Clew, begun: str) -> None:
    assert clew("log", "--session", "last", "--json").code == 0
    assert clew("tree", "last").out.count("You came, Ada.") >= 1, "it is the last chat, though it was only begun"
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
def test_it_is_played_with_ask_a_whisper_is_heard_by_one_a_note_by_none(clew: Clew, ask: Clew, begun: str) -> None:
    told = ask("Good evening, Jonas.", "Evening.")
    assert (told.code, told.out) == (ExitCode.OK, "Evening.\n")
    assert told.err.endswith("Jonas:\n")
    reply = ask("The gold is here.", "Ssh.", as_json=True, whisper="mara").json
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

    note = ask("((make it rain))", "never")
    assert (note.code, note.out) == (ExitCode.OK, "")
    assert "nobody in the story hears that, and there is no reply" in note.err
    reply = ask("((and snow))", "never", as_json=True).json
    assert (reply["reply"], reply["session"]) == (None, begun)
    with pytest.raises(AgentError, match="Who plays: Ada, Mara, Jonas"):
        ask("Hello.", "never", whisper="Zoe")


@pytest.mark.restarts
def test_a_story_is_exported_as_one_saw_it_scene_by_scene(clew: Clew, ask: Clew, begun: str, tmp_path: Path) -> None:
    assert clew("story", "scene", begun, "The cellar").code == 0
    ask("The gold is here.", "Ssh.", whisper="mara")
    ask("Good evening, Jonas.", "Evening.")
    assert clew("story", "scene", begun, "close").code == 0
    ask("What now?", "Sleep.")
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
    unknown = clew("export", "--session", begun, "--scene", "The attic")
    assert "There is no scene “The attic”. Nothing was written. The scenes are: “The cellar”." in unknown.err
    assert "Who plays: Ada, Mara, Jonas" in clew("export", "--session", begun, "--as", "Zoe").err
    assert clew("export", "--as", "Mara").code == ExitCode.USAGE


@pytest.mark.restarts
def test_a_card_goes_out_as_json_and_in_a_picture(clew: Clew, begun: str, tmp_path: Path) -> None:
    out, picture = tmp_path / "out.json", tmp_path / "face.png"
    picture.write_bytes(make.png())
    assert clew("story", "card", begun, "mara", "--out", str(out)).code == 0
    assert read_card(out.read_bytes()).greetings == ("You came, {{user}}.", "Who is there?")
    drawn = tmp_path / "out.png"
    assert clew("story", "card", begun, "mara", "--out", str(drawn), "--png", str(picture)).code == 0
    assert read_card(drawn.read_bytes()).name == "Mara"
    no_picture = ("--out", str(tmp_path / "no.png"), "--png", str(out))
    refused(clew, (("story", "card", begun, "mara", *no_picture), 65, "The picture is not a whole PNG"))
    assert not (tmp_path / "no.png").exists()


def test_a_card_is_shown_and_nothing_is_stored(clew: Clew, mara: Path, home: Path) -> None:
    ended = clew("card", str(mara))
    assert ended.code == 0
    assert ended.out.startswith("Mara\nsea, storm\n\nWho it is\nA keeper of the lighthouse.\n")
    assert ended.err == "Written as one text, and split at its commas: tags.\n"
    told = clew("card", str(mara), "--json").json
    assert (told["name"], told["tags"], told["book_entries"]) == ("Mara", ["sea", "storm"], None)
    assert told["notes"] == ["Written as one text, and split at its commas: tags."]
    assert not home.exists()


def test_what_is_no_card_is_refused_in_a_sentence(clew: Clew, tmp_path: Path) -> None:
    for content, code, told in (
        (None, 66, "There is no file"),
        ("{nope", 65, "The card's JSON cannot be read"),
        ("[]", 65, "holds no character card"),
        ("hello", 65, "The file holds no card in the form of JSON, PNG or CHARX"),
    ):
        path = tmp_path / "card.json"
        if content is not None:
            path.write_text(content)
        for words in (("card", str(path)), ("story", "begin", "Twins", "--host", str(path))):
            ended = clew(*words)
            assert (ended.code, ended.out) == (code, "")
            assert told in ended.err
            assert ended.err.count("\n") == 1


@pytest.mark.restarts
def test_what_cannot_be_is_refused_in_words(clew: Clew, begun: str) -> None:
    refused(
        clew,
        (("story", "cast", "nowhere"), 66, ""),
        (("story", "begin", "Twins", "--host", "Mara", "--guest", "mara"), 1, "Nothing was begun"),
        (("story", "present", begun, "Zoe"), 1, "Who plays: Ada, Mara, Jonas."),
    )


@pytest.mark.restarts
def test_where_there_are_no_stories_the_list_says_how_to_begin_one_and_nobody_knows_anything(clew: Clew) -> None:
    ended = clew("story", "list")
    assert (ended.code, ended.out) == (0, "")
    assert "clew story begin NAME --host FILE" in ended.err
    assert clew("story", "list", "--json").json == []
    refused(clew, (("knows", "Mara", "key"), 1, "There are no stories yet."))


@pytest.mark.restarts
def test_scenes_time_and_what_somebody_knows(clew: Clew, ask: Clew, begun: str) -> None:
    assert clew("story", "scene", begun, "The tower").err == "The tower begins.\n"
    assert ask("The key is under the stone, Mara.", "I know.", whisper="Mara").code is ExitCode.OK
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
