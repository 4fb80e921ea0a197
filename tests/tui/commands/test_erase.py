"""`clew erase`: everything of clew's, and nothing of anyone else's."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.home import Cached
from agent.private import BEGINNING
from graph.kuzu import engine, rebuild
from models.catalogue import CATALOGUE
from tui.commands import erase

Run = Callable[..., Any]


@pytest.fixture
def lived_in(home: Path, remember: Run) -> Path:
    """A home with a bit of everything that clew makes."""
    remember("one")
    for name in (
        "config.toml",
        "memory/graph.kuzu",
        "memory/graph.kuzu.wal",
        "memory/graph.kuzu.aside",
        "cache/native.log",
        "cache/probed.json",
        "cache/probed.json.4711",
        "cache/place",
        "cache/trusted.json",
        "cache/trusted-queries.json",
        "cache/trusted-queries.part",
        "cache/drafts/message-ab_c1.md",
        "queries/history.jsonl",
        "queries/saved.jsonl",
        "queries/saved.jsonl.part",
        "queries/lock",
        "keys/den",
        "keys/gpu-2.part",
        "memory/apart/01ARZ3NDEKTSV4RRFFQ69G5FAV/copy.kuzu",
        "cache/drafts/new.txt",
        "cache/kv/01ARZ3NDEKTSV4RRFFQ69G5FAV-0123456789abcdef.kv",
        "cache/kv/01ARZ3NDEKTSV4RRFFQ69G5FAV-0123456789abcdef.new",
        "cache/drafts/01ARZ3NDEKTSV4RRFFQ69G5FAV.txt",
        f"models/{CATALOGUE[0].file}",
        f"models/.partial/{CATALOGUE[1].file}.part",
    ):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("made by clew")
    return home


def test_nothing_is_left_of_a_home_that_held_only_clews_own(clew: Run, lived_in: Path) -> None:
    ended = clew("erase", "--yes")
    assert ended.code == 0
    assert "Nothing is left" in ended.err
    assert not lived_in.exists()


def test_what_a_killed_clew_left_of_its_private_chats_goes_too(
    clew: Run, lived_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    left = tmp_path / f"{BEGINNING}left"
    left.mkdir()
    (left / "log.sqlite").write_text("words")
    assert clew("erase", "--yes").code == 0
    assert not left.exists()


def test_what_clew_did_not_make_stays_and_is_named(clew: Run, lived_in: Path) -> None:
    others = [lived_in / "notes.txt", lived_in / "memory" / "thesis.md", lived_in / "models" / "my-own.gguf"]
    for path in others:
        path.write_text("not clew's")
    ended = clew("erase", "--yes")
    assert sorted(path for path in lived_in.rglob("*") if path.is_file()) == sorted(others)
    assert "memory, models, notes.txt" in ended.err


def test_models_stay_when_asked_for(clew: Run, lived_in: Path) -> None:
    clew("erase", "--yes", "--keep-models")
    assert (lived_in / "models" / CATALOGUE[0].file).exists()
    assert not (lived_in / "memory").exists()


def test_models_in_a_folder_of_their_own_stay(
    clew: Run, lived_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / CATALOGUE[0].file).write_text("used by others too")
    monkeypatch.setenv("CLEW_MODELS", str(shared))
    clew("erase", "--yes")
    assert (shared / CATALOGUE[0].file).exists()


@pytest.mark.parametrize("typed", [b"yes\n", b"\n", b""])
def test_without_the_word_nothing_is_erased(spawn: Run, lived_in: Path, typed: bytes) -> None:
    before = sorted(lived_in.rglob("*"))
    ended = spawn("erase", stdin=typed, CLEW_MODELS="")
    assert ended.code == 1
    assert ended.out == ""
    assert sorted(lived_in.rglob("*")) == before


def test_the_word_erases(spawn: Run, lived_in: Path) -> None:
    ended = spawn("erase", stdin=b"Erase\n", CLEW_MODELS="")
    assert ended.code == 0
    assert not lived_in.exists()


def test_a_link_is_removed_and_not_what_it_points_at(clew: Run, lived_in: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.log"
    elsewhere.write_text("not clew's")
    (lived_in / "cache" / "native.log").unlink()
    (lived_in / "cache" / "native.log").symlink_to(elsewhere)
    clew("erase", "--yes")
    assert elsewhere.exists()
    assert not lived_in.exists()


def test_a_home_that_was_never_lived_in_can_be_erased(clew: Run, home: Path) -> None:
    assert clew("erase", "--yes").code == 0
    assert not home.exists()


def test_a_backup_beside_the_memory_is_not_clews_and_stays(clew: Run, lived_in: Path) -> None:
    names = (
        "memory/log.sqlite.mybackup",
        "memory/graph.kuzu.2024",
        "memory/log.sqlite-wal2",
        "cache/native.log.old",
        "cache/drafts/my.txt",
        "cache/kv/my.kv",
        "keys/My own.txt",
    )
    for name in names:
        (lived_in / name).write_text("not clew's")
    assert clew("erase", "--yes").code == 0
    assert sorted(path for path in lived_in.rglob("*") if path.is_file()) == sorted(lived_in / name for name in names)


def test_every_name_of_the_memory_is_known(clew: Run, lived_in: Path) -> None:
    for companion in engine.COMPANIONS:
        for name in ("graph.kuzu", rebuild.NEW, rebuild.ASIDE):
            (lived_in / "memory" / (name + companion)).write_text("made by clew")
    for name in ("log.sqlite-wal", "log.sqlite-shm", "log.sqlite-journal", "graph.opening", "graph.purge"):
        (lived_in / "memory" / name).write_text("made by clew")
    assert clew("erase", "--yes").code == 0
    assert not lived_in.exists()


def test_a_folder_under_a_name_of_clews_goes_whole_but_nothing_it_points_at(
    clew: Run, lived_in: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.md").write_text("not clew's")
    graph = lived_in / "memory" / "graph.kuzu"
    graph.unlink()
    (graph / "deep").mkdir(parents=True)
    (graph / "deep" / "data").write_text("made by an older engine")
    (graph / "link").symlink_to(outside)
    (lived_in / "memory" / "graph.kuzu.new").symlink_to(outside)
    assert clew("erase", "--yes").code == 0
    assert (outside / "thesis.md").exists()
    assert not lived_in.exists()


def test_one_file_that_cannot_go_does_not_keep_the_others(
    clew: Run, lived_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name == "log.sqlite":
            raise PermissionError(1, "Operation not permitted", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    ended = clew("erase", "--yes")
    assert ended.code == 74
    assert "log.sqlite could not be removed: Operation not permitted" in ended.err
    assert [path.name for path in lived_in.rglob("*") if path.is_file()] == ["log.sqlite"]


def test_whatever_is_written_into_the_cache_is_named_in_one_place_and_known() -> None:
    """A file that is named where it is written is one that `clew erase` does not know."""
    named = re.compile(r"""cache\s*(?:/|\.joinpath\()\s*f?["'](?!drafts["'])""")
    root = Path(erase.__file__).parents[2]
    sources = (path for package in ("agent", "graph", "models", "tui") for path in (root / package).rglob("*.py"))
    assert [str(path) for path in sources if named.search(path.read_text()) and path.name != "home.py"] == []
    assert all(erase.cache_names().fullmatch(name) for name in Cached)
    assert not erase.cache_names().fullmatch("trusted-other.json")
