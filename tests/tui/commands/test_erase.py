"""`clew erase`: everything of clew's, and nothing of anyone else's."""

import re
from pathlib import Path

import pytest

from agent.home import Cached
from agent.private import BEGINNING
from graph.kuzu import engine, rebuild
from models.catalogue import CATALOGUE
from tests.tui.commands.conftest import Clew, Remember
from tui.commands import erase

SESSION = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
MADE = f"""config.toml memory/graph.kuzu memory/graph.kuzu.wal memory/graph.kuzu.aside cache/native.log cache/place
cache/probed.json cache/probed.json.4711 cache/trusted.json cache/trusted-queries.json cache/trusted-queries.part
cache/drafts/message-ab_c1.md cache/drafts/.message-ab_c1.md.swp cache/drafts/message-ab_c1.md~
queries/history.jsonl queries/saved.jsonl queries/saved.jsonl.part queries/lock keys/den
keys/gpu-2.part memory/apart/{SESSION}/copy.kuzu cache/drafts/new.txt cache/kv/{SESSION}-0123456789abcdef.kv
cache/kv/{SESSION}-0123456789abcdef.new cache/drafts/{SESSION}.txt models/{CATALOGUE[0].file}
models/.partial/{CATALOGUE[1].file}.part"""


def files(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*") if path.is_file())


@pytest.fixture
def lived_in(home: Path, remember: Remember) -> Path:
    """A home with a bit of everything that clew makes."""
    remember("one")
    for name in MADE.split():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("made by clew")
    return home


def test_nothing_is_left_of_a_home_that_held_only_clews_own_nor_of_the_private_chats_of_one_that_was_killed(
    clew: Clew, lived_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    left = tmp_path / f"{BEGINNING}left"
    left.mkdir()
    (left / "log.sqlite").write_text("words")
    for companion in engine.COMPANIONS:
        for name in ("graph.kuzu", rebuild.NEW, rebuild.ASIDE):
            (lived_in / "memory" / (name + companion)).write_text("made by clew")
    for name in ("log.sqlite-wal", "log.sqlite-shm", "log.sqlite-journal", "graph.opening", "graph.purge"):
        (lived_in / "memory" / name).write_text("made by clew")
    ended = clew("erase", "--yes")
    assert ended.code == 0
    assert "Nothing is left" in ended.err
    assert not lived_in.exists()
    assert not left.exists()
    assert clew("erase", "--yes").code == 0, "a home that was never lived in"
    assert not lived_in.exists()


def test_what_clew_did_not_make_stays_and_is_named(clew: Clew, lived_in: Path) -> None:
    names = (
        *(
            "notes.txt",
            "memory/thesis.md",
            "memory/log.sqlite.mybackup",
            "memory/graph.kuzu.2024",
            "models/my-own.gguf",
        ),
        *("memory/log.sqlite-wal2", "cache/native.log.old", "cache/drafts/my.txt", "cache/kv/my.kv", "keys/My own.txt"),
    )
    for name in names:
        (lived_in / name).write_text("not clew's")
    ended = clew("erase", "--yes")
    assert ended.code == 0
    assert files(lived_in) == sorted(lived_in / name for name in names)
    assert "cache, keys, memory, models, notes.txt" in ended.err


def test_models_stay_when_asked_for_or_in_a_folder_of_their_own(clew: Clew, lived_in: Path, tmp_path: Path) -> None:
    clew("erase", "--yes", "--keep-models")
    assert (lived_in / "models" / CATALOGUE[0].file).exists()
    assert not (lived_in / "memory").exists()
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / CATALOGUE[0].file).write_text("used by others too")
    clew("erase", "--yes", CLEW_MODELS=str(shared))
    assert (shared / CATALOGUE[0].file).exists()


def test_only_the_word_erases(clew: Clew, lived_in: Path) -> None:
    before = sorted(lived_in.rglob("*"))
    for typed in (b"yes\n", b"\n", b""):
        ended = clew("erase", stdin=typed)
        assert (ended.code, ended.out) == (1, "")
        assert sorted(lived_in.rglob("*")) == before
    assert clew("erase", stdin=b"Erase\n").code == 0
    assert not lived_in.exists()


def test_a_link_or_folder_with_clews_name_goes_but_not_its_target(clew: Clew, lived_in: Path, tmp_path: Path) -> None:
    elsewhere, outside = tmp_path / "elsewhere.log", tmp_path / "outside"
    outside.mkdir()
    for path in (elsewhere, outside / "thesis.md"):
        path.write_text("not clew's")
    (lived_in / "cache" / "native.log").unlink()
    (lived_in / "cache" / "native.log").symlink_to(elsewhere)
    graph = lived_in / "memory" / "graph.kuzu"
    graph.unlink()
    (graph / "deep").mkdir(parents=True)
    (graph / "deep" / "data").write_text("made by an older engine")
    (graph / "link").symlink_to(outside)
    (lived_in / "memory" / "graph.kuzu.new").symlink_to(outside)
    assert clew("erase", "--yes").code == 0
    assert elsewhere.exists()
    assert (outside / "thesis.md").exists()
    assert not lived_in.exists()


def test_one_file_that_cannot_go_keeps_no_others(clew: Clew, lived_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name == "log.sqlite":
            raise PermissionError(1, "Operation not permitted", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    ended = clew("erase", "--yes")
    assert ended.code == 74
    assert "log.sqlite could not be removed: Operation not permitted" in ended.err
    assert [path.name for path in files(lived_in)] == ["log.sqlite"]


def test_whatever_is_written_into_the_cache_is_named_in_one_place_and_known() -> None:
    """A file that is named where it is written is one that `clew erase` does not know."""
    named = re.compile(r"""cache\s*(?:/|\.joinpath\()\s*f?["'](?!drafts["'])""")
    root = Path(erase.__file__).parents[2]
    sources = (path for package in ("agent", "graph", "models", "tui") for path in (root / package).rglob("*.py"))
    assert [str(path) for path in sources if named.search(path.read_text()) and path.name != "home.py"] == []
    assert all(erase.cache_names().fullmatch(name) for name in Cached)
    assert not erase.cache_names().fullmatch("trusted-other.json")
