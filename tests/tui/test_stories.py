"""Stories on the screen: who speaks and who saw it, the cast, whispers, and how one is begun."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from agent.story.cards import Card, read_card
from tests.agent.story.cards import make
from tests.agent.test_stories import JONAS, MARA
from tests.examples import soaking
from tests.tui.acting import enter, perform, press
from tests.tui.conftest import Running, agree, here, screen_text, settled, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees, words
from tui.app import ClewApp
from tui.stories.begin import StoryScreen
from tui.stories.cast import CastScreen
from tui.stories.skip import SkipScreen
from tui.stories.witnesses import WitnessScreen
from tui.text import one_line
from tui.widgets.message import Aside, AssistantMessage, Message, UserMessage

SIZES = ((40, 24), (72, 24), (104, 30), (160, 44))


def in_turn(*replies: str) -> Callable[[str], str]:
    """These replies one after another, and the last again and again."""
    left = list(replies)
    return lambda prompt: left.pop(0) if len(left) > 1 else left[0]


def storyteller(reply: str = "Hm.") -> ScriptedAgent:
    return ScriptedAgent(reply=reply, tools="off", recall=False)


async def begun(app: ClewApp, pilot: Pilot[int], *, guest: Card | None = JONAS) -> str:
    """A story on the screen."""
    assert app.view.chat is not None
    session = await app.view.chat.service.stories.begin("The Lighthouse", MARA, guest=guest, you="Ada")
    await app.open_session(session)
    await wait_until(pilot, lambda: app.view.scene is not None and "Mara" in cues(app), "the story")
    return session


async def say(app: ClewApp, pilot: Pilot[int], text: str, there: Callable[[], object]) -> None:
    await enter(pilot, text, until=lambda: there() and app.view.state.reply is None and not app.view.state.waiting)


async def replied(app: ClewApp, pilot: Pilot[int], text: str, **then: Any) -> None:
    """Say something, and wait for the whole reply to it."""

    def replies() -> int:
        return sum(turn.role == "assistant" for turn in app.view.transcript.window.turns)

    before = replies()
    await say(app, pilot, text, lambda: replies() > before)
    await press(pilot, **then)


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


async def tells(app: ClewApp, pilot: Pilot[int], line: str) -> None:
    """Wait until the line below the title says that."""
    await wait_until(pilot, lambda: bar(app) == line, line)


def stories_of(app: ClewApp) -> Any:
    assert app.view.chat is not None
    return app.view.chat.service.stories


# The chat


@pytest.mark.sample
async def test_a_storys_chat_says_who_speaks_to_whom_a_message_goes_and_who_saw_a_whisper(chat: Running) -> None:
    agent = storyteller("*nods* Fine.")
    async with chat(agent, size=(100, 30)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "*shakes off the rain* Mara, how are you?")
        assert cues(app) == ["Mara", "Ada", "Mara"]
        told = lines(app)
        assert told[1] == "● you ● Mara ● Jonas"
        assert "shakes off the rain Mara, how are you?" in told
        assert "nods Fine." in told
        assert [each.has_class("-host") for each in app.view.transcript.messages] == [True, False, True]
        assert all(saw(each) == "" for each in app.view.transcript.messages)

        agent.go.clear()
        await enter(pilot, "Jonas?", until=lambda: app.view.state.reply is not None)
        answer = app.view.transcript.messages[-1]
        assert isinstance(answer, AssistantMessage)
        assert answer.cue is not None
        assert (answer.cue.name, answer.cue.seat) == ("Jonas", "guest")
        agent.let_go()
        await wait_until(pilot, lambda: app.view.state.reply is None)

        await begun(app, pilot)
        for typed, to in (
            ("", "→ Mara"),
            (f"{'It rains. ' * 80}Do you hear it, Jonas?", "→ Jonas"),
            ("/cast", ""),
            ("/whisper mara The log is hidden.", "whisper → Mara"),
        ):
            app.view.composer.put(typed)
            await wait_until(pilot, lambda to=to: address(app) == to, to)  # type: ignore[misc]
        for typed in ("/whisper Zoe Hello.", "/whisper Mara"):
            await pilot.press("ctrl+c")
            await enter(pilot, typed, shows="Write /whisper NAME")
            assert app.view.composer.text == typed
        assert len(app.view.transcript.messages) == 1
        await replied(app, pilot, "/whisper mara The log is hidden.")
        whispered, answer = app.view.transcript.messages[-2:]
        assert whispered.text == "The log is hidden."
        assert saw(whispered) == saw(answer) == "Ada Mara -Jonas"
        assert "Ada   ● Ada ● Mara ○ Jonas" in lines(app)


async def test_a_note_stands_above_its_message_now_and_later_and_is_deleted_for_good(chat: Running) -> None:
    agent = storyteller()
    other = agent.add_session("Bread", ("How long?", "Overnight."))
    async with chat(agent, size=(100, 30)) as (app, pilot):
        session = await begun(app, pilot)
        agent.go.clear()
        await enter(pilot, "Good evening. ((be rude))", until=lambda: len(app.view.transcript.messages) == 4)
        expected = [AssistantMessage, Aside, UserMessage, AssistantMessage]
        assert [type(each) for each in app.view.transcript.messages] == expected, "from the first moment"
        agent.let_go()
        await wait_until(pilot, lambda: app.view.state.reply is None)
        texts = [each.text for each in app.view.transcript.messages[1:]]
        assert texts == ["((be rude))", "Good evening.", "Hm."]
        await app.open_session(other)
        assert bar(app) == ""
        assert cues(app) == []
        assert address(app) == ""
        await app.open_session(session)
        await wait_until(pilot, lambda: bar(app) != "", "the bar")
        assert [type(each) for each in app.view.transcript.messages] == expected
        await say(app, pilot, "((make it rain))", lambda: isinstance(app.view.transcript.messages[-1], Aside))
        assert "((make it rain))" in lines(app)
        assert "ready" in status_line(app), "nobody is waited for"
        await pilot.press("tab", "x")
        await agree(pilot)
        await wait_until(pilot, lambda: "make it rain" not in words(app), "deleted")


async def test_what_you_tell_of_time_places_and_who_left_is_proposed_and_one_key_agrees(chat: Running) -> None:
    async with chat(storyteller(), size=(100, 30)) as (app, pilot):
        session = await begun(app, pilot)
        await replied(app, pilot, "*we walk over to the old chapel*", shows="To the old chapel")
        await press(pilot, "tab", "a", until=lambda: bar(app).startswith("the old chapel"))
        await wait_until(pilot, lambda: "To the old chapel · Tab" not in words(app), "it is settled")
        app.view.composer.focus()
        await replied(app, pilot, "I saw him three days later.")
        await replied(app, pilot, "Three days later, the ferry is back.", shows="Time passes: Three days later")
        await press(pilot, "tab", "a", until=lambda: isinstance(app.screen, SkipScreen))
        await press(pilot, "enter", until=lambda: "Three days later" in bar(app))
        scenes = await stories_of(app).scenes(session)
        assert [(each.title, each.open) for each in scenes] == [("the old chapel", False)]
        app.view.composer.focus()
        await replied(app, pilot, "Fade to black.")
        await settled(pilot, app)
        assert "seems to be over" not in words(app), "no scene is open"
        await begun(app, pilot)
        await replied(app, pilot, "Mara, look. *Jonas leaves the tower*")
        told = "Jonas seems to have left · Tab, a takes them off the scene"
        await wait_until(pilot, lambda: told in lines(app), "the guess")
        assert bar(app) == "● you ● Mara ● Jonas", "never by itself"
        await pilot.press("tab", "a")
        await tells(app, pilot, "● you ● Mara ○ Jonas")
        await wait_until(pilot, lambda: told not in lines(app), "settled")


async def test_the_bar_and_the_chips_follow_presence_and_the_other_one_answers_next(chat: Running) -> None:
    agent = storyteller()
    async with chat(agent, size=(100, 30)) as (app, pilot):
        session = await begun(app, pilot)
        for name in ("present", "away", "speak", "seen"):
            app.view.ui.unsay()
            await perform(pilot, name, "Zoe", shows="Who plays: Ada, Mara, Jonas.")
        app.perform("away", "jonas")
        await tells(app, pilot, "● you ● Mara ○ Jonas")
        await sees(pilot, "/present Jonas is the way back")
        await replied(app, pilot, "The treasure is under the stairs.")
        assert saw(app.view.transcript.messages[-1]) == "Ada Mara -Jonas"
        await perform(pilot, "away", "jonas", shows="Jonas is away already.")
        app.perform("present", "")  # the only one who can be meant
        await tells(app, pilot, "● you ● Mara ● Jonas")
        app.perform("undo", "")
        await tells(app, pilot, "● you ● Mara ○ Jonas")
        await replied(app, pilot, "Where is he?")
        app.perform("present", "")
        await tells(app, pilot, "● you ● Mara ● Jonas")
        assert app.view.chat is not None
        service = app.view.chat.service
        await service.branches.rewind(session, (await service.chats.thread(session))[2].id)
        await tells(app, pilot, "● you ● Mara ○ Jonas")

        agent.reply = in_turn("First.", "Second.", "Third.")
        await begun(app, pilot)
        await replied(app, pilot, "Mara?")
        await press(pilot, "tab", "i", until=lambda: "Second." in words(app) and app.view.state.reply is None)
        await wait_until(pilot, lambda: len(app.view.transcript.window.turns) == 4, "settled")
        assert cues(app) == ["Mara", "Ada", "Mara", "Jonas"]
        agent.go.clear()
        await perform(pilot, "regenerate", until=lambda: app.view.state.reply is not None)
        assert [each.text for each in app.view.transcript.messages[:3]][1:] == ["Mara?", "First."]
        assert cues(app) == ["Mara", "Ada", "Mara", "Jonas"]
        agent.let_go()
        await wait_until(pilot, lambda: app.view.state.reply is None and "Third." in words(app), "anew")
        await settled(pilot, app)
        assert [each.text for each in app.view.transcript.messages[1:]] == ["Mara?", "First.", "Third."]
        await wait_until(pilot, lambda: app.view.transcript.messages[-1].alternatives is not None, "its versions")
        agent.reply = "Fourth."
        await perform(pilot, "speak", "mara", until=lambda: "Fourth." in words(app) and app.view.state.reply is None)
        assert cues(app)[-1] == "Mara"
        assert [each.text for each in app.view.transcript.messages[-3:]] == ["First.", "Third.", "Fourth."]
        app.perform("speak")
        await wait_until(pilot, lambda: cues(app)[-2:] == ["Mara", "Jonas"] and app.view.state.reply is None)
        await begun(app, pilot, guest=None)
        await perform(pilot, "speak", shows="Nobody else is here who could answer.")


# Who saw it


async def test_who_saw_a_message_is_put_right_by_hand_and_the_story_is_read_as_somebody_saw_it(chat: Running) -> None:
    async with chat(storyteller(), size=(100, 30)) as (app, pilot):
        session = await begun(app, pilot)
        await press(pilot, "tab", "W", until=lambda: isinstance(app.screen, WitnessScreen))
        await press(pilot, "space", "escape", until=lambda: len(app.screen_stack) == 1)
        assert saw(app.view.transcript.messages[0]) == "", "the page was left"
        await pilot.press("escape")
        await say(app, pilot, "((hm))", lambda: isinstance(app.view.transcript.messages[-1], Aside))
        app.view.transcript.messages[-1].focus()
        await pilot.press("W")
        assert len(app.screen_stack) == 1, "nobody hears a note"

        await replied(app, pilot, "The treasure is under the stairs.")
        await pilot.press("tab", "k", "W")
        await wait_until(pilot, lambda: isinstance(app.screen, WitnessScreen) and "Who saw this?" in words(app))
        assert "taken out of its prompt" in words(app)
        await pilot.press("down", "down", "space", "enter")
        await wait_until(pilot, lambda: saw(app.view.transcript.messages[2]) == "Ada Mara -Jonas", "the chips")
        stories = stories_of(app)
        seen = await stories.seen_by(session, await stories.named(session, "Jonas"))
        assert [turn.text for turn in seen] == ["*looks up* You came, Ada.", "Hm."]

        await perform(pilot, "seen", "jonas", shows="as Jonas saw it")
        assert "You came, Ada." in words(app)
        assert "treasure" not in words(app)
        await pilot.press("escape")
        await perform(pilot, "seen", shows="The story as whom?")
        await press(pilot, "up", "enter", shows="as Mara saw it")
        assert "treasure" in words(app)


# The cast


async def cast(app: ClewApp, pilot: Pilot[int]) -> CastScreen:
    await perform(pilot, "cast", until=lambda: isinstance(app.screen, CastScreen) and "the host" in words(app))
    assert isinstance(app.screen, CastScreen)
    return app.screen


async def answer(pilot: Pilot[int], title: str, line: str, **then: Any) -> None:
    """Fill in the line that is asked for."""
    await sees(pilot, title)
    pilot.app.screen.query_one(Input).value = line
    await press(pilot, "enter", **then)


async def test_the_cast_comes_and_goes_is_renamed_reset_and_written_into_files(chat: Running, tmp_path: Path) -> None:
    (tmp_path / "jonas.json").write_text(json.dumps({"name": "Jonas", "description": "A smuggler."}))
    picture, mara_json, mara_png = tmp_path / "face.png", tmp_path / "mara.json", tmp_path / "mara.png"
    picture.write_bytes(make.png())
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        await begun(app, pilot, guest=None)
        await cast(app, pilot)
        await press(pilot, "down", "space", shows="the host · away")
        await press(pilot, "space", shows="the host · on the scene")
        await pilot.press("n")
        await answer(pilot, "Whose card joins", str(tmp_path / "nothing.json"), shows="cannot be read")
        await answer(pilot, "Whose card joins", str(tmp_path / "jonas.json"), shows="the guest · on the scene")
        await pilot.press("n")
        await answer(pilot, "Whose card joins", str(tmp_path / "jonas.json"), shows="There is a guest already.")
        await pilot.press("end", "e")
        await answer(pilot, "What are they called?", "Mara", shows="Mara plays already.")
        await pilot.press("e")
        await answer(pilot, "What are they called?", "Jon", shows="Jonas is called Jon from here on.")
        await press(pilot, "l", shows="Jon has left the story.", until=lambda: "the guest" not in words(app))
        await press(pilot, "u", shows="the guest")
        await press(pilot, "home", "l", shows="Only a guest can leave the cast.")
        await press(pilot, "escape", until=lambda: bar(app) == "● you ● Mara ● Jon")

        session = await begun(app, pilot)
        await replied(app, pilot, "The treasure is under the stairs.")
        stories = stories_of(app)
        mara = await stories.named(session, "Mara")
        await cast(app, pilot)
        await press(pilot, "down", "R", shows=("Reset Mara?", "/undo undoes it"))
        await press(pilot, "enter", until=lambda: isinstance(app.screen, CastScreen))
        assert len(await stories.seen_by(session, mara)) == 3
        await pilot.press("R")
        await agree(pilot)
        await sees(pilot, "Mara has forgotten everything so far.")
        assert await stories.seen_by(session, mara) == []
        await press(pilot, "u", shows="that has been undone")
        assert len(await stories.seen_by(session, mara)) == 3

        to, into = "Write the card of Mara to which file?", "Into which PNG picture?"
        await pilot.press("x")
        await answer(pilot, to, str(mara_json), shows="Written to")
        assert read_card(mara_json.read_bytes()).greetings == MARA.greetings
        await pilot.press("x")
        await answer(pilot, to, str(mara_png))
        await answer(pilot, into, str(picture), until=mara_png.exists)
        assert read_card(mara_png.read_bytes()).name == "Mara"
        await pilot.press("x")
        await answer(pilot, to, str(mara_png), shows="Overwrite mara.png?")
        await pilot.press("escape", "x")
        await answer(pilot, to, str(tmp_path / "other.png"))
        await answer(pilot, into, str(mara_json), shows="The picture is not a whole PNG")
        assert not (tmp_path / "other.png").exists()


# Beginning


def card_file(folder: Path, file: str, **told: Any) -> str:
    """Where a card of that is."""
    path = folder / f"{file}.json"
    path.write_text(json.dumps(told))
    return str(path)


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


async def test_a_story_begins_from_cards_that_are_shown_and_its_stage_is_set(chat: Running, tmp_path: Path) -> None:
    dry = card_file(tmp_path, "dry", name="Mara", description="Keeps {{user}} dry.", tags="sea")
    jonas = card_file(tmp_path, "jonas", name="Jonas", description="A smuggler.")
    greetings: dict[str, Any] = {"first_mes": "You came, {{user}}.", "alternate_greetings": ["Who is there?"]}
    data = {"name": "Mara", "description": "A keeper.", "character_book": None, **greetings}
    mara = card_file(tmp_path, "mara", spec="chara_card_v2", data=data)
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        await perform(pilot, "card", str(tmp_path / "none.json"), shows="cannot be read")
        await perform(pilot, "card", dry, shows=("The card of Mara", "Keeps {{user}} dry.", "commas: tags"))
        await pilot.press("g")
        assert "The card of Mara" in words(app), "there is no story to join"
        await press(pilot, "h", shows="Mara is the host")
        await pilot.press("ctrl+s")
        await tells(app, pilot, "● you ● Mara")
        await begun(app, pilot, guest=None)
        await perform(pilot, "card", jonas, shows="join as guest")
        await pilot.press("g")
        await tells(app, pilot, "● you ● Mara ● Jonas")
        assert saw(app.view.transcript.messages[0]) == "", "who was not there yet is no absent witness"

        screen = await page(app, pilot, "The Cellar")
        fill(screen, you="Ada", host=mara, guest="Jonas", guest_is="A smuggler.")
        await sees(pilot, "Jonas is the guest", "Ada is played by you", "You came, Ada.")
        assert "Read as empty, since it was null: character_book." in words(app)
        screen.query_one("Greetings").focus()
        await press(pilot, "right", shows=("‹2/2›", "Who is there?"))
        await pilot.press("ctrl+s")
        await tells(app, pilot, "● you ● Mara ● Jonas")
        assert [each.text for each in app.view.transcript.messages] == ["Who is there?"]
        assert app.view.title.render() is not None
        assert "The Cellar" in lines(app)[0]

        screen = await page(app, pilot, "The Tower")
        fill(screen, you="Ada", host="Mara", scenario="It is dusk. A storm is raging.\nPlace: the lighthouse")
        await sees(pilot, "✓ Weather: storm")
        screen.query_one("Settings").focus()
        await press(pilot, "end", "space", until=lambda: "✓ Weather" not in words(app))
        assert "Space set it" in words(app)
        await pilot.press("ctrl+s")
        await tells(app, pilot, "the lighthouse · dusk · ● you ● Mara")
        app.perform("undo")
        await tells(app, pilot, "the lighthouse · ● you ● Mara")


async def test_the_page_says_what_is_wrong_keeps_what_was_typed_completes_paths(chat: Running, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{nope")
    (tmp_path / "cards").mkdir()
    card_file(tmp_path / "cards", "mara", name="Mara", description="A keeper.")
    (tmp_path / "cards" / "mara.txt").write_text("")
    async with chat(storyteller(), size=(100, 40)) as (app, pilot):
        screen = await page(app, pilot)
        await press(pilot, "ctrl+s", shows="A story needs a host")
        fill(screen, name="Twins", you="Mara", host="Mara", host_is="A keeper.", scenario="A storm.")
        await press(pilot, "ctrl+s", shows="Two of the cast would be called Mara.")
        fill(screen, host=str(tmp_path / "broken.json"))
        await sees(pilot, "JSON cannot be read")  # while it is typed
        await pilot.press("ctrl+s")
        await settled(pilot, app)
        assert isinstance(app.screen, StoryScreen)
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)

        screen = await page(app, pilot)
        kept = {each.id: each.value for each in screen.query(Input)}
        assert kept["story-name"] == "Twins"
        assert kept["story-host"] == str(tmp_path / "broken.json")
        assert screen.query_one("#story-scenario", TextArea).text == "A storm."

        field = screen.query_one("#story-host", Input)
        field.focus()
        field.value = f"{tmp_path}/cards/m"
        field.cursor_position = len(field.value)
        await wait_until(pilot, lambda: field._suggestion.endswith("mara.json"), "offered")
        assert "Mara is the host" not in words(app)
        await pilot.press("right")
        assert field.value == f"{tmp_path}/cards/mara.json"
        await sees(pilot, "Mara is the host")

        fill(screen, host="Ann", you="")
        await pilot.press("ctrl+s")
        await tells(app, pilot, "storm · ● you ● Ann")
        assert app.view.story_draft is None


async def test_stories_are_marked_found_and_opened_and_another_chat_plays_in_none(chat: Running) -> None:
    agent = storyteller()
    other = agent.add_session("Bread", ("How long?", "Overnight."))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await press(pilot, "tab", "i", until=lambda: app.view.composer.text == "i")
        for name in ("cast", "present", "away", "speak", "seen"):
            app.view.ui.unsay()
            await wait_until(pilot, lambda: "This chat plays in no story." not in words(app))
            await perform(pilot, name, "Mara", shows="This chat plays in no story.")
        session = await begun(app, pilot)
        await replied(app, pilot, "The treasure is here.")
        await perform(pilot, "search", "treasure", shows="story The Lighthouse")
        await pilot.press("escape")
        await app.open_session(other)
        await perform(pilot, "story", "the lighthouse", until=lambda: app.view.session == session and bar(app) != "")
        await app.open_session(other)
        await perform(pilot, "story", shows=("Stories", "1 chat", "Mara: *looks up* You came, Ada."))
        await press(pilot, "enter", until=lambda: app.view.session == session)
        await perform(pilot, "story", shows="1 chat")
        await press(pilot, "n", until=lambda: isinstance(app.screen, StoryScreen))
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
        assert app.view.chat is not None
        fork = await app.view.chat.service.branches.fork(session, what_if=True, name="Another night")
        await perform(pilot, "sessions", until=lambda: words(app).count("✎ story · ") == 2)
        assert "✎ story · what-if ·" in words(app)
        assert "what-if" not in status_line(app)
        await app.open_session(fork)
        await wait_until(pilot, lambda: "what-if Another night" in status_line(app), "of the fork")
        assert bar(app) == "The Lighthouse · ● you ● Mara ● Jonas"


# Elsewhere


async def test_every_screen_of_a_story_stands_in_any_width(chat: Running) -> None:
    async with chat(storyteller("Ssh."), size=(100, 24)) as (app, pilot):
        session = await begun(app, pilot)
        await replied(app, pilot, "/whisper Mara The log is hidden.")
        for width, height in SIZES if soaking() else SIZES[::3]:
            await pilot.resize_terminal(width, height)
            await sees(pilot, "● Ada ● Mara ○ Jonas" if width >= 72 else "● A ● M ○ J", "● you ● Mara ● Jonas")
            for name, argument, told in (
                ("cast", "", "the host"), ("story", "Another", "A new story"), ("story", "", "1 chat"),
                ("seen", "Mara", "as Mara saw it"),
            ):  # fmt: skip
                await perform(pilot, name, argument, shows=told)
                assert all(len(one_line(line)) <= width for line in screen_text(app).splitlines())
                await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
            await press(pilot, "tab", "W", shows="Who saw this?")
            await pilot.press("escape", "escape")
        for width in (*range(40, 201, 40), 71, 72, 103, 104):
            await pilot.resize_terminal(width, 24)
        assert here(app) == session
