"""A long conversation stays bounded, follows its end, and never moves a reader who scrolled up."""

from functools import partial

from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.widgets.message import AssistantMessage
from tui.window import MOUNTED, PAGE


def long_agent(count: int = 300) -> ScriptedAgent:
    agent = ScriptedAgent(reply="word " * 200)
    agent.add_session("Long", *((f"question {i}", f"answer {i}\n\nwith two paragraphs") for i in range(count)))
    return agent


async def answered(agent: ScriptedAgent, session: str, turns: int) -> bool:
    return len(await agent.chats.thread(session)) == turns


def first_line(app: ClewApp) -> str:
    """The message at the top of the view, and how far its top is from there."""
    top = round(app.view.transcript.scroll_y)
    for message in app.view.transcript.messages:
        if message.virtual_region.bottom > top:
            return f"{message.text[:20]} {message.virtual_region.y - top}"
    return ""


async def test_two_thousand_turns_mount_one_page_and_read_one_bounded_part(chat: Running) -> None:
    agent = long_agent(1000)
    reads = agent.watch_calls("chats.thread")
    async with chat(agent) as (app, _):
        assert len(app.view.transcript.messages) == PAGE
        assert reads == [(("S000",), {"limit": 60})]
        assert app.view.transcript.scroll_y == app.view.transcript.max_scroll_y > 0


async def test_a_growing_reply_does_not_move_a_reader_above_it(chat: Running) -> None:
    agent = long_agent(20)
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"go", "enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        await pilot.press("pageup")
        await pilot.pause()
        assert not app.view.transcript.follow
        before = first_line(app)
        agent.go.set()
        await wait_until(pilot, lambda: app.view.state.last is not None and answered(agent, "S000", 42))
        await wait_until(pilot, lambda: not any(m.writing for m in app.view.transcript.query(AssistantMessage)))
        await pilot.pause()
        assert first_line(app) == before


async def test_a_growing_reply_is_followed_at_the_end(chat: Running) -> None:
    agent = long_agent(5)
    async with chat(agent) as (app, pilot):
        before = app.view.transcript.max_scroll_y
        await pilot.press(*"go", "enter")
        await wait_until(pilot, lambda: "word word" in screen_text(app) and app.view.state.last is not None)
        await wait_until(pilot, lambda: app.view.transcript.scroll_y == app.view.transcript.max_scroll_y > before + 10)
        assert app.view.transcript.follow


async def test_scrolling_up_brings_older_pages_without_moving_the_line_that_is_read(chat: Running) -> None:
    async with chat(long_agent()) as (app, pilot):
        transcript = app.view.transcript
        for _ in range(40):
            await pilot.press("pageup")
            await pilot.pause()
            assert len(transcript.messages) <= MOUNTED
        await wait_until(pilot, lambda: transcript.window.first > 0 and len(transcript.window.turns) > 60)
        before = first_line(app)
        await app.view.chat.turn_page(up=True)
        await pilot.pause()
        assert first_line(app) == before
        await pilot.press("ctrl+end")
        await wait_until(pilot, lambda: transcript.window.at_tail and transcript.follow)
        assert transcript.messages[-1].text.startswith("answer 299")


async def test_any_resize_keeps_the_end_or_the_place(chat: Running) -> None:
    async with chat(long_agent(30)) as (app, pilot):
        for size in ((20, 5), (120, 40), (33, 9), (200, 12), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.view.transcript.follow
        assert app.view.transcript.scroll_y == app.view.transcript.max_scroll_y
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        before = first_line(app).rsplit(" ", 1)[0]
        for size in ((40, 24), (120, 24), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert first_line(app).rsplit(" ", 1)[0] == before


async def test_a_live_chat_stays_bounded_too(chat: Running) -> None:
    agent = ScriptedAgent(reply="ok")
    async with chat(agent) as (app, pilot):
        for number in range(30):
            app.view.composer.put(f"m{number}")
            await pilot.press("enter")
            await wait_until(pilot, lambda: app.view.session)
            await wait_until(pilot, partial(answered, agent, here(app), 2 * number + 2))
        await wait_until(pilot, lambda: app.view.state.reply is None and not app.view.state.waiting)
        await wait_until(pilot, lambda: len(app.view.transcript.messages) <= MOUNTED)
        assert [message.text for message in app.view.transcript.messages[-2:]] == ["m29", "ok"]


async def test_the_beginning_of_a_long_chat_is_one_key_away(chat: Running) -> None:
    async with chat(long_agent()) as (app, pilot):
        app.perform("top")
        await wait_until(
            pilot, lambda: app.view.transcript.messages[:1] and app.view.transcript.messages[0].text == "question 0"
        )
        assert app.view.transcript.scroll_y == 0
        for _ in range(12):
            await pilot.press("pagedown")
            await pilot.pause()
        assert len(app.view.transcript.messages) <= MOUNTED
        assert app.view.transcript.window.last > PAGE
