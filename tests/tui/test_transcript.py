"""A long conversation stays bounded, follows its end, and stays where its reader left it, in any terminal."""

from functools import partial
from itertools import cycle, islice

import pytest

from tests.examples import few, soaking
from tests.tui.acting import enter, press
from tests.tui.conftest import Running, here, screen_text, settled, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.app import ClewApp
from tui.window import MOUNTED, PAGE


def long_agent(count: int) -> ScriptedAgent:
    agent = ScriptedAgent(reply=" ".join(f"word {number}" for number in range(200)))
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


async def test_a_long_chat_mounts_one_page_and_older_ones_move_no_line_that_is_read(chat: Running) -> None:
    exchanges = few(1000)
    agent = long_agent(exchanges)
    reads = agent.watch_calls("chats.thread")
    async with chat(agent) as (app, pilot):
        transcript = app.view.transcript
        assert len(transcript.messages) == PAGE
        assert reads == [(("S000",), {"limit": 60})]
        assert transcript.scroll_y == transcript.max_scroll_y > 0
        for _ in range(20):
            await pilot.press("pageup")
            assert len(transcript.messages) <= MOUNTED
            if transcript.window.first > 0 and len(transcript.window.turns) > 60:
                break
        await wait_until(pilot, lambda: transcript.window.first > 0 and len(transcript.window.turns) > 60)
        before = first_line(app)
        await app.view.chat.turn_page(up=True)
        await pilot.pause()
        assert first_line(app) == before
        await press(pilot, "ctrl+end", until=lambda: transcript.window.at_tail and transcript.follow)
        assert transcript.messages[-1].text.startswith(f"answer {exchanges - 1}")

        app.perform("top")
        await wait_until(pilot, lambda: transcript.messages[:1] and transcript.messages[0].text == "question 0")
        assert transcript.scroll_y == 0
        while transcript.window.last <= PAGE:
            await pilot.press("pagedown")
        assert len(transcript.messages) <= MOUNTED


async def test_a_growing_reply_is_followed_and_any_resize_keeps_the_end_or_the_place(chat: Running) -> None:
    async with chat(long_agent(12)) as (app, pilot):
        transcript = app.view.transcript
        before = transcript.max_scroll_y
        await pilot.press(*"go", "enter")
        await wait_until(pilot, lambda: "word 19" in screen_text(app) and app.view.state.last is not None)
        await wait_until(pilot, lambda: transcript.scroll_y == transcript.max_scroll_y > before + 10)
        assert transcript.follow
        sizes = ((20, 5), (120, 40), (33, 9), (200, 12), (1, 1))
        for size in (*(sizes if soaking() else sizes[::2]), (80, 24)):
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
    agent, rounds = ScriptedAgent(reply="ok"), 30 if soaking() else MOUNTED // 2 + 1
    async with chat(agent) as (app, pilot):
        for number in range(rounds):
            await enter(pilot, f"m{number}", until=lambda: app.view.session)
            await wait_until(pilot, partial(answered, agent, here(app), 2 * number + 2))
        await wait_until(pilot, lambda: app.view.state.reply is None and not app.view.state.waiting)
        await wait_until(pilot, lambda: len(app.view.transcript.messages) <= MOUNTED)
        assert [message.text for message in app.view.transcript.messages[-2:]] == [f"m{rounds - 1}", "ok"]


SIZES = ((20, 6), (200, 60), (80, 24), (41, 9), (120, 40), (20, 20), (300, 5), (72, 18))
BAR = str.maketrans("▁▂▃▄▅▆▇█", " " * 8)  # of a scroll bar: it tells of the pages above, too


def seen(app: ClewApp) -> list[str]:
    return [line.translate(BAR).rstrip() for line in screen_text(app).splitlines()]


def talkative(words: int) -> ScriptedAgent:
    """A chat that is longer than the screen, and a reply of so many words."""
    agent = ScriptedAgent(reply=" ".join(f"word{number}" for number in range(words)))
    agent.add_session("Long", *((f"question {number}", f"answer {number}\n\n" * 2) for number in range(12)))
    return agent


@pytest.mark.process  # one of the screens reads the graph in one
async def test_nothing_moves_in_a_storm_of_resizes_nor_above_a_reply_that_streams(chat: Running) -> None:
    agent, sizes = talkative(400 if soaking() else 100), cycle(SIZES)
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await sees(pilot, "answer 11")
        before = seen(app)
        for key in ("", "f2", "f4", "f9", "ctrl+f"):
            if key:
                await pilot.press(key)
            for width, height in islice(sizes, 16 if soaking() else 2):
                await pilot.resize_terminal(width, height)
            await pilot.resize_terminal(80, 24)
            if key:
                await pilot.press("f2" if key == "f2" else "escape")
                await wait_until(pilot, lambda: len(app.screen_stack) == 1 and not app.view.sessions.display)
        await wait_until(pilot, lambda: seen(app) == before, "the screen as it was")
        for width, height in ((80, 24), (40, 12)):
            await pilot.resize_terminal(width, height)
            agent.go.clear()
            await press(pilot, "ctrl+end", *"go on", "enter", until=lambda: app.view.state.reply is not None)
            while "answer" not in screen_text(app) or app.view.transcript.follow:
                await pilot.press("pageup")
            offset, above = app.view.transcript.scroll_y, seen(app)[1 : height - 8]
            agent.go.set()
            await wait_until(pilot, lambda: app.view.state.reply is None, "the end of the reply")
            await settled(pilot, app)
            assert app.view.transcript.scroll_y == offset
            assert seen(app)[1 : height - 8] == above
