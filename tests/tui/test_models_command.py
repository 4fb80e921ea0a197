"""`clew models` on a real folder: what stdout, stderr, the settings file and the exit code say."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.catalogue import CATALOGUE, entry
from models.fetch import FetchProgress
from models.store import DEFAULT_CHAT, DEFAULT_EMBEDDER
from tests.models.servers import Site, serving
from tui import commands
from tui.commands.models import describe
from tui.exit_codes import ExitCode

GGUF = b"GGUF" + bytes(range(256)) * 100


@pytest.fixture
def folder(home: Path) -> Path:
    folder = home / "models"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with serving() as site:
        for key, value in site.environment.items():
            monkeypatch.setenv(key, value)
        yield site


def clew(*arguments: str) -> int:
    return commands.run(["models", *arguments])


def test_the_list_shows_every_model_if_used_and_if_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / entry(DEFAULT_CHAT).file).write_bytes(GGUF)
    (folder / "mine\x1b[31m.gguf").write_bytes(GGUF)
    assert clew("list") == ExitCode.OK
    shown = capsys.readouterr().out
    lines = {words[1]: words[0] for words in map(str.split, shown.splitlines()) if len(words) > 1}
    assert lines[DEFAULT_CHAT] == "*+"
    assert lines[DEFAULT_EMBEDDER] == "*"
    assert [each.name for each in CATALOGUE if (each.name in shown) == each.old] == []
    assert "Other files" in shown
    assert "\x1b" not in shown


def test_the_list_as_json_is_one_list_of_objects_in_spite_of_a_wrong_setting_which_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    assert clew("list", "--json") == ExitCode.OK
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == [each.name for each in CATALOGUE if not each.old]
    assert {row["state"] for row in rows} == {"available"}
    (home / "config.toml").write_text("contxt = 5\n")
    assert clew("list", "--json") == ExitCode.OK
    said = capsys.readouterr()
    assert {row["name"] for row in json.loads(said.out) if row["in_use"]} == {DEFAULT_CHAT, DEFAULT_EMBEDDER}
    assert "contxt" in said.err
    assert "default models" in said.err


@pytest.mark.process
def test_pulling_prints_the_path_and_tells_stderr(folder: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.put_hub("owner/repo", "tiny.gguf", GGUF)
    assert clew("pull", "hf:owner/repo/tiny.gguf") == ExitCode.OK
    said = capsys.readouterr()
    assert said.out == f"{folder / 'tiny.gguf'}\n"
    assert "clew models use" in said.err
    assert (folder / "tiny.gguf").read_bytes() == GGUF


def test_pulling_nothing_named_means_the_defaults_and_narrates_nothing_when_they_are_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [folder / entry(name).file for name in (DEFAULT_CHAT, DEFAULT_EMBEDDER)]
    for path in paths:
        path.write_bytes(GGUF)
    assert clew("pull") == ExitCode.OK
    assert capsys.readouterr() == ("".join(f"{path}\n" for path in paths), "")


@pytest.mark.process
def test_a_pull_that_fails_says_why_and_exits_69(folder: Path, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.put_hub("owner/repo", "tiny.gguf", GGUF, sha256="0" * 64)
    assert clew("pull", "hf:owner/repo/tiny.gguf") == ExitCode.UNAVAILABLE
    said = capsys.readouterr()
    assert (said.out, "SHA-256 differs" in said.err) == ("", True)
    assert list(folder.glob("*.gguf")) == []


@pytest.mark.parametrize(("name", "setting"), [(DEFAULT_CHAT, "model"), (DEFAULT_EMBEDDER, "embedder")])
def test_a_model_is_chosen_under_the_setting_of_its_kind(home: Path, folder: Path, name: str, setting: str) -> None:
    (folder / entry(name).file).write_bytes(GGUF)
    assert clew("use", name) == ExitCode.OK
    assert f'{setting} = "{name}"' in (home / "config.toml").read_text().splitlines()


def test_a_file_is_chosen_by_its_path_and_its_header_tells_what_it_is_for(
    home: Path, folder: Path, embed_gguf: Path, tmp_path: Path
) -> None:
    elsewhere = shutil.copy(embed_gguf, tmp_path / "any name.gguf")
    assert clew("use", str(elsewhere)) == ExitCode.OK
    assert f'embedder = "{elsewhere}"' in (home / "config.toml").read_text().splitlines()


def test_what_is_not_installed_no_gguf_or_unknown_is_not_chosen(home: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("once upon a time")
    for wrong in ("qwen3-4b", str(tmp_path / "text.gguf"), "nothing-like-it"):
        assert clew("use", wrong) == ExitCode.UNAVAILABLE
    assert not (home / "config.toml").exists()


def test_removing_the_one_in_use_says_what_to_do_next_and_what_cannot_be_fetched_again_is_removed_when_that_is_meant(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / entry(DEFAULT_CHAT).file).write_bytes(GGUF)
    assert clew("rm", DEFAULT_CHAT) == ExitCode.OK
    assert "clew models use" in capsys.readouterr().err
    assert list(folder.iterdir()) == []
    mine = folder / "mine.gguf"
    mine.write_bytes(GGUF)
    assert clew("rm", "mine") != ExitCode.OK
    assert mine.exists()
    assert clew("rm", "mine", "--yes") == ExitCode.OK
    assert not mine.exists()


@pytest.mark.parametrize("stage", ["waiting", "connecting", "fetching", "checking", "installing", "done"])
def test_every_stage_of_a_fetch_has_words(stage: str) -> None:
    line = describe(FetchProgress("tiny", stage, 50_000_000, 100_000_000))  # type: ignore[arg-type]
    assert line.startswith("tiny: ")
    assert ("50 MB of 100 MB (50%)" in line) == (stage == "fetching")
