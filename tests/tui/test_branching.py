"""Other ways for a chat to go on: answered again, said otherwise, gone back, forked, and all of it as a tree."""

from graph.events import Role
from tests.tui.acting import closes, enter, paste, perform, press, some
from tests.tui.conftest import Running, here, screen_text, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import last, says, sees, sees_screen, texts, words
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import ForkScreen
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import AssistantMessage, UserMessage

ASKED = ("What now?", "Whatever.", "And then?")


def crete() -> ScriptedAgent:
    """A chat of two messages with their replies; any other reply is `Another one.`."""
    agent = ScriptedAgent(reply="Another one.")
    agent.add_session("Trip", ("What now?", "Whatever."), ("And then?", "Sleep."))
    return agent


async def test_r_gives_another_reply_left_and_right_turn_between_them_the_tree_shows_all(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        last(app, AssistantMessage).focus()
        await press(pilot, "e", shows="Only your own messages can be edited")
        await pilot.press("r")
        await says(app, pilot, *ASKED, "Another one.")
        await sees(pilot, "‹2/2›")
        await wait_until(pilot, lambda: app.focused is last(app, AssistantMessage), "the keys at the new reply")
        await press(pilot, "right", shows="This is the last of 2 versions.")
        await pilot.press("left")
        await says(app, pilot, *ASKED, "Sleep.")
        await sees(pilot, "‹1/2›")
        assert "This is the last of 2 versions." not in words(app)
        assert app.focused is last(app, AssistantMessage)
        await press(pilot, "left", shows="This is the first of 2 versions.")
        await pilot.press("right")
        await says(app, pilot, *ASKED, "Another one.")
        for number, size in enumerate(some((80, 24), (120, 40), (40, 12))):
            await pilot.resize_terminal(*size)
            await press(pilot, "f6", opens=Chooser, shows=("○", "◉"))
            await press(pilot, "enter", shows="The chat is already there")
            await press(pilot, "f6", opens=Chooser)
            await press(pilot, "up", "enter", opens=ImpactScreen)
            await pilot.press("enter")
            await says(app, pilot, *ASKED, ("Sleep.", "Another one.")[number % 2])
            app.unsay()
        await pilot.press("escape")
        await enter(pilot, "/regenerate")
        await says(app, pilot, *ASKED, "Another one.")
        assert app.focused is app.view.composer
        await wait_until(pilot, lambda: agent.answering is None)
        agent.go.clear()
        await enter(pilot, "more", until=lambda: agent.answering is not None)
        await perform(pilot, "regenerate", shows="Stop it first (Esc), or wait for it.")
        assert texts(app)[:5] == [*ASKED, "Another one.", "more"]
        agent.go.set()
        await wait_until(pilot, lambda: agent.answering is None and "or wait for it." not in words(app))


async def test_e_puts_a_message_into_the_composer_enter_branches_and_what_was_there_is_back(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        await paste(pilot, "half a thought")
        last(app, UserMessage).focus()
        await pilot.press("e")
        assert app.view.composer.text == "And then?"
        await sees(pilot, "Editing: Enter saves a new version, Esc cancels")
        app.say("Copied.")
        await sees(pilot, "Editing · Copied.")
        await press(pilot, "enter", shows="Editing · Nothing has changed yet")
        await pilot.press("backspace")
        await paste(pilot, " what?", "enter")
        await says(app, pilot, "What now?", "Whatever.", "And then what?", "Another one.")
        assert app.view.composer.text == "half a thought"
        await sees(pilot, "‹2/2›")
        assert "Editing" not in screen_text(app)
        app.perform("edit")
        await wait_until(pilot, lambda: app.view.composer.text == "And then what?")
        app.parts.composer.keep()
        assert app.view.drafts.load("S000") == "half a thought"
        await paste(pilot, " changed", "escape")
        await wait_until(pilot, lambda: app.view.composer.text == "half a thought")
        assert texts(app)[2] == "And then what?"

        app.view.composer.put("")
        for key, new in (("ctrl+c", "new"), ("escape", "newer")):
            app.unsay()
            app.perform("edit")
            await wait_until(pilot, lambda: app.view.composer.text in ("And then what?", "new"))
            await press(pilot, "ctrl+u", until=lambda: app.view.composer.text == "")
            await press(pilot, key, shows="Edit cancelled. Nothing was changed.")
            assert not app.parts.composer.editing.under_way
            before = texts(app)
            await pilot.press(*new, "enter")
            await says(app, pilot, *before, new, "Another one.")
        await wait_until(pilot, lambda: agent.answering is None)
        agent.go.clear()
        await enter(pilot, "more", until=lambda: agent.answering is not None)
        next(each for each in app.view.transcript.messages if each.text == "And then what?").focus()
        await pilot.press("e", "exclamation_mark", "enter")
        refused = "And then what?!"
        await wait_until(pilot, lambda: app.view.composer.text == refused and app.parts.composer.editing.under_way)


async def test_escape_twice_shows_ones_messages_enter_goes_back_before_one_a_after_it(chat: Running) -> None:
    agent = crete()
    notes = agent.add_session("Notes")
    agent.add_turn(notes, "I like coriander.", role=Role.NOTE, speaker="you")
    async with chat(agent) as (app, pilot):
        await pilot.press(*"hm", "escape", "escape")
        await pilot.pause()
        assert len(app.screen_stack) == 1, "with something written nothing is gone back to"
        assert app.view.composer.text == "hm"
        for size in some((80, 24), (120, 40), (40, 12)):
            app.view.composer.put("")
            app.unsay()
            await pilot.resize_terminal(*size)
            await press(pilot, "escape", shows="Press Esc again")
            await press(pilot, "escape", opens=Chooser, shows="2 messages will be removed")
            await press(pilot, "down", shows="4 messages will be removed")
            assert len(await agent.chats.thread("S000")) == 4, "nothing changes before it is confirmed"
            await pilot.press("up", "enter")
            await says(app, pilot, "What now?", "Whatever.")
            assert app.view.composer.text == "And then?"
            assert app.focused is app.view.composer
            await sees(pilot, "/undo undoes this")
            app.perform("undo")
            await says(app, pilot, *ASKED, "Sleep.")
            await sees(pilot, "You went back to the reply “Whatever.” in the chat “Trip”; that has been undone.")

        app.view.composer.put("")
        await perform(pilot, "rewind", opens=Chooser)
        await closes(pilot, "escape")
        assert texts(app) == [*ASKED, "Sleep."]
        await perform(pilot, "rewind", opens=Chooser, shows="will be removed")
        await pilot.press("down", "a")
        await says(app, pilot, "What now?", "Whatever.")
        assert app.view.composer.text == ""

        await app.open_session(notes)
        await perform(pilot, "rewind", shows="There is no message of yours to go back to here.")
        await app.open_session(None)
        for name in ("regenerate", "edit", "rewind", "tree", "fork"):
            app.unsay()
            await perform(pilot, name, shows="This chat has no messages yet.")


async def test_a_fork_has_the_same_past_and_a_what_if_is_named_in_the_title_and_the_status_bar(chat: Running) -> None:
    agent = crete()
    async with chat(agent, size=(120, 40)) as (app, pilot):

        async def goes_back() -> None:
            await pilot.press("alt+left")
            await wait_until(pilot, lambda: app.view.session == "S000" and "what-if" not in status_line(app))

        app.view.transcript.messages[1].focus()
        await press(pilot, "f", opens=ForkScreen, shows="Other chats can use")
        await closes(pilot, "escape")
        assert app.focused is app.view.transcript.messages[1]
        await pilot.press("f", "tab")
        await paste(pilot, "Atlantis")
        for size in some((20, 5), (80, 24), (40, 12), (120, 40)):
            await pilot.resize_terminal(*size)
            await sees_screen(pilot, ForkScreen, "Enter fork", "as a what-if", "Atlantis")
            assert size < (40, 12) or "Esc cancel" in words(app)
        assert [each.id for each in await agent.chats.all()] == ["S000"], "nothing changes before Enter"
        await press(pilot, "enter", until=lambda: app.view.session != "S000")
        await says(app, pilot, "What now?", "Whatever.")
        assert app.focused is app.view.composer
        assert app.view.state.what_if == "Atlantis"
        assert (await agent.chats.get(here(app))).name == "Atlantis"
        await goes_back()
        app.view.transcript.messages[1].focus()
        await press(pilot, "f", "enter", until=lambda: app.view.session != "S000" and len(texts(app)) == 2)
        assert (await agent.chats.get(here(app))).world == "main"
        await goes_back()

        await enter(pilot, "/fork what-if Lemuria")
        await wait_until(pilot, lambda: app.view.session != "S000" and len(texts(app)) == 4)
        await wait_until(pilot, lambda: "what-if Lemuria" in status_line(app))
        await sees(pilot, "Lemuria what-if", "Press Alt+←")
        await goes_back()
        await enter(pilot, "/fork Plan B", until=lambda: app.view.session != "S000" and len(texts(app)) == 4)
        assert (await agent.chats.get(here(app))).world == "main"
        assert "what-if" not in status_line(app)
        await goes_back()
        await enter(pilot, "/fork what-if", "New what-if what-if of “Trip”")
        await wait_until(pilot, lambda: "what-if of “Trip”" in status_line(app))
        await press(pilot, "f2", shows="what-if · ")
        await pilot.press("escape")
        await enter(pilot, "/rename Mu", "Mu what-if of “Trip”")


async def test_what_leaves_a_chat_and_was_learned_is_told_in_a_line_pagedown_shows_the_rest(chat: Running) -> None:
    agent = crete()
    said = [agent.add_turn("S000", f"Message number {number}") for number in range(9)]
    for number in range(5):
        agent.learn(f"Memory number {number}", said[-1])
    long = agent.add_session("Long", ("one", "1."), ("two", "2."), ("three", "3."))
    for turn in (2, 4):
        agent.learn(f"Something of turn {turn}", agent.turns[long][turn])
    async with chat(agent) as (app, pilot):
        brief = "1 message will be removed; 5 memories will no longer be used."
        for size in ((80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            app.perform("rewind")
            await sees_screen(pilot, Chooser, "Message number 8", "more lines · PgDn")
            await wait_until(pilot, lambda: brief in words(app))
            preview = app.screen.query_one(".chooser-words")
            await wait_until(pilot, lambda preview=preview: preview.max_scroll_y > 0)  # type: ignore[misc]
            while preview.scroll_y < preview.max_scroll_y:
                await pilot.press("pagedown")
            await sees(pilot, "/undo undoes this")
            while preview.scroll_y > 0:
                await pilot.press("pageup")
            await wait_until(pilot, lambda: brief in words(app), "the beginning of the preview")
            await closes(pilot, "escape")

        await pilot.resize_terminal(80, 24)
        await app.open_session(long)
        await wait_until(pilot, lambda: len(texts(app)) == 6)
        app.view.transcript.messages[1].focus()
        await pilot.press("r")
        told = "4 later messages removed from this chat, 2 memories no longer used. /undo undoes this."
        await sees(pilot, told)
        await says(app, pilot, "one", "Another one.")
        await sees(pilot, "‹2/2›")
        app.unsay()
        await press(pilot, "left", until=lambda: len(texts(app)) == 6)
        assert "removed from this chat" not in words(app), "nothing stood behind the new reply"
        await press(pilot, "right", shows=told)
