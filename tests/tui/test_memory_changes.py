"""The memory screen under a person's hands: where cursor and mark stand, quick keys, counts, small terminals."""

import pytest
from textual.widgets import TextArea

from tests.tui.beliefs import BERLIN, CELLO, SISTER, STARTER, learned_agent, screen_of, standing
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.test_memories_screen import chosen, listed, observations, opened, ready, words
from tui import keymaps
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import AskText


async def test_the_cursor_stands_behind_what_is_to_be_corrected_and_ctrl_u_clears_the_line(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        await chosen(app, pilot, SISTER)
        await pilot.press("c")
        await wait_until(pilot, lambda: "What is true instead?" in words(app))
        await pilot.press(*" Byron")
        assert app.screen.query_one(TextArea).text == "Has a sister called Ada Byron"
        await pilot.press("left", "left", "ctrl+u")
        assert app.screen.query_one(TextArea).text == ""
        await pilot.press(*"Has two sisters", "enter")
        await ready(app, pilot)
        assert (await agent.memories.find())[0].text == "Has two sisters"


@pytest.mark.parametrize("filtered", ["", "SSSSS"])
async def test_the_mark_goes_with_what_was_corrected_pinned_and_undone(chat: Running, filtered: str) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, *filtered, shows="Has a sister called Ada")
        await wait_until(pilot, lambda: len(listed(app)) == (5 if filtered else 4))
        await chosen(app, pilot, BERLIN)
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press("ctrl+u", *"Moved to Bonn", "enter")
        await wait_until(pilot, lambda: "Corrected" in words(app))
        await ready(app, pilot)

        def marked() -> str | None:
            found = observations(app).chosen
            return found.text if found is not None else None

        await wait_until(pilot, lambda: marked() == "Moved to Bonn")
        await pilot.press("p")
        await ready(app, pilot)
        newest = (await agent.memories.find())[0]
        assert newest.pinned
        assert marked() == "Moved to Bonn"
        await pilot.press("home" if listed(app)[0] != newest.id else "end")
        for back in ("it is no longer pinned", "it has its earlier text again"):
            await pilot.press("u")
            await wait_until(pilot, lambda back=back: f"Undone: {back}." in words(app), back)  # type: ignore[misc]
            await ready(app, pilot)
        await wait_until(pilot, lambda: marked() == "Moved to Berlin")


async def test_promoted_and_brought_back_it_is_the_chosen_one_again(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, "2", shows="Ulysses")
        await chosen(app, pilot, STARTER)
        await pilot.press("a")
        await wait_until(pilot, lambda: listed(app) == [CELLO])
        await ready(app, pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: listed(app) == [STARTER, CELLO])
        await ready(app, pilot)
        found = observations(app).chosen
        assert found is not None
        assert found.id == STARTER
        await wait_until(pilot, lambda: "Undone: it is under review again." in words(app))


async def test_keys_that_come_quickly_open_one_dialog_and_do_not_leave_the_screen_under_it(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        screen = await opened(app, pilot, "3", shows="I am Noor.")
        screen.page.action_do("edit")  # type: ignore[union-attr]
        for key in ("n", "d"):
            screen.page.action_do({"n": "new", "d": "delete"}[key])  # type: ignore[union-attr]
        await pilot.press("n", "q")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        assert len(app.screen_stack) == 3
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        await ready(app, pilot)
        await pilot.press("e", "n", "q")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        assert len(app.screen_stack) == 3
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen))


async def test_while_a_deed_is_under_way_no_key_leaves_or_turns_the_page(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        screen = await opened(app, pilot, shows="Has a sister")
        screen.busy = True
        await pilot.press("q", "escape", "2", "tab", "u", "enter")
        assert app.screen is screen
        assert screen.page_name == "observations"
        screen.busy = False
        await pilot.press("q")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


async def test_the_count_on_the_tab_is_that_of_the_filtered_list(chat: Running) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="1 Memories 4")
        await pilot.press("S")
        await wait_until(pilot, lambda: "1 Memories 2" in words(app))
        await pilot.press("backspace")
        await wait_until(pilot, lambda: "1 Memories 4" in words(app))


async def test_a_small_terminal_keeps_the_keys_for_help_and_the_way_back(chat: Running) -> None:
    async with chat(learned_agent(), size=(40, 15)) as (app, pilot):
        await opened(app, pilot, shows="Ulysses")
        for page in "12345":
            await pilot.press(page)
            await wait_until(pilot, lambda: screen_text(app).rstrip().endswith("F1 help   Esc back"), page)
        assert screen_of(app).page_name == "documents"


def test_the_help_says_what_is_permanent() -> None:
    told = {row.label: row.words for row in (keymaps.UNDO, *keymaps.OBSERVATIONS, *keymaps.DOCUMENTS)}
    assert "permanently (asks first)" in told["d or Del"]
    assert "permanently (asks first)" in told["x or Del"]
    order = list(told)
    assert order.index("u") < order.index("d or Del")


async def test_a_correction_is_taken_back_where_it_was_made(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, "2", shows="Ulysses")
        await chosen(app, pilot, STARTER)
        await pilot.press("e")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press("exclamation_mark", "enter")
        await wait_until(pilot, lambda: listed(app) == [CELLO])
        await ready(app, pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: listed(app) == [STARTER, CELLO])
        assert (await standing(agent, STARTER)).status == "candidate"
        assert (await standing(agent, BERLIN)).status == "active"


async def test_on_sixty_columns_pages_and_filters_have_words_as_far_as_they_fit(chat: Running) -> None:
    async with chat(learned_agent(), size=(60, 20)) as (app, pilot):
        await opened(app, pilot, shows="Memories")
        await wait_until(pilot, lambda: "1 Memories 4  2 Review 2  3 Blocks  4 Ratings" in screen_text(app))
        await wait_until(pilot, lambda: "S current  K kind  R relation  W who  J project  T  P  /" in screen_text(app))


async def test_on_twenty_columns_the_page_has_its_whole_name(chat: Running) -> None:
    async with chat(learned_agent(), size=(20, 6)) as (app, pilot):
        await opened(app, pilot, shows="Memories")
        for page, name in zip("12345", ("Memories", "Review", "Blocks", "Ratings", "Documents"), strict=True):
            await pilot.press(page)
            await wait_until(pilot, lambda page=page, name=name: f"{page} {name}" in screen_text(app), name)  # type: ignore[misc]
