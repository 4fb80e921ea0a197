"""Settings from the file and the environment, and errors that name the place."""

from pathlib import Path

import pytest

from agent.errors import SettingsError
from agent.settings import (
    CONFIG_TEXT,
    EXAMPLE,
    SETTINGS,
    Settings,
    Value,
    load_settings,
    setting_states,
    settings_with,
    value_of,
    write_setting,
)
from graph.events import Sampling
from tests.agent.scored import tables
from tests.tables import each

TABLES = tables(__file__)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_a_missing_file_is_made_with_its_comments_and_changes_no_default(config: Path) -> None:
    assert load_settings(config) == Settings()
    assert config.read_text(encoding="utf-8") == CONFIG_TEXT
    assert config.stat().st_mode & 0o777 == 0o600


def test_every_commented_line_of_the_made_file_is_a_valid_setting_with_its_default(config: Path) -> None:
    made = CONFIG_TEXT.removesuffix(EXAMPLE)
    lines = [line.removeprefix("# ") for line in made.splitlines() if " = " in line or line.startswith("[")]
    config.write_text("\n".join(lines), encoding="utf-8")
    assert load_settings(config) == Settings()


def test_the_environment_wins_over_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('theme = "light"\n[sampling]\ntemperature = 0.1\ntop_k = 7\n', encoding="utf-8")
    monkeypatch.setenv("CLEW_SAMPLING__TEMPERATURE", "1.5")
    settings = load_settings(config)
    assert (settings.theme, settings.sampling.temperature, settings.sampling.top_k) == ("light", 1.5, 7)


def test_a_wrong_value_and_values_out_of_order_are_named_with_the_lines_that_set_them(config: Path) -> None:
    def check(row: list[str]) -> None:
        text, place = row
        config.write_text(text, encoding="utf-8")
        with pytest.raises(SettingsError) as raised:
            load_settings(config)
        assert place.replace("{file}", str(config)) in str(raised.value)
        assert config.read_text(encoding="utf-8") == text

    each(TABLES["wrong"], check)


def test_a_wrong_variable_is_named(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_CONTEXT", "lots")
    with pytest.raises(SettingsError, match="CLEW_CONTEXT context"):
        load_settings(config)


@pytest.mark.parametrize("value", ["x", "[1", "3", '{"top_k": "many"}'])
def test_a_table_in_a_variable_that_is_none_is_named(config: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CLEW_SAMPLING", value)
    with pytest.raises(SettingsError, match="CLEW_SAMPLING"):
        load_settings(config)


def test_a_variable_that_puts_the_order_wrong_is_named(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_CONTEXT", "2000")
    monkeypatch.setenv("CLEW_HIGH_WATER", "2000")
    with pytest.raises(SettingsError, match=r"CLEW_CONTEXT \(context\)"):
        load_settings(config)


@pytest.mark.parametrize("context", [1024, 4096, 8192, 131_072])
def test_the_context_alone_can_be_set_and_the_waters_follow_it(context: int) -> None:
    given = Settings(context=context)
    assert given.low_water == given.high_water // 2
    assert given.high_water == context * Settings().high_water // Settings().context
    assert Settings(high_water=700).low_water == 350


def test_a_file_that_is_no_utf8_is_refused(config: Path) -> None:
    config.write_bytes(b"theme = '\xff'")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_settings(config)


def test_an_override_wins_over_all(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_MODEL", "from-the-environment")
    assert load_settings(config, model="given").model == "given"


def test_every_setting_has_a_meaning_and_stands_once_in_the_made_file() -> None:
    fields = {*Settings.model_fields} - {"sampling", "servers"} | {f"sampling.{name}" for name in Sampling.model_fields}
    assert {setting.key for setting in SETTINGS} == fields
    for setting in SETTINGS:
        assert setting.meaning.endswith(".")
        assert setting.meaning in " ".join(CONFIG_TEXT.replace("\n# ", " ").split())
        assert CONFIG_TEXT.count(f"\n# {setting.key.rpartition('.')[2]} = ") == 1


def test_a_setting_changes_its_own_line_and_going_back_to_the_default_leaves_the_file_as_it_was(config: Path) -> None:
    def check(row: tuple[str, Value]) -> None:
        key, value = row
        for now in (value, "x" if isinstance(value, str) and key != "tools" else value, value):
            write_setting(config, key, now)
        text = config.read_text(encoding="utf-8")
        assert value_of(load_settings(config), key) == value
        differing = [new for old, new in zip(CONFIG_TEXT.splitlines(), text.splitlines(), strict=True) if old != new]
        assert len(differing) == 1
        assert config.stat().st_mode & 0o777 == 0o600
        write_setting(config, key, None)
        assert config.read_text(encoding="utf-8") == CONFIG_TEXT

    load_settings(config)
    each(TABLES["others"], check)


def test_a_file_of_ones_own_changes_in_that_place_only(config: Path) -> None:
    def check(row: tuple[str, str, Value | None, str]) -> None:
        text, key, value, new = row
        config.write_bytes(text.encode())
        write_setting(config, key, value)
        assert config.read_bytes().decode() == new

    each([*TABLES["changed"], *((text, key, None, new) for text, key, new in TABLES["to_default"])], check)


def test_a_link_to_the_file_stays_one(config: Path) -> None:
    (elsewhere := config.with_name("dotfiles.toml")).write_text("")
    config.symlink_to(elsewhere)
    write_setting(config, "theme", "light")
    assert (config.is_symlink(), load_settings(config).theme) == (True, "light")


@pytest.mark.parametrize("text", ["theme = \n", "sampling = 3\n"])
def test_a_broken_file_is_not_written_over(config: Path, text: str) -> None:
    config.write_text(text)
    for change in (settings_with, write_setting):
        with pytest.raises(SettingsError):
            change(config, "sampling.top_k", 3)
    assert config.read_text() == text


def test_what_is_typed_is_checked_in_the_words_of_the_file(config: Path) -> None:
    def check(row: list[str]) -> None:
        key, typed, words = row
        with pytest.raises(SettingsError) as typing:
            settings_with(config, key, typed)
        assert str(typing.value) == words
        table, _, name = key.rpartition(".")
        config.write_text(f"[{table}]\n{name} = '{typed}'" if table else f"{name} = '{typed}'")
        with pytest.raises(SettingsError, match=words):
            load_settings(config)
        config.unlink()

    each(TABLES["refused"], check)


def test_what_is_typed_becomes_a_value(config: Path) -> None:
    def check(row: tuple[str, str, Value]) -> None:
        key, typed, value = row
        found = value_of(settings_with(config, key, typed), key)
        assert (found, isinstance(found, bool)) == (value, isinstance(value, bool))

    each(TABLES["typed"], check)


def test_it_is_known_where_each_value_comes_from(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("theme = 'light'\n[sampling]\ntop_k = 7\ntop_p = 0.5\n")
    monkeypatch.setenv("CLEW_SAMPLING__TOP_K", "9")
    found = {state.setting.key: (state.value, state.variable, state.line) for state in setting_states(config)}
    assert found["model"] == ("smollm2-135m", None, None)
    assert found["theme"] == ("light", None, 1)
    assert found["sampling.top_k"] == (9, "CLEW_SAMPLING__TOP_K", 3)
    assert found["sampling.top_p"] == (0.5, None, 4)
    assert found["sampling.seed"] == ("random", None, None)


def test_a_file_that_cannot_be_written_is_told(config: Path) -> None:
    load_settings(config)
    config.with_suffix(".toml.part").mkdir()
    with pytest.raises(SettingsError, match=r"cannot be written: Is a directory\. It is as it was"):
        write_setting(config, "theme", "light")
    assert config.read_text(encoding="utf-8") == CONFIG_TEXT
