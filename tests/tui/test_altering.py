"""What is taken away or brought back, with its impact first: a message, a chat, the last change, a mark."""

from dataclasses import replace

import pytest

from graph.impacts import Impact
from tests.tui.beliefs import BERLIN
from tests.tui.beliefs import fake_learned_agent as learned_agent
from tests.tui.conftest import Running, agree, screen_text, wait_until
from tests.tui.fake_agent import FakeAgent
from tests.tui.fake_time import FakeMark
from tests.tui.test_branching import crete, last, texts, unframed, words
from tui.app import ClewApp
from tui.widgets.chooser import Chooser
from tui.widgets.dialogs import AskLine
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import Answer, Said


def ready(app: ClewApp) -> bool:
    return isinstance(app.screen, ImpactScreen) and app.screen.plan is not None


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 5)])
async def test_x_asks_with_the_impact_and_only_its_button_deletes(chat: Running, size: tuple[int, int]) -> None:
    agent = crete()
    async with chat(agent, size=size) as (app, pilot):
        for keys, left in ((["enter"], 4), (["escape"], 4), (["y"], 4), (["tab", "enter"], 3)):
            last(app, Said).focus()
            await pilot.press("x")
            await wait_until(pilot, lambda: ready(app))
            await wait_until(pilot, lambda: "This message only" in words(app))
            await pilot.press(*keys)
            await wait_until(pilot, lambda: len(app.screen_stack) == 1)
            await wait_until(pilot, lambda left=left: len(agent.turns["S000"]) == left, keys[0])  # type: ignore[misc]
        await wait_until(pilot, lambda: "And then?" not in texts(app))
        assert texts(app)[-1] == "Sleep."


async def test_tab_takes_the_exchange_instead_and_the_dialog_says_it_is_for_good(chat: Running) -> None:
    agent = crete()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        last(app, Answer).focus()
        await pilot.press("delete")
        await wait_until(pilot, lambda: ready(app) and "1 message will be deleted" in words(app))
        assert "This cannot be undone." in words(app)
        await pilot.press("tab", "tab")
        await wait_until(pilot, lambda: ready(app) and "2 messages will be deleted" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app) == ["What now?", "Whatever."])
        assert [turn.text for turn in agent.carried[0].impact.gone] == ["And then?", "Sleep."]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_both_ways_to_delete_and_all_keys_are_in_sight_on_a_small_screen(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = learned_agent()
    agent.impact = Impact(lost=tuple(agent.memory_of.observations[:3]), backups=("/home/me/backup.db",))
    async with chat(agent, size=size) as (app, pilot):
        last(app, Answer).focus()
        await pilot.press("x")
        await wait_until(pilot, lambda: ready(app) and "[ Cancel ]" in words(app))
        lines = words(app).replace("│ │ ", "")
        assert "[ Cancel ] [ This message only ] [ With its message ]" in lines
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.focused is last(app, Answer))


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_however_long_the_list_is_its_keys_and_what_is_for_good_stay_in_sight_and_the_list_scrolls(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = learned_agent()
    for number in range(12):
        agent._say("S000", "user", f"Message number {number} of a chat that went on for long")
    agent.impact = Impact(lost=tuple(agent.memory_of.observations))
    keys = ("[ Delete permanently ]", "[ Cancel ]", "This cannot be undone.")
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press(*"/delete", "enter")
        await wait_until(pilot, lambda: ready(app) and "messages will be deleted" in unframed(app))
        await wait_until(pilot, lambda: "more lines · PgDn" in words(app), "what lies below is said")
        assert "5 memories will no longer be used" in unframed(app), "all that changes stands above the fold"
        assert all(each in words(app) for each in keys), screen_text(app)
        await pilot.press(*["pagedown"] * 12)
        await wait_until(pilot, lambda: "Ulysses" in words(app), "the end of the list")
        assert all(each in words(app) for each in keys), screen_text(app)
        await pilot.resize_terminal(40, 12)
        await wait_until(pilot, lambda: all(each in words(app) for each in keys), "the keys after a resize")


async def test_deleting_an_empty_chat_is_for_good_too_and_says_so(chat: Running) -> None:
    agent = FakeAgent()
    agent.add_session("Empty")
    agent.nothing_erased = True
    async with chat(agent) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.sessions.chosen is not None)
        await pilot.press("ctrl+x")
        await wait_until(pilot, lambda: ready(app) and "This cannot be undone." in words(app))
        assert "/undo undoes this" not in words(app)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_restoring_a_mark_tells_what_becomes_of_chats_before_all_else(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = crete()
    agent.impact = Impact(gone=tuple(agent.turns["S000"] * 5))
    agent.notes = ("3 chats are archived.",)
    await agent.mark("before Crete")
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "3 chats are archived." in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: ready(app) and "3 chats are archived." in words(app))
        assert "[ Restore ]" in words(app)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_h_shows_what_goes_with_a_message_hides_it_once_that_is_agreed_to_and_shows_it_again(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = learned_agent()
    agent.impact = Impact(lost=tuple(agent.memory_of.observations[:2]))
    async with chat(agent, size=size) as (app, pilot):
        message = last(app, Said)
        message.focus()
        await pilot.press("h")
        await wait_until(pilot, lambda: ready(app) and "2 memories will no longer be used" in unframed(app))
        assert "/undo undoes this" in words(app)
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert not agent.turn(message.turn).hidden
        await pilot.press("h")
        await agree(pilot)
        await wait_until(pilot, lambda: "hidden · h to unhide" in words(app))
        await wait_until(pilot, lambda: "Hidden from chat, memory and prompts" in words(app))
        assert app.focused is message
        await pilot.press("h")
        await wait_until(pilot, lambda: message.text[:12] in screen_text(app))
        assert not agent.turn(message.turn).hidden


async def test_undo_with_nothing_to_undo_says_so(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        app.perform("undo")
        await wait_until(pilot, lambda: "There is nothing to undo." in words(app))


async def test_undo_takes_the_number_of_an_earlier_change_and_nothing_else(chat: Running) -> None:
    agent = crete()
    first, *_, newest = (turn.id for turn in agent.turns["S000"])
    await agent.hide(first)
    await agent.hide(newest)
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/undo soon", "enter")
        await wait_until(pilot, lambda: "/undo undoes the last change" in words(app))
        await pilot.press(*"/undo 0", "enter")
        await wait_until(pilot, lambda: not agent.turn(first).hidden)
        assert agent.turn(newest).hidden


async def test_the_list_of_chats_undoes_the_last_change(chat: Running) -> None:
    agent = crete()
    await agent.rewind("S000", agent.turns["S000"][1].id)
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.sessions.chosen is not None)
        await pilot.press("ctrl+l")
        await wait_until(pilot, lambda: len(texts(app)) == 4)
        await wait_until(
            pilot, lambda: "You went back to before the first message; that has been undone." in words(app)
        )


async def test_marks_are_set_by_name_listed_with_what_restoring_changes_and_restored_after_asking(
    chat: Running,
) -> None:
    agent = crete()
    agent.impact = Impact(gone=tuple(agent.turns["S000"][:3]))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        app.perform("marks")
        await wait_until(pilot, lambda: "No marks yet." in words(app))
        await pilot.press("n")
        await wait_until(pilot, lambda: isinstance(app.screen, AskLine))
        await pilot.press(*"before Crete", "enter")
        await wait_until(pilot, lambda: [mark.name for mark in agent.marked] == ["before Crete"])
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "3 messages will be removed" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: ready(app))
        assert agent.carried == []
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: len(agent.carried) == 1)
        await wait_until(pilot, lambda: "Restored “before Crete”" in words(app))
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("d", "enter")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert agent.marked != []
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await pilot.press("d", "tab", "enter")
        await wait_until(pilot, lambda: agent.marked == [])


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_mark_at_which_everything_stands_already_says_so_and_asks_nothing(
    chat: Running, size: tuple[int, int]
) -> None:
    agent = crete()
    agent.impact = Impact(gone=tuple(agent.turns["S000"][:3]))
    agent.idle = {(await agent.mark("just now")).id}
    await agent.mark("before Crete")
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "nothing to restore ·" in words(app))
        assert words(app).count("nothing to restore ·") == 1
        await wait_until(pilot, lambda: "Everything" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Nothing to restore: everything is still as it was" in words(app))
        assert len(app.screen_stack) == 1
        assert agent.carried == []


async def test_deleting_a_chat_shows_what_goes_with_it(chat: Running) -> None:
    agent = learned_agent()
    agent.impact = replace(Impact(), lost=tuple(agent.memory_of.observations[:1]))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.sessions.chosen is not None)
        await pilot.press("ctrl+x")
        await wait_until(pilot, lambda: ready(app) and "Lives in Munich" in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: agent.all_sessions["S000"].deleted)
        await wait_until(pilot, lambda: app.current_session is None)


async def test_forgetting_and_letting_a_document_go_show_the_same_dialog(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*f"/forget {BERLIN}", "enter")
        await wait_until(pilot, lambda: ready(app) and "2 memories will be deleted" in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: all(each.series != BERLIN for each in agent.memory_of.observations))
        await pilot.press("f4", "5")
        await wait_until(pilot, lambda: "Field notes" in words(app))
        await pilot.press("x")
        await wait_until(pilot, lambda: ready(app) and "This cannot be undone." in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: len(agent.memory_of.documents) == 1)


async def test_a_mark_before_going_back_tells_in_which_chat_and_to_where(chat: Running) -> None:
    agent = crete()
    first = agent.turns["S000"][0].id
    agent.marked = [
        FakeMark("M0", None, "rewind", session="S000", turn=first),
        FakeMark("M1", None, "rewind", session="S000"),
    ]
    async with chat(agent) as (app, pilot):
        await pilot.press(*"/marks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser))
        await wait_until(pilot, lambda: "before going back to “What now?” in “Trip”" in words(app))
        assert "before going back to the start of “Trip”" in words(app)
