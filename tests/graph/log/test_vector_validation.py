"""Damaged vectors in the log enter no score, are told by the doctor, and are made again after a rebuild."""

import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path

import numpy as np
import pytest

from graph.contents import sound
from graph.memory import Memory
from graph.values import Filters, Vector
from tests.graph.conftest import Open, ignore
from tests.graph.recall.conftest import AXES, MODEL, NOW, embed, ids, toward
from tests.graph.recall.conftest import chats as chats
from tests.graph.talk import talk

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
    db = sqlite3.connect(folder / "log.sqlite")
    with db:
        assert db.execute(statement, values).rowcount
    db.close()


def found(memory: Memory) -> dict[str, float]:
    hits = memory.recall.search("loaf", vector=toward("bread"), now=NOW, timezone=UTC)
    return {hit.id: hit.score for hit in hits}


def wrong(memory: Memory) -> dict[str, str]:
    return {check.name: f"{check.detail} {check.advice}" for check in memory.doctor() if not check.ok}


@pytest.mark.parametrize("bad", SPOILT.values(), ids=SPOILT.keys())
@pytest.mark.restarts
def test_a_damaged_vector_is_left_out_told_and_made_again(chats: Memory, folder: Path, bad: bytes) -> None:
    embed(chats, MEANING)
    before = found(chats)
    assert "b3" in before
    chats.rebuild(ignore)  # recall has to read the vectors again
    spoil(folder, f"UPDATE vectors SET vector = ? {ONE}", bad)
    after = found(chats)
    assert all(np.isfinite(list(after.values())))
    assert next(iter(after)) == "b1"
    assert after.get("b3", 0) < before["b3"]
    assert chats.recall.communities(MODEL) is not None
    assert set(wrong(chats)) == {"vectors"}
    assert f"1 of 7 vectors are damaged (1 of {MODEL})" in wrong(chats)["vectors"]
    assert "clew rebuild" in wrong(chats)["vectors"]
    assert chats.unembedded(MODEL, 9) == []
    chats.rebuild(ignore)
    assert wrong(chats) == {}
    assert [text for _, text in chats.unembedded(MODEL, 9)] == ["It doubled overnight, thank you"]
    assert chats.readings.embedded(MODEL) == (6, 7)
    embed(chats, MEANING)
    assert found(chats) == before


@pytest.mark.parametrize("dimension", [77, 3, 0, -4, 10**15, 2**62])
@pytest.mark.restarts
def test_an_embedder_with_a_wrong_dimension_leaves_it_to_the_words_until_a_rebuild(
    chats: Memory, folder: Path, dimension: int
) -> None:
    embed(chats, MEANING)
    before = found(chats)
    chats.rebuild(ignore)
    spoil(folder, "UPDATE embedders SET dimension = ?", dimension)
    assert found(chats) == {}
    assert ids(chats.recall.search("starfish", vector=toward("sea"), now=NOW, timezone=UTC))[0] == "a2"
    wide = Vector(MODEL, np.ones(77, np.float32))
    assert ids(chats.recall.search("starfish", vector=wide, now=NOW, timezone=UTC))[0] == "a2"
    assert chats.recall.communities(MODEL, filters=Filters()) is not None
    assert "7 of 7 vectors are damaged" in wrong(chats)["vectors"]
    chats.rebuild(ignore)
    assert wrong(chats) == {}
    assert (chats.readings.embedders(), chats.readings.embedded(MODEL)) == ([], (0, 7))
    embed(chats, MEANING)
    assert chats.readings.embedders() == [(MODEL, len(AXES), 7)]
    assert found(chats) == before


def test_a_dimension_that_changes_under_a_running_recall_lets_go_of_what_was_read(chats: Memory, folder: Path) -> None:
    embed(chats, MEANING)
    before = found(chats)
    assert before
    spoil(folder, "UPDATE embedders SET dimension = 77")
    assert found(chats) == {}
    spoil(folder, "UPDATE embedders SET dimension = ?", len(AXES))
    assert found(chats) == before


@pytest.mark.restarts
def test_vectors_of_no_embedder_are_told_and_dropped(chats: Memory, folder: Path) -> None:
    embed(chats, MEANING)
    spoil(folder, "UPDATE vectors SET embedder = 9")
    assert found(chats) == {}
    assert "7 of no embedder" in wrong(chats)["vectors"]
    chats.rebuild(ignore)
    assert wrong(chats) == {}
    assert chats.readings.embedders() == []


@pytest.mark.restarts
def test_a_rebuild_keeps_every_sound_vector(chats: Memory) -> None:
    embed(chats, MEANING)
    before = chats.readings.embedders()
    chats.rebuild(ignore)
    assert chats.readings.embedders() == before


@pytest.mark.restarts
def test_more_damage_than_goes_at_once_is_dropped(opening: Open, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.log.log.FORGOTTEN_AT_ONCE", 2)
    monkeypatch.setattr("graph.contents.BATCH", 3)
    memory = opening()
    memory.open_graph(ignore)
    talk(memory, 9)
    embed(memory, {})
    spoil(folder, "UPDATE vectors SET vector = x'00' WHERE id <> 4")
    assert "8 of 9 vectors are damaged" in wrong(memory)["vectors"]
    memory.rebuild(ignore)
    assert memory.readings.embedded(MODEL) == (1, 9)


def test_only_sound_vectors_come_in_their_order() -> None:
    good = [np.eye(4, dtype="<f2")[axis].tobytes() for axis in range(4)]
    rows, well = sound([good[2], b"", good[0], SPOILT["NaN"], good[3]], 4)
    assert well.tolist() == [True, False, True, False, True]
    assert rows.argmax(axis=1).tolist() == [2, 0, 3]
    assert sound([], 4)[1].tolist() == []


@pytest.mark.parametrize("dimension", [1, 384, 4_096])
def test_what_the_memory_keeps_is_sound(memory: Memory, dimension: int) -> None:
    from graph.contents import pack

    random = np.random.default_rng(1)
    kept = [pack(row, dimension) for row in random.normal(size=(50, dimension)) ** 9]
    assert sound(kept, dimension)[1].all()
