"""Stories on the screen: who speaks and who saw it, the cast, whispers, and how one is begun."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from agent.story.cards import Card, read_card
from tests.agent.story.cards import make
from tests.tui.conftest import Running, agree, here, screen_text, settled, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.test_branching import words
from tui.app import ClewApp
from tui.stories.begin import StoryScreen
from tui.stories.cast import CastScreen
from tui.stories.skip import SkipScreen
from tui.stories.witnesses import WitnessScreen
from tui.text import one_line
from tui.widgets.message import Aside, AssistantMessage, Message, UserMessage

MARA = Card(
    name="Mara",
    description="A keeper of the lighthouse.",
    greetings=("*looks up* You came, {{user}}.", "Who is there?"),
    scenario="A storm at {{char}}'s tower.",
)
JONAS = Card(name="Jonas", description="A smuggler.")
SIZES = [(40, 24), (72, 24), (104, 30), (160, 44)]


def storyteller(*replies: str) -> ScriptedAgent:
    """A model that gives these replies, and the last again and again."""
    left = list(replies or ("Hm.",))
    return ScriptedAgent(reply=lambda prompt: left.pop(0) if len(left) > 1 else left[0], tools="off", recall=False)


async def begun(app: ClewApp, pilot: Pilot[int], *, guest: Card | None = JONAS) -> str:
    """A story on the screen."""
    assert app.view.chat is not None
    session = await app.view.chat.service.stories.begin("The Lighthouse", MARA, guest=guest, you="Ada")
    await app.open_session(session)
    await wait_until(pilot, lambda: app.view.scene is not None and "Mara" in cues(app), "the story")
    return session


async def say(app: ClewApp, pilot: Pilot[int], text: str, shows: Callable[[], object]) -> None:
    app.view.composer.put(text)
    await pilot.press("enter")
    await wait_until(pilot, lambda: shows() and app.view.state.reply is None and not app.view.state.waiting, text)


async def replied(app: ClewApp, pilot: Pilot[int], text: str) -> None:
    """Say something, and wait for the whole reply to it."""
    before = sum(turn.role == "assistant" for turn in app.view.transcript.window.turns)
    await say(
        app,
        pilot,
        text,
        lambda: sum(turn.role == "assistant" for turn in app.view.transcript.window.turns) > before,
    )


def cues(app: ClewApp) -> list[str]:
    """Who speaks, of each message with a name above it."""
    return [message.cue.name for message in app.view.transcript.messages if message.cue is not None]


def saw(message: Message) -> str:
    """Who saw it, where that is told: `Ada Mara -Jonas`."""
    assert message.cue is not None
    return " ".join(f"{'' if there else '-'}{name}" for name, _, there in message.cue.saw)


def lines(app: ClewApp) -> list[str]:
    return [line.strip() for line in screen_text(app).replace("▌", " ").replace("▊", " ").splitlines()]


def address(app: ClewApp) -> str:
    """To whom the composer says that a message goes."""
    return Content.from_markup(str(app.view.composer.border_title or "")).plain


def bar(app: ClewApp) -> str:
    """The line below the title."""
    found = app.query("#scene")
    return str(found.first().render()) if found and found.first().display else ""


def contains(app: ClewApp, told: str) -> bool:
    """Whether these words are on the screen."""
    return told in words(app)


# The chat


async def test_a_storys_chat_says_who_speaks_and_what_is_done_in_italics(chat: Running) -> None:
    async with chat(storyteller("*nods* Fine."), size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "*shakes off the rain* Mara, how are you?")
        assert cues(app) == ["Mara", "Ada", "Mara"]
        told = lines(app)
        assert told[1] == "● you ● Mara ● Jonas"
        assert "shakes off the rain Mara, how are you?" in told
        assert "nods Fine." in told
        assert [each.has_class("-host") for each in app.view.transcript.messages] == [True, False, True]
        assert all(saw(each) == "" for each in app.view.transcript.messages)


async def test_the_name_stands_above_a_reply_from_its_first_word_on(chat: Running) -> None:
    agent = storyteller("One two three.")
    async with chat(agent) as (app, pilot):
        await begun(app, pilot)
        agent.go.clear()
        app.view.composer.put("Jonas?")
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None, "a reply")
        answer = app.view.transcript.messages[-1]
        assert isinstance(answer, AssistantMessage)
        assert answer.cue is not None
        assert (answer.cue.name, answer.cue.seat) == ("Jonas", "guest")
        agent.let_go()
        await wait_until(pilot, lambda: app.view.state.reply is None)


async def test_a_whisper_and_its_answer_say_who_saw_them(chat: Running) -> None:
    async with chat(storyteller("Ssh."), size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        app.view.composer.put("/whisper mara The log is hidden.")
        await wait_until(pilot, lambda: address(app) == "whisper → Mara", "to whom")
        await replied(app, pilot, "/whisper mara The log is hidden.")
        whispered, answer = app.view.transcript.messages[-2:]
        assert whispered.text == "The log is hidden."
        assert saw(whispered) == saw(answer) == "Ada Mara -Jonas"
        assert "Ada   ● Ada ● Mara ○ Jonas" in lines(app)


async def test_of_a_long_message_it_is_told_too_to_whom_it_goes(chat: Running) -> None:
    async with chat(storyteller()) as (app, pilot):
        await begun(app, pilot)
        await wait_until(pilot, lambda: address(app) == "→ Mara", "the host")
        app.view.composer.put(f"{'It rains. ' * 80}Do you hear it, Jonas?")
        await wait_until(pilot, lambda: address(app) == "→ Jonas", "the one who is called")
        app.view.composer.put("/cast")
        await wait_until(pilot, lambda: address(app) == "", "a command")


async def test_a_whisper_to_nobody_stays_in_the_composer(chat: Running) -> None:
    async with chat(storyteller()) as (app, pilot):
        await begun(app, pilot)
        for typed in ("/whisper Zoe Hello.", "/whisper Mara"):
            await pilot.press("ctrl+c")
            app.view.composer.put(typed)
            await pilot.press("enter")
            await wait_until(pilot, lambda: "Write /whisper NAME" in words(app), "how to")
            assert app.view.composer.text == typed
        assert len(app.view.transcript.messages) == 1


async def test_what_is_said_out_of_character_is_dimmed_and_nobody_is_waited_for(chat: Running) -> None:
    agent = storyteller("Hm.")
    async with chat(agent) as (app, pilot):
        await begun(app, pilot)
        await say(app, pilot, "((make it rain))", lambda: isinstance(app.view.transcript.messages[-1], Aside))
        assert "((make it rain))" in lines(app)
        assert "ready" in status_line(app)
        await replied(app, pilot, "Good evening. ((she should be angry))")
        kinds = [(type(each), each.text) for each in app.view.transcript.messages[2:]]
        assert kinds == [
            (Aside, "((she should be angry))"), (UserMessage, "Good evening."), (AssistantMessage, "Hm."),
        ]  # fmt: skip


async def test_a_note_stands_above_its_message_from_the_first_moment_and_after_a_look_elsewhere(chat: Running) -> None:
    agent = storyteller("Hm.")
    other = agent.add_session("Bread", ("How long?", "Overnight."))
    async with chat(agent) as (app, pilot):
        session = await begun(app, pilot)
        agent.go.clear()
        app.view.composer.put("Good evening. ((be rude))")
        await pilot.press("enter")
        await wait_until(pilot, lambda: len(app.view.transcript.messages) == 4, "message and reply")
        expected = [AssistantMessage, Aside, UserMessage, AssistantMessage]
        assert [type(each) for each in app.view.transcript.messages] == expected
        agent.let_go()
        await wait_until(pilot, lambda: app.view.state.reply is None)
        await app.open_session(other)
        assert bar(app) == ""
        assert cues(app) == []
        assert address(app) == ""
        await app.open_session(session)
        await wait_until(pilot, lambda: bar(app) != "", "the bar")
        assert [type(each) for each in app.view.transcript.messages] == expected


async def test_what_you_tell_of_time_and_places_is_proposed_and_one_key_agrees(chat: Running) -> None:
    async with chat(storyteller("Hm."), size=(100, 30)) as (app, pilot):
        session = await begun(app, pilot)
        await replied(app, pilot, "*we walk over to the old chapel*")
        await wait_until(pilot, lambda: "To the old chapel" in words(app), "a place is proposed")
        await pilot.press("tab", "a")
        await wait_until(pilot, lambda: bar(app).startswith("the old chapel"), "the scene")
        await wait_until(pilot, lambda: "To the old chapel · Tab" not in words(app), "it is settled")
        app.view.composer.focus()
        await replied(app, pilot, "I saw him three days later.")
        await replied(app, pilot, "Three days later, the ferry is back.")
        await wait_until(pilot, lambda: "Time passes: Three days later" in words(app), "time is proposed")
        await pilot.press("tab", "a")
        await wait_until(pilot, lambda: isinstance(app.screen, SkipScreen), "how it passes")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Three days later" in bar(app), "it passed")
        assert app.view.chat is not None
        scenes = await app.view.chat.service.stories.scenes(session)
        assert [(each.title, each.open) for each in scenes] == [("the old chapel", False)]
        app.view.composer.focus()
        await replied(app, pilot, "Fade to black.")
        await settled(pilot, app)
        assert "seems to be over" not in words(app), "no scene is open"


async def test_the_bar_and_the_chips_follow_presence_and_going_back(chat: Running) -> None:
    async with chat(storyteller("Hm."), size=(100, 30)) as (app, pilot):
        session = await begun(app, pilot)
        app.perform("away", "jonas")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ○ Jonas", "he is away")
        await wait_until(pilot, lambda: "/present Jonas is the way back" in words(app), "how to undo it")
        await replied(app, pilot, "The treasure is under the stairs.")
        assert saw(app.view.transcript.messages[-1]) == "Ada Mara -Jonas"
        app.perform("away", "jonas")
        await wait_until(pilot, lambda: "Jonas is away already." in words(app), "told")
        app.perform("present", "")  # the only one who can be meant
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ● Jonas", "he is back")
        assert app.view.chat is not None
        service = app.view.chat.service
        app.perform("undo", "")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ○ Jonas", "undone")
        await replied(app, pilot, "Where is he?")
        app.perform("present", "")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ● Jonas", "he is back")
        await service.branches.rewind(session, (await service.chats.thread(session))[2].id)
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ○ Jonas", "as it was then")


async def test_the_other_one_answers_next_below_the_first(chat: Running) -> None:
    async with chat(storyteller("First.", "Second.", "Third."), size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "Mara?")
        await pilot.press("tab", "i")
        await wait_until(pilot, lambda: "Second." in words(app) and app.view.state.reply is None, "the other")
        await wait_until(pilot, lambda: len(app.view.transcript.window.turns) == 4, "settled")
        assert cues(app) == ["Mara", "Ada", "Mara", "Jonas"]
        app.perform("speak", "mara")
        await wait_until(pilot, lambda: "Third." in words(app) and app.view.state.reply is None, "by name")
        assert cues(app)[-1] == "Mara"
        assert [each.text for each in app.view.transcript.messages[-3:]] == ["First.", "Second.", "Third."]


async def test_a_second_answer_made_anew_leaves_the_first_where_it_is(chat: Running) -> None:
    agent = storyteller("First.", "Second.", "Third.")
    async with chat(agent, size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "Mara?")
        app.perform("speak")
        await wait_until(pilot, lambda: len(app.view.transcript.window.turns) == 4, "both")
        agent.go.clear()
        app.perform("regenerate")
        await wait_until(pilot, lambda: app.view.state.reply is not None, "a reply")
        assert [each.text for each in app.view.transcript.messages[:3]][1:] == ["Mara?", "First."]
        assert cues(app) == ["Mara", "Ada", "Mara", "Jonas"]
        agent.let_go()
        await wait_until(pilot, lambda: app.view.state.reply is None and "Third." in words(app), "anew")
        await settled(pilot, app)
        assert [each.text for each in app.view.transcript.messages[1:]] == ["Mara?", "First.", "Third."]
        assert app.view.transcript.messages[-1].alternatives is not None


async def test_nobody_else_who_could_answer_is_told(chat: Running) -> None:
    async with chat(storyteller()) as (app, pilot):
        await begun(app, pilot, guest=None)
        app.perform("speak")
        await wait_until(pilot, lambda: "Nobody else is here who could answer." in words(app), "told")


async def test_the_letters_of_a_story_are_typed_in_any_other_chat(chat: Running) -> None:
    agent = storyteller()
    agent.add_session("Bread", ("How long?", "Overnight."))
    async with chat(agent) as (app, pilot):
        await pilot.press("tab", "i")
        await wait_until(pilot, lambda: app.view.composer.text == "i", "typed")


async def test_a_guess_who_left_is_a_line_that_one_key_confirms(chat: Running) -> None:
    async with chat(storyteller("Hm."), size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "Mara, look. *Jonas leaves the tower*")
        told = "Jonas seems to have left · Tab, a takes them off the scene"
        await wait_until(pilot, lambda: told in lines(app), "the guess")
        assert bar(app) == "● you ● Mara ● Jonas", "never by itself"
        await pilot.press("tab", "a")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ○ Jonas", "confirmed")
        await wait_until(pilot, lambda: told not in lines(app), "settled")


# Who saw it


async def test_who_saw_a_message_is_put_right_by_hand(chat: Running) -> None:
    async with chat(storyteller("Hm."), size=(100, 30)) as (app, pilot):
        session = await begun(app, pilot)
        await replied(app, pilot, "The treasure is under the stairs.")
        await pilot.press("tab", "k", "W")
        await wait_until(pilot, lambda: isinstance(app.screen, WitnessScreen) and "Who saw this?" in words(app))
        assert "taken out of its prompt" in words(app)
        await pilot.press("down", "down", "space", "enter")
        await wait_until(pilot, lambda: saw(app.view.transcript.messages[1]) == "Ada Mara -Jonas", "the chips")
        assert app.view.chat is not None
        stories = app.view.chat.service.stories
        seen = await stories.seen_by(session, await stories.named(session, "Jonas"))
        assert [turn.text for turn in seen] == ["*looks up* You came, Ada.", "Hm."]


async def test_nothing_changes_where_the_witnesses_are_left(chat: Running) -> None:
    async with chat(storyteller("Hm.")) as (app, pilot):
        await begun(app, pilot)
        await pilot.press("tab", "W")
        await wait_until(pilot, lambda: isinstance(app.screen, WitnessScreen))
        await pilot.press("space", "escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert saw(app.view.transcript.messages[0]) == ""
        await pilot.press("escape")
        await say(app, pilot, "((hm))", lambda: isinstance(app.view.transcript.messages[-1], Aside))
        app.view.transcript.messages[-1].focus()
        await pilot.press("W")
        assert len(app.screen_stack) == 1, "nobody hears a note"


async def test_the_story_can_be_read_as_somebody_saw_it(chat: Running) -> None:
    async with chat(storyteller("Ssh."), size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "/whisper Mara The gold is here.")
        app.perform("seen", "jonas")
        await wait_until(pilot, lambda: "as Jonas saw it" in words(app), "a page")
        assert "You came, Ada." in words(app)
        assert "gold" not in words(app)
        await pilot.press("escape")
        app.perform("seen")
        await wait_until(pilot, lambda: "The story as whom?" in words(app), "a choice")
        await pilot.press("up", "enter")
        await wait_until(pilot, lambda: "as Mara saw it" in words(app), "hers")
        assert "gold" in words(app)


# The cast


async def cast(app: ClewApp, pilot: Pilot[int]) -> CastScreen:
    app.perform("cast")
    await wait_until(pilot, lambda: isinstance(app.screen, CastScreen) and "the host" in words(app), "the cast")
    assert isinstance(app.screen, CastScreen)
    return app.screen


async def answer(pilot: Pilot[int], title: str, line: str) -> None:
    """Fill in the line that is asked for."""
    app = pilot.app
    await wait_until(pilot, lambda: title in " ".join(screen_text(app).split()), title)
    app.screen.query_one(Input).value = line
    await pilot.press("enter")


async def test_the_cast_comes_and_goes_and_is_renamed(chat: Running, tmp_path: Path) -> None:
    (tmp_path / "jonas.json").write_text(json.dumps({"name": "Jonas", "description": "A smuggler."}))
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        await begun(app, pilot, guest=None)
        await cast(app, pilot)
        await pilot.press("down", "space")
        await wait_until(pilot, lambda: "the host · away" in words(app), "away")
        await pilot.press("space")
        await wait_until(pilot, lambda: "the host · on the scene" in words(app), "back")
        await pilot.press("n")
        await answer(pilot, "Whose card joins", str(tmp_path / "nothing.json"))
        await wait_until(pilot, lambda: "cannot be read" in words(app), "refused")
        await answer(pilot, "Whose card joins", str(tmp_path / "jonas.json"))
        await wait_until(pilot, lambda: "the guest · on the scene" in words(app), "joined")
        await pilot.press("n")
        await answer(pilot, "Whose card joins", str(tmp_path / "jonas.json"))
        await wait_until(pilot, lambda: "There is a guest already." in words(app), "there is no other seat")
        await pilot.press("end", "e")
        await answer(pilot, "What are they called?", "Mara")
        await wait_until(pilot, lambda: "Mara plays already." in words(app), "not twice")
        await pilot.press("e")
        await answer(pilot, "What are they called?", "Jon")
        await wait_until(pilot, lambda: "Jonas is called Jon from here on." in words(app), "renamed")
        await pilot.press("l")
        await wait_until(pilot, lambda: "Jon has left the story." in words(app), "left")
        await wait_until(pilot, lambda: "the guest" not in words(app), "gone")
        await pilot.press("u")
        await wait_until(pilot, lambda: "the guest" in words(app), "undone")
        await pilot.press("home", "l")
        await wait_until(pilot, lambda: "Only a guest can leave the cast." in words(app), "you stay")
        await pilot.press("escape")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ● Jon", "the bar")


async def test_a_reset_asks_first_and_is_undone(chat: Running) -> None:
    agent = storyteller("Hm.")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        await replied(app, pilot, "The treasure is under the stairs.")
        assert app.view.chat is not None
        stories = app.view.chat.service.stories
        mara = await stories.named(session, "Mara")
        await cast(app, pilot)
        await pilot.press("down", "R")
        await wait_until(pilot, lambda: "Reset Mara?" in words(app), "a question")
        assert "/undo undoes it" in words(app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, CastScreen), "cancelled")
        assert len(await stories.seen_by(session, mara)) == 3
        await pilot.press("R")
        await agree(pilot)
        await wait_until(pilot, lambda: "Mara has forgotten everything so far." in words(app), "reset")
        assert await stories.seen_by(session, mara) == []
        await pilot.press("u")
        await wait_until(pilot, lambda: "that has been undone" in words(app), "undone")
        assert len(await stories.seen_by(session, mara)) == 3


async def test_a_card_is_written_as_json_and_into_a_picture(chat: Running, tmp_path: Path) -> None:
    picture = tmp_path / "face.png"
    picture.write_bytes(make.png())
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        await begun(app, pilot)
        await cast(app, pilot)
        await pilot.press("down", "x")
        await answer(pilot, "Write the card of Mara to which file?", str(tmp_path / "mara.json"))
        await wait_until(pilot, lambda: "Written to" in words(app), "written")
        assert read_card((tmp_path / "mara.json").read_bytes()).greetings == MARA.greetings
        await pilot.press("x")
        await answer(pilot, "Write the card of Mara to which file?", str(tmp_path / "mara.png"))
        await answer(pilot, "Into which PNG picture?", str(picture))
        await wait_until(pilot, lambda: (tmp_path / "mara.png").exists(), "a picture")
        assert read_card((tmp_path / "mara.png").read_bytes()).name == "Mara"
        await pilot.press("x")
        await answer(pilot, "Write the card of Mara to which file?", str(tmp_path / "mara.png"))
        await wait_until(pilot, lambda: "Overwrite mara.png?" in words(app), "asked first")
        await pilot.press("escape")
        await pilot.press("x")
        await answer(pilot, "Write the card of Mara to which file?", str(tmp_path / "other.png"))
        await answer(pilot, "Into which PNG picture?", str(tmp_path / "mara.json"))
        await wait_until(pilot, lambda: "The picture is not a whole PNG" in words(app), "refused")
        assert not (tmp_path / "other.png").exists()


# Beginning


async def page(app: ClewApp, pilot: Pilot[int], argument: str = "") -> StoryScreen:
    app.perform("story", argument)
    await wait_until(pilot, lambda: isinstance(app.screen, StoryScreen) and "A new story" in words(app), "the page")
    assert isinstance(app.screen, StoryScreen)
    return app.screen


def fill(screen: StoryScreen, **fields: str) -> None:
    for name, text in fields.items():
        field = screen.query_one(f"#story-{name.replace('_', '-')}")
        if isinstance(field, Input):
            field.value = text
        elif isinstance(field, TextArea):
            field.text = text


async def test_a_story_is_begun_from_cards_with_what_was_put_right_and_another_greeting(
    chat: Running, tmp_path: Path
) -> None:
    raw: dict[str, Any] = {
        "name": "Mara",
        "description": "A keeper.",
        "first_mes": "You came, {{user}}.",
        "alternate_greetings": ["Who is there?"],
        "character_book": None,
    }
    (tmp_path / "mara.json").write_text(json.dumps({"spec": "chara_card_v2", "data": raw}))
    async with chat(storyteller("Hm."), size=(120, 40)) as (app, pilot):
        screen = await page(app, pilot, "The Lighthouse")
        fill(screen, you="Ada", host=str(tmp_path / "mara.json"), guest="Jonas", guest_is="A smuggler.")
        await wait_until(pilot, lambda: "Jonas is the guest" in words(app), "who is who")
        assert "Ada is played by you" in words(app)
        assert "Read as empty, since it was null: character_book." in words(app)
        assert "You came, Ada." in words(app)
        screen.query_one("Greetings").focus()
        await pilot.press("right")
        await wait_until(pilot, lambda: "‹2/2›" in words(app) and "Who is there?" in words(app), "the other")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ● Jonas", "the story")
        assert [each.text for each in app.view.transcript.messages] == ["Who is there?"]
        assert app.view.title.render() is not None
        assert "The Lighthouse" in lines(app)[0]


async def test_what_the_beginning_says_is_confirmed_and_set_on_the_stage(chat: Running) -> None:
    async with chat(storyteller("Hm."), size=(120, 40)) as (app, pilot):
        screen = await page(app, pilot, "The Lighthouse")
        fill(screen, you="Ada", host="Mara", scenario="It is dusk. A storm is raging.\nPlace: the lighthouse")
        await wait_until(pilot, lambda: "✓ Weather: storm" in words(app), "read")
        screen.query_one("Settings").focus()
        await pilot.press("end", "space")
        await wait_until(pilot, lambda: "✓ Weather" not in words(app), "not that")
        assert "Space set it" in words(app)
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: bar(app) == "the lighthouse · dusk · ● you ● Mara", "the stage")
        app.perform("undo")
        await wait_until(pilot, lambda: bar(app) == "the lighthouse · ● you ● Mara", "undone")


async def test_what_is_wrong_is_said_on_the_page_and_what_was_typed_stays(chat: Running, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{nope")
    async with chat(storyteller("Hm."), size=(100, 40)) as (app, pilot):
        screen = await page(app, pilot)
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: "A story needs a host" in words(app), "no host")
        fill(screen, name="Twins", you="Mara", host="Mara", host_is="A keeper.", scenario="A storm.")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: "Two of the cast would be called Mara." in words(app), "two of a name")
        fill(screen, host=str(tmp_path / "broken.json"))
        await wait_until(pilot, lambda: "JSON cannot be read" in words(app), "told while it is typed")
        await pilot.press("ctrl+s")
        await settled(pilot, app)
        assert isinstance(app.screen, StoryScreen)
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        screen = await page(app, pilot)
        kept = {each.id: each.value for each in screen.query(Input)}
        assert kept["story-name"] == "Twins"
        assert kept["story-host"] == str(tmp_path / "broken.json")
        assert screen.query_one("#story-scenario", TextArea).text == "A storm."
        fill(screen, host="Ann", you="")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: bar(app) == "storm · ● you ● Ann", "begun")
        assert app.view.story_draft is None


async def test_the_path_of_a_card_is_completed(chat: Running, tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "mara.json").write_text(json.dumps({"name": "Mara", "description": "A keeper."}))
    (tmp_path / "cards" / "mara.txt").write_text("")
    async with chat(storyteller(), size=(100, 40)) as (app, pilot):
        screen = await page(app, pilot)
        field = screen.query_one("#story-host", Input)
        field.focus()
        field.value = f"{tmp_path}/cards/m"
        field.cursor_position = len(field.value)
        await wait_until(pilot, lambda: "Mara" not in words(app) and field._suggestion.endswith("mara.json"), "offered")
        await pilot.press("right")
        assert field.value == f"{tmp_path}/cards/mara.json"
        await wait_until(pilot, lambda: "Mara is the host" in words(app), "read")


async def test_stories_are_listed_and_opened_by_name(chat: Running) -> None:
    agent = storyteller("Hm.")
    other = agent.add_session("Bread", ("How long?", "Overnight."))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        await app.open_session(other)
        app.perform("story", "the lighthouse")
        await wait_until(pilot, lambda: app.view.session == session and bar(app) != "", "opened by name")
        await app.open_session(other)
        app.perform("story")
        await wait_until(pilot, lambda: "Stories" in words(app) and "1 chat" in words(app), "the list")
        await wait_until(pilot, lambda: "Mara: *looks up* You came, Ada." in words(app), "the preview")
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session == session, "opened")
        app.perform("story")
        await wait_until(pilot, lambda: "1 chat" in words(app), "the list")
        await pilot.press("n")
        await wait_until(pilot, lambda: isinstance(app.screen, StoryScreen), "a new one")
        await pilot.press("escape")


async def test_the_list_of_chats_marks_a_story(chat: Running) -> None:
    agent = storyteller("Hm.")
    agent.add_session("Bread", ("How long?", "Overnight."))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        assert app.view.chat is not None
        fork = await app.view.chat.service.branches.fork(session, what_if=True, name="Another night")
        app.perform("sessions")
        await wait_until(pilot, lambda: words(app).count("✎ story · ") == 2, "both")
        assert "✎ story · what-if ·" in words(app)
        assert "what-if" not in status_line(app)
        await app.open_session(fork)
        await wait_until(pilot, lambda: "what-if Another night" in status_line(app), "of the fork")
        assert bar(app) == "The Lighthouse · ● you ● Mara ● Jonas"


# Cards


async def test_a_card_is_shown_and_begins_a_story(chat: Running, tmp_path: Path) -> None:
    (tmp_path / "mara.json").write_text(
        json.dumps({"name": "Mara", "description": "Keeps {{user}} dry.", "tags": "sea"})
    )
    async with chat(storyteller(), size=(100, 40)) as (app, pilot):
        app.perform("card", str(tmp_path / "none.json"))
        await wait_until(pilot, lambda: "cannot be read" in words(app), "refused")
        app.perform("card", str(tmp_path / "mara.json"))
        await wait_until(pilot, lambda: "The card of Mara" in words(app), "the page")
        assert "Keeps {{user}} dry." in words(app)
        assert "split at its commas: tags" in words(app)
        await pilot.press("g")
        assert "The card of Mara" in words(app), "there is no story to join"
        await pilot.press("h")
        await wait_until(pilot, lambda: "Mara is the host" in words(app), "a new story")
        await pilot.press("ctrl+s")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara", "begun")


async def test_a_card_joins_a_story_as_its_guest(chat: Running, tmp_path: Path) -> None:
    (tmp_path / "jonas.json").write_text(json.dumps({"name": "Jonas", "description": "A smuggler."}))
    async with chat(storyteller(), size=(100, 40)) as (app, pilot):
        await begun(app, pilot, guest=None)
        app.perform("card", str(tmp_path / "jonas.json"))
        await wait_until(pilot, lambda: "join as guest" in words(app), "offered")
        await pilot.press("g")
        await wait_until(pilot, lambda: bar(app) == "● you ● Mara ● Jonas", "joined")
        assert saw(app.view.transcript.messages[0]) == "", "who was not there yet is no absent witness"


# Elsewhere


@pytest.mark.parametrize("name", ["cast", "present", "away", "speak", "seen"])
async def test_commands_of_stories_say_so_where_there_is_none(chat: Running, name: str) -> None:
    agent = storyteller()
    agent.add_session("Bread", ("How long?", "Overnight."))
    async with chat(agent) as (app, pilot):
        app.perform(name, "Mara")
        await wait_until(pilot, lambda: "This chat plays in no story." in words(app), "told")


async def test_somebody_who_does_not_play_is_told_with_who_does(chat: Running) -> None:
    async with chat(storyteller(), size=(100, 24)) as (app, pilot):
        await begun(app, pilot)
        for name in ("present", "away", "speak", "seen"):
            app.view.ui.unsay()
            app.perform(name, "Zoe")
            await wait_until(pilot, lambda: "Who plays: Ada, Mara, Jonas." in words(app), name)


async def test_a_search_says_of_which_story_a_message_is(chat: Running) -> None:
    async with chat(storyteller("Hm."), size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "The treasure is here.")
        app.perform("search", "treasure")
        await wait_until(pilot, lambda: "story The Lighthouse" in words(app), "found")


async def test_a_note_is_deleted_for_good(chat: Running) -> None:
    async with chat(storyteller("Hm."), size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await say(app, pilot, "((make it rain))", lambda: isinstance(app.view.transcript.messages[-1], Aside))
        await pilot.press("tab", "x")
        await agree(pilot)
        await wait_until(pilot, lambda: "make it rain" not in words(app), "deleted")


@pytest.mark.parametrize("size", SIZES)
async def test_every_screen_of_a_story_stands_in_any_width(chat: Running, size: tuple[int, int]) -> None:
    async with chat(storyteller("Ssh."), size=size) as (app, pilot):
        session = await begun(app, pilot)
        await replied(app, pilot, "/whisper Mara The log is hidden.")
        chips = "● Ada ● Mara ○ Jonas" if size[0] >= 72 else "● A ● M ○ J"
        await wait_until(pilot, lambda: chips in words(app), "the chips")
        assert "● you ● Mara ● Jonas" in words(app)
        for name, argument, shows in (
            ("cast", "", "the host"), ("story", "Another", "A new story"), ("story", "", "1 chat"),
            ("seen", "Mara", "as Mara saw it"),
        ):  # fmt: skip
            app.perform(name, argument)
            await wait_until(pilot, partial(contains, app, shows), shows)
            assert all(len(one_line(line)) <= size[0] for line in screen_text(app).splitlines())
            await pilot.press("escape")
            await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("tab", "W")
        await wait_until(pilot, lambda: "Who saw this?" in words(app), "the witnesses")
        await pilot.press("escape", "escape")
        for width in (*range(40, 201, 40), 71, 72, 103, 104):
            await pilot.resize_terminal(width, 24)
        assert here(app) == session
