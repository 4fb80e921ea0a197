"""What is taken away or brought back, with its impact first: a message, a chat, the last change, a mark."""

import asyncio
from pathlib import Path
from typing import Any

from agent.home import Home
from graph.events import MarkSet, Role, SessionStarted, TurnHidden, TurnSaid
from tests.tui.acting import closes, converse, enter, paste, perform, press
from tests.tui.conftest import Running, agree, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import last, says, sees, sees_screen, texts, words
from tests.tui.test_branching import crete
from tui.commands.backup import made
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import AskLine
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import AssistantMessage, UserMessage

BEFORE = MarkSet(mark="01JMARKBEFORE", reason="named", text="before Crete")


async def test_x_asks_with_the_impact_only_its_button_deletes_and_tab_takes_the_exchange_instead(chat: Running) -> None:
    agent = crete()
    other = agent.add_session("Other", ("What now?", "Whatever."), ("And then?", "Sleep."))
    carried = agent.watch_calls("plans.carry_out")
    async with chat(agent, size=(80, 24)) as (app, pilot):
        for keys, left in ((["enter"], 4), (["escape"], 4), (["y"], 4), (["tab", "enter"], 3)):
            last(app, UserMessage).focus()
            await press(pilot, "x", opens=ImpactScreen, shows="This message only")
            for size in ((80, 24), (40, 12), (20, 5)) if keys == ["enter"] else ():
                await pilot.resize_terminal(*size)
                await sees(pilot, "This message only")
            await closes(pilot, *keys)
            await wait_until(pilot, lambda left=left: len(texts(app)) == left, keys[0])  # type: ignore[misc]
            assert len(await agent.chats.thread("S000")) == left
        await says(app, pilot, "What now?", "Whatever.", "Sleep.")

        await pilot.resize_terminal(120, 40)
        await app.open_session(other)
        await wait_until(pilot, lambda: len(texts(app)) == 4)
        last(app, AssistantMessage).focus()
        await press(pilot, "delete", opens=ImpactScreen, shows=("1 message will be deleted", "This cannot be undone."))
        await press(pilot, "tab", "tab", shows="2 messages will be deleted")
        await sees_screen(pilot, ImpactScreen)
        await pilot.press("enter")
        await says(app, pilot, "What now?", "Whatever.")
        ((plan,), _) = carried[-1]
        assert [turn.text for turn in plan.impact.gone] == ["And then?", "Sleep."]


async def test_the_keys_of_a_long_list_and_what_is_for_good_stay_in_sight(chat: Running, tmp_path: Path) -> None:
    agent = ScriptedAgent()
    _, reply = agent.turns[agent.add_session("Here", ("What now?", "Whatever you like."))]
    for text in ("Lives in Munich", "Moved to Berlin", "Has a sister called Ada"):
        agent.learn(text, reply)
    long = agent.add_session("Long", ("What next?", "Whatever you like."))
    for text in ("Lives in Porto", "Moved to Bonn", "Has a cousin", "Wants to learn the cello", "It is named Ulysses"):
        agent.learn(text, agent.turns[long][0])
    for number in range(12):
        agent.add_turn(long, f"Message number {number} of a chat that went on for long")
    keys = ("[ Delete permanently ]", "[ Cancel ]", "This cannot be undone.")
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await asyncio.to_thread(made, Home.resolve().memory, tmp_path / "backup.db", force=False)
        last(app, AssistantMessage).focus()
        await pilot.press("x")
        for size in ((80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await sees_screen(pilot, ImpactScreen, "[ Cancel ]")
            assert "[ Cancel ] [ This message only ] [ With its message ]" in words(app)
        await press(pilot, "escape", until=lambda: app.focused is last(app, AssistantMessage))
        await app.open_session(long)
        for size in ((80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await enter(pilot, "/delete", *keys, "more lines · PgDn", opens=ImpactScreen)
            await wait_until(pilot, lambda: "messages will be deleted" in words(app))
            assert "5 memories will be deleted" in words(app), "all that changes stands above the fold"
            await press(pilot, *["pagedown"] * 12, shows=("Ulysses", *keys))
            await pilot.resize_terminal(40, 12)
            await sees(pilot, *keys)
            await closes(pilot, "escape")


async def test_hiding_a_message_and_deleting_a_chat_show_what_goes_with_it(chat: Running) -> None:
    agent = ScriptedAgent()
    asked, _ = agent.turns[agent.add_session("Here", ("What now?", "Whatever you like."))]
    for text in ("Lives in Munich", "Moved to Berlin"):
        agent.learn(text, asked)
    agent.add_session("Empty")
    async with chat(agent, size=(80, 24)) as (app, pilot):
        message = last(app, UserMessage)
        message.focus()
        await pilot.press("h")
        for size in ((80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await sees_screen(pilot, ImpactScreen, "/undo undoes this")
            await wait_until(pilot, lambda: "2 memories will no longer be used" in words(app))
        await closes(pilot, "escape")
        assert not (await agent.chats.thread("S000"))[0].hidden
        await pilot.press("h")
        await agree(pilot)
        await sees(pilot, "hidden · h to unhide", "Hidden from chat, memory and prompts")
        assert app.focused is message
        await press(pilot, "h", until=lambda: message.text[:12] in screen_text(app))
        assert not (await agent.chats.thread("S000"))[0].hidden

        await pilot.resize_terminal(120, 40)
        await press(pilot, "escape", "f2", until=lambda: app.view.sessions.chosen is not None)
        await press(pilot, "ctrl+x", opens=ImpactScreen, shows="Lives in Munich")
        await press(pilot, "tab", "enter", until=lambda: app.view.session is None)
        assert (await agent.chats.get("S000")).deleted
        await app.open_session("S001")
        app.view.sessions.focus()
        await wait_until(pilot, lambda: (found := app.view.sessions.chosen) is not None and found.id == "S001")
        await press(pilot, "ctrl+x", opens=ImpactScreen, shows="This cannot be undone.")
        assert "/undo undoes this" not in words(app), "an empty one goes for good, too"


async def test_restoring_a_mark_tells_what_becomes_of_chats_before_all_else(chat: Running) -> None:
    agent = crete()
    agent.add_events(BEFORE, *(SessionStarted(session=f"LATER{number}", client="chat") for number in range(3)))
    before = agent.turns["S000"][-1]
    for number in range(20):
        said: dict[str, Any] = {"speaker": "you", "client": "chat", "text": f"And after {number} days?"}
        turn = TurnSaid(turn=f"LATER{number}", session="S000", parent=before, role=Role.USER, **said)
        agent.add_events(turn)
        before = turn.turn
    async with chat(agent, size=(80, 24)) as (_, pilot):
        await enter(pilot, "/marks", "3 chats are archived.", opens=Chooser)
        await pilot.resize_terminal(40, 12)
        await sees(pilot, "3 chats are archived.")
        await press(pilot, "enter", opens=ImpactScreen, shows=("3 chats are archived.", "[ Restore ]"))
        await pilot.resize_terminal(80, 24)
        await sees(pilot, "3 chats are archived.", "[ Restore ]")


async def test_a_mark_where_everything_stands_says_so_and_undo_takes_an_earlier_number(chat: Running) -> None:
    agent = crete()
    first, *_, newest = agent.turns["S000"]
    now = MarkSet(mark="01JMARKJUSTNOW", reason="named", text="just now")
    agent.add_events(BEFORE, TurnHidden(turn=first), TurnHidden(turn=newest), now)
    carried = agent.watch_calls("plans.carry_out")
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await enter(pilot, "/marks")
        for size in ((80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await sees_screen(pilot, Chooser, "nothing to restore ·", "Everything")
            assert words(app).count("nothing to restore ·") == 1
        await press(pilot, "enter", shows="Nothing to restore: everything is still as it was")
        assert len(app.screen_stack) == 1
        assert carried == []
        await pilot.resize_terminal(80, 24)
        earlier = (await agent.history.changes())[-1].seq
        await enter(pilot, "/undo soon", "/undo undoes the last change")
        await enter(pilot, f"/undo {earlier}", "You hid the message “What now?”; that has been undone.")
        assert [turn.hidden for turn in await agent.chats.thread("S000")] == [False, False, False, True]
        await agent.branches.rewind("S000", agent.turns["S000"][0])
        await agent.branches.rewind("S000", None)
        await enter(pilot, "/marks", "before going back to “What now?” in “Trip”", opens=Chooser)
        await sees(pilot, "before going back to the start of “Trip”")


async def test_marks_are_set_by_name_listed_with_what_they_would_change_and_restored_if_so(chat: Running) -> None:
    agent = crete()
    carried = agent.watch_calls("plans.carry_out")

    async def marks() -> list[str | None]:
        return [mark.name for mark in await agent.history.marks.all()]

    async with chat(agent, size=(120, 40)) as (app, pilot):
        await perform(pilot, "undo", shows="There is nothing to undo.")
        await perform(pilot, "marks", shows="No marks yet.")
        await press(pilot, "n", opens=AskLine)
        await paste(pilot, "Crete", "enter", shows="Marked: “Crete”")
        assert await marks() == ["Crete"]
        await converse(pilot, "And after that?")
        await enter(pilot, "/marks", "2 messages will be removed", opens=Chooser)
        await press(pilot, "enter", opens=ImpactScreen)
        assert carried == []
        await press(pilot, "tab", "enter", until=lambda: len(carried) == 1)
        await sees(pilot, "Restored “Crete”")
        for keys in (["enter"], ["tab", "enter"]):
            await enter(pilot, "/marks", opens=Chooser)
            await closes(pilot, "end", "d", *keys)
            assert ("Crete" in await marks()) == (keys == ["enter"])
        await sees(pilot, "Mark removed.")

        await agent.branches.rewind("S000", agent.turns["S000"][1])
        await app.open_session("S000")
        await says(app, pilot, "What now?", "Whatever.")
        await press(pilot, "f2", until=lambda: app.view.sessions.chosen is not None)
        await press(pilot, "ctrl+l", until=lambda: len(texts(app)) == 4)
        await sees(pilot, "You went back to the reply “Whatever.” in the chat “Trip”; that has been undone.")
