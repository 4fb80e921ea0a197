"""What is taken away or brought back, with its impact first: a message, a chat, the last change, a mark."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.home import Home
from graph.events import MarkSet, Role, SessionStarted, TurnHidden, TurnSaid
from graph.values import Wanted
from tests.tui.beliefs import BERLIN, learned_agent
from tests.tui.conftest import Running, agree, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.test_branching import crete, last, texts, unframed, words
from tui.app import ClewApp
from tui.commands.backup import made
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import AskLine
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import AssistantMessage, UserMessage


def at_stake(*of_message: str, of_reply: tuple[str, ...] = ()) -> ScriptedAgent:
    """A chat of two turns, and what was learned from the message and from the reply."""
    agent = ScriptedAgent()
    message, reply = agent.turns[agent.add_session("Here", ("What now?", "Whatever you like."))]
    for text in of_message:
        agent.learn(text, message)
    for text in of_reply:
        agent.learn(text, reply)
    return agent


def ready(app: ClewApp) -> bool:
    return isinstance(app.screen, ImpactScreen) and app.screen.plan is not None


async def say(app: ClewApp, pilot: Pilot[int], text: str) -> None:
    before = app.view.state.last
    app.view.composer.put(text)
    await pilot.press("enter")
    await wait_until(
        pilot, lambda: app.view.state.last is not before and app.view.state.reply is None and not app.view.state.waiting
    )


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 5)])
async def test_x_asks_with_the_impact_and_only_its_button_deletes(chat: Running, size: tuple[int, int]) -> None:
    agent = crete()
    async with chat(agent, size=size) as (app, pilot):
        for keys, left in ((["enter"], 4), (["escape"], 4), (["y"], 4), (["tab", "enter"], 3)):
            last(app, UserMessage).focus()
            await pilot.press("x")
            await wait_until(pilot, lambda: ready(app))
            await wait_until(pilot, lambda: "This message only" in words(app))
            await pilot.press(*keys)
            await wait_until(pilot, lambda: len(app.screen_stack) == 1)
            await wait_until(pilot, lambda left=left: len(texts(app)) == left, keys[0])  # type: ignore[misc]
            assert len(await agent.chats.thread("S000")) == left
        await wait_until(pilot, lambda: "And then?" not in texts(app))
        assert texts(app)[-1] == "Sleep."


async def test_tab_takes_the_exchange_instead_and_the_dialog_says_it_is_for_good(chat: Running) -> None:
    agent = crete()
    carried = agent.watch_calls("plans.carry_out")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        last(app, AssistantMessage).focus()
        await pilot.press("delete")
        await wait_until(pilot, lambda: ready(app) and "1 message will be deleted" in words(app))
        await wait_until(pilot, lambda: "This cannot be undone." in words(app), "This cannot be undone.")
        await pilot.press("tab", "tab")
        await wait_until(pilot, lambda: ready(app) and "2 messages will be deleted" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app) == ["What now?", "Whatever."])
        ((plan,), _) = carried[0]
        assert [turn.text for turn in plan.impact.gone] == ["And then?", "Sleep."]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_both_ways_to_delete_and_all_keys_are_in_sight_on_a_small_screen(
    chat: Running, size: tuple[int, int], tmp_path: Path
) -> None:
    agent = at_stake(of_reply=("Lives in Munich", "Moved to Berlin", "Has a sister called Ada"))
    async with chat(agent, size=size) as (app, pilot):
        await asyncio.to_thread(made, Home.resolve().memory, tmp_path / "backup.db", force=False)
        last(app, AssistantMessage).focus()
        await pilot.press("x")
        await wait_until(pilot, lambda: ready(app) and "[ Cancel ]" in words(app))
        lines = words(app).replace("│ │ ", "")
        assert "[ Cancel ] [ This message only ] [ With its message ]" in lines
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.focused is last(app, AssistantMessage))


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_however_long_the_list_is_its_keys_and_what_is_for_good_stay_in_sight_and_the_list_scrolls(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = at_stake(
        "Lives in Munich",
        "Moved to Berlin",
        "Has a sister called Ada",
        "Wants to learn the cello",
        "The starter is named Ulysses",
    )
    for number in range(12):
        agent.add_turn("S000", f"Message number {number} of a chat that went on for long")
    keys = ("[ Delete permanently ]", "[ Cancel ]", "This cannot be undone.")
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press(*"/delete", "enter")
        await wait_until(pilot, lambda: ready(app) and "messages will be deleted" in unframed(app))
        await wait_until(pilot, lambda: "more lines · PgDn" in words(app), "what lies below is said")
        assert "5 memories will be deleted" in unframed(app), "all that changes stands above the fold"
        await wait_until(pilot, lambda: all(each in words(app) for each in keys), str(keys))
        await pilot.press(*["pagedown"] * 12)
        await wait_until(pilot, lambda: "Ulysses" in words(app), "the end of the list")
        await wait_until(pilot, lambda: all(each in words(app) for each in keys), str(keys))
        await pilot.resize_terminal(40, 12)
        await wait_until(pilot, lambda: all(each in words(app) for each in keys), "the keys after a resize")


async def test_deleting_an_empty_chat_is_for_good_too_and_says_so(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Empty")
    async with chat(agent) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        await pilot.press("ctrl+x")
        await wait_until(pilot, lambda: ready(app) and "This cannot be undone." in words(app))
        assert "/undo undoes this" not in words(app)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_restoring_a_mark_tells_what_becomes_of_chats_before_all_else(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = crete()
    agent.add_events(MarkSet(mark="01JMARKBEFORE", reason="named", text="before Crete"))
    agent.add_events(*(SessionStarted(session=f"LATER{number}", client="chat") for number in range(3)))
    before = agent.turns["S000"][-1]
    for number in range(20):
        said: dict[str, Any] = {"speaker": "you", "client": "chat", "text": f"And after {number} days?"}
        turn = TurnSaid(turn=f"LATER{number}", session="S000", parent=before, role=Role.USER, **said)
        agent.add_events(turn)
        before = turn.turn
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "3 chats are archived." in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: ready(app) and "3 chats are archived." in words(app))
        await wait_until(pilot, lambda: "[ Restore ]" in words(app), "[ Restore ]")


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_h_shows_what_goes_with_a_message_hides_it_once_that_is_agreed_to_and_shows_it_again(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = at_stake("Lives in Munich", "Moved to Berlin")
    async with chat(agent, size=size) as (app, pilot):
        message = last(app, UserMessage)
        message.focus()
        await pilot.press("h")
        await wait_until(pilot, lambda: ready(app) and "2 memories will no longer be used" in unframed(app))
        await wait_until(pilot, lambda: "/undo undoes this" in words(app), "/undo undoes this")
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert not (await agent.chats.thread("S000"))[0].hidden
        await pilot.press("h")
        await agree(pilot)
        await wait_until(pilot, lambda: "hidden · h to unhide" in words(app))
        await wait_until(pilot, lambda: "Hidden from chat, memory and prompts" in words(app))
        assert app.focused is message
        await pilot.press("h")
        await wait_until(pilot, lambda: message.text[:12] in screen_text(app))
        assert not (await agent.chats.thread("S000"))[0].hidden


async def test_undo_with_nothing_to_undo_says_so(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        app.perform("undo")
        await wait_until(pilot, lambda: "There is nothing to undo." in words(app))


async def test_undo_takes_the_number_of_an_earlier_change_and_nothing_else(chat: Running) -> None:
    agent = crete()
    first, *_, newest = agent.turns["S000"]
    agent.add_events(TurnHidden(turn=first), TurnHidden(turn=newest))
    async with chat(agent) as (app, pilot):
        earlier = (await agent.history.changes())[-1].seq
        await pilot.press(*"/undo soon", "enter")
        await wait_until(pilot, lambda: "/undo undoes the last change" in words(app))
        await pilot.press(*f"/undo {earlier}", "enter")
        await wait_until(pilot, lambda: "You hid the message “What now?”; that has been undone." in words(app))
        assert [turn.hidden for turn in await agent.chats.thread("S000")] == [False, False, False, True]


async def test_the_list_of_chats_undoes_the_last_change(chat: Running) -> None:
    agent = crete()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await agent.branches.rewind("S000", agent.turns["S000"][1])
        await app.open_session("S000")
        await wait_until(pilot, lambda: len(texts(app)) == 2)
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        await pilot.press("ctrl+l")
        await wait_until(pilot, lambda: len(texts(app)) == 4)
        told = "You went back to the reply “Whatever.” in the chat “Trip”; that has been undone."
        await wait_until(pilot, lambda: told in words(app))


async def test_marks_are_set_by_name_listed_with_what_restoring_changes_and_restored_after_asking(
    chat: Running,
) -> None:
    agent = crete()
    carried = agent.watch_calls("plans.carry_out")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        app.perform("marks")
        await wait_until(pilot, lambda: "No marks yet." in words(app))
        await pilot.press("n")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"before Crete", "enter")
        await wait_until(pilot, lambda: "Marked: “before Crete”" in words(app))
        assert [mark.name for mark in await agent.history.marks.all()] == ["before Crete"]
        await say(app, pilot, "And after that?")
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "2 messages will be removed" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: ready(app))
        assert carried == []
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: len(carried) == 1)
        await wait_until(pilot, lambda: "Restored “before Crete”" in words(app))
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("end", "d", "enter")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert "before Crete" in [mark.name for mark in await agent.history.marks.all()]
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("end", "d", "tab", "enter")
        await wait_until(pilot, lambda: "Mark removed." in words(app))
        assert "before Crete" not in [mark.name for mark in await agent.history.marks.all()]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_mark_at_which_everything_stands_already_says_so_and_asks_nothing(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = crete()
    agent.add_events(
        MarkSet(mark="01JMARKBEFORE", reason="named", text="before Crete"),
        TurnHidden(turn=agent.turns["S000"][-1]),
        MarkSet(mark="01JMARKJUSTNOW", reason="named", text="just now"),
    )
    carried = agent.watch_calls("plans.carry_out")
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "nothing to restore ·" in words(app))
        assert words(app).count("nothing to restore ·") == 1
        await wait_until(pilot, lambda: "Everything" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Nothing to restore: everything is still as it was" in words(app))
        assert len(app.screen_stack) == 1
        assert carried == []


async def test_deleting_a_chat_shows_what_goes_with_it(chat: Running) -> None:
    agent = at_stake("Lives in Munich")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.chosen is not None)
        await pilot.press("ctrl+x")
        await wait_until(pilot, lambda: ready(app) and "Lives in Munich" in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: app.view.session is None)
        assert (await agent.chats.get("S000")).deleted


async def test_forgetting_and_letting_a_document_go_show_the_same_dialog(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*f"/forget {BERLIN}", "enter")
        await wait_until(pilot, lambda: ready(app) and "2 memories will be deleted" in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "Forgotten permanently." in words(app))
        assert BERLIN not in [each.id for each in await agent.memories.find(Wanted(everything=True))]
        await pilot.press("f4", "5")
        await wait_until(pilot, lambda: "Field notes" in words(app))
        await pilot.press("x")
        await wait_until(pilot, lambda: ready(app) and "This cannot be undone." in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "Document deleted from the memory." in words(app))
        assert [document.title for document in await agent.documents.all()] == ["bridges.pdf"]


async def test_a_mark_before_going_back_tells_in_which_chat_and_to_where(chat: Running) -> None:
    agent = crete()
    async with chat(agent) as (app, pilot):
        await agent.branches.rewind("S000", agent.turns["S000"][0])
        await agent.branches.rewind("S000", None)
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await wait_until(pilot, lambda: "before going back to “What now?” in “Trip”" in words(app))
        await wait_until(pilot, lambda: "before going back to the start of “Trip”" in words(app))
