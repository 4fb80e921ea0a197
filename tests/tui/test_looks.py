"""What stands where on the screen: nothing cut without a word, nothing stray, and the keys of a message at hand."""

from tests.tui.acting import enter, press, some
from tests.tui.conftest import Running, screen_text, status_line, wait_until
from tests.tui.seeing import last, words
from tests.tui.test_branching import crete
from tui.state import Model, State
from tui.widgets.message import AssistantMessage
from tui.widgets.status import compose_line

CODE = "def all_of_the_words_that_stand_in_it(one: int, two: str) -> dict[str, list[int]]: return {two: [one] * 10_000}"


async def test_composer_keys_and_code_stand_where_they_can_be_read_at_any_size(chat: Running) -> None:
    agent = crete()
    agent.add_session("Code", ("How?", f"```python\n{CODE}\n```"))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        assert "ctx" in status_line(app)
        await press(pilot, "tab", shows="c copy r retry e edit h hide x delete F1 keys Esc back")
        assert "● ready" in status_line(app)
        await press(pilot, "escape", until=lambda: "ctx" in status_line(app) and "Esc back" not in status_line(app))
        for size in ((200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            await wait_until(pilot, lambda size=size: app.size == size)  # type: ignore[misc]
            message, composer = app.view.transcript.messages[0].region, app.view.composer.region
            assert abs(message.x - composer.x) <= 1
            assert abs(message.right - composer.right) <= 1
        await app.open_session("S001")
        for size in ((80, 24), (40, 12)):
            await pilot.resize_terminal(*size)
            await wait_until(pilot, lambda: CODE.replace(" ", "") in "".join(screen_text(app).replace("▌", "").split()))


def test_figures_that_do_not_fit_leave_no_dot_behind() -> None:
    state = State(model=Model("ready", "smollm2-135m", context=8192))
    for width in range(8, 80):
        line = compose_line(state, None, width, 0).plain
        assert "  · " not in line, width
        assert not line.endswith("·")


async def test_the_panel_cuts_what_it_is_about_within_its_quotes(chat: Running) -> None:
    agent = crete()
    agent.add_session(f"What {'should I ask of it ' * 4}", (f"What {'should I ask of it ' * 4}", "This."))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await app.open_session("S001")
        await enter(pilot, "/fork what-if", until=lambda: "what-if of “What should I ask…”" in status_line(app))
        for size in some((120, 40), (80, 24), (80, 12)):
            await pilot.resize_terminal(*size)
            last(app, AssistantMessage).focus()
            await press(pilot, "m", until=lambda: app.parts.panel.open and "Memory what-if of “What" in words(app))
            title = app.query_one("#memory-title")
            told = " ".join(str(title.render()).split())
            assert told.count("“") == told.count("”"), told
            assert title.region.height * title.size.width >= len(told), "none of it is out of sight"
            await press(pilot, "f7", until=lambda: not app.parts.panel.open)
