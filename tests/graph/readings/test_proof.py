"""The words that prove a memory are each shown once and as themselves, however many there are."""

from datetime import UTC, datetime

from graph.memory import Memory
from tests.graph.deeds import hide
from tests.graph.talk import talk
from tests.graph.teach import observed, support


def test_every_proof_has_its_own_words(memory: Memory) -> None:
    ids = talk(memory, 120)
    others = [observed(f"m{number}", ids[number]) for number in range(40)]
    supports = [support("m7", turn) for turn in ids[8:]]
    memory.append(*others, *supports, *(hide(turn) for turn in ids[20:60:3]))
    proofs = memory.readings.memory("m7", now=datetime.now(UTC)).proofs["m7"]
    assert sorted(proof.id for proof in proofs) == sorted(ids[7:])
    hidden = set(ids[20:60:3])
    assert {proof.id: proof.text for proof in proofs} == {id: None if id in hidden else id for id in ids[7:]}
