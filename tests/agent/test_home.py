"""The home folder: made where it can be, and read where it cannot be written."""

import os
from pathlib import Path

import pytest

from agent.errors import HomeError
from agent.home import Home
from agent.settings import Settings, load_settings


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that is there and that this process may not write, whoever it is."""
    root = tmp_path / "read-only"
    root.mkdir()

    def refuse(path: Path, *_: object, **__: object) -> None:
        if path.is_relative_to(root) and not path.exists():
            raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(Path, "write_text", refuse)
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
    return root


def test_the_folders_are_made_and_private(tmp_path: Path) -> None:
    home = Home.resolve(tmp_path / "new")
    for folder in (home.root, home.memory, home.cache, home.models):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_written_is_good_for_reading_only(read_only: Path) -> None:
    home = Home.resolve(read_only, writing=False)
    assert home.root == read_only
    assert load_settings(home.config) == Settings()
    with pytest.raises(HomeError, match="Nothing was changed"):
        Home.resolve(read_only)


def test_a_home_with_all_its_folders_is_still_refused_for_writing_and_none_that_cannot_be_made_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(HomeError):
        Home.resolve(tmp_path / "file" / "home", writing=False)
    Home.resolve(tmp_path / "whole")
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
    Home.resolve(tmp_path / "whole", writing=False)
    with pytest.raises(HomeError, match="cannot write"):
        Home.resolve(tmp_path / "whole")
