"""A story's chat in words: who is there, who saw a message, to whom the next one goes, who seems to have left."""

from dataclasses import replace
from datetime import UTC, datetime

from graph.values import StageLine, Turn
from tui.scene import bar_content, cue_of, facts_of, hearing, hearing_content, moves_in, newest_of, whispered
from tui.state import CastMember, Cue, Scene
from tui.stories.kickoff import Beginning, settings_in
from tui.widgets.message import acted, cue_content

ADA = CastMember("01A", "Ada", "you", True)
MARA = CastMember("01B", "Mara Vance", "host", True)
JONAS = CastMember("01C", "Jonas", "guest", True)
SCENE = Scene("S", "W", "The Lighthouse", (ADA, MARA, JONAS))
ALONE = Scene("S", "W", "The Lighthouse", (ADA, MARA, CastMember("01C", "Jonas", "guest", False)))


def said(text: str, by: CastMember = ADA, saw: tuple[CastMember, ...] = SCENE.cast, id: str = "02A") -> Turn:
    role = "user" if by is ADA else "assistant"
    witnesses = tuple(each.id for each in saw)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Turn(id, "S", None, 0, role, by.name, text, at, "chat", member=by.id, witnesses=witnesses)


def test_a_message_says_who_speaks_and_names_who_saw_it_where_not_everybody_did() -> None:
    assert cue_of(said("Hello."), SCENE) == Cue("Ada", "you")
    assert cue_content(cue_of(said("Hello.", MARA), SCENE), brief=False).plain == "Mara Vance"
    cue = cue_of(said("The log.", saw=(ADA, MARA)), SCENE)
    assert cue_content(cue, brief=False).plain == "Ada   ● Ada ● Mara Vance ○ Jonas"
    assert cue_content(cue, brief=True).plain == "Ada   ● A ● M ○ J"
    alike = Cue("Mara", "host", (("Mara", "host", True), ("Mark", "guest", False)))
    assert cue_content(alike, brief=True).plain == "Mara   ● Mara ○ Mark"
    alike = Cue("Jo", "you", (("Jo", "you", True), ("Jan", "host", False)))
    assert cue_content(alike, brief=True).plain == "Jo   ● Jo ○ Ja"
    assert cue_of(said("Hello.", saw=(ADA, MARA), id="01B9"), SCENE).saw == (), "who came later is not absent"
    assert cue_of(said("Hello.", saw=(ADA, MARA), id="01C9"), SCENE).saw[-1] == ("Jonas", "guest", False)


def test_the_bar_names_the_story_and_where_it_stands_as_far_as_there_is_room() -> None:
    cast = "● you ● Mara Vance ○ Jonas"
    assert bar_content(ALONE, 80, named=True).plain == f"The Lighthouse · {cast}"
    assert bar_content(ALONE, 80, named=False).plain == cast
    assert bar_content(ALONE, 40, named=True).plain == f"The Lighth… · {cast}"
    there = replace(ALONE, facts=("Act one", "the lamp room", "dusk, storm"))
    whole = f"The Lighthouse · Act one · the lamp room · dusk, storm · {cast}"
    assert bar_content(there, 90, named=True).plain == whole
    assert bar_content(there, 60, named=False).plain == f"Act one · the lamp room · {cast}"
    assert bar_content(there, 60, named=False, brief=True).plain == f"Act one · {cast}"
    for width in range(1, 100):
        assert bar_content(ALONE, width, named=True).cell_length <= width
        assert bar_content(there, width, named=True).cell_length <= width


def test_facts_are_those_of_the_world_and_what_a_beginning_says_is_offered_to_be_set() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)

    def line(owner: str, aspect: str, text: str | None) -> StageLine:
        return StageLine(owner, aspect, text, None, "user", 1, at, None)

    stage = [
        line("world", "weather", "storm"), line("world", "clock", "dusk"), line("01B", "place", "the stairs"),
        line("world", "place", "the lamp\nroom"), line("world", "scene", None),
    ]  # fmt: skip
    assert facts_of(stage) == ("the lamp room", "dusk, storm")
    assert facts_of([]) == ()
    names = (("you", "Ada"), ("host", "Mara Vance"), ("guest", "Jonas"))
    read = settings_in(
        Beginning("It is dusk. A storm is raging.\nPlace: the lighthouse\nJonas is in the cellar.", names)
    )
    assert [(each.owner, each.label, each.value) for each in read] == [
        ("world", "Place", "the lighthouse"), ("world", "Time", "dusk"), ("world", "Weather", "storm"),
        ("guest", "Jonas", "in the cellar"),
    ]  # fmt: skip
    assert settings_in(Beginning("", names)) == []


def hears(text: str, scene: Scene = SCENE) -> str | None:
    found = hearing(text, scene)
    return hearing_content(found).plain if found is not None else None


HEARD = {
    "": "→ Mara Vance",
    "Hello there.": "→ Mara Vance",
    "Jonas, whose boat is it?": "→ Jonas",
    "Tell Jonas I'm fine, Mara.": "→ Mara Vance",
    "/whisper jonas Run.": "whisper → Jonas",
    "/whisper mara vance The log.": "whisper → Mara Vance",
    "/whisper": "whisper → ?",
    "((make it rain))": "out of character: nobody in the story hears it",
    "/cast": None,
    "/nonsense": None,
}


def test_it_is_known_to_whom_a_message_goes_of_those_who_are_present() -> None:
    assert {text: hears(text) for text in HEARD} == HEARD
    assert hears("Jonas, come!", ALONE) == "→ Mara Vance"
    assert hears("Hello?", Scene("S", "W", "Empty", (ADA,))) == "nobody is here to answer · /cast"


def test_a_whisper_is_to_a_whole_name_or_to_a_word_of_it() -> None:
    assert whispered("Mara Vance the log\nis here", SCENE.voices) == (MARA, "the log\nis here")
    assert whispered("mara: the log", SCENE.voices) == (MARA, "the log")
    assert whispered("Zoe the log", SCENE.voices) == (None, "the log")
    assert whispered("Jonas", SCENE.voices) == (JONAS, "")
    assert whispered("", SCENE.voices) == (None, "")


def test_who_left_is_told_at_the_message_that_says_so_and_the_newest_exchange_is_known() -> None:
    left = said("*Jonas leaves the room*", id="03A")
    assert moves_in([left], SCENE)["03A"].name == "Jonas"
    assert moves_in([left], ALONE) == {}, "he is away already"
    assert moves_in([said("*I leave the room*")], SCENE) == {}, "whoever is you says that alone"
    assert moves_in([said("Hello, Jonas.")], SCENE) == {}
    back = moves_in([said("*Jonas comes back into the room*", id="03B")], ALONE)
    assert [(move.name, move.here) for move in back.values()] == [("Jonas", True)]
    turns = [said("One."), said("Two.", MARA), said("Three."), said("Four.", MARA), said("Five.", JONAS)]
    assert [turn.text for turn in newest_of(turns)] == ["Three.", "Four.", "Five."]
    assert [turn.text for turn in newest_of(turns[1:2])] == ["Two."]
    assert newest_of([]) == []


def test_what_is_done_stands_in_italics_without_its_asterisks() -> None:
    words = acted("*looks up* You came. 2*3*4 **now**")
    assert words.plain == "looks up You came. 2*3*4 **now**"
    assert [(span.start, span.end, str(span.style)) for span in words.spans if "italic" in str(span.style)] == [
        (0, 8, "italic")
    ]


def test_a_spot_in_the_room_is_a_posture_and_no_place_of_its_own() -> None:
    prose = "Mara stands at the window. Jonas sits by the stove. Ada is at the door."
    found = settings_in(Beginning(prose, (("host", "Mara"), ("guest", "Jonas"), ("you", "Ada"))))
    assert {(each.owner, each.aspect, each.value) for each in found} == {
        ("host", "posture", "stands at the window"),
        ("guest", "posture", "sits by the stove"),
        ("you", "posture", "at the door"),
    }
