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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "m.gguf"
    made.write_bytes(b"GGUF")
    return made


@pytest.fixture
def memo(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "probed.json"


def test_a_good_file_is_tried_once_for_each_set_up(path: Path, memo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = answering(monkeypatch, 0)
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=True, fresh=True)
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=True, fresh=False)
    assert len(ran) == 1
    path.write_bytes(b"GGUF2")
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 2
    assert list(json.loads(memo.read_text())) == [str(path)]
    assert os.listdir(memo.parent) == ["probed.json"]
    monkeypatch.setattr(machine, "processor_flags", lambda: ["of", "another"])
    probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 3
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(path.parent / "another"))
    for _ in range(2):
        probe.check_apart(path, memo=memo, embeds=False)
    assert len(ran) == 4


def test_a_file_that_runs_only_plainly_is_remembered(path: Path, memo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = answering(monkeypatch, SEGFAULT, 0)
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=False, fresh=True)
    assert probe.check_apart(path, memo=memo, embeds=False) == probe.Trial(extra_buffers=False, fresh=False)
    assert ran == [True, False]


def crash(path: Path, memo: Path | None) -> LoadError:
    with pytest.raises(LoadError) as caught:
        probe.check_apart(path, memo=memo, embeds=False)
    return caught.value


def test_a_crash_is_told_by_whether_the_file_is_the_one_that_was_installed(
    tmp_path: Path, memo: Path, monkeypatch: pytest.MonkeyPatch, chat_gguf: Path
) -> None:
    answering(monkeypatch, SEGFAULT)
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


def test_a_foreign_crash_is_damage_where_another_runs(path: Path, memo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = path.with_name("good.gguf")
    other.write_bytes(b"GGUF")
    answering(monkeypatch, SEGFAULT)
    assert isinstance(crash(path, memo), CrashingModel)
    answering(monkeypatch, 0)
    probe.check_apart(other, memo=memo, embeds=False)
    answering(monkeypatch, SEGFAULT)
    assert isinstance(crash(path, memo), DamagedModel)
    monkeypatch.setattr(machine, "processor_flags", lambda: ["of", "another"])
    assert isinstance(crash(path, memo), CrashingModel)
    # A note that cannot be read is as none.
    (path.parent / PARTIAL).mkdir()
    (path.parent / PARTIAL / f"m.gguf{NOTE}").write_bytes(b"\xff\xfe")
    assert isinstance(crash(path, None), CrashingModel)


def test_a_trial_that_the_system_kills_ran_out_of_memory_and_a_refused_file_is_left_to_the_loader(
    path: Path, memo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, -signal.SIGKILL)
    assert isinstance(crash(path, None), TooBigForMemory)
    answering(monkeypatch, probe.REFUSED)
    probe.check_apart(path, memo=memo, embeds=False)
    assert not memo.exists()


def test_a_memo_damaged_or_unwritable_costs_only_a_try(path: Path, memo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = answering(monkeypatch, 0)
    memo.parent.mkdir()
    for text in ("", "nonsense", "[1]", '{"m.gguf": 3}'):
        memo.write_text(text)
        probe.check_apart(path, memo=memo, embeds=False)
        assert str(path) in json.loads(memo.read_text())
    probe.check_apart(path, memo=path / "no" / "folder.json", embeds=False)
    assert len(ran) == 5
