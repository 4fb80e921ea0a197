"""Going back on the real agent, with a real log and graph; only the models are fakes."""

import time
from datetime import datetime
from pathlib import Path

import pytest
from textual.widgets import Static

from agent.agent import Agent
from graph.events import ObservationKind, ObservationMade
from graph.ids import new_id
from graph.values import Wanted
from tests.fakes import FakeGenerator
from tests.tui.conftest import agree, status_line, wait_until
from tests.tui.test_branching import last, texts, words
from tests.tui.test_memories_screen import listed
from tests.tui.test_recall_for_real import running, say
from tui.memories.screen import MemoriesScreen
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import ForkScreen
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import AssistantMessage, UserMessage

pytestmark = pytest.mark.ui


async def test_a_chat_branches_goes_back_and_forward_again_and_every_word_is_still_there(tmp_path: Path) -> None:
    replies = FakeGenerator("One.", "Two.", "Three.", "Four.")
    async with running(tmp_path, replies, reflect=False) as (app, pilot, _agent):
        await say(app, pilot, "Where do I live?")
        last(app, AssistantMessage).focus()
        await pilot.press("r")
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "Two."])
        await wait_until(pilot, lambda: "‹2/2›" in words(app) and app.focused is last(app, AssistantMessage))
        await pilot.press("left")
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "One."])
        last(app, UserMessage).focus()
        await pilot.press("e", "ctrl+a", "ctrl+k", *"Where do you live?", "enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do you live?", "Three."])
        await wait_until(pilot, lambda: app.view.state.reply is None and "‹2/2›" in words(app))
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "2 messages will be removed" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app) == [] and app.view.composer.text == "Where do you live?")
        await pilot.press("ctrl+c", *"/undo", "enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do you live?", "Three."])
        await pilot.press("f6")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "Two." in words(app))
        await pilot.press("home", "down", "down", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "Two."])


async def test_what_a_what_if_learns_by_hand_is_shown_there_and_the_past_is_shown_on_its_day(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine.", "Well."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        await agent.memories.remember("I live in Berlin")
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: "what-if Atlantis" in status_line(app))
        await pilot.press("f4")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and len(listed(app)) == 1)
        await wait_until(pilot, lambda: "The what-if “Atlantis” · w to switch" in words(app))
        await pilot.press("p")
        await wait_until(pilot, lambda: "Pinned" in words(app) and "Press u to undo" in words(app))
        await wait_until(pilot, lambda: not app.screen.busy)  # type: ignore[attr-defined]
        await pilot.press("w")
        await wait_until(pilot, lambda: "what-if" not in words(app) and len(listed(app)) == 1)
        assert not (await agent.memories.find())[0].pinned, "a pin in the what-if is none in the main world"
        await wait_until(pilot, lambda: not app.screen.busy)  # type: ignore[attr-defined]
        await pilot.press("at", *"2020-01-01", "enter")
        await wait_until(pilot, lambda: "There was nothing at" in words(app))
        await pilot.press("ctrl+u", *"0s", "enter")  # the field stays, with what is wrong with its text
        await wait_until(pilot, lambda: "As clew knew it on" in words(app) and len(listed(app)) == 1)
        await wait_until(pilot, lambda: not app.screen.busy)  # type: ignore[attr-defined]
        await pilot.press("escape")
        await wait_until(pilot, lambda: "As clew knew it on" not in words(app))


async def test_a_delete_is_shown_before_it_happens_and_cannot_be_undone(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "my secret is xyzzy")
        last(app, UserMessage).focus()
        await pilot.press("x")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await wait_until(pilot, lambda: "1 message will be deleted" in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: texts(app) == ["Fine."])
        assert await agent.search.words("xyzzy") == []
        await pilot.press(*"/undo", "enter")
        await wait_until(pilot, lambda: "cannot be undone" in words(app))
        last(app, AssistantMessage).focus()
        await pilot.press("h")
        await agree(pilot)
        await wait_until(pilot, lambda: "hidden · h to unhide" in words(app))
        await pilot.press("escape", *"/undo", "enter")
        await wait_until(pilot, lambda: "; that has been undone." in words(app) and "h to unhide" not in words(app))


async def test_a_correction_in_a_what_if_holds_there_and_not_in_the_main_world(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        known = await agent.memories.remember("I live in Berlin")
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: "what-if Atlantis" in status_line(app))
        here = app.view.state.world
        app.view.composer.put(f"/correct {known.id} I live in Atlantis")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Corrected in this what-if: I live in Atlantis" in words(app))
        await pilot.press(*"/remember I breathe water", "enter")
        await wait_until(pilot, lambda: "Remembered in this what-if: I breathe water" in words(app))
        assert await believed(agent, here) == {"I live in Atlantis", "I breathe water"}
        assert await believed(agent, "main") == {"I live in Berlin"}
        await pilot.press("f4")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and len(listed(app)) == 2)
        await wait_until(pilot, lambda: app.screen.page.rows.chosen.text == "I breathe water")  # type: ignore[attr-defined]
        await pilot.press("c", "ctrl+u", *"I breathe wine", "enter")
        await wait_until(pilot, lambda: "Corrected" in words(app) and not app.screen.busy)  # type: ignore[attr-defined]
        assert await believed(agent, here) == {"I live in Atlantis", "I breathe wine"}
        await pilot.press("w")
        await wait_until(pilot, lambda: "what-if" not in words(app) and len(listed(app)) == 1)
        await pilot.press("u")
        await wait_until(pilot, lambda: "it has its earlier text again" in words(app))
        assert await believed(agent, here) == {"I live in Atlantis", "I breathe water"}
        assert await believed(agent, "main") == {"I live in Berlin"}


async def believed(agent: Agent, world: str) -> set[str]:
    return {each.text or "" for each in await agent.memories.find(Wanted(world=world))}


async def test_a_mark_puts_back_what_was_rewound_hidden_and_pinned_and_undo_takes_that_back(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("One.", "Two."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "Where do I live?")
        await say(app, pilot, "And where do you?")
        session, known = app.view.session, await agent.memories.remember("I live in Berlin")
        assert session is not None

        async def standing() -> tuple[object, ...]:
            thread = [(turn.text, turn.hidden) for turn in await agent.chats.thread(session)]
            pins = [turn.text for turn in await agent.chats.pinned()]
            return thread, pins, (await agent.memories.story(known.id)).observation.pinned

        before = await standing()
        await pilot.press(*"/marks all well", "enter")
        await wait_until(pilot, lambda: "Marked: “all well”" in words(app))
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "nothing to restore ·" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Nothing to restore: everything is still as it was" in words(app))
        assert len(app.screen_stack) == 1
        await agent.branches.rewind(session, (await agent.chats.thread(session))[1].id)
        await agent.chats.hide((await agent.chats.thread(session))[1].id)
        await agent.chats.pin((await agent.chats.thread(session))[0].id)
        await agent.memories.pin(known.id)
        after = await standing()
        assert after == ([("Where do I live?", False), ("One.", True)], ["Where do I live?"], True)
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "before going back" in words(app))
        await wait_until(pilot, lambda: "all well" in words(app) and "2 messages will be removed" not in words(app))
        await pilot.press("end", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        assert await standing() == after, "nothing changes before it is agreed to"
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "Restored “all well”" in words(app))
        assert await standing() == before
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "One.", "And where do you?", "Two."])
        assert app.focused is app.view.composer
        await pilot.press(*"/undo", "enter")
        await wait_until(pilot, lambda: "You restored a mark; that has been undone." in words(app))
        assert await standing() == after
        await wait_until(pilot, lambda: len(app.view.transcript.messages) == 2)


async def test_a_fork_at_an_earlier_reply_knows_nothing_of_what_came_later(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("One.", "Two.", "Three."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "Where do I live?")
        await say(app, pilot, "And where do you?")
        app.view.transcript.messages[1].focus()
        await pilot.press("f")
        await wait_until(pilot, lambda: isinstance(app.screen, ForkScreen))
        await pilot.press("tab", *"Atlantis", "enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "One."])
        await wait_until(pilot, lambda: "what-if Atlantis" in status_line(app))
        seen = await agent.search.recent(world=app.view.state.world)
        assert [exchange.turn.text for exchange in seen] == ["Where do I live?"]
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: len(app.view.transcript.messages) == 4)


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
async def test_before_the_first_event_the_day_is_told_on_the_persons_own_clock(
    tmp_path: Path, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, _agent):
            await say(app, pilot, "I live in Berlin")
            await pilot.press("f4")
            await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
            await pilot.press("at", *"2020-01-01", "enter")
            await wait_until(pilot, lambda: "There was nothing at 2020-01-01 23:59 yet" in words(app))
            first = f"{datetime.now().astimezone():%Y-%m-%d %H:}"
            assert f"The first event is from {first}" in str(app.screen.query_one(".dialog-wrong", Static).content)
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_what_waits_for_review_is_edited_in_a_what_if_and_goes_on_waiting_in_the_main_world(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        said, id = app.view.transcript.messages[0].turn, new_id()
        agent._memory.append(
            ObservationMade(
                observation=id,
                series=id,
                category=ObservationKind.FACT,
                status="candidate",
                confidence=0.5,
                grounded=True,
                origin="model",
                sources=(said,),
                text="Lives in Berlin",
            )
        )
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: "what-if Atlantis" in status_line(app))
        await pilot.press(*"/review", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and len(listed(app)) == 1)
        await pilot.press("e", "ctrl+u", *"Lives in Atlantis", "enter")
        await wait_until(pilot, lambda: "Edited" in words(app) and not app.screen.busy)  # type: ignore[attr-defined]
        assert [each.id for each in await agent.memories.review()] == [id]
        assert await believed(agent, app.view.state.world) == {"Lives in Atlantis"}
