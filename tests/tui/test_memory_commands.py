"""The slash commands of the memory, private chats, and messages that are kept out of memory."""

import pytest

from graph.beliefs import Project
from tests.tui.beliefs import BERLIN, SISTER, learned_agent, screen_of
from tests.tui.conftest import Running, screen_text, status_line, wait_until
from tests.tui.test_memories_screen import listed, words
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import Confirm


@pytest.mark.parametrize(
    ("typed", "page", "shows"),
    [
        ("/memories", "observations", "Has a sister"),
        ("/review", "review", "Ulysses"),
        ("/blocks persona", "blocks", "Dry."),
        ("/documents", "documents", "Field notes"),
        ("/forget", "observations", "d forgets it"),
        ("/correct", "observations", "c corrects it"),
        (f"/memories {BERLIN[:9]}", "observations", "Moved to Berlin"),
        ("/memories ulysses", "observations", "“ulysses”"),
    ],
)
async def test_a_command_opens_its_page(chat: Running, typed: str, page: str, shows: str) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        app.composer.put(typed)
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and shows in words(app), shows)
        assert screen_of(app).page_name == page


async def test_remember_and_correct_answer_in_a_line_and_f4_shows_it(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/remember I am left-handed", "enter")
        await wait_until(pilot, lambda: "Remembered: I am left-handed" in words(app))
        app.composer.put(f"/correct {SISTER} Has two sisters")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Corrected: Has two sisters" in words(app))
        assert agent._observation(SISTER).status == "superseded"
        await pilot.press("f4")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and listed(app) != [])
        await wait_until(pilot, lambda: getattr(screen_of(app).page.rows.chosen, "text", "") == "Has two sisters")


async def test_forget_asks_for_one_and_lists_several(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/forget nonsense", "enter")
        await wait_until(pilot, lambda: "Nothing that was learned has these words" in words(app))
        await pilot.press(*"/forget berlin", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm) and "cannot be undone" in words(app))
        await pilot.press("y")
        await wait_until(pilot, lambda: "Forgotten for good." in words(app))
        assert len(agent.memory_of.observations) == 3
        await pilot.press(*"/forget the", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "2 have these words" in words(app))


async def test_a_chat_is_put_into_a_project_that_is_made_after_asking(chat: Running) -> None:
    agent = learned_agent()
    agent.memory_of.projects.append(Project("Family", "All of [us]", "active", 2, 7))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/project", "enter")
        await wait_until(pilot, lambda: "2 chats · 7 memories" in words(app) and "All of [us]" in words(app))
        await pilot.press("escape", *"/project family", "enter")
        await wait_until(pilot, lambda: "This chat belongs to Family now." in words(app))
        await pilot.press(*"/project crete", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await wait_until(pilot, lambda: agent.assigned == {"S000": "crete"})
        assert app.options.project == "crete"
        await pilot.press(*"/project none", "enter")
        await wait_until(pilot, lambda: agent.assigned == {"S000": None})


async def test_a_private_chat_is_marked_and_its_draft_touches_no_disk(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: "Private chat: nothing of it is kept" in words(app))
        assert "private" in status_line(app)
        await pilot.press(*"a secret")
        app.writing.keep()
        kept = [file.read_text(encoding="utf-8") for file in app.drafts.folder.glob("*")]
        assert not any("secret" in text for text in kept)
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: app.current_session == "S000" and "private" not in status_line(app))
        await app.open_session(agent.private_chats[0])
        await wait_until(pilot, lambda: app.composer.text == "a secret")
        await pilot.press("enter", "tab", "o")
        await wait_until(pilot, lambda: "Nothing of a private chat is kept anyway." in words(app))


async def test_o_keeps_a_message_out_of_memory_with_its_reply_and_lets_it_in_again(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        first = app.transcript.messages[0]
        first.focus()
        await pilot.press("o")
        await wait_until(pilot, lambda: screen_text(app).count("kept out of memory") == 2)
        assert agent.memory_of.withheld == {first.turn}
        assert "It is kept out of memory, and stays in this chat." in words(app) or first.withheld
        await pilot.press("o")
        await wait_until(pilot, lambda: "It may be remembered again." in words(app))
        assert agent.memory_of.withheld == set()
        assert not first.withheld


async def test_about_shows_what_was_learned_above_what_was_said(chat: Running) -> None:
    async with chat(learned_agent(), size=(80, 40)) as (app, pilot):
        await pilot.press(*"/about Ada", "enter")
        await wait_until(pilot, lambda: "What was learned" in words(app))
        said = words(app)
        assert (
            said.index("Has a sister called Ada") < said.index("What was said") < said.index("Ada carried everything")
        )
        assert "? Wants to learn the cello" in said
