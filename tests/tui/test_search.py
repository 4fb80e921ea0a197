"""Searching everything ever said: results while typing, and going to any turn of any chat, and back."""

import asyncio

from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input

from graph.errors import LogDamaged
from graph.events import HeadMoved, Role, TurnHidden
from tests.examples import soaking
from tests.tui.acting import enter, perform, press
from tests.tui.conftest import Running, screen_text, settled, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.app import ClewApp
from tui.state import MOST_PLACES, ChatPlace, Trail
from tui.widgets.dialogs import Reader
from tui.widgets.long_list import Rows
from tui.widgets.message import Message
from tui.widgets.search import PAGE, SearchScreen


def agent_with_chats(count: int) -> ScriptedAgent:
    agent = ScriptedAgent()
    agent.add_session("Here", ("What should I pack?", "Water."))
    agent.add_session("Crete [bold]", *((f"question {i}", f"answer number{i} of Crete") for i in range(count)))
    return agent


STRANGE = ('"*OR(', "🦑🦑", "\x1b[2J", "[bold]", "   ")
ENDLESS = ("x" * 20_000, "words " * 3_500)


def at_top_part(app: ClewApp, text: str) -> bool:
    """The message with that text is in view, and marked."""
    message = next((each for each in app.view.transcript.messages if each.text == text), None)
    if message is None or not message.has_class("-flash"):
        return False
    place = message.virtual_region.y - round(app.view.transcript.scroll_y)
    return 0 <= place < app.view.transcript.size.height


async def opened(app: ClewApp, pilot: Pilot[int]) -> SearchScreen:
    await press(pilot, "ctrl+f", until=lambda: isinstance(app.screen, SearchScreen))
    assert isinstance(app.screen, SearchScreen)
    return app.screen


async def test_results_come_while_typing_and_enter_goes_far_up_from_where_one_reads_on(chat: Running) -> None:
    count = 400 if soaking() else 200
    agent = agent_with_chats(count)
    async with chat(agent) as (app, pilot):
        transcript = app.view.transcript
        await opened(app, pilot)
        await press(pilot, *"number7 ", shows="Crete [bold]")
        await press(pilot, "enter", until=lambda: app.view.session == "S001")
        await wait_until(pilot, lambda: at_top_part(app, "answer number7 of Crete"))
        assert len(transcript.messages) <= 40
        assert app.focused is app.view.composer
        await sees(pilot, "Press Alt+←")
        await press(pilot, "alt+left", until=lambda: app.view.session == "S000")
        await press(pilot, "alt+left", shows="nowhere to go back to")

        await app.open_session("S001")
        assert app.view.chat is not None
        assert await app.view.chat.show_turn(agent.turns["S001"][200])
        await wait_until(pilot, lambda: at_top_part(app, "question 100"))
        for key, text in (("pageup", "question 90"), ("pagedown", "question 110")):
            for _ in range(20):
                await pilot.press(key)
                await pilot.pause()
                if text in screen_text(app):
                    break
            assert text in screen_text(app)
        await press(pilot, "ctrl+end", until=lambda: transcript.window.at_tail and transcript.follow)
        reads = agent.watch_calls("chats.thread")
        assert await app.view.chat.show_turn(agent.turns["S001"][-2])
        await wait_until(pilot, lambda: at_top_part(app, f"question {count - 1}"))
        assert reads == [], "it is on the screen"


async def test_a_stale_answer_never_overwrites_a_newer_one_nor_comes_after_the_end(chat: Running) -> None:
    agent = agent_with_chats(20)
    searching, searched = agent.hold("search.words"), agent.watch_calls("search.words")
    async with chat(agent) as (app, pilot):
        await opened(app, pilot)
        await press(pilot, *"question 1", until=lambda: searched, shows="searching …")
        await pilot.press("enter")  # nothing was found yet, so there is nowhere to go
        assert isinstance(app.screen, SearchScreen)
        searching.set()
        await sees(pilot, "11 found")
        assert [text for (text, *_), _ in searched] == ["q", "question 1"]

        mend = agent.fail("search.words", LogDamaged("The log cannot be read [now]."))
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
        screen = await opened(app, pilot)
        await sees(pilot, "The log cannot be read [now].")
        mend()
        screen.query_one(Input).value = "question 2"
        await sees(pilot, "1 found")

        searching.clear()
        searched.clear()
        app.screen.query_one(Input).value = "answer"
        await wait_until(pilot, lambda: searched)
        await press(pilot, "escape", until=lambda: len(app.screen_stack) == 1)
        searching.set()
        await asyncio.sleep(0)
        await pilot.pause()
        assert not any(message.has_class("-flash") for message in app.query(Message))


async def test_any_text_may_be_looked_for_and_pasted_and_more_are_shown_when_asked_for(chat: Running) -> None:
    agent = agent_with_chats(60)
    async with chat(agent) as (app, pilot):
        await enter(pilot, 'A note about "*AND( tides', until=lambda: app.view.state.last and not app.view.state.reply)
        screen = await opened(app, pilot)
        await sees(pilot, "Words in any order")
        box = screen.query_one(Input)
        for text in (*STRANGE, *(ENDLESS if soaking() else ())):
            box.value = "question 7"
            await sees(pilot, "1 found")
            box.value = text
            await sees(pilot, "No messages match." if text.strip() else "Words in any order")
            await pilot.press("enter")
            assert app.screen is screen
        box.value = 'about "*AND( tides'
        await sees(pilot, "1 found")
        box.value = ""
        await sees(pilot, "Words in any order")
        box.post_message(Paste("question\r\n\x1b[2J 1\n"))
        await wait_until(pilot, lambda: box.value == "question ␛[2J 1")
        box.post_message(Paste(""))
        await pilot.pause()
        assert box.value == "question ␛[2J 1"

        box.value = "question"
        await sees(pilot, f"first {PAGE}")
        await settled(pilot, app)
        rows = screen.query_one(Rows)
        assert rows.option_count == PAGE + 1
        rows.highlighted = PAGE
        await press(pilot, "enter", shows="60 found")
        assert rows.option_count == 60
        assert rows.highlighted == PAGE


async def test_hidden_turns_are_marked_alternatives_open_and_the_last_search_is_kept(chat: Running) -> None:
    agent = agent_with_chats(30)
    turns = agent.turns["S001"]
    hidden, asked, last = turns[0], turns[10], turns[-1]
    agent.add_turn("S001", "an answer of another kind", role=Role.ASSISTANT, parent=asked)
    agent.add_events(TurnHidden(turn=hidden), HeadMoved(session="S001", turn=last))
    async with chat(agent) as (app, pilot):
        await perform(pilot, "search", "question 0", shows=("1 found", "hidden"))
        row = app.screen.query_one(Rows).get_option_at_index(0).prompt
        marked = [row.plain[span.start : span.end] for span in row.spans if "underline" in str(span.style)]
        assert marked == ["question", "0"]
        app.screen.query_one(Input).value = "another kind"
        await wait_until(pilot, lambda: "alternative" in screen_text(app) and "1 found" in screen_text(app))
        await press(pilot, "enter", until=lambda: isinstance(app.screen, Reader))
        await wait_until(pilot, lambda: "on another branch" in screen_text(app) and "another kind" in screen_text(app))
        await press(pilot, "escape", until=lambda: at_top_part(app, "question 5"))
        assert app.view.session == "S001"
        screen = await opened(app, pilot)
        await sees(pilot, "1 found")
        assert screen.query_one(Input).value == "another kind"
        await press(pilot, *"wat", until=lambda: "another" not in screen_text(app) and "Water." in screen_text(app))


async def test_any_terminal_can_search(chat: Running) -> None:
    async with chat(agent_with_chats(3)) as (app, pilot):
        for size in ((20, 5), (40, 15), (80, 24), (1, 1)):
            await pilot.resize_terminal(*size)
            await perform(pilot, "search", "question 1", until=lambda: isinstance(app.screen, SearchScreen))
            rows = app.screen.query_one(Rows)
            await wait_until(pilot, lambda rows=rows: rows.option_count == 1)  # type: ignore[misc]
            if size[1] > 1:
                assert rows.size.height >= 1
            await press(pilot, "enter", until=lambda: app.view.session == "S001" and len(app.screen_stack) == 1)
            await app.open_session("S000")


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
