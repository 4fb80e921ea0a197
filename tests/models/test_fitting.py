"""Which model fits a machine, and whether it has a way to fetch one."""

from pathlib import Path

import pytest

from models import fitting
from models.catalogue import DEFAULT_CHAT, FIRST_CHOICES, entry
from models.fitting import best_fit, first_choice, gpu_for_a_model, has_disk, has_way_out, memory_for_a_model

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
        (64 * GB, 0, 0, None),  # nobody knows yet
        (GB // 2, 0, 400, None),
        (64 * GB, 0, 131, "qwen2.5-coder-0.5b"),  # two cores: the 1.5B would write 12 tokens a second, and read 38
        (64 * GB, 0, 400, "granite4.2-3b"),
        (3 * GB, 0, 400, "qwen2.5-coder-1.5b"),
        (64 * GB, 0, 2000, "granite4.2-8b"),
        (1 * GB, 8 * GB, 5, "granite4.2-8b"),
    ):
        best = best_fit(DEFAULT_CHAT, memory=memory, gpu=gpu, speed=speed)
        assert (best.name if best is not None else None) == name, (memory, gpu, speed)
    two_cores = best_fit("qwen2.5-coder-1.5b", memory=8 * GB, speed=36)
    assert two_cores is not None
    assert two_cores.name == "granite4.2-3b"
    for used in ("granite4.2-8b", "/models/mine.gguf", "hf:owner/repo/file.gguf"):
        assert best_fit(used, memory=64 * GB, speed=4000) is None


def test_a_new_home_begins_with_what_is_there_or_the_best_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first_choice(tmp_path, memory=64 * GB, disk=64 * GB).name == DEFAULT_CHAT, "what the tests say"
    monkeypatch.delenv(fitting.FIRST)
    best, smaller, tiny = FIRST_CHOICES
    for memory, disk, name in (
        (3 * GB, 3 * GB, best),
        (3 * GB - 1, 64 * GB, smaller),
        (64 * GB, 3 * GB - 1, smaller),
        (64 * GB, GB, tiny),
        (GB, 64 * GB, tiny),
    ):
        assert first_choice(tmp_path / "not there yet", memory=memory, disk=disk).name == name
    for name in (tiny, smaller, best):
        (tmp_path / entry(name).file).touch()
        assert first_choice(tmp_path, memory=0, disk=0).name == name, "it stays"


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
