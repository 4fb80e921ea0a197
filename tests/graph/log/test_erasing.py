"""Whatever may carry words of what is deleted loses its text in the same append, and a purge leaves no byte of it."""

from pathlib import Path

from graph.events import ApprovalAsked, ReflectionDone, Role
from graph.memory import Memory
from tests.graph.conftest import bad, purge
from tests.graph.deeds import delete, titled, write
from tests.graph.talk import said, talk
from tests.graph.teach import forget, noted, observed, read, remove

SECRET = "Xylophone"


def texts(memory: Memory) -> set[str]:
    with memory.readings.snapshot() as db:
        return {text for (text,) in db.execute("SELECT text FROM events WHERE text IS NOT NULL")}


def learned(memory: Memory, word: str) -> list[int]:
    with memory.readings.snapshot() as db:
        return [seq for (seq,) in db.execute("SELECT rowid FROM learned WHERE learned MATCH ?", (word,))]


def test_a_deleted_turn_takes_along_all_that_was_made_of_it(memory: Memory, folder: Path) -> None:
    talk(memory, 2)
    first = observed("m1", "t", text=f"plays the {SECRET}")
    memory.append(
        said("t", parent="s1", text=f"I play the {SECRET}"),
        first,
        observed("m2", "s0", after=first, text=f"used to play the {SECRET}"),
        observed("m3", "s0", text="stays"),
        noted("e", SECRET, "t", category="thing"),
        write("human", f"{SECRET} player", "s0", "t", by="agent"),
        titled("s", f"On the {SECRET}", "s0", "t"),
        ApprovalAsked(approval="a", session="s", by_turn="t", tool="remember", text=f"Keep {SECRET}?"),
        said("tool", role=Role.TOOL, text=f"found: {SECRET}", recalled=[{"id": "m2", "kind": "observation"}]),
    )
    assert len(learned(memory, SECRET)) == 2
    assert memory.readings.embedded("any")[1] == 6
    memory.append(delete("t"))
    assert texts(memory) == {"s0", "s1", "stays"}
    assert learned(memory, SECRET) == []
    assert len(learned(memory, "stays")) == 1
    assert memory.readings.embedded("any") == (0, 3)
    assert bad(memory) == []
    purge(memory)
    memory.close()
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_what_is_made_of_a_turn_after_its_deletion_is_stored_without_words(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(delete("s0"))
    memory.append(
        observed("m1", "s1", "s0", text=SECRET),
        titled("s", SECRET, "s0", "s1"),
        noted("e", SECRET, "s0", category="thing"),
        write("human", SECRET, "s0", by="agent"),
        observed("m2", "s1", text="of the rest"),
    )
    assert texts(memory) == {"s1", "of the rest"}
    assert bad(memory) == []


def test_forgetting_an_observation_takes_every_revision_and_what_quotes_one(memory: Memory) -> None:
    talk(memory, 4)
    first = observed("m1", "s0")
    second = observed("m2", "s2", after=first)
    memory.append(first, second, observed("m3", after=second), observed("n1", "s0"))
    memory.append(said("tool", role=Role.TOOL, text="quotes", recalled=[{"id": "m2", "kind": "observation"}]))
    memory.append(ReflectionDone(reflection="r", turns=("s0",), trust="model"), forget("m1"))
    assert texts(memory) == {"s0", "s1", "s2", "s3", "n1"}


def test_a_removed_document_takes_its_chunks_of_every_reading_and_what_came_of_them(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(*read("d", "c1", "c2"), *read("d", "c2", "c3", new=("c3",)), *read("other", "c4"))
    memory.append(observed("m1", "c1"), observed("m2", "c3", "s0"), observed("m3", "s0"), observed("m4", "c4"))
    memory.append(remove("d"))
    assert texts(memory) == {"s0", "s1", "m3", "m4", "Head\nc4", "other\n/tmp/other.md"}
    assert len(learned(memory, "head")) == 1


def test_what_was_learned_is_embedded_and_a_rebuild_makes_all_indexes_anew(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(*read("d", "c1"), observed("m1", "s0"), write("b", "not embedded"))
    assert [text for _, text in memory.unembedded("any", 9)] == ["m1", "Head\nc1", "s1", "s0"]
    db = memory._log._db
    for damage in (
        "INSERT INTO learned (learned) VALUES ('delete-all')",
        "DELETE FROM named",
        "DELETE FROM contents",
        "DELETE FROM unreflected",
    ):
        db.execute(damage)
    assert {check.name for check in memory.doctor() if not check.ok} >= {"words", "contents", "tables"}
    memory._log.rebuild_tables()
    memory._log.rebuild_words()
    assert {check.name for check in memory.doctor() if not check.ok} <= {"graph"}
    assert len(learned(memory, "m1")) == 1
    memory.append(delete("s0"))
    assert "m1" not in texts(memory)
