"""The slash commands of the memory, private chats, and messages that are kept out of memory."""

from functools import partial

import pytest
from textual.widgets import TextArea

from graph.events import ObservationKind, ObservationMade
from graph.values import Wanted
from tests.tui.beliefs import BERLIN, SISTER, learned_agent, screen_of, standing
from tests.tui.conftest import Running, agree, screen_text, status_line, wait_until
from tests.tui.test_memories_screen import listed, words
from tui.actions import meant
from tui.app import ClewApp
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import AskText, Confirm, Reader
from tui.widgets.impact import ImpactScreen

EVERYTHING = Wanted(everything=True)


@pytest.mark.parametrize(
    ("typed", "page", "shows"),
    [
        ("/memories", "observations", "Has a sister"),
        ("/review", "review", "Ulysses"),
        ("/blocks persona", "blocks", "Dry."),
        ("/documents", "documents", "Field notes"),
        ("/forget", "observations", "press d to forget it"),
        ("/correct", "observations", "ress c to correct it"),
        ("/synthesize", "observations", "press m, then another one"),
        ("/memories 0MOVED00", "observations", "Moved to Potsdam"),
        ("/memories ulysses", "observations", "“ulysses”"),
    ],
)
async def test_a_command_opens_its_page(chat: Running, typed: str, page: str, shows: str) -> None:
    agent = learned_agent()
    agent.add_events(
        ObservationMade(
            observation="0MOVED0001",
            series="0MOVED0001",
            category=ObservationKind.STATE,
            status="active",
            confidence=0.8,
            grounded=True,
            origin="model",
            sources=(agent.turns["S001"][0],),
            text="Moved to Potsdam",
        )
    )
    async with chat(agent, size=(120, 40)) as (app, pilot):
        app.view.composer.put(typed)
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and shows in words(app), shows)
        assert screen_of(app).page_name == page


async def test_remember_and_correct_answer_in_a_line_and_f4_shows_it(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/remember I am left-handed", "enter")
        await wait_until(pilot, lambda: "Remembered: I am left-handed" in words(app))
        app.view.composer.put(f"/correct {SISTER} Has two sisters")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Corrected: Has two sisters" in words(app))
        assert (await standing(agent, SISTER)).status == "superseded"
        await pilot.press("f4")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and listed(app) != [])
        await wait_until(pilot, lambda: getattr(screen_of(app).page.rows.chosen, "text", "") == "Has two sisters")


async def test_in_a_what_if_what_is_stated_by_hand_is_stated_there_and_asked_for_there(chat: Running) -> None:
    agent = learned_agent()
    asked, asked_about = agent.watch_calls("memories.find"), agent.watch_calls("search.dossier")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: app.view.state.what_if == "Atlantis")
        here = app.view.state.world
        await pilot.press(*"/remember I am left-handed", "enter")
        await wait_until(pilot, lambda: "Remembered in this what-if: I am left-handed" in words(app))
        app.view.composer.put(f"/correct {SISTER} Has two sisters")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Corrected in this what-if: Has two sisters" in words(app))
        newest = (await agent.memories.find(Wanted(world=here)))[:2]
        assert {each.text: each.world for each in newest} == {"Has two sisters": here, "I am left-handed": here}
        await pilot.press(*"/about Ada", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader))
        assert [(names, more["world"]) for names, more in asked_about] == [(("Ada",), here)]
        await pilot.press("escape", *"/correct sister", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        assert {wanted.world for (wanted,), _ in asked} == {here}


async def test_forget_asks_for_one_and_lists_several(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/forget nonsense", "enter")
        await wait_until(pilot, lambda: "No memory contains these words" in words(app))
        await pilot.press(*"/forget berlin", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "Forgotten permanently." in words(app))
        assert len(await agent.memories.find(EVERYTHING)) == 3
        await pilot.press(*"/forget the", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "2 memories match" in words(app))


async def test_a_chat_is_put_into_a_project_that_is_made_after_asking(chat: Running) -> None:
    agent = learned_agent()
    agent.add_project("Family", "All of [us]")
    reunion = agent.add_session("Reunion", ("Everybody came", "Good."), project="Family")
    agent.add_session("Names", ("My sister is Ada", "I see."), project="Family")
    for number in range(7):
        agent.learn(f"Has an aunt with {number} cats", agent.turns[reunion][0])
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/project", "enter")
        await wait_until(pilot, lambda: "2 chats · 7 memories" in words(app) and "All of [us]" in words(app))
        await pilot.press("escape", *"/project family", "enter")
        await wait_until(pilot, lambda: "This chat now belongs to Family." in words(app))
        await pilot.press(*"/project crete", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "This chat now belongs to crete." in words(app))
        assert (await agent.chats.get("S000")).project == "crete"
        assert app.view.options.project == "crete"
        await pilot.press(*"/project none", "enter")
        await wait_until(pilot, lambda: "This chat no longer belongs to a project." in words(app))
        assert (await agent.chats.get("S000")).project is None


async def test_a_private_chat_is_marked_and_its_draft_touches_no_disk(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: "Private chat: nothing is saved" in words(app))
        assert "private" in status_line(app)
        private = app.view.session
        await pilot.press(*"a secret")
        app.parts.composer.keep()
        kept = [file.read_text(encoding="utf-8") for file in app.view.drafts.folder.glob("*")]
        assert not any("secret" in text for text in kept)
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: app.view.session == "S000" and "private" not in status_line(app))
        await app.open_session(private)
        await wait_until(pilot, lambda: app.view.composer.text == "a secret")
        await pilot.press("enter", "tab", "o")
        await wait_until(pilot, lambda: "Private chats are never remembered." in words(app))


async def test_o_keeps_a_message_out_of_memory_with_its_reply_and_lets_it_in_again(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(80, 24)) as (app, pilot):
        first = app.view.transcript.messages[0]
        first.focus()
        await pilot.press("o")
        await agree(pilot)
        await wait_until(pilot, lambda: screen_text(app).count("kept out of memory") >= 2)
        assert [turn.withheld for turn in await agent.chats.thread("S000")] == [True, True]
        assert "Kept out of memory. It stays in this chat." in words(app) or first.withheld
        await pilot.press("o")
        await agree(pilot)
        await wait_until(pilot, lambda: "Allowed in memory again." in words(app))
        assert [turn.withheld for turn in await agent.chats.thread("S000")] == [False, False]
        assert not first.withheld


async def test_about_shows_what_was_learned_above_what_was_said(chat: Running) -> None:
    async with chat(learned_agent(), size=(80, 40)) as (app, pilot):
        await pilot.press(*"/about Ada", "enter")
        await wait_until(pilot, lambda: "Believed now" in words(app))
        said = words(app)
        assert said.index("Has a sister called Ada") < said.index("Messages") < said.index("Ada carried everything")
        assert "? Wants to learn the cello" in said


@pytest.mark.parametrize(
    "typed",
    [
        "/remember I am Noor",
        f"/correct {SISTER} Has two sisters",
        "/ingest ~/notes",
        "/correct ada: Two",
        "/marks before the divorce",
    ],
)
async def test_in_a_private_chat_what_is_kept_for_good_is_asked_about_first(chat: Running, typed: str) -> None:
    agent = learned_agent()
    async with chat(agent, size=(100, 30)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: "Private chat: nothing is saved" in words(app))
        before = await agent.memories.find(EVERYTHING)
        app.view.composer.put(typed)
        await pilot.press("enter")
        if typed == "/correct ada: Two":
            await wait_until(pilot, lambda: isinstance(app.screen, AskText))
            await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm) and "This chat is private" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Nothing was saved." in words(app))
        assert await agent.memories.find(EVERYTHING) == before
        assert await agent.history.marks.all() == []
        assert app.view.composer.text.split()[0] == typed.split()[0]


async def test_a_yes_in_a_private_chat_keeps_it_and_other_chats_are_not_asked(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(100, 30)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: "Private chat: nothing is saved" in words(app))
        await pilot.press(*"/remember I am Noor", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "Remembered: I am Noor" in words(app))
        await pilot.press(*"/project none", "enter")
        await wait_until(pilot, lambda: "Private chats cannot belong to a project" in words(app))
        await pilot.press(*"/forget berlin", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and "a memory you forget" in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(app.screen, ImpactScreen))


async def test_a_private_chat_is_asked_about_on_the_memory_screen_too(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(100, 30)) as (app, pilot):
        await pilot.press(*"/private", "enter")
        await wait_until(pilot, lambda: "Private chat: nothing is saved" in words(app))
        await pilot.press(*"/blocks", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "I am Noor." in words(app))
        await wait_until(pilot, lambda: not screen_of(app).busy)
        await pilot.press("e")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*" Or not.", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Nothing was changed." in words(app))
        assert (await agent.memories.blocks())[0].text == "I am Noor."


async def test_correct_finds_by_words_and_throws_no_text_away(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/correct sister: I have two sisters", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText) and "Now: Has a sister" in words(app))
        await pilot.press("exclamation_mark", "enter")
        await wait_until(pilot, lambda: "Corrected: I have two sisters!" in words(app))
        assert (await standing(agent, SISTER)).status == "superseded"
        await pilot.press(*"/correct cats: I have two cats", "enter")
        await wait_until(pilot, lambda: "No memory contains “cats”" in words(app))
        assert app.view.composer.text == "/correct cats: I have two cats"
        app.view.composer.put("/correct the: A cello")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "2 memories match" in words(app))
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText))
        assert app.screen.query_one(TextArea).text == "A cello"


async def test_correct_with_words_alone_opens_those_that_have_them(chat: Running) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        await pilot.press(*"/correct berlin", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and listed(app) == [BERLIN])
        await wait_until(pilot, lambda: "Choose one and press c" in words(app), "Choose one and press c")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("/memories bogus", "No memory contains “bogus”"),
        ("/review x", "/review takes no arguments"),
        ("/blocks zz", "There is no core block “zz”. Press n to write one."),
        ("/documents x", "/documents takes no arguments"),
    ],
)
async def test_what_means_nothing_behind_a_command_is_told(chat: Running, typed: str, told: str) -> None:
    async with chat(learned_agent(), size=(120, 40)) as (app, pilot):
        app.view.composer.put(typed)
        await pilot.press("enter")
        await wait_until(pilot, lambda: told in words(app), told)


async def test_a_command_behind_stray_letters_is_asked_about_before_it_is_sent(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(100, 30)) as (app, pilot):
        said = len(app.view.transcript.messages)
        await pilot.press(*"o/private", "enter")
        await wait_until(pilot, lambda: "Did you mean /private?" in words(app))
        assert app.view.composer.text == "o/private"
        assert len(app.view.transcript.messages) == said
        await pilot.press("tab")
        assert app.view.composer.text == "/private"
        await pilot.press("enter")
        await wait_until(pilot, lambda: "private" in status_line(app))
        await pilot.press(*"1cd/remember me", "enter")
        await wait_until(pilot, lambda: "Did you mean /remember?" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: any(each.text == "1cd/remember me" for each in app.view.transcript.messages))


@pytest.mark.parametrize("text", ["and/or", "24/7", "he/she", "/usr/bin is", "some/memory", "a /private", "1/2"])
def test_words_with_a_slash_are_words(text: str) -> None:
    assert meant(text) is None


async def test_synthesize_makes_one_from_two_and_asks_what_it_says(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        app.view.composer.put(f"/synthesize {SISTER} {BERLIN} Ada came to Berlin")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Made from both: Ada came to Berlin" in words(app))
        app.view.composer.put(f"/synthesize {SISTER} {BERLIN}")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, AskText) and "Their own words" in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "Nothing was saved" in words(app))
        assert app.view.composer.text == f"/synthesize {SISTER} {BERLIN}"
        app.view.composer.put(f"/synthesize {SISTER} {SISTER} Twice")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Both are the same memory" in words(app))
        assert app.view.composer.text == f"/synthesize {SISTER} {SISTER} Twice"
        assert [each.text for each in await agent.memories.find() if each.parents] == ["Ada came to Berlin"]


async def test_entity_says_who_somebody_is_and_what_cannot_be_is_told(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        for typed, told in (
            ("/relate Ada works_with Bob", "Noted: Ada works with Bob."),
            ('/entity rename Ada "Ada Lovelace"', "Renamed Ada to Ada Lovelace."),
            ("/entity merge Bob Zed", "Nobody and nothing is called “Zed”. Nothing was changed."),
            ('/entity rename "Ada', "A quote is not closed. Nothing was changed."),
            ("/entity Ada Lovelace", "Ada Lovelace · person"),
        ):
            app.view.composer.put(typed)
            await pilot.press("enter")
            await wait_until(pilot, partial(_shown, app, told), told)


def _shown(app: ClewApp, told: str) -> bool:
    return told in words(app)
