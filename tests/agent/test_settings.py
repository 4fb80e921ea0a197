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


def test_every_setting_has_a_meaning_and_stands_once_in_the_made_file() -> None:
    fields = {*Settings.model_fields} - {"sampling", "servers"} | {f"sampling.{name}" for name in Sampling.model_fields}
    assert {setting.key for setting in SETTINGS} == fields
    for setting in SETTINGS:
        assert setting.meaning.endswith(".")
        assert setting.meaning in " ".join(CONFIG_TEXT.replace("\n# ", " ").split())
        assert CONFIG_TEXT.count(f"\n# {setting.key.rpartition('.')[2]} = ") == 1


OTHERS = {
    "model": "qwen3-4b",
    "system_prompt": 'Say "no" to \\ and\n\t"""all""" of [it] = 3 # é 🧶 \x7f',
    "context": 16384,
    "recall": False,
    "tools": "off",
    "theme": "nord",
    "bell_after_s": 2.5,
    "sampling.top_k": 7,
    "sampling.seed": 3,
    "sampling.temperature": 1.0,
}


@pytest.mark.parametrize(("key", "value"), OTHERS.items())
def test_a_setting_changes_its_own_line_and_going_back_to_the_default_leaves_the_file_as_it_was(
    config: Path, key: str, value: Value
) -> None:
    load_settings(config)
    for each in (value, "x" if isinstance(value, str) and key != "tools" else value, value):
        write_setting(config, key, each)
    text = config.read_text(encoding="utf-8")
    assert value_of(load_settings(config), key) == value
    differing = [new for old, new in zip(CONFIG_TEXT.splitlines(), text.splitlines(), strict=True) if old != new]
    assert len(differing) == 1
    assert config.stat().st_mode & 0o777 == 0o600
    write_setting(config, key, None)
    assert config.read_text(encoding="utf-8") == CONFIG_TEXT


@pytest.mark.parametrize(
    ("text", "key", "value", "new"),
    [
        ("[sampling]\ntop_k = 3\n", "theme", "light", 'theme = "light"\n[sampling]\ntop_k = 3\n'),
        ("# mine\n", "sampling.top_k", 3, "# mine\n\n[sampling]\ntop_k = 3\n"),
        ("[sampling] # mine\n\ntop_p = 0.5\n", "sampling.top_k", 3, "[sampling] # mine\ntop_k = 3\n\ntop_p = 0.5\n"),
        ("# [sampling]\n# top_k = 40\n", "sampling.top_k", 3, "[sampling]\ntop_k = 3\n"),
        ("sampling.top_k = 3 # few\n", "sampling.top_k", 4, "sampling.top_k = 4 # few\n"),
        ("sampling.top_k = 3 # few\n", "sampling.top_p", 0.5, "sampling.top_k = 3 # few\nsampling.top_p = 0.5\n"),
        ("sampling = {top_k = 3}\n", "sampling.top_p", 0.5, "sampling = {top_k = 3,top_p = 0.5}\n"),
        (
            'system_prompt = """\n[sampling]\n"""\n',
            "sampling.top_k",
            3,
            'system_prompt = """\n[sampling]\n"""\n\n[sampling]\ntop_k = 3\n',
        ),
        ("sampling = {top_k = 3, top_p = 0.5}\n", "sampling.top_k", None, "sampling = { top_p = 0.5}\n"),
        ("recall = false # why\nthreads = 2\n", "recall", None, "# recall = true # why\nthreads = 2\n"),
        ('model = "a"\n# model = "smollm2-135m"\n', "model", None, '# model = "smollm2-135m"\n'),
        ('system_prompt = """\na = 1\nb"""\n# end\n', "system_prompt", "c", 'system_prompt = "c"\n# end\n'),
        ("recall = true\r\n# end\r\n", "recall", False, "recall = false\r\n# end\r\n"),
        ("# nothing\n", "theme", None, "# nothing\n"),
    ],
)
def test_a_file_of_ones_own_changes_in_that_place_only(
    config: Path, text: str, key: str, value: Value | None, new: str
) -> None:
    config.write_bytes(text.encode())
    write_setting(config, key, value)
    assert config.read_bytes().decode() == new


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


@pytest.mark.parametrize(
    ("key", "typed", "words"),
    [
        ("context", "many", "Must be a whole number"),
        ("recall_limit", "0", "Must be greater than or equal to 1"),
        ("model", "", "Must not be empty"),
        ("sampling.top_p", "3", "Must be less than or equal to 1"),
        ("low_water", "7000", "low_water < high_water < context must hold, but they are 7000, 6000 and 8192"),
    ],
)
def test_what_is_typed_is_checked_in_the_words_of_the_file(config: Path, key: str, typed: str, words: str) -> None:
    with pytest.raises(SettingsError) as typing:
        settings_with(config, key, typed)
    assert str(typing.value) == words
    table, _, name = key.rpartition(".")
    config.write_text(f"[{table}]\n{name} = '{typed}'" if table else f"{name} = '{typed}'")
    with pytest.raises(SettingsError, match=words):
        load_settings(config)


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [("recall", "off", False), ("kv_mb", "4", 4), ("bell_after_s", "0", 0), ("sampling.seed", "random", "random")],
)
def test_what_is_typed_becomes_a_value(config: Path, key: str, typed: str, value: Value) -> None:
    found = value_of(settings_with(config, key, typed), key)
    assert (found, isinstance(found, bool)) == (value, isinstance(value, bool))


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
