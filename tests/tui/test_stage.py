"""The stage of a story on the screen: its five pages, what is written there, and time that passes."""

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.conftest import Running, screen_text, settled, wait_until
from tests.tui.test_branching import words
from tests.tui.test_stories import answer, begun, replied, storyteller
from tui.app import ClewApp
from tui.stories.keep import KeepScreen
from tui.stories.rows import Row
from tui.stories.skip import SkipScreen
from tui.stories.stage import StageScreen
from tui.widgets.dialogs import Pick, Reader

SIZES = [(20, 5), (50, 16), (80, 24), (120, 40)]


async def opened(app: ClewApp, pilot: Pilot[int], page: str = "1") -> StageScreen:
    """The stage on the screen, at a page."""
    if not isinstance(app.screen, StageScreen):
        await pilot.press("ctrl+t")
    await wait_until(pilot, lambda: isinstance(app.screen, StageScreen) and app.screen._stage is not None, "the stage")
    await pilot.press(page)
    await settled(pilot, app)
    assert isinstance(app.screen, StageScreen)
    return app.screen


def rows(app: ClewApp) -> list[Row]:
    assert isinstance(app.screen, StageScreen)
    return list(app.screen._rows.items)


def choose(app: ClewApp, what: str) -> None:
    """Put the mark on the first row whose words begin so."""
    assert isinstance(app.screen, StageScreen)
    place = next(at for at, row in enumerate(rows(app)) if " ".join(row.words.plain.split()).startswith(what))
    app.screen._rows.choose(place)


async def shows(app: ClewApp, pilot: Pilot[int], *what: str) -> None:
    await wait_until(pilot, lambda: all(each in words(app) for each in what), f"{what}")


@pytest.mark.parametrize("size", SIZES)
async def test_every_page_is_shown_in_every_window_and_the_chat_keeps_its_place_beside_it(
    chat: Running, size: tuple[int, int]
) -> None:
    async with chat(storyteller(), size=size) as (app, pilot):
        await begun(app, pilot)
        for page in "12345":
            await opened(app, pilot, page)
        assert app.view.transcript.size.width <= size[0] - (56 if size[0] >= 104 else 0)
        await pilot.press("escape")
        await settled(pilot, app)
        assert not isinstance(app.screen, StageScreen)
        assert app.view.composer.has_focus
        assert app.view.transcript.size.width > size[0] - 56


async def test_in_a_chat_of_no_story_there_is_no_stage(chat: Running) -> None:
    async with chat(storyteller()) as (app, pilot):
        await replied(app, pilot, "Hello.")
        await pilot.press("ctrl+t")
        await shows(app, pilot, "This chat plays in no story.")


async def test_what_is_written_on_a_line_is_set_with_its_cause_and_undone(chat: Running) -> None:
    async with chat(storyteller("A fine evening."), size=(120, 40)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "Mara, how are you?")
        await opened(app, pilot)
        choose(app, "mood")
        await pilot.press("down", "up", "enter")
        await answer(pilot, "Mood", "wary [bold] {x}")
        await shows(app, pilot, "wary [bold] {x}", "set by you", "u undoes it")
        choose(app, "mood wary")
        await pilot.press("h")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader), "the changes")
        await shows(app, pilot, "set by you", "at “A fine evening.” (Mara)")
        await pilot.press("escape")
        await settled(pilot, app)
        await pilot.press("u")
        await wait_until(pilot, lambda: "wary" not in words(app), "undone")
        await pilot.press("enter")
        await answer(pilot, "Mood", "x" * 2_000)
        await shows(app, pilot, "characters of at most")


async def test_space_takes_somebody_off_the_scene_and_the_bar_says_so(chat: Running) -> None:
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        await begun(app, pilot)
        await opened(app, pilot)
        choose(app, "● Jonas")
        await pilot.press("space")
        await shows(app, pilot, "○ Jonas", "the guest · away")
        assert app.view.scene is not None
        assert [each.present for each in app.view.scene.cast] == [True, True, False]


async def test_a_number_is_set_when_the_mark_leaves_it_as_one_change(chat: Running) -> None:
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        await opened(app, pilot, "2")
        choose(app, "affinity")
        await pilot.press("right", "right", "right", "left")
        await shows(app, pilot, "Enter sets it, Esc leaves it as it was.")
        await pilot.press("escape")
        await settled(pilot, app)
        assert isinstance(app.screen, StageScreen)
        await pilot.press(*["right"] * 50, "down")
        await shows(app, pilot, "affinity is 100.")
        assert app.view.chat is not None
        ties = await app.view.chat.service.stories.ties(session)
        assert next((tie.affinity, len(tie.changes)) for tie in ties) == (100, 1)
        choose(app, "trust")
        await pilot.press("enter")
        await answer(pilot, "Trust", "very much")
        await shows(app, pilot, "is no number from -100 to 100")


async def test_what_somebody_learned_and_what_they_know_of_words(chat: Running) -> None:
    async with chat(storyteller("The key is under the stone."), size=(120, 40)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "Mara, where is the key?")
        await opened(app, pilot, "3")
        await pilot.press("n")
        await answer(pilot, "What did Mara learn?", "Jonas cannot swim")
        await shows(app, pilot, "Jonas cannot swim", "Mara")
        await pilot.press("m")
        await wait_until(pilot, lambda: "Jonas cannot swim" not in words(app), "the next one")
        await pilot.press("slash")
        await answer(pilot, "What do they know of", "key")
        await shows(app, pilot, "✓ Mara: The key is under the stone.")
        choose(app, "✓ Mara: The key")
        await pilot.press("enter")
        await wait_until(pilot, lambda: not isinstance(app.screen, StageScreen), "at the message")
        assert "The key is under the stone." in screen_text(app)


async def test_an_event_is_planned_starts_and_leaves_what_is_chosen(chat: Running) -> None:
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        await opened(app, pilot, "4")
        assert "Nothing is planned" in words(app)
        await pilot.press("n")
        await answer(pilot, "What is to happen?", "The picnic")
        await shows(app, pilot, "event · planned")
        await pilot.press("f")
        await wait_until(pilot, lambda: isinstance(app.screen, Pick), "the fields")
        await pilot.press("down", "down", "down", "down", "enter")
        await answer(pilot, "Props", "a rope, a lamp")
        await shows(app, pilot, "a rope, a lamp")
        choose(app, "The picnic")
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(app.screen, KeepScreen), "what stays")
        await pilot.press("escape", "s")
        await shows(app, pilot, "event · active")
        choose(app, "The picnic")
        await pilot.press("c")
        await wait_until(pilot, lambda: isinstance(app.screen, KeepScreen), "what stays")
        await shows(app, pilot, "Mara keeps a rope", "Jonas remembers that The picnic took place")
        await pilot.press("down", "space", "enter")
        await shows(app, pilot, "event · completed")
        assert app.view.chat is not None
        kept = [line for line in await app.view.chat.service.stories.stage(session) if line.aspect == "inventory"]
        assert [line.text for line in kept] == ["a rope"]
        choose(app, "The picnic")
        await pilot.press("s")
        await shows(app, pilot, "is completed and cannot become active")


async def test_time_passes_as_the_page_says(chat: Running) -> None:
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        assert app.view.chat is not None
        stories = app.view.chat.service.stories
        mara = await stories.named(session, "Mara")
        await stories.put(session, mara, "action", "mending a net")
        await stories.note_plot(session, "The raid", texts={"trigger": "clock: dusk"})
        app.view.composer.put("/scene The tower")
        await pilot.press("enter")
        await shows(app, pilot, "“The tower” begins here.")
        app.view.composer.put("/skip")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, SkipScreen), "the page")
        await pilot.press("enter")
        await shows(app, pilot, "Say until when.")
        await pilot.press(*"dusk")
        await shows(app, pilot, "closes. Over: Mara action", "“The raid” begins.")
        app.screen.query(".skip-gap").first(Input).value = "The storm took the boat."
        await pilot.press("enter")
        await shows(app, pilot, "It is dusk. /undo takes it back.")
        lines = {(line.owner, line.aspect.split(":")[0]): line.text for line in await stories.stage(session)}
        assert lines["world", "clock"] == "dusk"
        assert lines[mara, "gap"] == "The storm took the boat."
        assert (mara, "action") not in lines
        assert [each.state for each in await stories.plots(session)] == ["active"]
        app.view.composer.put("/skip dusk")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, SkipScreen), "the page")
        await pilot.press("enter")
        await shows(app, pilot, "It is dusk already.")


async def test_commands_of_the_stage(chat: Running, tmp_path: Path) -> None:
    book = tmp_path / "isle.json"
    entry = {"keys": ["tower"], "content": "The tower is old.", "enabled": True, "insertion_order": 1}
    book.write_text(json.dumps({"name": "Isle", "entries": [entry]}))
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        await begun(app, pilot)

        async def says(command: str, *told: str) -> None:
            app.view.composer.put(command)
            await pilot.press("enter")
            await shows(app, pilot, *told)

        await says("/scene close", "No scene is open.")
        await says("/meanwhile The cellar", "What you write is narration")
        await says("/meanwhile", "without you already")
        await says("/meanwhile end", "You are back.")
        await says("/meanwhile end", "You are there already.")
        await says("/plot The raid", "“The raid” is planned.")
        await says("/plot thread Who lit the lamp?", "“Who lit the lamp?” is open.")
        await says(f"/lore {book} for Mara", "1 entries of “Isle” for Mara")
        await says(f"/lore {tmp_path / 'none.json'}", "cannot be read")
        await says("/lore", "the file of a lorebook")
        await says("/knows Bob", "Nobody called “Bob” plays here")
        await says("/knows Mara", "Scenes, as they saw them")
        await pilot.press("4")
        await shows(app, pilot, "The raid", "Who lit the lamp?")
        await pilot.press("5")
        await shows(app, pilot, "Isle", "1 entry")


@pytest.mark.parametrize(("width", "listed"), [(120, False), (160, True)])
async def test_the_chat_keeps_its_room_beside_the_stage(chat: Running, width: int, listed: bool) -> None:
    async with chat(storyteller(), size=(width, 30)) as (app, pilot):
        await begun(app, pilot)
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.display, "the list")
        app.perform("stage", "")
        await opened(app, pilot)
        assert app.view.sessions.display is listed
        assert app.view.transcript.size.width >= 48


async def test_a_tie_tells_what_only_the_two_saw_and_r_tells_all_voices_anew_what_everybody_does(
    chat: Running,
) -> None:
    async with chat(storyteller("I know."), size=(120, 40)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "/whisper Mara It is in the cellar.")
        await opened(app, pilot, "2")
        await shows(app, pilot, "2 messages only the two saw")
        choose(app, "private")
        await shows(app, pilot, "Ada: It is in the cellar.")
        await opened(app, pilot, "5")
        await pilot.press("r")
        await shows(app, pilot, "With the next message")
        assert "restated" not in words(app)
