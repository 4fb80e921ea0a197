"""What the disk is used for, part by part, and what is said of a part that is large."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.home import Home
from tui.commands import disk

Run = Callable[..., Any]


def test_every_file_of_the_home_is_in_one_part(home: Path, remember: Run) -> None:
    remember("one", "two")
    for name, size in (
        ("backups/2026.sqlite", 100),
        ("models/any.gguf", 200),
        ("cache/kv/a-b.kv", 300),
        ("cache/place", 40),
        ("queries/history.jsonl", 500),
        ("memory/apart/01/copy.kuzu", 600),
        ("memory/graph.kuzu", 800),
        ("memory/thesis.md", 700),
    ):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    parts = disk.parts_of(Home.resolve(home))
    found = {name: parts[name] for name in (disk.BACKUPS, disk.QUERIES, disk.COPIES)}
    assert found == {disk.BACKUPS: 100, disk.QUERIES: 500, disk.COPIES: 600}
    assert (parts[disk.STATES], parts[disk.MODELS]) == (300, 200)
    assert parts[disk.CACHES] >= 40
    assert parts[disk.OTHER] >= 700
    assert parts[disk.LOG] > 0
    assert parts[disk.GRAPH] == 800
    assert parts[disk.WORDS] > 0
    config = sum(path.stat().st_size for path in home.iterdir() if path.is_file())
    assert sum(parts.values()) + config == sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


def test_of_an_empty_home_it_says_so(home: Path) -> None:
    assert disk.told(disk.parts_of(Home.resolve(home))) == "nothing is stored yet"
    assert disk.advice({}) == ""


def test_what_is_large_is_told_with_what_to_do_the_largest_first() -> None:
    words = disk.advice({disk.LOG: 10, disk.STATES: 3 * 10**9, disk.MODELS: 5 * 10**9}, least=10**9)
    assert words.index("models rm") < words.index("kv_mb")
    assert "clew delete" not in words


def test_where_nothing_can_be_written_nothing_is_advised_that_has_to_write() -> None:
    words = disk.advice(dict.fromkeys(disk.ADVICE, 10), full=True)
    assert words.count("(10 B)") == 3
    assert not any(refused in words for refused in ("clew delete", "clew rebuild", "kv_mb"))
    assert disk.advice({disk.LOG: 10, disk.WORDS: 5}, full=True) == ""


def test_every_part_has_its_advice(home: Path) -> None:
    assert set(disk.parts_of(Home.resolve(home))) == set(disk.ADVICE)


def test_a_log_that_cannot_be_read_is_all_log(home: Path) -> None:
    path = home / "memory" / "log.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database" * 100)
    assert disk.parts_of(Home.resolve(home))[disk.LOG] == 1100
