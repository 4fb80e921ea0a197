"""The view stays where the reader left it: while a reply streams, and however the terminal is resized."""

from itertools import cycle, islice

import pytest

from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp

SIZES = ((20, 6), (200, 60), (80, 24), (41, 9), (120, 40), (20, 20), (300, 5), (72, 18))


BAR = str.maketrans("▁▂▃▄▅▆▇█", " " * 8)  # of a scroll bar: it tells of the pages above, too


def seen(app: ClewApp) -> list[str]:
    return [line.translate(BAR).rstrip() for line in screen_text(app).splitlines()]


def talkative(words: int) -> ScriptedAgent:
    """A chat that is longer than the screen, and a reply of so many words."""
    agent = ScriptedAgent(reply=" ".join(f"word{number}" for number in range(words)))
    agent.add_session("Long", *((f"question {number}", f"answer {number}\n\n" * 4) for number in range(12)))
    return agent


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_nothing_moves_under_a_reader_above_while_a_reply_streams(chat: Running, size: tuple[int, int]) -> None:
    agent = talkative(400)
    agent.go.clear()
    async with chat(agent, size=size) as (app, pilot):
        await wait_until(pilot, lambda: app.view.chat is not None and app.view.chat.opened_once)
        await pilot.press(*"go on", "enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        await pilot.press("pageup", "pageup", "pageup")
        await wait_until(pilot, lambda: "answer" in screen_text(app))
        offset, above = app.view.transcript.scroll_y, seen(app)[1 : size[1] - 8]
        agent.go.set()
        await wait_until(pilot, lambda: app.view.state.reply is None, "the end of the reply")
        assert app.view.transcript.scroll_y == offset
        assert seen(app)[1 : size[1] - 8] == above


@pytest.mark.process  # one of the screens reads the graph in one
async def test_a_storm_of_resizes_leaves_every_word_where_it_belongs(chat: Running) -> None:
    async with chat(talkative(5), size=(80, 24)) as (app, pilot):
        await wait_until(pilot, lambda: "answer 11" in screen_text(app))
        before = seen(app)
        for key in ("", "f2", "f4", "f9", "ctrl+f"):
            if key:
                await pilot.press(key)
            for width, height in islice(cycle(SIZES), 16):
                await pilot.resize_terminal(width, height)
            await pilot.resize_terminal(80, 24)
            if key:
                await pilot.press("f2" if key == "f2" else "escape")
                await wait_until(pilot, lambda: len(app.screen_stack) == 1 and not app.view.sessions.display)
        await wait_until(pilot, lambda: seen(app) == before, "the screen as it was")
