"""The memory screen: each key does what it says, the rest stays where it is, and any text is only text."""

import pytest
from textual.pilot import Pilot

from agent.events import GraphProgress
from graph.errors import GraphFailure
from graph.values import Wanted
from tests.tui.beliefs import BERLIN, CELLO, MUNICH, SISTER, STARTER, learned_agent, screen_of, standing
from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.memories.observations import PAGE, Detail, Observations
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import Confirm, Reader
from tui.widgets.impact import ImpactScreen


def words(app: ClewApp) -> str:
    """What the screen says, on one line."""
    return " ".join(screen_text(app).split())


def listed(app: ClewApp) -> list[str]:
    """The ids on the page; none before it is there."""
    screen = next((each for each in app.screen_stack if isinstance(each, MemoriesScreen)), None)
    is_there = screen is not None and screen.query(f"#{screen.page_name} LongList")
    return [each.id for each in observations(app).rows.items] if is_there else []


async def opened(app: ClewApp, pilot: Pilot[int], *keys: str, shows: str) -> MemoriesScreen:
    await pilot.press("f4")
    await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and app.focused is not None)
    await pilot.press(*keys)
    await wait_until(pilot, lambda: shows in words(app), shows)
    return screen_of(app)


def observations(app: ClewApp) -> Observations:
    page = screen_of(app).page
    assert isinstance(page, Observations)
    return page


async def blocks(agent: ScriptedAgent) -> dict[str, str]:
    """What the core blocks say, by their names."""
    return {block.name: block.text for block in await agent.memories.blocks()}


async def ratings(agent: ScriptedAgent) -> dict[str, int]:
    """How the messages are rated, by their ids."""
    return {turn.id: rating for rating in range(4) for turn in await agent.memories.rated(rating)}


async def ready(app: ClewApp, pilot: Pilot[int]) -> None:
    """Wait until what was asked for is done."""
    await wait_until(pilot, lambda: not screen_of(app).busy, "its end")


async def chosen(app: ClewApp, pilot: Pilot[int], identity: str) -> None:
    """Put the mark at an observation, and wait until all about it is shown."""
    page = observations(app)
    page.rows.choose(listed(app).index(identity))
    detail = page.query_one(Detail)
    await wait_until(pilot, lambda: detail.story is not None and detail.story.observation.id == identity, identity)


async def test_it_lists_what_is_current_and_tells_all_about_one(chat: Running) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        assert listed(app) == [STARTER, CELLO, SISTER, BERLIN]
        await chosen(app, pilot, BERLIN)
        await wait_until(pilot, lambda: "History" in words(app))
        await wait_until(pilot, lambda: "2025-06-03 ↷ Lives in Munich" in words(app), "2025-06-03 ↷ Lives in Munich")
        await wait_until(pilot, lambda: "2025-06-03 → ● Moved to Berlin" in words(app))
        await wait_until(pilot, lambda: "› 2025-06-02 you: “I moved to Berlin”" in words(app), "its proof")
        await wait_until(pilot, lambda: "you (same statement): “Ada carried everything”" in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.focused is app.view.composer


async def test_enter_goes_to_the_source_that_is_chosen(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        await chosen(app, pilot, BERLIN)
        await pilot.press("right", "enter")
        await wait_until(pilot, lambda: app.view.session == "S001")
        third = agent.turns["S001"][2]
        await wait_until(
            pilot, lambda: any(m.turn == third and m.has_class("-flash") for m in app.view.transcript.messages)
        )
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: app.view.session == "S000")
        await opened(app, pilot, shows="Moved to Berlin")
        await wait_until(pilot, lambda: (found := observations(app).chosen) is not None and found.id == BERLIN)


async def test_every_filter_has_a_key_and_backspace_clears_them(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister")
        for keys, ids in (
            ("S", [SISTER, BERLIN]),
            ("SS", [STARTER, CELLO]),
            ("SSS", [MUNICH]),
            ("SSSSS", [STARTER, CELLO, SISTER, BERLIN, MUNICH]),
            ("K", [STARTER, SISTER]),
            ("KK", [BERLIN]),
            ("KKK", [CELLO]),
            ("KKKK", [STARTER, CELLO, SISTER, BERLIN]),
            ("W", [CELLO, SISTER]),
            ("T", [SISTER]),
            ("P", [SISTER]),
            ("PP", [STARTER, CELLO, BERLIN]),
        ):
            await pilot.press(*keys)
            await wait_until(pilot, lambda ids=ids: listed(app) == ids, keys)  # type: ignore[misc]
            await pilot.press("backspace")
            await wait_until(pilot, lambda: len(listed(app)) == 4, "all of them again")
        await pilot.press("slash", *"ulysses", "enter")
        await wait_until(pilot, lambda: listed(app) == [STARTER])
        await wait_until(pilot, lambda: "“ulysses”" in words(app), "“ulysses”")
        await pilot.press("T")
        await wait_until(pilot, lambda: "No memories match these filters" in words(app))


async def test_p_pins_and_u_undoes(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        await chosen(app, pilot, BERLIN)
        await pilot.press("p")
        await wait_until(pilot, lambda: "Press u to undo" in words(app))
        await ready(app, pilot)
        pinned = await standing(agent, BERLIN)
        assert pinned.pinned
        await wait_until(pilot, lambda: observations(app).chosen == pinned)
        await pilot.press("p")
        await wait_until(pilot, lambda: "Unpinned. Press u to undo" in words(app))
        await ready(app, pilot)
        assert not (await standing(agent, BERLIN)).pinned
        for back in ("Undone: it is pinned again.", "Undone: it is no longer pinned."):
            await ready(app, pilot)
            await pilot.press("u")
            await wait_until(pilot, lambda back=back: back in words(app), back)  # type: ignore[misc]
        assert not (await standing(agent, BERLIN)).pinned
        await ready(app, pilot)
        await pilot.press("u")
        pinned_before = "You pinned the memory “Has a sister called Ada”; that has been undone."
        await wait_until(pilot, lambda: pinned_before in words(app))
        await ready(app, pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: "nothing to undo" in words(app))


async def test_c_corrects_keeps_the_journey_and_is_undone(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        await chosen(app, pilot, SISTER)
        await pilot.press("c")
        await wait_until(pilot, lambda: "What is true instead?" in words(app))
        await pilot.press("ctrl+a", "ctrl+k", *"Has a cousin called Ada", "enter")
        await wait_until(pilot, lambda: "Has a cousin called Ada" in words(app) and "Press u to undo" in words(app))
        await ready(app, pilot)
        assert (await standing(agent, SISTER)).status == "superseded"
        await pilot.press("u")
        await wait_until(pilot, lambda: "Undone: it has its earlier text again." in words(app))
        assert (await standing(agent, SISTER)).status == "active"
        assert "Has a cousin called Ada" not in [each.text for each in await agent.memories.find()]


@pytest.mark.parametrize("key", ["d", "delete"])
async def test_forgetting_shows_what_goes_and_asks(chat: Running, key: str) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister")
        await chosen(app, pilot, BERLIN)
        await pilot.press(key)
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and "cannot be undone" in words(app))
        await wait_until(pilot, lambda: "“Lives in Munich”" in screen_text(app), "“Lives in Munich”")
        await pilot.press("escape")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        assert len(await agent.memories.find(Wanted(everything=True))) == 5
        await ready(app, pilot)
        await pilot.press(key)
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "Forgotten permanently." in words(app))
        await ready(app, pilot)
        assert listed(app) == [STARTER, CELLO, SISTER]


async def test_the_review_keeps_rejects_edits_and_undoes_by_one_key_each(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, "2", shows="not fully supported by the proof below")
        assert listed(app) == [STARTER, CELLO]
        await wait_until(pilot, lambda: "a keep e edit x reject" in words(app), "a keep e edit x reject")
        await pilot.press("a")
        await wait_until(pilot, lambda: listed(app) == [CELLO] and "Kept: now in use" in words(app))
        assert (await standing(agent, STARTER)).status == "active"
        await ready(app, pilot)
        await pilot.press("x")
        await wait_until(pilot, lambda: "Nothing to review" in words(app))
        assert (await standing(agent, CELLO)).status == "invalid"
        for _ in range(2):
            await ready(app, pilot)
            await pilot.press("u")
        await ready(app, pilot)
        await wait_until(pilot, lambda: listed(app) == [STARTER, CELLO])
        await pilot.press("home", "e")
        await wait_until(pilot, lambda: "What is true instead?" in words(app))
        await pilot.press("exclamation_mark", "enter")
        await wait_until(pilot, lambda: listed(app) == [CELLO])
        assert (await agent.memories.find())[0].text == "The starter is named Ulysses!"


async def test_two_reviews_of_the_same_candidate_are_told_apart(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        screen = await opened(app, pilot, "2", shows="Ulysses")
        before = await standing(agent, STARTER)
        await agent.memories.promote(STARTER)
        screen.do(screen.doing.promote(before))
        await wait_until(pilot, lambda: "is already in use. Nothing was changed" in words(app))


async def test_blocks_are_written_edited_and_taken_away(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "3", shows="I am Noor.")
        await pilot.press("n", *"scratchpad", "enter")
        await wait_until(pilot, lambda: "Core block: scratchpad" in words(app))
        await pilot.press(*"one", "ctrl+j", *"two", "enter")
        await wait_until(pilot, lambda: "“scratchpad” saved" in words(app))
        await ready(app, pilot)
        assert (await blocks(agent))["scratchpad"] == "one\ntwo"
        await pilot.press("e")
        await wait_until(pilot, lambda: "Core block: scratchpad" in words(app))
        await pilot.press(*" three", "enter")
        await ready(app, pilot)
        assert (await blocks(agent))["scratchpad"] == "one\ntwo three"
        await pilot.press("u")
        await ready(app, pilot)
        assert (await blocks(agent))["scratchpad"] == "one\ntwo"
        await wait_until(pilot, lambda: "Undone: “scratchpad” has its earlier text again." in words(app))
        await pilot.press("d")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("tab", "enter")
        await ready(app, pilot)
        assert list(await blocks(agent)) == ["human", "persona"]


async def test_turns_are_rated_anew_alone_and_in_bulk(chat: Running) -> None:
    agent = learned_agent()
    first, second, third, fourth = agent.turns["S001"]
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "4", shows="0 routine")
        await wait_until(pilot, lambda: "I moved to Berlin" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "0–3 rate" in words(app))
        await pilot.press("end", "3")
        await wait_until(pilot, lambda: "Rated 3" in words(app) and "3 pivotal" in words(app))
        await ready(app, pilot)
        assert await ratings(agent) == {first: 3, second: 0, third: 2, fourth: 0}
        await pilot.press("A", "1")
        await wait_until(pilot, lambda: "2 messages rated 1" in words(app))
        await ready(app, pilot)
        assert await ratings(agent) == {first: 3, second: 1, third: 2, fourth: 1}
        await pilot.press("u")
        await wait_until(pilot, lambda: "Undone: the rating of 2 messages was 1, now 0 again." in words(app))
        await ready(app, pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: "Undone: the rating was 3, now 0 again." in words(app))
        await ready(app, pilot)
        assert await ratings(agent) == {first: 0, second: 0, third: 2, fourth: 0}
        await pilot.press("5")
        await wait_until(pilot, lambda: "Field notes" in words(app), "the digits choose pages again")


async def test_documents_are_read_and_let_go_after_asking(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "5", shows="/notes/field.md")
        await wait_until(pilot, lambda: "markdown, 18 KB, 24 passages" in words(app), "markdown, 18 KB, 24 passages")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader))
        await pilot.press("escape", "x")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await wait_until(pilot, lambda: "Delete “Field notes” permanently?" in words(app))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "bridges.pdf" in words(app) and "Field notes" not in words(app))


async def test_what_changes_meanwhile_comes_in_without_moving_the_mark(chat: Running) -> None:
    agent = learned_agent()
    agent.learn_many(f"fact {number}" for number in range(10, 200))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="fact 199")
        rows = observations(app).rows
        rows.choose(120)
        identity, line = rows.items[120].id, rows.place * 2 - rows.scroll_y
        await agent.memories.remember("I am newer")
        await agent.memories.remember("I am the newest")
        await wait_until(pilot, lambda: len(rows.items) == 196)
        assert rows.chosen is not None
        assert rows.chosen.id == identity
        assert rows.place * 2 - rows.scroll_y == line


async def test_thousands_are_read_piece_by_piece(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Here", ("What now?", "Whatever you like."))
    agent.learn_many(f"fact {number}" for number in range(3_000))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        screen = await opened(app, pilot, shows="fact 2999")
        rows = screen.page.rows
        assert len(rows.items) == PAGE
        while len(rows.items) < 3_000:
            before = len(rows.items)
            await pilot.press("end")
            await wait_until(pilot, lambda before=before: len(rows.items) > before)  # type: ignore[misc]
        await pilot.press("end")
        await wait_until(pilot, lambda: "› ● fact 0" in words(app))
        assert len(rows._rows) < 200


async def test_empty_pages_say_what_will_stand_there(chat: Running) -> None:
    async with chat(ScriptedAgent(), size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="No memories yet. What clew learns")
        for key, told in (
            ("2", "Nothing to review"),
            ("3", "No core blocks yet"),
            ("4", "Nothing is rated yet"),
            ("5", "No documents yet"),
        ):
            await pilot.press(key)
            await wait_until(pilot, lambda told=told: told in words(app), told)  # type: ignore[misc]
        await pilot.press("tab")
        await wait_until(pilot, lambda: "No memories yet" in words(app))
        await pilot.press("p", "c", "d", "a", "enter", "left", "space", "u")
        await wait_until(pilot, lambda: "nothing to undo" in words(app))


async def test_while_the_graph_is_rebuilt_it_says_so_and_comes_back_by_itself(chat: Running) -> None:
    agent = learned_agent()
    mend = agent.fail("memories.find", GraphFailure("The graph is behind [now]."))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        agent.tell(GraphProgress("rebuilding", 1, 4))
        await wait_until(pilot, lambda: app.view.state.graph is not None and app.view.state.graph.total == 4)
        await opened(app, pilot, shows="being rebuilt (25%)")
        mend()
        agent.tell(GraphProgress("ready"))
        await wait_until(pilot, lambda: "Has a sister" in words(app))


HOSTILE = (
    "[red]not red[/red] [/] [@click=app.quit]x[/]",
    "\x1b[2J\x1b]0;title\x07 after",
    "\u202eright to left\u202c שלום עולם مرحبا",
    "x" * 100_000,
    "many\nlines\n" * 2_000,
    "\u200b",
    None,
)


@pytest.mark.parametrize("size", [(80, 24), (40, 20), (20, 5)])
async def test_any_text_is_only_text(chat: Running, size: tuple[int, int]) -> None:
    agent = ScriptedAgent()
    agent.add_session("Here", ("What now?", "Whatever you like."))
    for text in HOSTILE:
        session = agent.add_session(text, project=text)
        turn = agent.add_turn(session, text or "", speaker=text or "")
        agent.learn(text, turn, about=(text,) if text else (), tags=(text,) if text else ())
    async with chat(agent, size=size) as (app, pilot):
        await pilot.press("f4")
        await wait_until(pilot, lambda: len(listed(app)) == len(HOSTILE))
        for identity in listed(app):
            await chosen(app, pilot, identity)
            await pilot.press("right", "space", "W")
            assert "\x1b" not in screen_text(app)
            await pilot.press("backspace")
            await wait_until(pilot, lambda: len(listed(app)) == len(HOSTILE))
        if size == (80, 24):
            await chosen(app, pilot, "OBS0000001")
            await wait_until(pilot, lambda: "[red]not red[/red]" in words(app))


async def test_it_stays_usable_when_the_terminal_shrinks_and_grows(chat: Running) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        for width, height in ((40, 20), (20, 5), (200, 60), (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.press("down")
            await wait_until(pilot, lambda: screen_of(app).page.rows.region.height > 0)
            await pilot.press("2", "3", "4", "5", "1")
            await wait_until(pilot, lambda: screen_of(app).page_name == "observations")
        await wait_until(pilot, lambda: "Has a sister called Ada" in words(app))
        await pilot.press("f4")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


async def test_a_memory_is_made_from_two_with_a_key_and_undone(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister")
        await chosen(app, pilot, SISTER)
        await pilot.press("m")
        await wait_until(pilot, lambda: "Marked “Has a sister called Ada”" in words(app))
        await ready(app, pilot)
        await pilot.press("m")
        await wait_until(pilot, lambda: "No longer marked." in words(app))
        await ready(app, pilot)
        await pilot.press("m")
        await ready(app, pilot)
        await chosen(app, pilot, BERLIN)
        await pilot.press("m")
        await wait_until(pilot, lambda: "What do both say together?" in words(app))
        await wait_until(pilot, lambda: "Has a sister called Ada. Moved to Berlin." in words(app))
        await pilot.press("ctrl+a", "ctrl+k", *"Ada came to Berlin", "enter")
        await wait_until(pilot, lambda: "Made from both. Press u to undo." in words(app))
        await wait_until(pilot, lambda: "Made from" in words(app) and "Ada came to Berlin" in words(app))
        made = next(each for each in await agent.memories.find() if each.text == "Ada came to Berlin")
        assert set(made.parents) == {SISTER, BERLIN}
        await ready(app, pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: made.id not in listed(app))
        await chosen(app, pilot, SISTER)
        await pilot.press("m")
        await ready(app, pilot)
        await chosen(app, pilot, CELLO)
        await pilot.press("m")
        await wait_until(pilot, lambda: "is waiting for review. Nothing was stored." in words(app))
