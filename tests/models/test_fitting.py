"""Which model fits a machine, and whether it has a way to fetch one."""

from pathlib import Path

import pytest

from models.catalogue import DEFAULT_CHAT
from models.fitting import best_fit, gpu_for_a_model, has_disk, has_way_out, memory_for_a_model

GB = 10**9
UP = "eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0"
LOCAL = "eth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0"
DOWN = "eth0 00000000 010200C0 0002 0 0 0 00000000 0 0 0"
HEAD = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT"
ZERO = "0" * 32
UP_6 = f"{ZERO} 00 {ZERO} 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     eth0"
REFUSED_6 = f"{ZERO} 00 {ZERO} 00 {ZERO} ffffffff 00000001 00000000 00200200       lo"


def test_the_best_model_is_the_biggest_that_fits_and_is_not_too_slow_nor_better_than_what_somebody_chose() -> None:
    for memory, gpu, speed, name in (
        (1 * GB, 0, 0, None),
        (2 * GB, 0, 0, "qwen3-0.6b"),
        (5 * GB, 0, 0, "qwen3-4b"),
        (64 * GB, 0, 0, "qwen3-8b"),
        (64 * GB, 0, 70, "qwen3-4b"),  # a bigger one would write less than two tokens a second here
        (64 * GB, 0, 5, None),
        (1 * GB, 8 * GB, 5, "qwen3-8b"),
    ):
        best = best_fit(DEFAULT_CHAT, memory=memory, gpu=gpu, speed=speed)
        assert (best.name if best is not None else None) == name
    for used in ("qwen3-8b", "/models/mine.gguf", "hf:owner/repo/file.gguf"):
        assert best_fit(used, memory=64 * GB) is None


def test_a_model_gets_no_more_than_half_of_the_machine() -> None:
    import psutil

    assert 0 < memory_for_a_model() <= psutil.virtual_memory().total // 2
    assert gpu_for_a_model() >= 0


def test_a_model_that_would_fill_the_disk_is_not_offered(tmp_path: Path) -> None:
    assert has_disk(tmp_path, -(1 << 30))
    assert not has_disk(tmp_path, 1 << 60)
    assert not has_disk(tmp_path / "nowhere", 1)


@pytest.mark.parametrize(
    ("fourth", "sixth", "out"),
    [((LOCAL, UP), (), True), ((), (REFUSED_6, UP_6), True), ((LOCAL, DOWN), (REFUSED_6,), False), ((), (), False)],
)
def test_a_machine_is_offline_where_it_has_no_route_to_the_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fourth: tuple[str, ...], sixth: tuple[str, ...], out: bool
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    routes = tmp_path / "route", tmp_path / "ipv6_route"
    assert has_way_out(routes)  # it does not say
    for path, lines in zip(routes, ((HEAD, *fourth), sixth), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines))
    assert has_way_out(routes) is out
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert not has_way_out(routes)
