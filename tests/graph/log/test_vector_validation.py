"""Damaged vectors in the log enter no score, are told by the doctor, and are made again after a rebuild."""

import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC
from pathlib import Path

import numpy as np
import pytest

from graph.contents import pack, sound
from graph.memory import Memory
from graph.values import Filters, Vector
from tests.graph.conftest import ignore
from tests.graph.recall.conftest import AXES, MODEL, NOW, embed, ids, toward
from tests.graph.recall.conftest import chats as chats
from tests.graph.talk import talk
from tests.tables import each

MEANING: dict[str, Sequence[str]] = {
    "My sourdough never rises": ["bread"],
    "It doubled overnight, thank you": ["bread"],
}
ONE = "WHERE hash = (SELECT hash FROM contents ORDER BY seq DESC LIMIT 1)"
SPOILT = {
    "short": b"abc",
    "empty": b"",
    "other length": b"ab" * 100,
    "NaN": np.full(len(AXES), np.nan, "<f2").tobytes(),
    "one NaN": np.array([1, 0, 0, np.nan], "<f2").tobytes(),
    "infinite": np.full(len(AXES), np.inf, "<f2").tobytes(),
    "large": np.full(len(AXES), 60_000, "<f2").tobytes(),
    "zero": bytes(2 * len(AXES)),
    "half as long": np.array([0.5, 0, 0, 0], "<f2").tobytes(),
}


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    """NaN in arithmetic is a warning, and one of those is a failure here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def spoil(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        assert db.execute(statement, values).rowcount


def found(memory: Memory) -> dict[str, float]:
    hits = memory.recall.search("loaf", vector=toward("bread"), now=NOW, timezone=UTC)
    return {hit.id: hit.score for hit in hits}


def wrong(memory: Memory) -> dict[str, str]:
    """What the doctor finds wrong, but that the graph is closed."""
    found = (check for check in memory.doctor() if not check.ok and (memory.graph_ready or check.name != "graph"))
    return {check.name: f"{check.detail} {check.advice}" for check in found}


@pytest.mark.restarts
def test_a_damaged_vector_is_left_out_told_and_made_again(chats: Memory, folder: Path) -> None:
    embed(chats, MEANING)
    before = found(chats)
    assert "b3" in before
    with chats.readings.snapshot() as db:
        (sound_one,) = db.execute(f"SELECT vector FROM vectors {ONE}").fetchone()

    def is_left_out_and_told(bad: bytes) -> None:
        spoil(folder, f"UPDATE vectors SET vector = ? {ONE}", bad)
        chats.recall.forget()  # it has to read the vectors again
        after = found(chats)
        assert all(np.isfinite(list(after.values())))
        assert next(iter(after)) == "b1"
        assert after.get("b3", 0) < before["b3"]
        told = wrong(chats)
        assert set(told) == {"vectors"}
        assert f"1 of 7 vectors are damaged (1 of {MODEL})" in told["vectors"]
        assert "clew rebuild" in told["vectors"]

    each(SPOILT.values(), is_left_out_and_told)
    assert chats.unembedded(MODEL, 9) == []
    chats.open_graph(ignore)
    assert chats.recall.communities(MODEL) is not None
    chats.rebuild(ignore)
    assert wrong(chats) == {}
    assert [text for _, text in chats.unembedded(MODEL, 9)] == ["It doubled overnight, thank you"]
    assert chats.readings.embedded(MODEL) == (6, 7)
    embed(chats, MEANING)
    assert found(chats) == before
    with chats.readings.snapshot() as db:
        assert db.execute(f"SELECT vector FROM vectors {ONE}").fetchone() == (sound_one,)
    chats.rebuild(ignore)
    assert chats.readings.embedders() == [(MODEL, len(AXES), 7)], "which keeps every sound vector"


@pytest.mark.restarts
def test_an_embedder_with_a_wrong_dimension_leaves_it_to_the_words_until_a_rebuild(chats: Memory, folder: Path) -> None:
    embed(chats, MEANING)
    before = found(chats)
    wide = Vector(MODEL, np.ones(77, np.float32))

    def leaves_it_to_the_words(dimension: int) -> None:
        spoil(folder, "UPDATE embedders SET dimension = ?", dimension)
        assert found(chats) == {}
        for vector in (toward("sea"), wide):
            assert ids(chats.recall.search("starfish", vector=vector, now=NOW, timezone=UTC))[0] == "a2"
        assert "7 of 7 vectors are damaged" in wrong(chats)["vectors"]
        chats.recall.forget()
        assert found(chats) == {}, "also to one that reads them anew"

    each((77, 3, 0, -4, 10**15, 2**62), leaves_it_to_the_words)
    spoil(folder, "UPDATE embedders SET dimension = ?", len(AXES))
    assert found(chats) == before, "a running recall lets go of what it read"
    spoil(folder, "UPDATE embedders SET dimension = ?", 2**62)
    chats.open_graph(ignore)
    assert chats.recall.communities(MODEL, filters=Filters()) is not None
    chats.rebuild(ignore)
    assert wrong(chats) == {}
    assert (chats.readings.embedders(), chats.readings.embedded(MODEL)) == ([], (0, 7))
    embed(chats, MEANING)
    assert chats.readings.embedders() == [(MODEL, len(AXES), 7)]
    assert found(chats) == before
    spoil(folder, "UPDATE vectors SET embedder = 9")
    chats.recall.forget()
    assert found(chats) == {}
    assert "7 of no embedder" in wrong(chats)["vectors"]
    chats.rebuild(ignore)
    assert wrong(chats) == {}
    assert chats.readings.embedders() == []


def test_more_damage_than_one_batch_is_dropped(memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.log.log.FORGOTTEN_AT_ONCE", 2)
    monkeypatch.setattr("graph.contents.BATCH", 3)
    talk(memory, 9)
    embed(memory, {})
    spoil(folder, "UPDATE vectors SET vector = x'00' WHERE id <> 4")
    assert "8 of 9 vectors are damaged" in wrong(memory)["vectors"]
    memory.rebuild(ignore)
    assert memory.readings.embedded(MODEL) == (1, 9)


def test_only_sound_vectors_come_in_their_order_and_what_the_memory_keeps_is_sound() -> None:
    good = [np.eye(4, dtype="<f2")[axis].tobytes() for axis in range(4)]
    rows, well = sound([good[2], b"", good[0], SPOILT["NaN"], good[3]], 4)
    assert well.tolist() == [True, False, True, False, True]
    assert rows.argmax(axis=1).tolist() == [2, 0, 3]
    assert sound([], 4)[1].tolist() == []
    random = np.random.default_rng(1)
    for dimension in (1, 384, 4_096):
        kept = [pack(row, dimension) for row in random.normal(size=(50, dimension)) ** 9]
        assert sound(kept, dimension)[1].all()
