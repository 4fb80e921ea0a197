"""A file is tried in a process of its own once, and then remembered."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from models import probe
from models.errors import DamagedModel


def answering(monkeypatch: pytest.MonkeyPatch, code: int) -> list[list[str]]:
    """Let the other process exit with `code`; returns the commands that were run."""
    ran: list[list[str]] = []

    def run(command: list[str], **_named: object) -> subprocess.CompletedProcess[bytes]:
        ran.append(command)
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(subprocess, "run", run)
    return ran


def test_a_good_file_is_tried_once_and_again_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = answering(monkeypatch, 0)
    path, memo = tmp_path / "m.gguf", tmp_path / "cache" / "probed.json"
    path.write_bytes(b"GGUF")
    probe.check_apart(path, memo=memo, embeds=False)
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 1
    path.write_bytes(b"GGUF2")
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 2
    assert list(json.loads(memo.read_text())) == [str(path)]
    assert os.listdir(memo.parent) == ["probed.json"]


def test_a_file_that_takes_the_process_down_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, -6)
    path, memo = tmp_path / "m.gguf", tmp_path / "probed.json"
    path.write_bytes(b"GGUF")
    with pytest.raises(DamagedModel, match="crashes"):
        probe.check_apart(path, memo=memo, embeds=True)
    assert not memo.exists()


def test_a_refused_file_is_left_to_the_loader_to_explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, probe.REFUSED)
    path, memo = tmp_path / "m.gguf", tmp_path / "probed.json"
    path.write_bytes(b"GGUF")
    probe.check_apart(path, memo=memo, embeds=False)
    assert not memo.exists()


@pytest.mark.parametrize("text", ["", "nonsense", "[1]"])
def test_a_damaged_memo_costs_only_another_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    ran = answering(monkeypatch, 0)
    path, memo = tmp_path / "m.gguf", tmp_path / "probed.json"
    path.write_bytes(b"GGUF")
    memo.write_text(text)
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 1
    assert str(path) in json.loads(memo.read_text())


def test_a_memo_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = answering(monkeypatch, 0)
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    probe.check_apart(path, memo=path / "no" / "folder.json", embeds=False)
    assert len(ran) == 1
