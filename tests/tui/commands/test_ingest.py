"""`clew ingest`: documents listed, and gone with their files."""

from pathlib import Path

import pytest

from tests.tui.commands.conftest import Clew, Terminal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Cheese\n\nBrine keeps cheese.\n")
    (folder / "b.md").write_text("# Tides\n\nTwice a day.\n\n# Moon\n\nIt pulls.\n")
    return folder


@pytest.mark.restarts
def test_a_folder_that_is_not_there_is_66_and_changes_nothing(clew: Clew, folder: Path) -> None:
    assert clew("ingest", str(folder), "--no-embed").code == 0
    before = clew("ingest", "--json").json
    folder.rename(folder.with_name("elsewhere"))
    for options in ((), ("--prune",), ("--json", "--prune")):
        ended = clew("ingest", str(folder), "--no-embed", *options)
        assert (ended.code, ended.out) == (66, "")
        assert f"File or folder not found: {folder}. Nothing was changed. The 2 documents that were read" in ended.err
    assert clew("ingest", "--json").json == before
    assert clew("undo", "--list", "--json").json[0]["what"] == "added 2 documents"


@pytest.mark.restarts
def test_documents_whose_files_are_gone_wait_for_a_yes_and_come_back_with_undo(
    clew: Clew, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert clew("ingest", str(folder), "--no-embed").code == 0
    (folder / "a.md").unlink()
    for answer in (None, "", "y\n", "no\n"):
        if answer is not None:
            monkeypatch.setattr("sys.stdin", Terminal(answer))
        ended = clew("ingest", str(folder), "--no-embed")
        assert ended.code == 0
        assert "1 unchanged, 1 gone from the disk" in ended.out
        assert "Remove the document “Cheese” from the memory\n" in ended.out
        assert f"\n{folder / 'a.md'}\n" in ended.out
        assert "It stays in the memory. Use --prune to remove it." in ended.err
    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))
    assert "It was removed from the memory." in clew("ingest", str(folder), "--no-embed").err
    assert [each["chunks"] for each in clew("ingest", "--json").json if each["title"] == "Cheese"] == [0]
    assert "not in use      Cheese" in clew("ingest").out
    assert "removed the document “Cheese” from the memory" in clew("undo").err
    assert "1 passage" in clew("ingest").out
    pruned = clew("ingest", str(folder), "--no-embed", "--prune", "--json").json
    assert (pruned["missing"], pruned["removed"]) == ([], [str(folder / "a.md")])
    assert clew("ingest", str(folder), "--no-embed", "--json").json["removed"] == []


@pytest.mark.restarts
def test_what_is_passed_over_or_guessed_is_named(clew: Clew, folder: Path) -> None:
    (folder / "plan.docx").write_bytes(b"PK")
    for name in ("one.PNG", "two.png"):
        (folder / name).write_bytes(b"")
    (folder / "alt.txt").write_bytes("Größe".encode("latin-1"))
    ended = clew("ingest", str(folder), "--no-embed")
    assert ended.code == 0
    assert "Skipped, because clew reads Markdown, text, code and PDF: 2 .png, plan.docx." in ended.out
    assert f"Not all UTF-8, so some letters are guesses: {folder / 'alt.txt'}" in ended.out
    told = " ".join(clew("ingest").out.split())
    assert "1 passage Cheese" in told
    assert "2 passages Tides" in told
