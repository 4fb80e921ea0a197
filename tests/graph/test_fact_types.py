"""The type of a fact: by its words, its relationship, its kind, told of every memory there is."""

from typing import get_args

from graph.events import ObservationKind, Relation, RelationNoted
from graph.fact_types import FactType, _table, fact_type
from graph.memory import Memory
from graph.relations import kinds
from graph.values import Wanted
from tests.graph.deeds import begin
from tests.graph.talk import NOON, said
from tests.graph.teach import noted, observed
from tests.tables import each

TYPES: list[tuple[str, str, str | None, FactType]] = [
    ("I live in Lyon.", "state", None, "world"),
    ("My brother works at Siemens.", "relationship", "works_for", "world"),
    ("I climbed Ben Nevis.", "episode", None, "experience"),
    ("I met Ada.", "relationship", "met", "experience"),
    ("I like tea.", "preference", None, "opinion"),
    ("Bob does not trust Ada.", "relationship", "trusts", "opinion"),
    ("I  THINK the ferry is late.", "fact", None, "opinion"),
    ("Meiner Meinung nach ist das Boot zu klein.", "fact", None, "opinion"),
    ("I rethink my plans.", "fact", None, "world"),
    ("", "fact", None, "world"),
]


def test_words_go_before_the_relationship_and_that_before_the_kind() -> None:
    def check(row: tuple[str, str, str | None, FactType]) -> None:
        assert fact_type(*row[:3]) == row[3]

    each(TYPES, check)
    table = _table()
    assert table.relations.keys() <= kinds().keys()
    assert table.kinds.keys() <= set(ObservationKind)
    assert {*table.relations.values(), *table.kinds.values()} <= set(get_args(FactType))


def test_memories_are_filtered_by_it_and_say_whose_it_is(memory: Memory) -> None:
    memory.append(begin("s"), said("q"), *(noted(name, name.title(), "q") for name in ("ada", "adam")))
    memory.append(observed("one", "q", text="Adam left Siemens.", about=("ada", "adam", "you")))
    memory.append(observed("two", "q", text="I like Ada.", category=ObservationKind.PREFERENCE, about=("ada", "you")))
    memory.append(observed("three", "q", text="Ada does not trust Adam.", about=("ada",)))
    memory.append(RelationNoted.of("three", Relation(subject="ada", kind="trusts", object="adam", polarity=False)))
    memory.append(observed("four", "q", text="I climbed Ben Nevis.", category=ObservationKind.EPISODE))
    found = {found.id: (found.fact_type, found.whose) for found in memory.readings.memories(now=NOON)}
    assert found == {
        "one": ("world", "Adam"),
        "two": ("opinion", "you"),
        "three": ("opinion", "Ada"),
        "four": ("experience", "you"),
    }
    opinions = memory.readings.memories(Wanted(fact_type="opinion"), now=NOON, limit=10)
    assert [each.id for each in opinions] == ["three", "two"]
    assert memory.readings.memories(Wanted(fact_type="opinion"), now=NOON, limit=1)[0].id == "three"
