"""The settings screen: every setting with what there is to know of it, changed there, kept in the file, put back."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from agent.events import ModelProgress
from agent.settings import CONFIG_TEXT, DEFAULT_SYSTEM_PROMPT, SETTINGS, Settings, load_settings, written
from models.errors import TooBigForMemory
from tests.tui.conftest import Running, make_app, screen_text, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import MODEL, ScriptedAgent
from tests.tui.test_pictures import Compare, before, still_cursor
from tui.app import ClewApp
from tui.widgets.dialogs import AskLine, AskText, Confirm, Pick
from tui.widgets.model_picker import ModelPicker
from tui.widgets.settings import SettingsScreen, about


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEW_THREADS", raising=False)  # of the tests themselves


def words(app: ClewApp) -> str:
    return " ".join(screen_text(app).replace("│", " ").split())


async def opened(app: ClewApp, pilot: Pilot[int], search: str = "") -> SettingsScreen:
    """The screen with one setting chosen."""
    await pilot.press("f10")
    await wait_until(pilot, lambda: isinstance(app.screen, SettingsScreen) and app.screen.chosen, "the screen")
    screen = app.screen
    assert isinstance(screen, SettingsScreen)
    await choose(screen, pilot, search)
    return screen


async def choose(screen: SettingsScreen, pilot: Pilot[int], search: str) -> None:
    screen.query_one(Input).value = search
    await wait_until(pilot, lambda: screen.chosen is not None and search in screen.chosen.setting.key, search)


async def dialog(app: ClewApp, pilot: Pilot[int], kind: type[object]) -> None:
    await pilot.press("enter")
    await wait_until(pilot, lambda: isinstance(app.screen, kind) and app.screen.focused is not None, kind.__name__)


async def test_every_setting_is_there_with_all_that_is_known_of_it(chat: Running) -> None:
    async with chat(ScriptedAgent(), size=(40, 15)) as (app, pilot):
        screen = await opened(app, pilot)
        assert [each.setting for each in screen._found] == list(SETTINGS)
        for state in screen._found:
            setting, told = state.setting, about(state, state.value).plain
            for each in (setting.meaning, written(setting.default), setting.allowed, *setting.choices, setting.force):
                assert each in told
        await choose(screen, pilot, "max_tokens")
        await wait_until(pilot, lambda: "sampling.max_tokens" in screen_text(app) and "Esc back" in words(app))
        await pilot.resize_terminal(100, 40)
        await wait_until(pilot, lambda: f"{SETTINGS[-1].meaning} Allowed: a whole number" in words(app))
        await pilot.press("f10")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.view.composer.has_focus


KINDS: tuple[tuple[str, type[object], tuple[str, ...], str], ...] = (
    ("offer_model", Pick, ("down",), "offer_model = false"),
    ("tools", Pick, ("up",), 'tools = "off"'),
    ("context", AskLine, ("ctrl+u", *"9000"), "context = 9000"),
    ("sampling.seed", AskLine, ("ctrl+u", "3"), "seed = 3"),
    ("system_prompt", AskText, ("ctrl+j", *'"A\\b'), 'briefly.\\n\\"A\\\\b"'),
)


async def test_a_setting_of_any_kind_is_changed_in_force_at_once_kept_and_put_back(chat: Running) -> None:
    agent = ScriptedAgent(system_prompt=DEFAULT_SYSTEM_PROMPT, reflect=True)
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot)
        assert isinstance(app.view.backstage, FakeBackstage)
        for key, kind, keys, line in KINDS:
            await choose(screen, pilot, key)
            await dialog(app, pilot, kind)
            await pilot.press(*keys, "enter")
            await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.line, f"{key} in the file")
            assert line in app.view.backstage.config.read_text()
            assert load_settings(app.view.backstage.config) == agent.settings != Settings()
            assert any(f"{key} {now}" in words(app) for now in ("is now ", "was changed."))
            await pilot.press("ctrl+r")
            await wait_until(pilot, lambda: screen.chosen is not None and not screen.chosen.line, f"{key} at default")
            assert (app.view.backstage.config.read_text(), agent.settings) == (CONFIG_TEXT, Settings())


async def test_what_is_wrong_is_told_while_one_types_and_never_kept(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: app.view.state.model.state == "ready", "the model")
        await opened(app, pilot, "context")
        await dialog(app, pilot, AskLine)
        await wait_until(pilot, lambda: "from 1024 to 1048576" in words(app), "from 1024 to 1048576")
        await wait_until(pilot, lambda: "Enter save" in words(app), "Enter save")
        await pilot.press("ctrl+u", *"12x")
        await wait_until(pilot, lambda: "Must be a whole number" in words(app))
        await pilot.press("backspace")
        await wait_until(pilot, lambda: "greater than or equal to 1024" in words(app))
        await pilot.press(*"00", "enter")
        await wait_until(pilot, lambda: "low_water < high_water < context must hold" in words(app))
        assert isinstance(app.screen, AskLine)
        await pilot.press("ctrl+u", *"200000")
        await wait_until(pilot, lambda: "must hold" not in words(app))
        agent.failure = TooBigForMemory(Path("model.gguf"), 9 << 30, 2 << 30)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "model.gguf needs about 9.0 GiB of memory and 2.0 GiB are free" in words(app))
        assert isinstance(app.view.backstage, FakeBackstage)
        assert (app.view.backstage.kept, app.view.backstage.config.read_text()) == ({}, CONFIG_TEXT)


async def test_a_fallback_model_that_is_not_on_this_disk_is_not_taken(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        screen = await opened(app, pilot, "fallback_model")
        await dialog(app, pilot, AskLine)
        await pilot.press(*"smollm2-13", "enter")
        await wait_until(pilot, lambda: "smollm2-13 is not installed." in words(app))
        await pilot.press("5", "m", "enter")
        await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.value == "smollm2-135m")


async def test_a_model_that_the_command_line_asked_for_is_named_beside_that_of_the_file(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.settings = agent.settings.model_copy(update={"model": "asked-for"})
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, "model")
        await wait_until(pilot, lambda: "In use now: asked-for" in words(app))
        await wait_until(pilot, lambda: "Default: smollm2-135m" in words(app), "Default: smollm2-135m")


async def test_a_variable_of_the_environment_wins_and_is_named(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_THEME", "light")
    async with chat(ScriptedAgent(), size=(120, 40)) as (app, pilot):
        await opened(app, pilot, "theme")
        await wait_until(pilot, lambda: "variable CLEW_THEME, which overrides the file" in words(app))
        for key in ("enter", "ctrl+r"):
            await pilot.press(key)
            await wait_until(pilot, lambda: "CLEW_THEME sets it and overrides" in words(app))
            assert isinstance(app.screen, SettingsScreen)
            await pilot.press("down")
        assert isinstance(app.view.backstage, FakeBackstage)
        assert app.view.backstage.kept == {}


async def test_a_broken_file_is_told_and_stays_as_it_is(chat: Running, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    async with chat(ScriptedAgent()) as (app, pilot):
        config.write_text("theme = \n")
        await pilot.press("f10")
        await wait_until(pilot, lambda: "is not valid TOML" in words(app))
        config.write_text("theme = 'nord'\n")
        await opened(app, pilot, "recall_limit")
        await dialog(app, pilot, AskLine)
        config.write_text("theme = \n")
        await pilot.press("ctrl+u", "7", "enter")
        await wait_until(pilot, lambda: "is not valid TOML" in words(app))
        assert isinstance(app.screen, AskLine)
        assert config.read_text() == "theme = \n"


async def test_a_file_that_cannot_be_written_takes_the_change_back(chat: Running, tmp_path: Path) -> None:
    agent = ScriptedAgent(reflect=True)
    (tmp_path / "config.toml.part").mkdir()
    async with chat(agent) as (app, pilot):
        await opened(app, pilot, "reflect")
        await dialog(app, pilot, Pick)
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: "It is as it was." in words(app))
        assert agent.settings.reflect


async def test_theme_and_models_are_chosen_from_lists(chat: Running) -> None:
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot, "theme")
        await dialog(app, pilot, Pick)
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: app.theme == "clew-light")
        await choose(screen, pilot, "model")
        await dialog(app, pilot, ModelPicker)
        await pilot.press(*"qwen", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.value == "qwen3-4b")
        assert used == [(("qwen3-4b",), {"session": None})]
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: screen.chosen is not None and not screen.chosen.line)
        assert (used[-1][0], agent.settings.model) == ((MODEL,), MODEL)
        await choose(screen, pilot, "embedder")
        await dialog(app, pilot, ModelPicker)
        await pilot.press("enter")
        await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.line)


async def test_while_a_model_is_fetched_that_is_shown_and_other_settings_are_changed(chat: Running) -> None:
    agent, there = ScriptedAgent(), Event()
    used = agent.watch_calls("models.use")
    async with chat(agent, size=(100, 30)) as (app, pilot):
        backstage = app.view.backstage
        assert isinstance(backstage, FakeBackstage)
        fetch = backstage.fetch

        def slowly(name: str, progress: Callable[[ModelProgress], None]) -> None:
            fetch(name, progress)
            there.wait(60)

        backstage.fetch = slowly  # type: ignore[method-assign]
        screen = await opened(app, pilot, "model")
        await dialog(app, pilot, ModelPicker)
        await pilot.press(*"qwen", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("tab", "enter")
        try:
            await wait_until(pilot, lambda: "Downloading the chat model qwen3-4b" in words(app))
            await pilot.press("enter")
            await wait_until(pilot, lambda: "a model is still being downloaded" in words(app))
            await choose(screen, pilot, "offer_model")
            await dialog(app, pilot, Pick)
            await pilot.press("down", "enter")
            await wait_until(pilot, lambda: not agent.settings.offer_model)
            assert used == []
        finally:
            there.set()
        await wait_until(pilot, lambda: used and agent.settings.model == "qwen3-4b" and "Downloading" not in words(app))
        await wait_until(pilot, lambda: "qwen3-4b answers from now on." in words(app))


async def test_letters_search_and_the_command_takes_words(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        await pilot.press(*"/settings ring", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, SettingsScreen) and app.screen.chosen, "the screen")
        screen = app.screen
        assert isinstance(screen, SettingsScreen)
        assert [each.setting.key for each in screen._found] == ["bell_after_s"]
        screen.query_one(Input).value = "kv mb"
        await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.setting.key == "kv_mb")
        screen.query_one(Input).value = "context"
        await wait_until(pilot, lambda: screen._found[0].setting.key == "context", "names before meanings")
        await pilot.press("ctrl+u", *"xyz")
        await wait_until(pilot, lambda: "No matching settings." in words(app))
        await pilot.press("enter", "ctrl+r", "escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)


@pytest.mark.parametrize("size", [(80, 24), (40, 15)])
def test_the_settings(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "config.toml").write_text(CONFIG_TEXT.replace("# kv_mb = -1", "kv_mb = 500"))
    app = make_app(ScriptedAgent(), tmp_path)
    run = before(app, "f10", *["down"] * 8, shows="kv_mb", wait=kv_mb)
    assert snap_compare(app, terminal_size=size, run_before=run)


def kv_mb(app: ClewApp) -> bool:
    """That setting is chosen; the folder of the test is no part of the picture."""
    screen = app.screen
    assert isinstance(screen, SettingsScreen)
    screen.query_one(".dialog-title", Static).update("Settings")
    return still_cursor(app) and screen.chosen is not None and screen.chosen.setting.key == "kv_mb"
