"""Other ways for a chat to go on: answered again, said otherwise, gone back, forked, and all of it as a tree."""

import pytest

from graph.events import Role
from tests.tui.conftest import Running, here, screen_text, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import ForkScreen
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import AssistantMessage, UserMessage


def texts(app: ClewApp) -> list[str]:
    return [message.text for message in app.view.transcript.messages]


def words(app: ClewApp) -> str:
    return " ".join(screen_text(app).split())


def unframed(app: ClewApp) -> str:
    """The words on the screen without what frames them, so that a sentence is whole."""
    return " ".join(words(app).replace("│", " ").split())


def crete() -> ScriptedAgent:
    """A chat of two messages with their replies; any other reply is `Another one.`."""
    agent = ScriptedAgent(reply="Another one.")
    agent.add_session("Trip", ("What now?", "Whatever."), ("And then?", "Sleep."))
    return agent


def last(app: ClewApp, kind: type[UserMessage] | type[AssistantMessage]) -> UserMessage | AssistantMessage:
    return [message for message in app.view.transcript.messages if isinstance(message, kind)][-1]


async def test_r_on_a_reply_gives_another_and_left_and_right_turn_between_them(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        last(app, AssistantMessage).focus()
        await pilot.press("r")
        await wait_until(pilot, lambda: texts(app) == ["What now?", "Whatever.", "And then?", "Another one."])
        await wait_until(pilot, lambda: "‹2/2›" in screen_text(app))
        await wait_until(pilot, lambda: app.focused is last(app, AssistantMessage), "the keys at the new reply")
        await pilot.press("left")
        await wait_until(pilot, lambda: texts(app)[-1:] == ["Sleep."] and "‹1/2›" in screen_text(app))
        assert app.focused is last(app, AssistantMessage)
        await pilot.press("left")
        await wait_until(pilot, lambda: "This is the first of 2 versions." in words(app))
        await pilot.press("right")
        await wait_until(pilot, lambda: texts(app)[-1:] == ["Another one."])


async def test_slash_regenerate_answers_the_last_message_again_from_the_composer(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        await pilot.press(*"/regenerate", "enter")
        await wait_until(pilot, lambda: texts(app)[-1:] == ["Another one."] and len(texts(app)) == 4)
        assert app.focused is app.view.composer


async def test_regenerating_while_a_reply_is_written_says_why_not_and_changes_nothing(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        agent.go.clear()
        await pilot.press(*"more", "enter")
        await wait_until(pilot, lambda: agent.answering is not None)
        app.perform("regenerate")
        await wait_until(pilot, lambda: "Stop it first (Esc), or wait for it." in words(app))
        assert texts(app)[:5] == ["What now?", "Whatever.", "And then?", "Sleep.", "more"]


async def test_e_puts_a_message_into_the_composer_and_enter_makes_a_branch_of_it(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"half a thought")
        last(app, UserMessage).focus()
        await pilot.press("e")
        assert app.view.composer.text == "And then?"
        await wait_until(pilot, lambda: "Editing: Enter saves a new version, Esc cancels" in words(app))
        await pilot.press("backspace", *" what?", "enter")
        await wait_until(pilot, lambda: texts(app) == ["What now?", "Whatever.", "And then what?", "Another one."])
        assert app.view.composer.text == "half a thought"
        await wait_until(pilot, lambda: "‹2/2›" in screen_text(app))
        assert "Editing" not in screen_text(app)


async def test_escape_leaves_the_editing_and_the_composer_is_as_it_was(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"before")
        app.perform("edit")
        await wait_until(pilot, lambda: app.view.composer.text == "And then?")
        app.parts.composer.keep()
        assert app.view.drafts.load("S000") == "before"
        await pilot.press(*" changed", "escape")
        await wait_until(pilot, lambda: app.view.composer.text == "before")
        assert texts(app)[2] == "And then?"


async def test_an_edit_that_is_refused_stands_in_the_composer_to_be_edited_on(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        agent.go.clear()
        await pilot.press(*"more", "enter")
        await wait_until(pilot, lambda: agent.answering is not None)
        message = next(each for each in app.view.transcript.messages if each.text == "And then?")
        message.focus()
        await pilot.press("e", "exclamation_mark", "enter")
        await wait_until(pilot, lambda: app.view.composer.text == "And then?!" and app.parts.composer.editing.under_way)


async def test_a_reply_is_not_edited_and_that_is_said(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        last(app, AssistantMessage).focus()
        await pilot.press("e")
        await wait_until(pilot, lambda: "Only your own messages can be edited" in words(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_escape_twice_shows_ones_messages_and_enter_goes_back_to_before_one(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = crete()
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press("escape")
        await wait_until(pilot, lambda: "Press Esc again" in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "2 messages will be removed" in words(app))
        await pilot.press("down")
        await wait_until(pilot, lambda: "4 messages will be removed" in words(app))
        assert len(await agent.chats.thread("S000")) == 4, "nothing changes before it is confirmed"
        await pilot.press("up", "enter")
        await wait_until(pilot, lambda: texts(app) == ["What now?", "Whatever."])
        assert app.view.composer.text == "And then?"
        assert app.focused is app.view.composer
        await wait_until(pilot, lambda: "/undo undoes this" in words(app))
        app.perform("undo")
        await wait_until(pilot, lambda: len(texts(app)) == 4)
        await wait_until(
            pilot,
            lambda: "You went back to the reply “Whatever.” in the chat “Trip”; that has been undone." in words(app),
        )


async def test_a_in_the_picker_goes_back_to_after_the_answer_and_escape_changes_nothing(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        app.perform("rewind")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert len(texts(app)) == 4
        app.perform("rewind")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "will be removed" in words(app))
        await pilot.press("down", "a")
        await wait_until(pilot, lambda: texts(app) == ["What now?", "Whatever."])
        assert app.view.composer.text == ""


async def test_escape_twice_with_something_written_does_not_go_back(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        await pilot.press(*"hm", "escape", "escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1
        assert app.view.composer.text == "hm"


async def test_a_what_if_is_named_in_the_title_and_the_status_bar_and_the_way_back_is_said(chat: Running) -> None:
    agent = crete()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: app.view.session != "S000" and len(texts(app)) == 4)
        await wait_until(pilot, lambda: "what-if Atlantis" in status_line(app))
        await wait_until(pilot, lambda: "Atlantis what-if" in words(app), "Atlantis what-if")
        await wait_until(pilot, lambda: "Press Alt+←" in words(app))
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: app.view.session == "S000" and "what-if" not in status_line(app))


async def test_a_shared_fork_has_the_same_past_and_is_no_what_if(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/fork Plan B", "enter")
        await wait_until(pilot, lambda: app.view.session != "S000" and len(texts(app)) == 4)
        assert (await agent.chats.get(here(app))).world == "main"
        assert "what-if" not in status_line(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12), (20, 5)])
async def test_f_on_an_earlier_message_forks_there_as_a_what_if_with_a_name(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = crete()
    async with chat(agent, size=size) as (app, pilot):
        app.view.transcript.messages[1].focus()
        await pilot.press("f")
        await wait_until(pilot, lambda: isinstance(app.screen, ForkScreen))
        await wait_until(pilot, lambda: "Enter fork" in words(app) and "as a what-if" in words(app))
        assert size < (40, 12) or "Esc cancel" in words(app)
        await pilot.press("tab", *"Atlantis")
        await wait_until(pilot, lambda: "Atlantis" in words(app))
        assert [each.id for each in await agent.chats.all()] == ["S000"], "nothing changes before Enter"
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session != "S000")
        await wait_until(pilot, lambda: texts(app) == ["What now?", "Whatever."])
        assert app.focused is app.view.composer
        assert app.view.state.what_if == "Atlantis"
        assert (await agent.chats.get(here(app))).name == "Atlantis"


async def test_f_enter_forks_in_this_world_and_escape_leaves_the_message_in_focus(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        app.view.transcript.messages[1].focus()
        await pilot.press("f")
        await wait_until(pilot, lambda: isinstance(app.screen, ForkScreen) and "Other chats can use" in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.focused is app.view.transcript.messages[1]
        await pilot.press("f")
        await wait_until(pilot, lambda: isinstance(app.screen, ForkScreen))
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session != "S000" and len(texts(app)) == 2)
        assert (await agent.chats.get(here(app))).world == "main"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_the_tree_shows_every_branch_and_enter_goes_on_from_one(chat: Running, size: tuple[int, int]) -> None:
    agent = crete()
    async with chat(agent, size=size) as (app, pilot):
        app.perform("regenerate")
        await wait_until(pilot, lambda: texts(app)[-1:] == ["Another one."])
        await wait_until(pilot, lambda: app.view.state.reply is None)
        await pilot.press("f6")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "○" in screen_text(app))
        await wait_until(pilot, lambda: "◉" in screen_text(app), "◉")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "The chat is already there" in words(app))
        await pilot.press("f6")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("up", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app)[-1:] == ["Sleep."])


async def test_where_there_are_only_notes_there_is_no_message_to_go_back_to(chat: Running) -> None:
    agent = ScriptedAgent()
    notes = agent.add_session("Notes")
    agent.add_turn(notes, "I like coriander.", role=Role.NOTE, speaker="you")
    async with chat(agent) as (app, pilot):
        await app.open_session(notes)
        app.perform("rewind")
        await wait_until(pilot, lambda: "There is no message of yours to go back to here." in words(app))


async def test_a_chat_with_no_message_has_nothing_to_branch_from(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        for name in ("regenerate", "edit", "rewind", "tree", "fork"):
            app.unsay()
            app.perform(name)
            await wait_until(pilot, lambda: "This chat has no messages yet." in words(app), name)


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
async def test_editing_is_left_and_said_and_what_is_typed_then_is_a_message_of_its_own(chat: Running, key: str) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        app.perform("edit")
        await wait_until(pilot, lambda: app.view.composer.text == "And then?")
        await pilot.press("ctrl+u")
        await wait_until(pilot, lambda: app.view.composer.text == "")
        await pilot.press(key)
        await wait_until(pilot, lambda: "Edit cancelled. Nothing was changed." in words(app))
        assert not app.parts.composer.editing.under_way
        await pilot.press(*"new", "enter")
        await wait_until(pilot, lambda: texts(app)[2:5] == ["And then?", "Sleep.", "new"])


async def test_that_something_is_edited_stays_said_whatever_else_is(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        app.perform("edit")
        await wait_until(pilot, lambda: app.view.composer.text == "And then?")
        app.say("Copied.")
        await wait_until(pilot, lambda: "Editing · Copied." in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Editing · Nothing has changed yet" in words(app))


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_the_picker_tells_the_impact_in_a_line_and_pagedown_shows_the_rest_of_it(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = crete()
    said = [agent.add_turn("S000", f"Message number {number}") for number in range(9)]
    for number in range(5):
        agent.learn(f"Memory number {number}", said[-1])
    async with chat(agent, size=size) as (app, pilot):
        app.perform("rewind")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "Message number 8" in words(app))
        brief = "1 message will be removed; 5 memories will no longer be used."
        await wait_until(pilot, lambda: brief in unframed(app) and "more lines · PgDn" in words(app))
        preview = app.screen.query_one(".chooser-words")
        await wait_until(pilot, lambda: preview.max_scroll_y > 0 and "1 message" in words(app))
        while preview.scroll_y < preview.max_scroll_y:
            await pilot.press("pagedown")
        await wait_until(pilot, lambda: "/undo undoes this" in words(app), "the end of the preview")
        while preview.scroll_y > 0:
            await pilot.press("pageup")
        await wait_until(pilot, lambda: brief in unframed(app), "the beginning of the preview")


async def test_another_reply_in_the_midst_says_what_left_with_the_one_before(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Long", ("one", "1."), ("two", "2."), ("three", "3."))
    for turn in (2, 4):
        agent.learn(f"Something of turn {turn}", agent.turns[session][turn])
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: len(texts(app)) == 6)
        app.view.transcript.messages[1].focus()
        await pilot.press("r")
        told = "4 later messages removed from this chat, 2 memories no longer used. /undo undoes this."
        await wait_until(pilot, lambda: told in words(app))
        await wait_until(pilot, lambda: texts(app) == ["one", agent.reply] and "‹2/2›" in screen_text(app))
        app.unsay()
        await pilot.press("left")
        await wait_until(pilot, lambda: len(texts(app)) == 6)
        assert "removed from this chat" not in words(app), "nothing stood behind the new reply"
        await pilot.press("right")
        await wait_until(pilot, lambda: told in words(app))


async def test_why_not_is_said_as_long_as_the_reply_is_written(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        agent.go.clear()
        await pilot.press(*"more", "enter")
        await wait_until(pilot, lambda: agent.answering is not None)
        app.perform("regenerate")
        await wait_until(pilot, lambda: "or wait for it." in words(app))
        agent.go.set()
        await wait_until(pilot, lambda: agent.answering is None and "or wait for it." not in words(app))


async def test_the_end_of_the_alternatives_is_not_said_any_more_after_another_step(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        last(app, AssistantMessage).focus()
        await pilot.press("r")
        await wait_until(pilot, lambda: "‹2/2›" in screen_text(app) and app.focused is last(app, AssistantMessage))
        await pilot.press("right")
        await wait_until(pilot, lambda: "This is the last of 2 versions." in words(app))
        await pilot.press("left")
        await wait_until(pilot, lambda: "‹1/2›" in screen_text(app))
        assert "This is the last of 2 versions." not in words(app)


async def test_a_fresh_what_if_is_named_by_the_chat_that_it_left_and_stays_so_once_it_has_a_name(chat: Running) -> None:
    agent = crete()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/fork what-if", "enter")
        await wait_until(pilot, lambda: "New what-if what-if of “Trip”" in words(app))
        await wait_until(pilot, lambda: "what-if of “Trip”" in status_line(app))
        await pilot.press("f2")
        await wait_until(pilot, lambda: "what-if · " in words(app))
        await pilot.press("escape")
        await pilot.press(*"/rename Atlantis", "enter")
        await wait_until(pilot, lambda: "Atlantis what-if of “Trip”" in words(app))
