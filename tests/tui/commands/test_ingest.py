"""`clew ingest`: documents listed, removed, and gone with their files."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Cheese\n\nBrine keeps cheese.\n")
    (folder / "b.md").write_text("# Tides\n\nTwice a day.\n\n# Moon\n\nIt pulls.\n")
    return folder


@pytest.mark.restarts
def test_a_folder_that_vanished_is_told_with_what_left_the_memory(clew: Run, folder: Path) -> None:
    assert clew("ingest", str(folder), "--no-embed").code == 0
    shutil.rmtree(folder)
    ended = clew("ingest", str(folder), "--no-embed")
    assert ended.code == 0
    assert "2 gone" in ended.out
    for name in ("a.md", "b.md"):
        assert f"Gone from the disk, and from the memory: {folder / name}" in ended.out
    assert clew("ingest", "--json").json == []


@pytest.mark.restarts
def test_removing_an_unknown_document_names_a_command_that_lists_them(clew: Run, folder: Path) -> None:
    assert clew("ingest", str(folder), "--no-embed").code == 0
    ended = clew("ingest", "--remove", "01ARZ3NDEK")
    assert ended.code == 66
    assert "`clew ingest` without a path lists them" in ended.err
    assert "Cheese" in clew("ingest").out


@pytest.mark.restarts
def test_one_piece_is_a_piece(clew: Run, folder: Path) -> None:
    assert clew("ingest", str(folder), "--no-embed").code == 0
    told = " ".join(clew("ingest").out.split())
    assert "1 piece Cheese" in told
    assert "2 pieces Tides" in told
