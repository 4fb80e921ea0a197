"""Who stands how to somebody, by the kinds of their relationships: in order, as a world has it, with its proof."""

from typing import Any

import pytest

from graph.errors import NotFound
from graph.events import EntityNoted
from graph.memory import Memory
from graph.values import Edge, Ego, Ref
from tests.examples import soaking
from tests.graph.deeds import delete, fork, hide
from tests.graph.talk import talk
from tests.graph.teach import noted, reject, related, support


def named(*names: str, turn: str = "s0") -> list[EntityNoted]:
    return [noted(each.lower(), each, turn) for each in names]


def told(ego: Ego) -> list[tuple[str, bool, str, str | None, int]]:
    """Each neighbour by a kind: the kind, whether it leads away, the name, until when, and the proofs."""
    return [
        (side.relation, side.outgoing, node.title, node.stands.until, node.stands.proofs)
        for side in ego.sides
        for node in side.nodes
        if node.stands is not None
    ]


def ada(memory: Memory, **more: Any) -> Ego:
    return memory.walk.ego(Ref("Entity", "ada"), **more)


@pytest.fixture
def family(whole: Memory) -> Memory:
    talk(whole, 4)
    whole.append(*named("Ada", "Bob", "Eve", "Siemens", "Bosch"))
    return whole


def test_they_come_before_all_else_by_kind_and_what_is_over_after(family: Memory) -> None:
    family.append(*related("siemens", "ada", "works_for", "siemens", "s0", until="2023"))
    family.append(*related("bosch", "ada", "works_for", "bosch", "s1", since="2023"))
    family.append(*related("boss", "eve", "manages", "ada", "s0"), *related("with", "bob", "works_with", "ada", "s0"))
    family.append(*related("trust", "bob", "trusts", "ada", "s0", polarity=False), support("with", "s2"))
    ego = ada(family)
    assert told(ego) == [
        ("trusts", False, "Bob", None, 1),
        ("works_with", True, "Bob", None, 2),
        ("works_for", True, "Bosch", None, 1),
        ("works_for", True, "Siemens", "2023", 1),
        ("manages", False, "Eve", None, 1),
    ]
    assert [side.relation for side in ego.sides][4:] == ["ABOUT", "MENTIONS"]
    assert "RELATES" not in [side.relation for side in ego.sides]


def test_the_same_told_from_both_ends_is_one_with_the_proof_of_both(family: Memory) -> None:
    family.append(*related("one", "ada", "works_with", "bob", "s0"))
    family.append(*related("other", "bob", "works_with", "ada", "s1", since="2024"))
    (side, *_) = ada(family).sides
    (node,) = side.nodes
    assert (side.total, node.stands is not None and node.stands.since) == (1, "2024")
    assert node.stands is not None
    assert set(node.stands.memories) == {"one", "other"}
    assert node.stands.proofs == 2


def test_what_is_of_a_what_if_is_not_in_main_and_what_main_had_is_there(family: Memory) -> None:
    family.append(*related("with", "ada", "works_with", "bob", "s0"))
    family.append(fork("w", "s", "s1", "w"))
    family.append(*related("what-if", "ada", "manages", "eve", "s0", world="w"))
    assert told(ada(family)) == [("works_with", True, "Bob", None, 1)]
    assert sorted(told(ada(family, world="w"))) == [
        ("manages", True, "Eve", None, 1),
        ("works_with", True, "Bob", None, 1),
    ]
    drawn = family.walk.around(Ref("Entity", "ada")).edges
    assert [edge.name for edge in drawn if edge.start.table == "Entity"] == ["works with"]
    there = family.walk.around(Ref("Entity", "ada"), world="w").edges
    assert sorted(edge.name for edge in there if edge.start.table == "Entity") == ["manages", "works with"]


def test_one_whose_proof_goes_or_that_is_rejected_is_gone(family: Memory) -> None:
    family.append(*related("with", "ada", "works_with", "bob", "s3"), *related("boss", "eve", "manages", "ada", "s0"))
    family.append(delete("s3"))
    assert told(ada(family)) == [("manages", False, "Eve", None, 1)]
    with pytest.raises(NotFound):
        family.walk.provenance("with")
    family.append(reject("boss"))
    assert told(ada(family)) == []
    assert family.walk.neighbours(Ref("Entity", "ada"), ("manages", False, "Entity")).total == 0


def test_the_name_of_whom_only_a_hidden_turn_names_is_not_told(family: Memory) -> None:
    family.append(*named("Xyzzy", turn="s3"), *related("with", "ada", "works_with", "xyzzy", "s0"))
    family.append(hide("s3"))
    assert "Xyzzy" not in repr(ada(family))
    key = ("works_with", True, "Entity")
    assert family.walk.neighbours(Ref("Entity", "ada"), key, text="xyzzy").total == 0


def test_lines_of_a_drawing_are_called_by_their_kind_and_memories_of_them_are_not_drawn_beside(family: Memory) -> None:
    family.append(
        *related("with", "ada", "works_with", "bob", "s0"),
        *related("was", "ada", "works_for", "siemens", "s0", until="2023"),
    )
    found = family.walk.around(Ref("Entity", "ada"))
    people = Ref("Entity", "ada"), Ref("Entity", "bob"), Ref("Entity", "siemens")
    assert Edge(people[0], people[1], "works with") in found.edges
    assert Edge(people[0], people[2], "worked for") in found.edges
    assert [node.ref.id for node in found.nodes if node.ref.table == "Observation"] == []
    assert all(node.stands is None for node in found.nodes)
    assert Edge(people[0], people[1], "works with") in family.walk.subgraph(people[:2]).edges


def test_thousands_of_neighbours_come_in_pages_and_by_name(family: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 2_000 if soaking() else 200
    monkeypatch.setattr("graph.walk.neighbours.MANY", many // 4)
    names = [f"Friend{number:04}" for number in range(many)]
    family.append(*named(*names), *(e for n in names for e in related(f"o{n}", "ada", "friend_of", n.lower(), "s0")))
    ego = ada(family)
    side = ego.sides[0]
    assert (side.relation, side.total, len(side.nodes)) == ("friend_of", many, 20)
    assert [node.title for node in side.nodes[:2]] == names[:2]
    page = family.walk.neighbours(Ref("Entity", "ada"), side.key, offset=many - 10, limit=100)
    assert [node.title for node in page.nodes] == names[many - 10 :]
    found = family.walk.neighbours(Ref("Entity", "ada"), side.key, text="FRIEND0042")
    assert [(node.title, node.stands is not None) for node in found.nodes] == [("Friend0042", True)]
    assert len(family.walk.around(Ref("Entity", "ada"), limit=40).nodes) == 40
