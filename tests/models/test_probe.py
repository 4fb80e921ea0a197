"""A file is tried in a process of its own once for a build and a processor, and a crash is told as what it is."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from models import machine, probe
from models.errors import CrashingBuild, CrashingModel, DamagedModel, LoadError, TooBigForMemory
from models.store import NOTE, PARTIAL

SEGFAULT = -signal.SIGSEGV


def answering(monkeypatch: pytest.MonkeyPatch, *codes: int) -> list[bool]:
    """Let the other processes exit with `codes`, the last one ever after; returns whether each had extra buffers."""
    ran: list[bool] = []

    def run(command: list[str], **_named: object) -> subprocess.CompletedProcess[bytes]:
        ran.append(json.loads(command[-1])["extra_buffers"])
        return subprocess.CompletedProcess(command, codes[min(len(ran), len(codes)) - 1])

    monkeypatch.setattr(subprocess, "run", run)
    return ran


def test_a_good_file_is_tried_once_and_again_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = answering(monkeypatch, 0)
    path, memo = tmp_path / "m.gguf", tmp_path / "cache" / "probed.json"
    path.write_bytes(b"GGUF")
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=True, fresh=True)
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=True, fresh=False)
    assert len(ran) == 1
    path.write_bytes(b"GGUF2")
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 2
    assert list(json.loads(memo.read_text())) == [str(path)]
    assert os.listdir(memo.parent) == ["probed.json"]


def test_another_build_or_processor_is_tried_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = answering(monkeypatch, 0)
    path, memo = tmp_path / "m.gguf", tmp_path / "probed.json"
    path.write_bytes(b"GGUF")
    probe.check_apart(path, memo=memo, embeds=False)
    monkeypatch.setattr(machine, "processor_flags", lambda: ["of", "another"])
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 2
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path / "another"))
    probe.check_apart(path, memo=memo, embeds=False)
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 3


def test_a_file_that_runs_only_without_extra_buffers_is_remembered_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = answering(monkeypatch, SEGFAULT, 0)
    path, memo = tmp_path / "m.gguf", tmp_path / "probed.json"
    path.write_bytes(b"GGUF")
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=False, fresh=True)
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=False, fresh=False)
    assert ran == [True, False]


def crash(path: Path, memo: Path | None) -> LoadError:
    with pytest.raises(LoadError) as caught:
        probe.check_apart(path, memo=memo, embeds=False)
    return caught.value


def test_a_crash_is_told_by_whether_the_file_is_the_one_that_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat_gguf: Path
) -> None:
    answering(monkeypatch, SEGFAULT)
    memo = tmp_path / "probed.json"
    right = crash(chat_gguf, memo)
    assert isinstance(right, CrashingBuild)
    assert "is damaged" not in str(right)
    assert machine.rebuild_command() in str(right)

    swapped = tmp_path / chat_gguf.name
    swapped.write_bytes(b"GGUF, but another")
    changed = crash(swapped, memo)
    assert isinstance(changed, DamagedModel)
    assert "`clew models rm smollm2-135m`, then `clew models pull smollm2-135m`" in str(changed)
    assert not memo.exists()


def test_a_foreign_file_that_crashes_is_damaged_where_the_build_runs_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other, memo = tmp_path / "m.gguf", tmp_path / "good.gguf", tmp_path / "probed.json"
    for each in (path, other):
        each.write_bytes(b"GGUF")
    answering(monkeypatch, SEGFAULT)
    assert isinstance(crash(path, memo), CrashingModel)
    answering(monkeypatch, 0)
    probe.check_apart(other, memo=memo, embeds=False)
    answering(monkeypatch, SEGFAULT)
    assert isinstance(crash(path, memo), DamagedModel)
    monkeypatch.setattr(machine, "processor_flags", lambda: ["of", "another"])
    assert isinstance(crash(path, memo), CrashingModel)


def test_a_trial_that_the_system_kills_ran_out_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, -signal.SIGKILL)
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    assert isinstance(crash(path, None), TooBigForMemory)


def test_a_note_that_cannot_be_read_is_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, SEGFAULT)
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    (tmp_path / PARTIAL).mkdir()
    (tmp_path / PARTIAL / f"m.gguf{NOTE}").write_bytes(b"\xff\xfe")
    assert isinstance(crash(path, None), CrashingModel)


def test_a_refused_file_is_left_to_the_loader_to_explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, probe.REFUSED)
    path, memo = tmp_path / "m.gguf", tmp_path / "probed.json"
    path.write_bytes(b"GGUF")
    probe.check_apart(path, memo=memo, embeds=False)
    assert not memo.exists()


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", '{"m.gguf": 3}'])
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
