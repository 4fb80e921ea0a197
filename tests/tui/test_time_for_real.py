"""Going back on the real agent, with a real log and graph; only the models are fakes."""

from pathlib import Path

from tests.fakes import FakeGenerator
from tests.tui.conftest import status_line, wait_until
from tests.tui.test_branching import last, texts, words
from tests.tui.test_memories_screen import listed
from tests.tui.test_recall_for_real import running, say
from tui.memories.screen import MemoriesScreen
from tui.widgets.chooser import Chooser
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import Answer, Said


async def test_a_chat_branches_goes_back_and_forward_again_and_every_word_is_still_there(tmp_path: Path) -> None:
    replies = FakeGenerator("One.", "Two.", "Three.", "Four.")
    async with running(tmp_path, replies, reflect=False) as (app, pilot, _agent):
        await say(app, pilot, "Where do I live?")
        last(app, Answer).focus()
        await pilot.press("r")
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "Two."])
        await wait_until(pilot, lambda: "‹2/2›" in words(app) and app.focused is last(app, Answer))
        await pilot.press("left")
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "One."])
        last(app, Said).focus()
        await pilot.press("e", "ctrl+a", "ctrl+k", *"Where do you live?", "enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do you live?", "Three."])
        await wait_until(pilot, lambda: app.state.reply is None and "‹2/2›" in words(app))
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "2 messages leave" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app) == [] and app.composer.text == "Where do you live?")
        await pilot.press("ctrl+c", *"/undo", "enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do you live?", "Three."])
        await pilot.press("f6")
        await wait_until(pilot, lambda: isinstance(app.screen, Chooser) and "Two." in words(app))
        await pilot.press("home", "down", "down", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await pilot.press("enter")
        await wait_until(pilot, lambda: texts(app) == ["Where do I live?", "Two."])


async def test_what_a_what_if_learns_by_hand_is_shown_there_and_the_past_is_shown_on_its_day(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine.", "Well."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I live in Berlin")
        await agent.remember("I live in Berlin")
        await pilot.press(*"/fork what-if Atlantis", "enter")
        await wait_until(pilot, lambda: "what-if Atlantis" in status_line(app))
        await pilot.press("f4")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and len(listed(app)) == 1)
        assert "The what-if “Atlantis” · w: another world" in words(app)
        await pilot.press("p")
        await wait_until(pilot, lambda: "Pinned" in words(app) and "u undoes it" in words(app))
        await wait_until(pilot, lambda: not app.screen.busy)  # type: ignore[attr-defined]
        await pilot.press("w")
        await wait_until(pilot, lambda: "what-if" not in words(app) and len(listed(app)) == 1)
        assert not (await agent.memories())[0].pinned, "a pin in the what-if is none in the main world"
        await wait_until(pilot, lambda: not app.screen.busy)  # type: ignore[attr-defined]
        await pilot.press("at", *"2020-01-01", "enter")
        await wait_until(pilot, lambda: "There was nothing yet" in words(app))
        await wait_until(pilot, lambda: not app.screen.busy)  # type: ignore[attr-defined]
        await pilot.press("at", *"0s", "enter")
        await wait_until(pilot, lambda: "As clew knew it on" in words(app) and len(listed(app)) == 1)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "As clew knew it on" not in words(app))


async def test_a_delete_is_shown_before_it_happens_and_cannot_be_undone(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "my secret is xyzzy")
        last(app, Said).focus()
        await pilot.press("x")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await wait_until(pilot, lambda: "1 message goes for good" in words(app))
        await pilot.press("y")
        await wait_until(pilot, lambda: texts(app) == ["Fine."])
        assert await agent.search("xyzzy") == []
        await pilot.press(*"/undo", "enter")
        await wait_until(pilot, lambda: "cannot be undone" in words(app))
        last(app, Answer).focus()
        await pilot.press("h")
        await wait_until(pilot, lambda: "hidden · h shows it again" in words(app))
        await pilot.press("escape", *"/undo", "enter")
        await wait_until(pilot, lambda: "Undone:" in words(app) and "h shows it again" not in words(app))
