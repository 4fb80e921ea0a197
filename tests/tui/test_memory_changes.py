"""The memory screen under a person's hands: where cursor and mark stand, quick keys, counts, small terminals."""

from textual.widgets import TextArea

from tests.tui.acting import closes, paste, press, some
from tests.tui.beliefs import BERLIN, CELLO, SISTER, STARTER, learned_agent, screen_of, standing
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.seeing import sees
from tests.tui.test_memories_screen import chosen, does, listed, lists, observations, opened, ready
from tui import keymaps
from tui.app import ClewApp
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import AskText


def marked(app: ClewApp) -> str | None:
    """The words of the memory with the mark."""
    found = observations(app).chosen
    return found.text if found is not None else None


async def test_the_cursor_stands_behind_what_is_corrected_and_the_mark_goes_with_what_changes(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        await chosen(app, pilot, SISTER)
        await press(pilot, "c", shows="What is true instead?")
        await paste(pilot, " Byron")
        assert app.screen.query_one(TextArea).text == "Has a sister called Ada Byron"
        await pilot.press("left", "left", "ctrl+u")
        assert app.screen.query_one(TextArea).text == ""
        await paste(pilot, "Has two", "enter")
        await ready(app, pilot)
        assert (await agent.memories.find())[0].text == "Has two"
        for keys, count in (("S" * 6, 4), ("S" * 5, 6)):
            await press(pilot, *keys, until=lambda count=count: len(listed(app)) == count)  # type: ignore[misc]
            await chosen(app, pilot, BERLIN)
            await press(pilot, "c", opens=AskText)
            await pilot.press("ctrl+u")
            await paste(pilot, "Left", "enter", shows="Corrected")
            await ready(app, pilot)
            await wait_until(pilot, lambda: marked(app) == "Left")
            await does(app, pilot, "p")
            newest = (await agent.memories.find())[0]
            assert newest.pinned
            assert marked(app) == "Left"
            await pilot.press("home" if listed(app)[0] != newest.id else "end")
            await does(app, pilot, "u", shows="Undone: it is no longer pinned.")
            await does(app, pilot, "u", shows="Undone: it has its earlier text again.")
            await wait_until(pilot, lambda: marked(app) == "Moved to Berlin")


async def test_what_was_reviewed_is_chosen_again_when_that_is_taken_back_where_it_was_done(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "2", shows="Ulysses")
        await chosen(app, pilot, STARTER)
        await pilot.press("a")
        await lists(app, pilot, CELLO)
        await ready(app, pilot)
        await pilot.press("u")
        await lists(app, pilot, STARTER, CELLO)
        await ready(app, pilot)
        assert marked(app) == "The starter is named Ulysses"
        await sees(pilot, "Undone: it is under review again.")
        await press(pilot, "e", opens=AskText)
        await pilot.press("exclamation_mark", "enter")
        await lists(app, pilot, CELLO)
        await ready(app, pilot)
        await pilot.press("u")
        await lists(app, pilot, STARTER, CELLO)
        assert (await standing(agent, STARTER)).status == "candidate"
        assert (await standing(agent, BERLIN)).status == "active"
        await ready(app, pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: any(each.has_class("-flash") for each in app.view.transcript.messages))


async def test_quick_keys_open_one_dialog_and_none_leaves_the_screen_while_a_deed_goes_on(chat: Running) -> None:
    async with chat(learned_agent(), size=(80, 24)) as (app, pilot):
        screen = await opened(app, pilot, "3", shows="I am Noor.")
        for deed in ("edit", "new", "delete"):
            screen.page.action_do(deed)  # type: ignore[union-attr]
        for keys in (["n", "q"], ["e", "n", "q"]):
            await press(pilot, *keys, opens=AskText)
            assert len(app.screen_stack) == 3
            await press(pilot, "escape", opens=MemoriesScreen)
            await ready(app, pilot)
        screen.busy = True
        await pilot.press("q", "escape", "2", "tab", "u", "enter")
        assert app.screen is screen
        assert screen.page_name == "blocks"
        screen.busy = False
        await closes(pilot, "q")


async def test_tabs_filters_and_keys_have_words_as_they_fit_and_all_works_at_any_size(chat: Running) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="1 Memories 4")
        await press(pilot, "S", shows="1 Memories 2")
        await press(pilot, "backspace", shows="1 Memories 4")
        await pilot.resize_terminal(60, 20)
        await wait_until(pilot, lambda: "1 Memories 4  2 Review 2  3 Blocks  4 Ratings" in screen_text(app))
        await wait_until(pilot, lambda: "S current  K kind  R relation  W who  J project  T  P  /" in screen_text(app))
        names = {"1": "Memories", "2": "Review", "3": "Blocks", "4": "Ratings", "5": "Documents"}
        await pilot.resize_terminal(40, 15)
        for page in names:
            await pilot.press(page)
            await wait_until(pilot, lambda: screen_text(app).rstrip().endswith("F1 help   Esc back"), page)
        assert screen_of(app).page_name == "documents"
        await pilot.resize_terminal(20, 6)
        for told in (f"{page} {name}" for page, name in names.items()):
            await press(pilot, told[0], shows=told)
        for size in some((20, 5), (200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            await press(pilot, "down", until=lambda: screen_of(app).page.rows.region.height > 0)
            await press(pilot, "3", "1", until=lambda: screen_of(app).page_name == "observations")
        await sees(pilot, "Has a sister called Ada")
        await closes(pilot, "f4")


def test_the_help_says_what_is_permanent() -> None:
    told = {row.label: row.words for row in (keymaps.UNDO, *keymaps.OBSERVATIONS, *keymaps.DOCUMENTS)}
    assert "permanently (asks first)" in told["d or Del"]
    assert "permanently (asks first)" in told["x or Del"]
    order = list(told)
    assert order.index("u") < order.index("d or Del")
