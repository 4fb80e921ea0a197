"""Settings from the file and the environment, and errors that name the place."""

from pathlib import Path

import pytest

from agent.errors import SettingsError
from agent.settings import CONFIG_TEXT, Settings, load_settings, write_setting


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_a_missing_file_is_made_with_its_comments_and_changes_no_default(config: Path) -> None:
    assert load_settings(config) == Settings()
    assert config.read_text(encoding="utf-8") == CONFIG_TEXT
    assert config.stat().st_mode & 0o777 == 0o600


def test_every_commented_line_of_the_made_file_is_a_valid_setting_with_its_default(config: Path) -> None:
    lines = [line.removeprefix("# ") for line in CONFIG_TEXT.splitlines() if " = " in line or line.startswith("# [")]
    config.write_text("\n".join(lines), encoding="utf-8")
    assert load_settings(config) == Settings()


def test_the_environment_wins_over_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('theme = "light"\n[sampling]\ntemperature = 0.1\ntop_k = 7\n', encoding="utf-8")
    monkeypatch.setenv("CLEW_SAMPLING__TEMPERATURE", "1.5")
    settings = load_settings(config)
    assert (settings.theme, settings.sampling.temperature, settings.sampling.top_k) == ("light", 1.5, 7)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('theme = "dark"\ncontext = "many"\n', ":2 context"),
        ("\n\n[sampling]\n\ntemperature = -1\n", ":5 sampling.temperature"),
        ("colour = 1\n", ":1 colour"),
        ("sampling.top_p = 3\n", ":1 sampling.top_p"),
        ("high_water = 600\nlow_water = 700\n", "low_water < high_water"),
        ("theme = \n", "line 1"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(config: Path, text: str, place: str) -> None:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as raised:
        load_settings(config)
    assert place in str(raised.value)
    assert config.read_text(encoding="utf-8") == text


def test_a_wrong_variable_is_named(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_CONTEXT", "lots")
    with pytest.raises(SettingsError, match="CLEW_CONTEXT context"):
        load_settings(config)


@pytest.mark.parametrize("value", ["x", "[1", "3", '{"top_k": "many"}'])
def test_a_table_in_a_variable_that_is_none_is_named(config: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CLEW_SAMPLING", value)
    with pytest.raises(SettingsError, match="CLEW_SAMPLING"):
        load_settings(config)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("context = 2000\n", ["{}:1 (context)", "the default (high_water)", "the default (low_water)"]),
        ("low_water = 5000\n\nhigh_water = 4000\n", ["{}:1 (low_water)", "{}:3 (high_water)"]),
    ],
)
def test_values_out_of_order_are_named_with_the_lines_that_set_them(config: Path, text: str, places: list[str]) -> None:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as raised:
        load_settings(config)
    for place in places:
        assert place.format(config) in str(raised.value)


def test_a_variable_that_puts_the_order_wrong_is_named(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_CONTEXT", "2000")
    with pytest.raises(SettingsError, match=r"CLEW_CONTEXT \(context\)"):
        load_settings(config)


def test_a_file_that_is_no_utf8_is_refused(config: Path) -> None:
    config.write_bytes(b"theme = '\xff'")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_settings(config)


def test_an_override_wins_over_all(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_MODEL", "from-the-environment")
    assert load_settings(config, model="given").model == "given"


def test_writing_a_setting_keeps_the_comments_and_the_tables(config: Path) -> None:
    load_settings(config)
    write_setting(config, "model", "qwen3-4b")
    write_setting(config, "model", "qwen3-8b")
    assert load_settings(config).model == "qwen3-8b"
    text = config.read_text(encoding="utf-8")
    assert text.count("\nmodel = ") + text.startswith("model = ") == 1
    assert "# high_water = 6000" in text
    config.write_text("[sampling]\ntop_k = 3\n", encoding="utf-8")
    write_setting(config, "theme", "light")
    settings = load_settings(config)
    assert (settings.theme, settings.sampling.top_k) == ("light", 3)
