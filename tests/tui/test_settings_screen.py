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
from tests.tui.acting import enter, press
from tests.tui.conftest import Running, make_app, screen_text, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import MODEL, ScriptedAgent
from tests.tui.seeing import sees, words
from tests.tui.test_pictures import Compare, before, still_cursor
from tui.app import ClewApp
from tui.widgets.dialogs import AskLine, AskText, Confirm, Pick
from tui.widgets.model_picker import ModelPicker
from tui.widgets.settings import SettingsScreen, about


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEW_THREADS", raising=False)  # of the tests themselves


async def opened(app: ClewApp, pilot: Pilot[int], search: str = "") -> SettingsScreen:
    """The screen with one setting chosen."""
    await press(pilot, "f10", until=lambda: isinstance(app.screen, SettingsScreen) and app.screen.chosen)
    screen = app.screen
    assert isinstance(screen, SettingsScreen)
    await choose(screen, pilot, search)
    return screen


def config_of(app: ClewApp) -> FakeBackstage:
    """What keeps the settings."""
    assert isinstance(app.view.backstage, FakeBackstage)
    return app.view.backstage


async def choose(screen: SettingsScreen, pilot: Pilot[int], search: str) -> None:
    screen.query_one(Input).value = search
    await wait_until(pilot, lambda: screen.chosen is not None and search in screen.chosen.setting.key, search)


async def dialog(app: ClewApp, pilot: Pilot[int], kind: type[object]) -> None:
    await pilot.press("enter")
    await wait_until(pilot, lambda: isinstance(app.screen, kind) and app.screen.focused is not None, kind.__name__)


async def test_every_setting_is_there_with_all_that_is_known_of_it_and_letters_search(chat: Running) -> None:
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
        await press(pilot, "f10", until=lambda: len(app.screen_stack) == 1)
        assert app.view.composer.has_focus

        await enter(pilot, "/settings ring")
        await wait_until(pilot, lambda: isinstance(app.screen, SettingsScreen) and app.screen.chosen, "the screen")
        screen = app.screen
        assert [each.setting.key for each in screen._found] == ["bell_after_s"]
        screen.query_one(Input).value = "kv mb"
        await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.setting.key == "kv_mb")
        screen.query_one(Input).value = "context"
        await wait_until(pilot, lambda: screen._found[0].setting.key == "context", "names before meanings")
        await press(pilot, "ctrl+u", *"xyz", shows="No matching settings.")
        await press(pilot, "enter", "ctrl+r", "escape", until=lambda: len(app.screen_stack) == 1)


KINDS: tuple[tuple[str, type[object], tuple[str, ...], str], ...] = (
    ("offer_model", Pick, ("down",), "offer_model = false"),
    ("tools", Pick, ("up",), 'tools = "off"'),
    ("context", AskLine, ("ctrl+u", *"9000"), "context = 9000"),
    ("sampling.seed", AskLine, ("ctrl+u", "3"), "seed = 3"),
    ("system_prompt", AskText, ("ctrl+j", *'"A\\b'), 'assistant.\\n\\"A\\\\b"'),
)


async def test_a_setting_of_any_kind_is_changed_in_force_at_once_kept_and_put_back(chat: Running) -> None:
    agent = ScriptedAgent(system_prompt=DEFAULT_SYSTEM_PROMPT, reflect=True)
    async with chat(agent) as (app, pilot):
        screen = await opened(app, pilot)
        config = config_of(app).config
        for key, kind, keys, line in KINDS:
            await choose(screen, pilot, key)
            await dialog(app, pilot, kind)
            await press(pilot, *keys, "enter", until=lambda: screen.chosen is not None and screen.chosen.line)
            assert line in config.read_text()
            assert load_settings(config) == agent.settings != Settings()
            assert any(f"{key} {now}" in words(app) for now in ("is now ", "was changed."))
            await press(pilot, "ctrl+r", until=lambda: screen.chosen is not None and not screen.chosen.line)
            assert (config.read_text(), agent.settings) == (CONFIG_TEXT, Settings())


async def test_what_is_wrong_is_told_while_one_types_and_never_kept(chat: Running) -> None:
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: app.view.state.model.state == "ready", "the model")
        screen = await opened(app, pilot, "context")
        await dialog(app, pilot, AskLine)
        await sees(pilot, "from 1024 to 1048576", "Enter save")
        await press(pilot, "ctrl+u", *"12x", shows="Must be a whole number")
        await press(pilot, "backspace", shows="greater than or equal to 1024")
        await press(pilot, *"00", until=lambda: "greater than" not in words(app))
        await press(pilot, "ctrl+u", *"200000")
        agent.failure = TooBigForMemory(Path("model.gguf"), 9 << 30, 2 << 30)
        await press(pilot, "enter", shows="model.gguf needs about 9.0 GiB of memory and 2.0 GiB are free")
        assert (config_of(app).kept, config_of(app).config.read_text()) == ({}, CONFIG_TEXT)
        await choose(screen, pilot, "fallback_model")
        await dialog(app, pilot, AskLine)
        await press(pilot, *"smollm2-13", "enter", shows="smollm2-13 is not installed.")
        await pilot.press("5", "m", "enter")
        await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.value == "smollm2-135m")


async def test_what_the_shell_asked_for_is_named_and_wins(chat: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_THEME", "light")
    agent = ScriptedAgent()
    agent.settings = agent.settings.model_copy(update={"model": "asked-for"})
    async with chat(agent, size=(120, 40)) as (app, pilot):
        screen = await opened(app, pilot, "model")
        await sees(pilot, "In use now: asked-for", "Default: smollm2-135m")
        await choose(screen, pilot, "theme")
        await sees(pilot, "variable CLEW_THEME, which overrides the file")
        for key in ("enter", "ctrl+r"):
            await press(pilot, key, shows="CLEW_THEME sets it and overrides")
            assert app.screen is screen
            await pilot.press("down")
        assert config_of(app).kept == {}


async def test_a_broken_file_stays_and_one_not_written_takes_a_change_back(chat: Running, tmp_path: Path) -> None:
    config, agent = tmp_path / "config.toml", ScriptedAgent(reflect=True)
    async with chat(agent) as (app, pilot):
        config.write_text("theme = \n")
        await press(pilot, "f10", shows="is not valid TOML")
        config.write_text("theme = 'nord'\n")
        screen = await opened(app, pilot, "recall_limit")
        await dialog(app, pilot, AskLine)
        config.write_text("theme = \n")
        await press(pilot, "ctrl+u", "7", "enter", shows="is not valid TOML")
        assert isinstance(app.screen, AskLine)
        assert config.read_text() == "theme = \n"
        config.write_text("theme = 'nord'\n")
        (tmp_path / "config.toml.part").mkdir()
        await pilot.press("escape")
        await choose(screen, pilot, "reflect")
        await dialog(app, pilot, Pick)
        await press(pilot, "down", "enter", shows="It is as it was.")
        assert agent.settings.reflect


async def get_qwen(app: ClewApp, pilot: Pilot[int]) -> None:
    """Choose the model that is not there yet."""
    await dialog(app, pilot, ModelPicker)
    await press(pilot, *"qwen", "enter", until=lambda: isinstance(app.screen, Confirm))
    await pilot.press("tab", "enter")


async def test_theme_and_models_are_chosen_from_lists_and_a_download_locks_nothing_else(chat: Running) -> None:
    agent, there = ScriptedAgent(), Event()
    used = agent.watch_calls("models.use")
    async with chat(agent, size=(100, 30)) as (app, pilot):
        fetch = config_of(app).fetch
        screen = await opened(app, pilot, "theme")
        await dialog(app, pilot, Pick)
        await press(pilot, "down", "enter", until=lambda: app.theme == "clew-light")

        def slowly(name: str, progress: Callable[[ModelProgress], None]) -> None:
            fetch(name, progress)
            there.wait(60)

        config_of(app).fetch = slowly  # type: ignore[method-assign]
        await choose(screen, pilot, "model")
        await get_qwen(app, pilot)
        try:
            await sees(pilot, "Downloading the chat model qwen3-4b")
            await press(pilot, "enter", shows="a model is still being downloaded")
            await choose(screen, pilot, "offer_model")
            await dialog(app, pilot, Pick)
            await press(pilot, "down", "enter", until=lambda: not agent.settings.offer_model)
            assert used == []
        finally:
            there.set()
        await wait_until(pilot, lambda: used and agent.settings.model == "qwen3-4b" and "Downloading" not in words(app))
        await sees(pilot, "qwen3-4b answers from now on.")
        assert used == [(("qwen3-4b",), {"session": None})]

        await choose(screen, pilot, "theme")
        await choose(screen, pilot, "model")
        await wait_until(pilot, lambda: screen.chosen is not None and screen.chosen.value == "qwen3-4b")
        await press(pilot, "ctrl+r", until=lambda: screen.chosen is not None and not screen.chosen.line)
        assert (used[-1][0], agent.settings.model) == ((MODEL,), MODEL)
        await choose(screen, pilot, "embedder")
        await dialog(app, pilot, ModelPicker)
        await press(pilot, "enter", until=lambda: screen.chosen is not None and screen.chosen.line)


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
