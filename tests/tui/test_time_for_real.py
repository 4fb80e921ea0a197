"""Going back on the real agent, with a real log and graph; only the models are fakes."""

import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent.agent import Agent
from graph.events import ObservationKind, ObservationMade
from graph.ids import new_id
from graph.values import Wanted
from tests.fakes import FakeGenerator
from tests.tui.acting import enter, press
from tests.tui.conftest import agree, status_line, wait_until
from tests.tui.seeing import last, sees, texts, words
from tests.tui.test_memories_screen import listed
from tests.tui.test_recall_for_real import running, say
from tui.app import ClewApp
from tui.memories.screen import MemoriesScreen
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import ForkScreen
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import AssistantMessage, UserMessage

pytestmark = pytest.mark.ui


async def in_atlantis(app: ClewApp, pilot: Pilot[int]) -> str:
    """A what-if of this chat is on the screen; its world."""
    await enter(pilot, "/fork what-if Atlantis", until=lambda: "what-if Atlantis" in status_line(app))
    return app.view.state.world


async def listing(app: ClewApp, pilot: Pilot[int], count: int) -> MemoriesScreen:
    """The memory screen, when it lists so many and nothing is being done."""
    await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and len(listed(app)) == count)
    screen = app.screen
    assert isinstance(screen, MemoriesScreen)
    await wait_until(pilot, lambda: not screen.busy)
    return screen


async def believed(agent: Agent, world: str) -> set[str]:
    return {each.text or "" for each in await agent.memories.find(Wanted(world=world))}


async def test_a_fork_knows_nothing_of_what_came_later_and_branches_keep_every_word(tmp_path: Path) -> None:
    replies = FakeGenerator("One.", "Two.", "One.", "Two.", "Three.", "Four.")
    async with running(tmp_path, replies, reflect=False) as (app, pilot, agent):
        await say(app, pilot, "Where do I live?")
        await say(app, pilot, "And where do you?")
        app.view.transcript.messages[1].focus()
        await press(pilot, "f", until=lambda: isinstance(app.screen, ForkScreen))
        await press(pilot, "tab", *"Atlantis", "enter", until=lambda: texts(app) == ["Where do I live?", "One."])
        await wait_until(pilot, lambda: "what-if Atlantis" in status_line(app))
        seen = await agent.search.recent(world=app.view.state.world)
        assert [exchange.turn.text for exchange in seen] == ["Where do I live?"]
        await press(pilot, "alt+left", until=lambda: len(app.view.transcript.messages) == 4)

        await press(pilot, "ctrl+n", until=lambda: app.view.session is None)
        await say(app, pilot, "Where do I live?")
        last(app, AssistantMessage).focus()
        await press(pilot, "r", until=lambda: texts(app) == ["Where do I live?", "Two."])
        await wait_until(pilot, lambda: "‹2/2›" in words(app) and app.focused is last(app, AssistantMessage))
        await press(pilot, "left", until=lambda: texts(app) == ["Where do I live?", "One."])
        last(app, UserMessage).focus()
        await pilot.press("e", "ctrl+a", "ctrl+k", *"Where do you live?", "enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do you live?", "Three."])
        await wait_until(pilot, lambda: app.view.state.reply is None and "‹2/2›" in words(app))
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "2 messages will be removed" in words(app))
        await press(pilot, "enter", until=lambda: texts(app) == [] and app.view.composer.text == "Where do you live?")
        await enter(pilot, "/undo", until=lambda: texts(app) == ["Where do you live?", "Three."])
        await press(pilot, "f6", until=lambda: isinstance(app.screen, Chooser) and "Two." in words(app))
        await pilot.press("home", "down", "down", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await press(pilot, "enter", until=lambda: texts(app) == ["Where do I live?", "Two."])


async def test_a_what_if_shows_what_it_learns_and_the_past_is_on_the_persons_own_clock(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        await agent.memories.remember("I live in Berlin")
        await in_atlantis(app, pilot)
        await pilot.press("f4")
        await listing(app, pilot, 1)
        await sees(pilot, "The what-if “Atlantis” · w to switch")
        await press(pilot, "p", shows=("Pinned", "Press u to undo"))
        await listing(app, pilot, 1)
        await press(pilot, "w", until=lambda: "what-if" not in words(app))
        await listing(app, pilot, 1)
        assert not (await agent.memories.find())[0].pinned, "a pin in the what-if is none in the main world"
        await pilot.press("at")
        try:
            for zone in ("Pacific/Auckland", "America/Los_Angeles"):
                with pytest.MonkeyPatch.context() as there:
                    there.setenv("TZ", zone)
                    time.tzset()
                    first = f"The first event is from {datetime.now().astimezone():%Y-%m-%d %H:}"
                    await press(pilot, "ctrl+u", *"2020-01-01", "enter")
                    await sees(pilot, "There was nothing at 2020-01-01 23:59 yet", first)
        finally:
            time.tzset()
        await pilot.press("ctrl+u", *"0s", "enter")  # the field stays, with what is wrong with its text
        await sees(pilot, "As clew knew it on")
        await listing(app, pilot, 1)
        await press(pilot, "escape", until=lambda: "As clew knew it on" not in words(app))


async def test_what_is_corrected_or_edited_in_a_what_if_holds_there_and_not_in_the_main_world(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        known = await agent.memories.remember("I live in Berlin")
        here = await in_atlantis(app, pilot)
        await enter(pilot, f"/correct {known.id} I live in Atlantis")
        await sees(pilot, "Corrected in this what-if: I live in Atlantis")
        await enter(pilot, "/remember I breathe water", shows="Remembered in this what-if: I breathe water")
        assert await believed(agent, here) == {"I live in Atlantis", "I breathe water"}
        assert await believed(agent, "main") == {"I live in Berlin"}
        await pilot.press("f4")
        screen = await listing(app, pilot, 2)
        await wait_until(pilot, lambda: screen.page.rows.chosen.text == "I breathe water")  # type: ignore[union-attr]
        await press(pilot, "c", "ctrl+u", *"I breathe wine", "enter", shows="Corrected")
        await listing(app, pilot, 2)
        assert await believed(agent, here) == {"I live in Atlantis", "I breathe wine"}
        await press(pilot, "w", until=lambda: "what-if" not in words(app))
        await listing(app, pilot, 1)
        await press(pilot, "u", shows="it has its earlier text again")
        assert await believed(agent, here) == {"I live in Atlantis", "I breathe water"}
        assert await believed(agent, "main") == {"I live in Berlin"}

        await press(pilot, "escape", "ctrl+n", until=lambda: app.view.session is None)
        await say(app, pilot, "I live in Berlin")
        made: dict[str, Any] = {"category": ObservationKind.FACT, "status": "candidate", "origin": "model"}
        made |= {"confidence": 0.5, "grounded": True, "sources": (app.view.transcript.messages[0].turn,)}
        waiting = new_id()
        agent._memory.append(ObservationMade(observation=waiting, series=waiting, text="Lives in Berlin", **made))
        here = await in_atlantis(app, pilot)
        await enter(pilot, "/review")
        await listing(app, pilot, 1)
        await press(pilot, "e", "ctrl+u", *"Lives in Atlantis", "enter", shows="Edited")
        await listing(app, pilot, 0)
        assert [each.id for each in await agent.memories.review()] == [waiting], "it goes on waiting in the main world"
        assert await believed(agent, here) == {"I live in Berlin", "Lives in Atlantis"}


async def test_a_delete_is_shown_first_and_final_and_a_mark_puts_back_all_else(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine.", "One.", "Two."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "my secret is xyzzy")
        last(app, UserMessage).focus()
        await press(pilot, "x", until=lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await sees(pilot, "1 message will be deleted")
        await press(pilot, "tab", "enter", until=lambda: texts(app) == ["Fine."])
        assert await agent.search.words("xyzzy") == []
        await enter(pilot, "/undo", shows="cannot be undone")
        last(app, AssistantMessage).focus()
        await pilot.press("h")
        await agree(pilot)
        await sees(pilot, "hidden · h to unhide")
        await pilot.press("escape")
        await enter(pilot, "/undo")
        await wait_until(pilot, lambda: "; that has been undone." in words(app) and "h to unhide" not in words(app))

        await press(pilot, "ctrl+n", until=lambda: app.view.session is None)
        await say(app, pilot, "Where do I live?")
        await say(app, pilot, "And where do you?")
        session, known = app.view.session, await agent.memories.remember("I live in Berlin")
        assert session is not None

        async def standing() -> tuple[object, ...]:
            thread = [(turn.text, turn.hidden) for turn in await agent.chats.thread(session)]
            pins = [turn.text for turn in await agent.chats.pinned()]
            return thread, pins, (await agent.memories.story(known.id)).observation.pinned

        before = await standing()
        await enter(pilot, "/marks all well", shows="Marked: “all well”")
        await enter(pilot, "/marks")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "nothing to restore ·" in words(app))
        await press(pilot, "enter", shows="Nothing to restore: everything is still as it was")
        assert len(app.screen_stack) == 1
        await agent.branches.rewind(session, (await agent.chats.thread(session))[1].id)
        await agent.chats.hide((await agent.chats.thread(session))[1].id)
        await agent.chats.pin((await agent.chats.thread(session))[0].id)
        await agent.memories.pin(known.id)
        changed = await standing()
        assert changed == ([("Where do I live?", False), ("One.", True)], ["Where do I live?"], True)
        await enter(pilot, "/marks", "before going back", opens=Chooser)
        await wait_until(pilot, lambda: "all well" in words(app) and "2 messages will be removed" not in words(app))
        await pilot.press("end", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        assert await standing() == changed, "nothing changes before it is agreed to"
        await press(pilot, "tab", "enter", shows="Restored “all well”")
        assert await standing() == before
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "One.", "And where do you?", "Two."])
        assert app.focused is app.view.composer
        await enter(pilot, "/undo", shows="You restored a mark; that has been undone.")
        assert await standing() == changed
        await wait_until(pilot, lambda: len(app.view.transcript.messages) == 2)
