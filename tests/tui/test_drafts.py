"""Drafts are whole or absent, private, and never raise."""

from pathlib import Path

from tui.drafts import Drafts


def test_a_draft_comes_back_per_session_and_a_lone_surrogate_as_a_question_mark(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    assert drafts.save("S1", "one\nzwei ✓")
    assert drafts.save(None, "new")
    assert Drafts(tmp_path / "drafts").load("S1") == "one\nzwei ✓"
    assert drafts.load(None) == "new"
    assert drafts.load("S2") == ""
    assert drafts.save("S1", "a\ud800b")
    assert drafts.load("S1") == "a?b"


def test_drafts_are_private_nothing_is_left_beside_them_and_an_empty_one_leaves_no_file(tmp_path: Path) -> None:
    Drafts(tmp_path / "drafts").save("S1", "x")
    (only,) = (tmp_path / "drafts").iterdir()
    assert only.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "drafts").stat().st_mode & 0o777 == 0o700
    Drafts(tmp_path / "drafts").save("S1", "")
    assert list((tmp_path / "drafts").iterdir()) == []


def test_a_disk_that_refuses_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    drafts = Drafts(tmp_path / "file")
    assert not drafts.save("S1", "x")
    assert drafts.load("S1") == ""
