"""What stands where on the screen: nothing cut without a word, nothing stray, and the keys of a message at hand."""

import pytest

from tests.tui.conftest import Running, screen_text, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.test_branching import crete, last, unframed, words
from tui.state import Model, State
from tui.widgets.message import AssistantMessage
from tui.widgets.status import compose_line

CODE = "def all_of_the_words_that_stand_in_it(one: int, two: str) -> dict[str, list[int]]: return {two: [one] * 10_000}"


@pytest.mark.parametrize("size", [(200, 60), (80, 24)])
async def test_the_composer_stands_below_the_messages_and_is_as_wide(chat: Running, size: tuple[int, int]) -> None:
    async with chat(crete(), size=size) as (app, pilot):
        await wait_until(pilot, lambda: len(app.view.transcript.messages) == 4)
        message, composer = app.view.transcript.messages[0].region, app.view.composer.region
        assert abs(message.x - composer.x) <= 1
        assert abs(message.right - composer.right) <= 1


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_all_of_a_long_line_of_code_can_be_read(chat: Running, size: tuple[int, int]) -> None:
    agent = ScriptedAgent()
    agent.add_session("Code", ("How?", f"```python\n{CODE}\n```"))
    async with chat(agent, size=size) as (app, pilot):
        await wait_until(pilot, lambda: "10_000}" in screen_text(app))
        told = "".join(screen_text(app).replace("▌", "").split())
        assert CODE.replace(" ", "") in told


async def test_a_focused_message_says_its_keys_and_the_composer_the_figures(chat: Running) -> None:
    async with chat(crete()) as (app, pilot):
        assert "ctx" in status_line(app)
        await pilot.press("tab")
        await wait_until(pilot, lambda: "c copy r retry e edit h hide x delete F1 keys Esc back" in words(app))
        assert "● ready" in status_line(app)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "ctx" in status_line(app) and "Esc back" not in status_line(app))


def test_figures_that_do_not_fit_leave_no_dot_behind() -> None:
    state = State(model=Model("ready", "smollm2-135m", context=8192))
    for width in range(8, 80):
        line = compose_line(state, None, width, 0).plain
        assert "  · " not in line, width
        assert not line.endswith("·")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (80, 12)])
async def test_the_panel_cuts_what_it_is_about_within_its_quotes(chat: Running, size: tuple[int, int]) -> None:
    agent = crete()
    agent.add_session(f"What {'should I ask of it ' * 4}", (f"What {'should I ask of it ' * 4}", "This."))
    async with chat(agent, size=size) as (app, pilot):
        await app.open_session("S001")
        await pilot.press(*"/fork what-if", "enter")
        await wait_until(pilot, lambda: "what-if of “What should I ask…”" in status_line(app))
        last(app, AssistantMessage).focus()
        await pilot.press("m")
        await wait_until(pilot, lambda: app.parts.panel.open and "Memory what-if of “What" in unframed(app))
        title = app.query_one("#memory-title")
        told = " ".join(str(title.render()).split())
        assert told.count("“") == told.count("”"), told
        assert title.region.height * title.size.width >= len(told), "none of it is out of sight"
