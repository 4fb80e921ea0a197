"""A vector is kept once per text and embedder, refused where it is none, and goes with the last turn of its text."""

import hashlib
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph import contents
from graph.errors import InvalidVector, LogUnwritable
from graph.events import Role
from graph.memory import Memory
from tests.graph.conftest import Open, bad, ignore
from tests.graph.deeds import begin, delete
from tests.graph.talk import reply, said, talk
from tests.graph.test_memory import no_space_beyond
from tests.tables import each

MODEL = "tiny@0123456789ab"


def hash_of(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def vector(*values: float) -> Any:
    return np.array(values or (3.0, 4.0), dtype=np.float32)


def embed(memory: Memory, *, limit: int = 100, model: str = MODEL) -> list[str]:
    """Keep a vector for what has none; returns the texts."""
    pending = memory.unembedded(model, limit)
    memory.keep_vectors(model, [(hash, vector(len(text), 1)) for hash, text in pending])
    return [text for _, text in pending]


def kept(memory: Memory, *, after: int = 0, model: str = MODEL) -> list[tuple[int, int, list[float]]]:
    with memory.readings.snapshot() as db:
        found = list(contents.vectors(db, model, after=after))
    return [(id, seq, np.frombuffer(data, "<f2").astype(float).round(3).tolist()) for id, seq, data in found]


def test_what_has_no_vector_comes_newest_first_and_each_text_once(memory: Memory) -> None:
    memory.append(begin("s"))
    for number, text in enumerate(["one", "two", "one", " \n", "", "three"]):
        memory.append(said(f"t{number}", text=text))
    memory.append(said("tool", text="quoted", role=Role.TOOL), said("pair", text="\ud83d\ude00"))
    expected = ["\U0001f600", "three", "one", "two"]
    assert memory.unembedded(MODEL, 10) == [(hash_of(text), text) for text in expected]
    assert [text for _, text in memory.unembedded(MODEL, 2)] == expected[:2]
    assert memory.unembedded(MODEL, 0) == []
    assert memory.readings.embedded(MODEL) == (0, 4)


def test_batches_go_from_the_newest_to_the_oldest_and_what_is_said_meanwhile_is_first(memory: Memory) -> None:
    talk(memory, 6)
    assert embed(memory, limit=2) == ["s5", "s4"]
    memory.append(said("new", parent="s5"), said("again", parent="new", text="s4"))
    assert embed(memory, limit=2) == ["new", "s3"]
    assert embed(memory, limit=2) == ["s2", "s1"]
    assert embed(memory, limit=2) == ["s0"]
    assert embed(memory, limit=2) == []
    memory.append(said("last", parent="again"))
    assert embed(memory, limit=2) == ["last"]
    assert memory.readings.embedded(MODEL) == (8, 8)


def test_a_vector_is_kept_at_length_one_and_found_by_every_turn_that_says_its_text(memory: Memory) -> None:
    memory.append(begin("s"), said("a", text="same"), said("b", text="same"))
    memory.keep_vectors(MODEL, [(hash_of("same"), vector(3.0, 4.0))])
    assert kept(memory) == [(1, 2, [0.6, 0.8]), (1, 3, [0.6, 0.8])]
    assert kept(memory, after=1) == []
    memory.append(said("c", text="same"), said("d", text="other"))
    with memory.readings.snapshot() as db:
        assert [(id, seq) for id, seq, _ in contents.vectors_of_later(db, MODEL, after_seq=3)] == [(1, 4)]
        assert list(contents.vectors_of_later(db, "unknown", after_seq=0)) == []
    assert kept(memory, model="unknown") == []


def test_no_size_of_numbers_becomes_infinite_or_zero(memory: Memory) -> None:
    talk(memory, 3)
    for turn, values in (("s0", (1e38, 1e38)), ("s1", (1e-38, 1e-38)), ("s2", (1e-45, 0.0))):
        memory.keep_vectors(MODEL, [(hash_of(turn), vector(*values))])
    assert [np.linalg.norm(found) for _, _, found in kept(memory)] == pytest.approx([1, 1, 1], abs=1e-3)


NO_DIRECTION: list[tuple[Any, str]] = [
    (vector(np.nan, 1.0), "none at all"),
    (vector(np.inf, 1.0), "infinite"),
    (vector(0.0, 0.0), "zero"),
    (vector(1.0, 2.0, 3.0), "shape"),
    (vector(1.0), "shape"),
    (np.zeros((0,)), "shape"),
    (np.ones((2, 2)), "shape"),
    (np.float32(3), "shape"),
]


def test_what_is_no_direction_is_refused_with_its_whole_batch(memory: Memory) -> None:
    def is_refused(row: tuple[Any, str]) -> None:
        bad, why = row
        before = memory.readings.embedders(), memory.readings.embedded(MODEL)
        with pytest.raises(InvalidVector, match=rf"rejected: .*{why}.*All text is safe"):
            memory.keep_vectors(MODEL, [(hash_of("s0"), vector()), (hash_of("s1"), bad)])
        assert (memory.readings.embedders(), memory.readings.embedded(MODEL)) == before

    talk(memory, 3)
    each(NO_DIRECTION, is_refused)
    assert memory.readings.embedded(MODEL) == (0, 3)
    memory.keep_vectors(MODEL, [(hash_of("s2"), vector())])
    each(NO_DIRECTION, is_refused)
    assert len(embed(memory)) == 2  # and the next batch is kept


def test_erasing_a_text_drops_its_hash_and_vectors_and_one_that_comes_too_late(memory: Memory, folder: Path) -> None:
    talk(memory, 2)
    memory.append(said("secret", parent="s1", text="the password is Xylophone"))
    pending = memory.unembedded(MODEL, 10)
    for model in (MODEL, "other@1"):
        memory.keep_vectors(model, [(hash, vector(7.0, 24.0)) for hash, _ in pending])
    late = memory.unembedded("late@2", 1)
    memory.append(delete("secret"))
    memory.keep_vectors("late@2", [(late[0][0], vector())])
    assert memory.readings.embedders() == [(MODEL, 2, 2), ("other@1", 2, 2), ("late@2", 2, 0)]
    assert [text for _, text in memory.unembedded("late@2", 10)] == ["s1", "s0"]
    assert bad(memory) == []
    memory.close()
    assert hash_of("the password is Xylophone") not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_a_vector_stays_while_another_turn_says_the_same(memory: Memory) -> None:
    memory.append(begin("s"), said("a", text="same"), said("b", text="same"))
    memory.keep_vectors(MODEL, [])
    assert memory.readings.embedders() == [], "keeping nothing or twice changes nothing"
    for values in ((1.0, 0.0), (0.0, 1.0)):
        memory.keep_vectors(MODEL, [(hash_of("same"), vector(*values))])
    assert kept(memory) == [(1, 2, [1.0, 0.0]), (1, 3, [1.0, 0.0])]
    memory.append(delete("a"))
    assert kept(memory) == [(1, 3, [1.0, 0.0])]
    assert memory.readings.embedded(MODEL) == (1, 1)
    memory.erase(3)
    assert kept(memory) == []
    assert memory.readings.embedded(MODEL) == (0, 0)


def test_an_embedder_goes_with_its_vectors_and_starts_anew(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.log.log.FORGOTTEN_AT_ONCE", 2)
    talk(memory, 5)
    embed(memory)
    embed(memory, model="other@1")
    memory.forget_embedder(MODEL)
    assert memory.readings.embedders() == [("other@1", 2, 5)]
    memory.forget_embedder("never known")
    memory.keep_vectors(MODEL, [(hash, vector(1.0, 2.0, 3.0)) for hash, _ in memory.unembedded(MODEL, 2)])
    assert memory.readings.embedders() == [("other@1", 2, 5), (MODEL, 3, 2)]
    assert [text for _, text in memory.unembedded(MODEL, 9)] == ["s2", "s1", "s0"]


def test_a_full_disk_keeps_no_vector_and_everything_else(memory: Memory) -> None:
    talk(memory, 200)
    pending = memory.unembedded(MODEL, 200)
    many = [(hash, np.ones(4_000)) for hash, _ in pending]
    with no_space_beyond(1 << 20), pytest.raises(LogUnwritable):
        memory.keep_vectors(MODEL, many)
    assert memory.readings.embedded(MODEL) == (0, 200)
    memory.keep_vectors(MODEL, many)
    assert memory.readings.embedded(MODEL) == (200, 200)


def test_a_damaged_cache_is_found_and_a_rebuild_heals_it(memory: Memory) -> None:
    talk(memory, 3)
    memory.append(reply("s3", parent="s2", text="s1"))
    embed(memory)
    db = memory._log._db
    db.execute("DELETE FROM contents WHERE seq = 2")
    db.execute("UPDATE contents SET hash = ? WHERE seq = 3", (hash_of("else"),))
    db.execute("INSERT INTO contents VALUES (99, ?)", (hash_of("ghost"),))
    found = [check for check in memory.doctor() if not check.ok and check.name != "graph"]
    assert [(check.name, check.detail) for check in found] == [("contents", "3 content hashes do not match the texts")]
    memory.rebuild(ignore)
    assert bad(memory) == []
    assert memory.readings.embedded(MODEL) == (3, 3)


WRITER = """
import sys
from pathlib import Path
import numpy as np
from graph.memory import Memory

memory = Memory.open(Path(sys.argv[1]), command="embedder")
while pending := memory.unembedded(sys.argv[2], 8):
    memory.keep_vectors(sys.argv[2], [(hash, np.ones(2)) for hash, _ in pending])
    print(len(pending), flush=True)
"""


@pytest.mark.process
@pytest.mark.parametrize("batches", [pytest.param(1, marks=pytest.mark.soak), 4])
def test_kill_9_loses_no_batch_and_the_next_goes_on(memory: Memory, folder: Path, opening: Open, batches: int) -> None:
    talk(memory, 200)
    memory.close()
    command = [sys.executable, "-c", WRITER, str(folder), MODEL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = sum(int(writer.stdout.readline()) for _ in range(batches))
        writer.send_signal(signal.SIGKILL)
    again = opening()
    done, everything = again.readings.embedded(MODEL)
    assert everything == 200
    assert done >= told
    assert done % 8 == 0
    assert len(again.unembedded(MODEL, 500)) == 200 - done
    embed(again, limit=500)
    assert again.readings.embedded(MODEL) == (200, 200)
    assert again.unembedded(MODEL, 500) == []
