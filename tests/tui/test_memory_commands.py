"""The slash commands of the memory, private chats, and messages that are kept out of memory."""

from textual.widgets import TextArea

from graph.events import ObservationKind
from graph.values import Wanted
from tests.tui.acting import closes, enter, paste, press, some
from tests.tui.beliefs import BERLIN, SISTER, learned_agent, screen_of, standing
from tests.tui.conftest import Running, agree, screen_text, status_line, wait_until
from tests.tui.seeing import sees, sees_screen, words
from tests.tui.test_memories_screen import chosen, listed, lists, ready
from tui.actions import meant
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import AskText, Confirm, Reader
from tui.widgets.impact import ImpactScreen

EVERYTHING = Wanted(everything=True)
PRIVATE = "Private chat: nothing is saved"
MOVED = "0MOVED0001"


async def test_a_command_opens_its_page_and_what_means_nothing_behind_it_is_told(chat: Running) -> None:
    agent = learned_agent()
    agent.learn("Moved to Potsdam", agent.turns["S001"][0], kind=ObservationKind.STATE, observation=MOVED, series=MOVED)
    async with chat(agent, size=(120, 40)) as (app, pilot):
        for typed, page, told in some(
            ("/memories", "observations", "Has a sister"),
            ("/review", "review", "Ulysses"),
            ("/blocks persona", "blocks", "Dry."),
            ("/blocks zz", "blocks", "There is no core block “zz”. Press n to write one."),
            ("/documents", "documents", "Field notes"),
            ("/forget", "observations", "press d to forget it"),
            ("/correct", "observations", "ress c to correct it"),
            ("/synthesize", "observations", "press m, then another one"),
            ("/memories 0MOVED00", "observations", "Moved to Potsdam"),
            ("/memories ulysses", "observations", "“ulysses”"),
            ("/review x", "review", "/review takes no arguments"),
            ("/documents x", "documents", "/documents takes no arguments"),
        ):
            await enter(pilot, typed, told, opens=MemoriesScreen)
            assert screen_of(app).page_name == page
            await ready(app, pilot)
            while len(app.screen_stack) > 1:
                await pilot.press("escape")
        await enter(pilot, "/memories bogus", "No memory contains “bogus”")
        await enter(pilot, "/correct berlin", "Choose one and press c", opens=MemoriesScreen)
        await lists(app, pilot, BERLIN)


async def test_remember_correct_and_synthesize_answer_in_a_line_and_throw_no_text_away(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await enter(pilot, "/remember I am left-handed", "Remembered: I am left-handed")
        await enter(pilot, f"/synthesize {SISTER} {BERLIN} Ada came to Berlin")
        await sees(pilot, "Made from both: Ada came to Berlin")
        asking = f"/synthesize {SISTER} {BERLIN}"
        await enter(pilot, asking, "Their own words", opens=AskText)
        await press(pilot, "escape", shows="Nothing was saved")
        assert app.view.composer.text == asking
        twice = f"/synthesize {SISTER} {SISTER} Twice"
        await enter(pilot, twice, "Both are the same memory")
        assert app.view.composer.text == twice
        assert [each.text for each in await agent.memories.find() if each.parents] == ["Ada came to Berlin"]

        await enter(pilot, "/correct sister: I have two sisters", "Now: Has a sister", opens=AskText)
        await press(pilot, "exclamation_mark", "enter", shows="Corrected: I have two sisters!")
        assert (await standing(agent, SISTER)).status == "superseded"
        await enter(pilot, f"/correct {BERLIN} Moved to Bonn", "Corrected: Moved to Bonn")
        assert (await standing(agent, BERLIN)).status == "superseded"
        await press(pilot, "f4", until=lambda: isinstance(app.screen, MemoriesScreen) and listed(app) != [])
        await wait_until(pilot, lambda: getattr(screen_of(app).page.rows.chosen, "text", "") == "Moved to Bonn")
        await sees(pilot, "your correction: “Moved to Bonn”")
        await chosen(app, pilot, next(each.id for each in await agent.memories.find() if "left" in (each.text or "")))
        await sees(pilot, "your note: “I am left-handed”")
        await ready(app, pilot)
        await pilot.press("escape")
        await enter(pilot, "/correct cats: I have two cats", "No memory contains “cats”")
        assert app.view.composer.text == "/correct cats: I have two cats"
        await enter(pilot, "/correct the: A cello", "2 memories match", opens=MemoriesScreen)
        await press(pilot, "c", opens=AskText)
        assert app.screen.query_one(TextArea).text == "A cello"


async def test_forget_asks_for_one_and_lists_several_and_entity_says_who_somebody_is(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await enter(pilot, "/about Ada", "Believed now", "? Wants to learn the cello", opens=Reader)
        said = words(app)
        assert said.index("Has a sister called Ada") < said.index("Messages") < said.index("Ada carried everything")
        await pilot.press("escape")
        for typed, told in (
            ("/relate Ada works_with Bob", "Noted: Ada works with Bob."),
            ('/entity rename Ada "Ada Lovelace"', "Renamed Ada to Ada Lovelace."),
            ("/entity merge Bob Zed", "Nobody and nothing is called “Zed”. Nothing was changed."),
            ('/entity rename "Ada', "A quote is not closed. Nothing was changed."),
            ("/entity Ada Lovelace", "Ada Lovelace · person"),
        ):
            await enter(pilot, typed, told)
        await pilot.press("escape")
        await enter(pilot, "/forget nonsense", "No memory contains these words")
        for typed, impact in (
            ("/forget berlin", "2 memories will be deleted"),
            (f"/forget {SISTER}", "1 memory will be"),
        ):
            app.unsay()
            before = len(await agent.memories.find(EVERYTHING))
            await enter(pilot, typed, impact, opens=ImpactScreen)
            await agree(pilot)
            await sees(pilot, "Forgotten permanently.")
            assert len(await agent.memories.find(EVERYTHING)) == before - int(impact[0])
        assert not {BERLIN, SISTER} & {each.id for each in await agent.memories.find(EVERYTHING)}
        await enter(pilot, "/forget the", "2 memories match", opens=MemoriesScreen)


async def test_in_a_what_if_what_is_stated_by_hand_is_stated_there_and_asked_for_there(chat: Running) -> None:
    agent = learned_agent()
    asked, asked_about = agent.watch_calls("memories.find"), agent.watch_calls("search.dossier")
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await enter(pilot, "/fork what-if Atlantis", until=lambda: app.view.state.what_if == "Atlantis")
        here = app.view.state.world
        await enter(pilot, "/remember I am left-handed", "Remembered in this what-if: I am left-handed")
        await enter(pilot, f"/correct {SISTER} Has two sisters", "Corrected in this what-if: Has two sisters")
        newest = (await agent.memories.find(Wanted(world=here)))[:2]
        assert {each.text: each.world for each in newest} == {"Has two sisters": here, "I am left-handed": here}
        await enter(pilot, "/about Ada", opens=Reader)
        assert [(names, more["world"]) for names, more in asked_about] == [(("Ada",), here)]
        await pilot.press("escape")
        await enter(pilot, "/correct sister", "The what-if “Atlantis” · w to switch", opens=MemoriesScreen)
        assert {wanted.world for (wanted,), _ in asked} == {here} == {app.view.session}


async def test_a_chat_is_put_into_a_project_that_is_made_after_asking(chat: Running) -> None:
    agent = learned_agent()
    agent.add_project("Family", "All of [us]")
    reunion = agent.add_session("Reunion", ("Everybody came", "Good."), project="Family")
    agent.add_session("Names", ("My sister is Ada", "I see."), project="Family")
    for number in range(7):
        agent.learn(f"Has an aunt with {number} cats", agent.turns[reunion][0])
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await enter(pilot, "/project", "2 chats · 7 memories", "All of [us]")
        await pilot.press("escape")
        await enter(pilot, "/project family", "This chat now belongs to Family.")
        await enter(pilot, "/project crete", opens=Confirm)
        await press(pilot, "tab", "enter", shows="This chat now belongs to crete.")
        assert (await agent.chats.get("S000")).project == "crete"
        assert app.view.options.project == "crete"
        await enter(pilot, "/project none", "This chat no longer belongs to a project.")
        assert (await agent.chats.get("S000")).project is None


async def test_a_private_chat_is_marked_its_draft_touches_no_disk_and_o_keeps_messages_out(chat: Running) -> None:
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
        await sees(pilot, "Allowed in memory again.")
        assert [turn.withheld for turn in await agent.chats.thread("S000")] == [False, False]
        assert not first.withheld

        await pilot.press("escape")
        await enter(pilot, "/private", PRIVATE)
        assert "private" in status_line(app)
        private = app.view.session
        await paste(pilot, "a secret")
        app.parts.composer.keep()
        kept = [file.read_text(encoding="utf-8") for file in app.view.drafts.folder.glob("*")]
        assert not any("secret" in text for text in kept)
        await press(pilot, "alt+left", until=lambda: app.view.session == "S000" and "private" not in status_line(app))
        await app.open_session(private)
        await wait_until(pilot, lambda: app.view.composer.text == "a secret")
        await press(pilot, "enter", "tab", "o", shows="Private chats are never remembered.")


async def test_in_a_private_chat_what_is_kept_for_good_is_asked_about_first_and_a_yes_keeps_it(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent, size=(100, 30)) as (app, pilot):
        await enter(pilot, "/private", PRIVATE)
        before = await agent.memories.find(EVERYTHING)
        for typed in (
            "/remember I am Noor",
            f"/correct {SISTER} Has two sisters",
            "/ingest ~/notes",
            "/correct ada: Two",
            "/marks before the divorce",
        ):
            app.unsay()
            await enter(pilot, typed)
            if typed == "/correct ada: Two":
                await sees_screen(pilot, AskText)
                await pilot.press("enter")
            await sees_screen(pilot, Confirm, "This chat is private")
            await press(pilot, "enter", shows="Nothing was saved.")
            assert await agent.memories.find(EVERYTHING) == before
            assert await agent.history.marks.all() == []
            assert app.view.composer.text.split()[0] == typed.split()[0]
        await enter(pilot, "/blocks", "I am Noor.", opens=MemoriesScreen)
        await ready(app, pilot)
        await press(pilot, "e", opens=AskText)
        await paste(pilot, " Or not.", "enter")
        await sees_screen(pilot, Confirm)
        await press(pilot, "enter", shows="Nothing was changed.")
        assert (await agent.memories.blocks())[0].text == "I am Noor."
        await closes(pilot, "escape")
        await enter(pilot, "/remember I am Noor", opens=Confirm)
        await press(pilot, "tab", "enter", shows="Remembered: I am Noor")
        await enter(pilot, "/project none", "Private chats cannot belong to a project")
        await enter(pilot, "/forget berlin", "a memory you forget", opens=ImpactScreen)
        await closes(pilot, "escape")


async def test_a_command_behind_stray_letters_is_asked_about_before_it_is_sent(chat: Running) -> None:
    async with chat(learned_agent(), size=(100, 30)) as (app, pilot):
        said = len(app.view.transcript.messages)
        await enter(pilot, "o/private", "Did you mean /private?")
        assert app.view.composer.text == "o/private"
        assert len(app.view.transcript.messages) == said
        await pilot.press("tab")
        assert app.view.composer.text == "/private"
        await press(pilot, "enter", until=lambda: "private" in status_line(app))
        await enter(pilot, "1cd/remember me", "Did you mean /remember?")
        await pilot.press("enter")
        await wait_until(pilot, lambda: any(each.text == "1cd/remember me" for each in app.view.transcript.messages))


def test_words_with_a_slash_are_words() -> None:
    words = ("and/or", "24/7", "he/she", "/usr/bin is", "some/memory", "a /private", "1/2")
    assert [text for text in words if meant(text) is not None] == []
