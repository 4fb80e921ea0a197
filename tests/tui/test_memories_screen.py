"""The memory screen: each key does what it says, the rest stays where it is, and any text is only text."""

import pytest
from textual.pilot import Pilot

from agent.events import GraphProgress
from graph.errors import GraphFailure
from graph.values import Wanted
from tests.examples import few
from tests.tui.acting import press
from tests.tui.beliefs import BERLIN, CELLO, MUNICH, SISTER, STARTER, learned_agent, screen_of, standing
from tests.tui.conftest import Running, agree, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees, sees_chat, sees_no_more, sees_screen
from tui.app import ClewApp
from tui.memories.observations import PAGE, Detail, Observations
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import Confirm, Reader
from tui.widgets.impact import ImpactScreen


def listed(app: ClewApp) -> list[str]:
    """The ids on the page; none before it is there."""
    screen = next((each for each in app.screen_stack if isinstance(each, MemoriesScreen)), None)
    is_there = screen is not None and screen.query(f"#{screen.page_name} LongList")
    return [each.id for each in observations(app).rows.items] if is_there else []


async def lists(app: ClewApp, pilot: Pilot[int], *ids: str) -> None:
    """Wait until these are on the page."""
    await wait_until(pilot, lambda: listed(app) == [*ids], f"{ids}")


async def opened(app: ClewApp, pilot: Pilot[int], *keys: str, shows: str) -> MemoriesScreen:
    await pilot.press("f4")
    await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and app.focused is not None)
    await pilot.press(*keys)
    await sees(pilot, shows)
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


async def does(app: ClewApp, pilot: Pilot[int], *keys: str, shows: str = "") -> None:
    """Press keys, and wait until the screen says that and all that was asked for is done."""
    await press(pilot, *keys, shows=shows)
    await ready(app, pilot)


async def then_does(app: ClewApp, pilot: Pilot[int], *keys: str, shows: str) -> None:
    """The same, once all before it is done."""
    await ready(app, pilot)
    await does(app, pilot, *keys, shows=shows)


async def chosen(app: ClewApp, pilot: Pilot[int], identity: str) -> None:
    """Put the mark at an observation, and wait until all about it is shown."""
    page = observations(app)
    page.rows.choose(listed(app).index(identity))
    detail = page.query_one(Detail)
    await wait_until(pilot, lambda: detail.story is not None and detail.story.observation.id == identity, identity)


@pytest.mark.sample
async def test_it_lists_what_is_current_tells_all_about_one_and_enter_goes_to_its_source(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        assert listed(app) == [STARTER, CELLO, SISTER, BERLIN]
        await chosen(app, pilot, BERLIN)
        await sees(pilot, "History", "2025-06-03 ↷ Lives in Munich", "2025-06-03 → ● Moved to Berlin")
        await sees(pilot, "› 2025-06-02 you: “I moved to Berlin”", "you (same statement): “Ada carried everything”")
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
        await pilot.press("escape")
        await sees_chat(pilot)
        assert app.focused is app.view.composer


async def test_of_a_rebuilt_graph_it_says_so_every_filter_has_a_key_and_backspace_clears(chat: Running) -> None:
    agent = learned_agent()
    mend = agent.fail("memories.find", GraphFailure("The graph is behind [now]."))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        agent.tell(GraphProgress("rebuilding", 1, 4))
        await wait_until(pilot, lambda: app.view.state.graph is not None and app.view.state.graph.total == 4)
        await opened(app, pilot, shows="being rebuilt (25%)")
        mend()
        agent.tell(GraphProgress("ready"))
        await sees(pilot, "Has a sister")
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
            await lists(app, pilot, *ids)
            await pilot.press("backspace")
            await wait_until(pilot, lambda: len(listed(app)) == 4, "all of them again")
        await pilot.press("slash", *"ulysses", "enter")
        await lists(app, pilot, STARTER)
        await sees(pilot, "“ulysses”")
        await pilot.press("T")
        await sees(pilot, "No memories match these filters")


async def test_a_memory_is_pinned_corrected_and_made_from_two_by_one_key_each_and_u_undoes(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister called Ada")
        await chosen(app, pilot, BERLIN)
        await then_does(app, pilot, "p", shows="Pinned: the model will always see it")
        await sees(pilot, "Press u to undo")
        pinned = await standing(agent, BERLIN)
        assert pinned.pinned
        await wait_until(pilot, lambda: observations(app).chosen == pinned)
        await then_does(app, pilot, "p", shows="Unpinned. Press u to undo")
        assert not (await standing(agent, BERLIN)).pinned
        await then_does(app, pilot, "u", shows="Undone: it is pinned again.")
        await then_does(app, pilot, "u", shows="Undone: it is no longer pinned.")
        assert not (await standing(agent, BERLIN)).pinned
        pinned_before = "You pinned the memory “Has a sister called Ada”; that has been undone."
        await then_does(app, pilot, "u", shows=pinned_before)
        await then_does(app, pilot, "u", shows="nothing to undo")

        await chosen(app, pilot, SISTER)
        await pilot.press("c")
        await sees(pilot, "What is true instead?")
        await pilot.press("ctrl+a", "ctrl+k", *"Has a cousin", "enter")
        await sees(pilot, "Has a cousin", "Press u to undo")
        await ready(app, pilot)
        assert (await standing(agent, SISTER)).status == "superseded"
        assert len((await agent.memories.story(SISTER)).revisions) == 2
        await then_does(app, pilot, "u", shows="Undone: it has its earlier text again.")
        assert (await standing(agent, SISTER)).status == "active"
        assert "Has a cousin" not in [each.text for each in await agent.memories.find()]

        await chosen(app, pilot, SISTER)
        await then_does(app, pilot, "m", shows="Marked “Has a sister called Ada”")
        await then_does(app, pilot, "m", shows="No longer marked.")
        await then_does(app, pilot, "m", shows="Marked “Has a sister called Ada”")
        await chosen(app, pilot, BERLIN)
        await pilot.press("m")
        await sees(pilot, "What do both say together?", "Has a sister called Ada. Moved to Berlin.")
        await pilot.press("ctrl+a", "ctrl+k", *"Ada came", "enter")
        await sees(pilot, "Made from both. Press u to undo.")
        await sees(pilot, "Made from", "Ada came")
        made = next(each for each in await agent.memories.find() if each.text == "Ada came")
        assert set(made.parents) == {SISTER, BERLIN}
        await ready(app, pilot)
        await pilot.press("u")
        await wait_until(pilot, lambda: made.id not in listed(app))
        await chosen(app, pilot, SISTER)
        await then_does(app, pilot, "m", shows="Marked “Has a sister called Ada”")
        await chosen(app, pilot, CELLO)
        await then_does(app, pilot, "m", shows="is waiting for review. Nothing was stored.")


async def test_forgetting_and_letting_a_document_go_show_what_goes_and_ask(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="Has a sister")
        await chosen(app, pilot, BERLIN)
        await pilot.press("d")
        await sees_screen(pilot, ImpactScreen, "cannot be undone", "“Lives in Munich”")
        await pilot.press("escape")
        await sees_screen(pilot, MemoriesScreen)
        assert len(await agent.memories.find(Wanted(everything=True))) == 5
        await ready(app, pilot)
        await pilot.press("delete")
        await agree(pilot)
        await sees(pilot, "Forgotten permanently.")
        await ready(app, pilot)
        assert listed(app) == [STARTER, CELLO, SISTER]

        await then_does(app, pilot, "5", shows="/notes/field.md")
        await sees(pilot, "markdown, 18 KB, 24 passages")
        await pilot.press("enter")
        await sees_screen(pilot, Reader)
        await pilot.press("escape", "x")
        await sees_screen(pilot, ImpactScreen, "Delete “Field notes” permanently?", "This cannot be undone.")
        await pilot.press("tab", "enter")
        await sees(pilot, "Document deleted from the memory.", "bridges.pdf")
        await sees_no_more(pilot, "Field notes")
        assert [document.title for document in await agent.documents.all()] == ["bridges.pdf"]


async def test_the_review_keeps_rejects_edits_and_undoes_by_one_key_each(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        screen = await opened(app, pilot, "2", shows="not fully supported by the proof below")
        assert listed(app) == [STARTER, CELLO]
        await sees(pilot, "a keep e edit x reject")
        await then_does(app, pilot, "a", shows="Kept: now in use")
        assert listed(app) == [CELLO]
        assert (await standing(agent, STARTER)).status == "active"
        await then_does(app, pilot, "x", shows="Nothing to review")
        await sees(pilot, "Rejected")
        assert (await standing(agent, CELLO)).status == "invalid"
        for _ in range(2):
            await pilot.press("u")
            await ready(app, pilot)
        await lists(app, pilot, STARTER, CELLO)
        await pilot.press("home", "e")
        await sees(pilot, "What is true instead?")
        await pilot.press("exclamation_mark", "enter")
        await lists(app, pilot, CELLO)
        assert (await agent.memories.find())[0].text == "The starter is named Ulysses!"
        await ready(app, pilot)
        before = await standing(agent, CELLO)
        await agent.memories.promote(CELLO)  # as somebody else does who reviews it
        screen.do(screen.doing.promote(before))
        await sees(pilot, "is already in use. Nothing was changed")


async def test_blocks_are_written_edited_and_taken_away_and_turns_rated_anew_alone_and_in_bulk(chat: Running) -> None:
    agent = learned_agent()
    first, second, third, fourth = agent.turns["S001"]
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "3", shows="I am Noor.")
        await pilot.press("n", *"pad", "enter")
        await sees(pilot, "Core block: pad")
        await pilot.press(*"one", "ctrl+j", *"two", "enter")
        await sees(pilot, "“pad” saved")
        await ready(app, pilot)
        assert (await blocks(agent))["pad"] == "one\ntwo"
        await pilot.press("e")
        await sees(pilot, "Core block: pad")
        await pilot.press(*" three", "enter")
        await ready(app, pilot)
        assert (await blocks(agent))["pad"] == "one\ntwo three"
        await then_does(app, pilot, "u", shows="Undone: “pad” has its earlier text again.")
        assert (await blocks(agent))["pad"] == "one\ntwo"
        await pilot.press("d")
        await sees_screen(pilot, Confirm)
        await pilot.press("tab", "enter")
        await ready(app, pilot)
        assert list(await blocks(agent)) == ["human", "persona"]

        await then_does(app, pilot, "4", shows="0 routine")
        await sees(pilot, "I moved to Berlin")
        await then_does(app, pilot, "enter", shows="0–3 rate")
        await then_does(app, pilot, "end", "3", shows="Rated 3")
        await sees(pilot, "3 pivotal")
        assert await ratings(agent) == {first: 3, second: 0, third: 2, fourth: 0}
        await then_does(app, pilot, "A", "1", shows="2 messages rated 1")
        assert await ratings(agent) == {first: 3, second: 1, third: 2, fourth: 1}
        await then_does(app, pilot, "u", shows="Undone: the rating of 2 messages was 1, now 0 again.")
        await then_does(app, pilot, "u", shows="Undone: the rating was 3, now 0 again.")
        assert await ratings(agent) == {first: 0, second: 0, third: 2, fourth: 0}
        await pilot.press("5")
        await sees(pilot, "Field notes")


async def test_thousands_are_read_piece_by_piece_and_changes_meanwhile_do_not_move_the_mark(chat: Running) -> None:
    agent, count = ScriptedAgent(), few(3_000)
    agent.add_session("Here", ("What now?", "Whatever you like."))
    agent.learn_many(f"fact {number}" for number in range(count))
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows=f"fact {count - 1}")
        rows = observations(app).rows
        assert len(rows.items) == PAGE
        rows.choose(120)
        identity, line = rows.items[120].id, rows.place * 2 - rows.scroll_y
        await agent.memories.remember("I am newer")
        newest = await agent.memories.remember("I am the newest")
        await wait_until(pilot, lambda: rows.items[0].id == newest.id)
        assert rows.chosen is not None
        assert rows.chosen.id == identity
        assert rows.place * 2 - rows.scroll_y == line
        while len(rows.items) < count + 2:
            before = len(rows.items)
            await pilot.press("end")
            await wait_until(pilot, lambda before=before: len(rows.items) > before)  # type: ignore[misc]
        await pilot.press("end")
        await sees(pilot, "› ● fact 0")
        assert len(rows._rows) < 200


async def test_empty_pages_say_what_will_stand_there(chat: Running) -> None:
    async with chat(ScriptedAgent(), size=(80, 24)) as (app, pilot):
        await opened(app, pilot, shows="No memories yet. What clew learns")
        for key, told in (
            ("2", "Nothing to review"),
            ("3", "No core blocks yet"),
            ("4", "Nothing is rated yet"),
            ("5", "No documents yet"),
            ("tab", "No memories yet"),
        ):
            await pilot.press(key)
            await sees(pilot, told)
        await pilot.press("p", "c", "d", "a", "enter", "left", "space", "u")
        await sees(pilot, "nothing to undo")


HOSTILE = (
    "[red]not red[/red] [/] [@click=app.quit]x[/]",
    "\x1b[2J\x1b]0;title\x07 after",
    "\u202eright to left\u202c שלום עולם مرحبا",
    "x" * few(100_000),
    "many\nlines\n" * few(2_000),
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
            await pilot.press("right", "space")
            assert "\x1b" not in screen_text(app)
        for _ in HOSTILE:  # each of them is a name as well
            await then_does(app, pilot, "W", shows="")
            assert "\x1b" not in screen_text(app)
        if size == (80, 24):
            await pilot.press("backspace")
            await wait_until(pilot, lambda: len(listed(app)) == len(HOSTILE))
            await chosen(app, pilot, "OBS0000001")
            await sees(pilot, "[red]not red[/red]")
