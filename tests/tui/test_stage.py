"""The stage of a story on the screen: its five pages, what is written there, and time that passes."""

import json
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from tests.examples import soaking
from tests.tui.acting import enter, press
from tests.tui.conftest import Running, screen_text, settled, wait_until
from tests.tui.seeing import sees, words
from tests.tui.test_stories import answer, begun, replied, stories_of, storyteller
from tui.app import ClewApp
from tui.stories.keep import KeepScreen
from tui.stories.rows import Row
from tui.stories.skip import SkipScreen
from tui.stories.stage import StageScreen
from tui.widgets.dialogs import Pick, Reader

SIZES = ((20, 5), (50, 16), (80, 24), (120, 40))


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


async def test_every_page_is_shown_in_every_window_and_the_chat_keeps_its_place_beside_it(chat: Running) -> None:
    async with chat(storyteller(), size=(20, 5)) as (app, pilot):
        await begun(app, pilot)
        for width, height in SIZES if soaking() else SIZES[::3]:
            await pilot.resize_terminal(width, height)
            for page in "12345":
                await opened(app, pilot, page)
            assert app.view.transcript.size.width <= width - (56 if width >= 104 else 0)
            await pilot.press("escape")
            await settled(pilot, app)
            assert not isinstance(app.screen, StageScreen)
            assert app.view.composer.has_focus
            assert app.view.transcript.size.width > width - 56
        await press(pilot, "f2", until=lambda: app.view.sessions.display)
        for width, listed in ((160, True), (120, False)):
            await pilot.resize_terminal(width, 30)
            app.perform("stage", "")
            await opened(app, pilot)
            assert app.view.sessions.display is listed
            assert app.view.transcript.size.width >= 48
            await pilot.press("escape")
            await settled(pilot, app)


async def test_commands_of_the_stage(chat: Running, tmp_path: Path) -> None:
    book = tmp_path / "isle.json"
    entry = {"keys": ["tower"], "content": "The tower is old.", "enabled": True, "insertion_order": 1}
    book.write_text(json.dumps({"name": "Isle", "entries": [entry]}))
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        await replied(app, pilot, "Hello.")
        await press(pilot, "ctrl+t", shows="This chat plays in no story.")
        await begun(app, pilot)
        for command, told in (
            ("/scene close", "No scene is open."),
            ("/meanwhile The cellar", "What you write is narration"),
            ("/meanwhile", "without you already"),
            ("/meanwhile end", "You are back."),
            ("/meanwhile end", "You are there already."),
            ("/plot The raid", "“The raid” is planned."),
            ("/plot thread Who lit the lamp?", "“Who lit the lamp?” is open."),
            (f"/lore {book} for Mara", "1 entries of “Isle” for Mara"),
            (f"/lore {tmp_path / 'none.json'}", "cannot be read"),
            ("/lore", "the file of a lorebook"),
            ("/knows Bob", "Nobody called “Bob” plays here"),
            ("/knows Mara", "Scenes, as they saw them"),
        ):
            await enter(pilot, command, shows=(told))
        await press(pilot, "4", shows=("The raid", "Who lit the lamp?"))
        await press(pilot, "5", shows=("Isle", "1 entry"))


async def test_a_line_or_a_number_that_is_set_is_one_change_with_its_cause_and_undone(chat: Running) -> None:
    async with chat(storyteller("A fine evening."), size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        await replied(app, pilot, "Mara, how are you?")
        await opened(app, pilot)
        choose(app, "mood")
        await pilot.press("down", "up", "enter")
        await answer(pilot, "Mood", "wary [bold] {x}", shows=("wary [bold] {x}", "set by you", "u undoes it"))
        choose(app, "mood wary")
        await press(pilot, "h", until=lambda: isinstance(app.screen, Reader))
        await sees(pilot, "set by you", "at “A fine evening.” (Mara)")
        await pilot.press("escape")
        await settled(pilot, app)
        await press(pilot, "u", until=lambda: "wary" not in words(app))
        await pilot.press("enter")
        await answer(pilot, "Mood", "x" * 2_000, shows="characters of at most")
        await pilot.press("escape", "escape")
        await settled(pilot, app)

        await opened(app, pilot)
        choose(app, "● Jonas")
        await press(pilot, "space", shows=("○ Jonas", "the guest · away"))
        assert app.view.scene is not None
        assert [each.present for each in app.view.scene.cast] == [True, True, False]

        await opened(app, pilot, "2")
        choose(app, "affinity")
        await press(pilot, "right", "right", "right", "left", shows="Enter sets it, Esc leaves it as it was.")
        await pilot.press("escape")
        await settled(pilot, app)
        assert isinstance(app.screen, StageScreen)
        await pilot.press("enter")
        await answer(pilot, "Affinity", "95")
        await press(pilot, *["right"] * 3, "down", shows="affinity is 100.")
        ties = await stories_of(app).ties(session)
        assert next((tie.affinity, len(tie.changes)) for tie in ties) == (100, 2), "one by a word, one by keys"
        choose(app, "trust")
        await pilot.press("enter")
        await answer(pilot, "Trust", "very much", shows="is no number from -100 to 100")


async def test_pages_tell_what_somebody_learned_what_two_saw_and_what_all_are_told_anew(chat: Running) -> None:
    async with chat(storyteller("The key is under the stone."), size=(120, 40)) as (app, pilot):
        await begun(app, pilot)
        await replied(app, pilot, "Mara, where is the key?")
        await opened(app, pilot, "3")
        await pilot.press("n")
        await answer(pilot, "What did Mara learn?", "Jonas cannot swim", shows=("Jonas cannot swim", "Mara"))
        await press(pilot, "m", until=lambda: "Jonas cannot swim" not in words(app))
        await pilot.press("slash")
        await answer(pilot, "What do they know of", "key", shows="✓ Mara: The key is under the stone.")
        choose(app, "✓ Mara: The key")
        await press(pilot, "enter", until=lambda: not isinstance(app.screen, StageScreen))
        assert "The key is under the stone." in screen_text(app)
        await begun(app, pilot)
        await replied(app, pilot, "/whisper Mara It is in the cellar.")
        await opened(app, pilot, "2")
        await sees(pilot, "2 messages only the two saw")
        choose(app, "private")
        await sees(pilot, "Ada: It is in the cellar.")
        await opened(app, pilot, "5")
        await press(pilot, "r", shows="With the next message")
        assert "restated" not in words(app)


async def test_an_event_starts_and_leaves_what_is_chosen_and_time_passes_as_said(chat: Running) -> None:
    async with chat(storyteller(), size=(120, 40)) as (app, pilot):
        session = await begun(app, pilot)
        await opened(app, pilot, "4")
        assert "Nothing is planned" in words(app)
        await pilot.press("n")
        await answer(pilot, "What is to happen?", "The picnic", shows="event · planned")
        await press(pilot, "f", until=lambda: isinstance(app.screen, Pick))
        await pilot.press("down", "down", "down", "down", "enter")
        await answer(pilot, "Props", "a rope, a lamp", shows="a rope, a lamp")
        choose(app, "The picnic")
        await press(pilot, "c", until=lambda: isinstance(app.screen, KeepScreen))
        await press(pilot, "escape", "s", shows="event · active")
        choose(app, "The picnic")
        await press(pilot, "c", until=lambda: isinstance(app.screen, KeepScreen))
        await sees(pilot, "Mara keeps a rope", "Jonas remembers that The picnic took place")
        await press(pilot, "down", "space", "enter", shows="event · completed")
        kept = [line for line in await stories_of(app).stage(session) if line.aspect == "inventory"]
        assert [line.text for line in kept] == ["a rope"]
        choose(app, "The picnic")
        await press(pilot, "s", shows="is completed and cannot become active")

        await pilot.press("escape")
        session, stories = await begun(app, pilot), stories_of(app)
        mara = await stories.named(session, "Mara")
        await stories.put(session, mara, "action", "mending a net")
        await stories.note_plot(session, "The raid", texts={"trigger": "clock: dusk"})
        await enter(pilot, "/scene The tower", shows="“The tower” begins here.")
        await enter(pilot, "/skip", until=lambda: isinstance(app.screen, SkipScreen))
        await press(pilot, "enter", shows="Say until when.")
        await press(pilot, *"dusk", shows=("closes. Over: Mara action", "“The raid” begins."))
        app.screen.query(".skip-gap").first(Input).value = "The storm took the boat."
        await press(pilot, "enter", shows="It is dusk. /undo takes it back.")
        lines = {(line.owner, line.aspect.split(":")[0]): line.text for line in await stories.stage(session)}
        assert lines["world", "clock"] == "dusk"
        assert lines[mara, "gap"] == "The storm took the boat."
        assert (mara, "action") not in lines
        assert [each.state for each in await stories.plots(session)] == ["active"]
        await enter(pilot, "/skip dusk", until=lambda: isinstance(app.screen, SkipScreen))
        await press(pilot, "enter", shows="It is dusk already.")
