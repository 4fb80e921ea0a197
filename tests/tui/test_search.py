"""Searching everything ever said: results while typing, and going to any turn of any chat, and back."""

import asyncio

import pytest
from textual.widgets import Input

from graph.errors import LogDamaged
from graph.events import HeadMoved, Role, TurnHidden
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.state import MOST_PLACES, ChatPlace, Trail
from tui.widgets.dialogs import Reader
from tui.widgets.long_list import Rows
from tui.widgets.message import Message
from tui.widgets.search import PAGE, SearchScreen


def agent_with_chats(count: int = 400) -> ScriptedAgent:
    agent = ScriptedAgent()
    agent.add_session("Here", ("What should I pack?", "Water."))
    agent.add_session("Crete [bold]", *((f"question {i}", f"answer number{i} of Crete") for i in range(count)))
    return agent


def at_top_part(app: ClewApp, text: str) -> bool:
    """The message with that text is in view, and marked."""
    message = next((each for each in app.view.transcript.messages if each.text == text), None)
    if message is None or not message.has_class("-flash"):
        return False
    place = message.virtual_region.y - round(app.view.transcript.scroll_y)
    return 0 <= place < app.view.transcript.size.height


async def test_a_turn_that_is_on_the_screen_is_marked_without_reading_anything(chat: Running) -> None:
    agent = agent_with_chats(3)
    async with chat(agent) as (app, pilot):
        await app.open_session("S001")
        reads = agent.watch_calls("chats.thread")
        assert app.view.chat is not None
        assert await app.view.chat.show_turn(agent.turns["S001"][4])
        await wait_until(pilot, lambda: at_top_part(app, "question 2"))
        assert reads == []


async def test_a_stale_answer_never_overwrites_a_newer_one(chat: Running) -> None:
    agent = agent_with_chats(20)
    searching, searched = agent.hold("search.words"), agent.watch_calls("search.words")
    async with chat(agent) as (app, pilot):
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await pilot.press(*"question 1")
        await wait_until(pilot, lambda: searched)
        await wait_until(pilot, lambda: "searching …" in screen_text(app), "searching …")
        await pilot.press("enter")  # nothing was found yet, so there is nowhere to go
        assert isinstance(app.screen, SearchScreen)
        searching.set()
        await wait_until(pilot, lambda: "11 found" in screen_text(app))
        assert [text for (text, *_), _ in searched] == ["q", "question 1"]


async def test_results_come_while_typing_and_enter_goes_to_the_turn_far_up(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent) as (app, pilot):
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await pilot.press(*"number7 ")
        await wait_until(pilot, lambda: "Crete [bold]" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session == "S001")
        await wait_until(pilot, lambda: at_top_part(app, "answer number7 of Crete"))
        assert len(app.view.transcript.messages) <= 40
        assert app.focused is app.view.composer
        await wait_until(pilot, lambda: "Press Alt+←" in screen_text(app))
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: app.view.session == "S000")
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: "nowhere to go back to" in screen_text(app))


async def test_from_a_place_that_was_jumped_to_one_reads_on_in_both_directions(chat: Running) -> None:
    agent = agent_with_chats()
    async with chat(agent) as (app, pilot):
        await app.open_session("S001")
        assert app.view.chat is not None
        assert await app.view.chat.show_turn(agent.turns["S001"][300])
        await wait_until(pilot, lambda: at_top_part(app, "question 150"))
        for key, text in (("pageup", "question 140"), ("pagedown", "question 160")):
            for _ in range(20):
                await pilot.press(key)
                await pilot.pause()
                if text in screen_text(app):
                    break
            assert text in screen_text(app)
        await pilot.press("ctrl+end")
        await wait_until(pilot, lambda: app.view.transcript.window.at_tail and app.view.transcript.follow)


@pytest.mark.parametrize("text", ['"*AND(', "🦑🦑", "\x1b[2J", "[bold]", "x" * 20_000, "words " * 3_500, "   "])
async def test_any_text_may_be_looked_for(chat: Running, text: str) -> None:
    agent = agent_with_chats(3)
    async with chat(agent) as (app, pilot):
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        app.screen.query_one(Input).value = text
        words = "No messages match." if text.strip() else "Words in any order"
        await wait_until(pilot, lambda: words in screen_text(app))
        await pilot.press("enter")
        assert isinstance(app.screen, SearchScreen)
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


async def test_a_paste_of_many_lines_is_one_line_that_does_nothing_to_the_terminal(chat: Running) -> None:
    from textual.events import Paste

    async with chat(agent_with_chats(3)) as (app, pilot):
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        box = app.screen.query_one(Input)
        box.post_message(Paste("question\r\n\x1b[2J 1\n"))
        await wait_until(pilot, lambda: box.value == "question ␛[2J 1")
        box.post_message(Paste(""))
        await pilot.pause()
        assert box.value == "question ␛[2J 1"


async def test_more_are_shown_when_asked_for(chat: Running) -> None:
    agent = agent_with_chats(60)
    async with chat(agent) as (app, pilot):
        app.perform("search", "question")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await wait_until(pilot, lambda: f"first {PAGE}" in screen_text(app))
        rows = app.screen.query_one(Rows)
        assert rows.option_count == PAGE + 1
        rows.highlighted = PAGE
        await pilot.press("enter")
        await wait_until(pilot, lambda: "60 found" in screen_text(app))
        assert rows.option_count == 60
        assert rows.highlighted == PAGE


async def test_the_match_and_what_became_of_a_turn_are_marked(chat: Running) -> None:
    agent = agent_with_chats(1)
    agent.add_events(TurnHidden(turn=agent.turns["S001"][0]))
    async with chat(agent) as (app, pilot):
        app.perform("search", "question")
        await wait_until(pilot, lambda: "1 found" in screen_text(app))
        await wait_until(pilot, lambda: "hidden" in screen_text(app), "hidden")
        row = app.screen.query_one(Rows).get_option_at_index(0).prompt
        marked = [row.plain[span.start : span.end] for span in row.spans if "underline" in str(span.style)]
        assert marked == ["question"]


async def test_an_alternative_opens_its_chat_where_it_branches_off_and_its_words(chat: Running) -> None:
    agent = agent_with_chats(30)
    asked, last = agent.turns["S001"][10], agent.turns["S001"][-1]
    agent.add_turn("S001", "an answer of another kind", role=Role.ASSISTANT, parent=asked)
    agent.add_events(HeadMoved(session="S001", turn=last))
    async with chat(agent) as (app, pilot):
        app.perform("search", "another kind")
        await wait_until(pilot, lambda: "alternative" in screen_text(app) and "1 found" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader))
        await wait_until(pilot, lambda: "on another branch" in screen_text(app) and "another kind" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: at_top_part(app, "question 5"))
        assert app.view.session == "S001"


async def test_a_search_that_fails_says_why_and_the_next_one_works(chat: Running) -> None:
    agent = agent_with_chats(3)
    mend = agent.fail("search.words", LogDamaged("The log cannot be read [now]."))
    async with chat(agent) as (app, pilot):
        app.perform("search", "question")
        await wait_until(pilot, lambda: "The log cannot be read [now]." in screen_text(app))
        mend()
        await pilot.press("end", "space", *"2")
        await wait_until(pilot, lambda: "1 found" in screen_text(app))


async def test_the_last_search_is_there_again_to_go_to_the_next_result(chat: Running) -> None:
    async with chat(agent_with_chats(3)) as (app, pilot):
        app.perform("search", "question 1")
        await wait_until(pilot, lambda: "1 found" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1 and app.view.session == "S001")
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen) and "1 found" in screen_text(app))
        assert app.screen.query_one(Input).value == "question 1"
        await pilot.press(*"wat")
        await wait_until(pilot, lambda: "What should I pack?" not in screen_text(app) and "Water." in screen_text(app))


@pytest.mark.parametrize("size", [(20, 5), (40, 15), (80, 24), (1, 1)])
async def test_any_terminal_can_search(chat: Running, size: tuple[int, int]) -> None:
    async with chat(agent_with_chats(3), size=size) as (app, pilot):
        app.perform("search", "question 1")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        rows = app.screen.query_one(Rows)
        await wait_until(pilot, lambda: rows.option_count == 1)
        if size[1] > 1:
            assert rows.size.height >= 1
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session == "S001")


async def test_closing_while_a_search_runs_is_fine(chat: Running) -> None:
    agent = agent_with_chats(3)
    searching, searched = agent.hold("search.words"), agent.watch_calls("search.words")
    async with chat(agent) as (app, pilot):
        app.perform("search", "question")
        await wait_until(pilot, lambda: searched)
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        searching.set()
        await asyncio.sleep(0)
        await pilot.pause()
        assert not any(message.has_class("-flash") for message in app.query(Message))


def test_the_trail_leads_back_step_by_step_and_does_not_grow_for_ever() -> None:
    trail = Trail()
    assert trail.back() is None
    for number in range(2 * MOST_PLACES):
        trail.leave(ChatPlace("S", f"T{number}"))
        trail.leave(ChatPlace("S", f"T{number}"))
    found = []
    while (place := trail.back()) is not None:
        found.append(place.turn)
    assert found == [f"T{number}" for number in reversed(range(MOST_PLACES, 2 * MOST_PLACES))]


async def test_an_empty_search_says_what_it_looks_for(chat: Running) -> None:
    async with chat(agent_with_chats(1)) as (app, pilot):
        await pilot.press("ctrl+f")
        await wait_until(pilot, lambda: "Words in any order" in screen_text(app))
        await pilot.press(*"zzz")
        await wait_until(pilot, lambda: "No messages match" in screen_text(app))
        await pilot.press(*["backspace"] * 3)
        await wait_until(pilot, lambda: "Words in any order" in screen_text(app))
