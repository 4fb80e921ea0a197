"""The catalogue of the graph: what there is, how much of it, and a line of what each means."""

import pytest

from graph.console.catalogue import PROPERTIES, TABLES, Schema
from graph.events import Recalled
from graph.memory import Memory
from graph.projection.schema import META, NODES, RELS
from tests.graph.talk import reply, talk
from tests.graph.teach import noted, observed, read

RECALLED = (("s0", "turn"), ("s1", "turn"), ("m", "observation"), ("c1", "chunk"))


@pytest.fixture
def full(whole: Memory) -> Memory:
    """Two chats, a document, what was learned of both, and a reply that recalled of all sorts."""
    talk(whole, 4)
    talk(whole, 3, "x")
    chunk = read("d", "c1", "c2")
    whole.append(*chunk, observed("m", "s0", "c1"), observed("n", "s1"))
    whole.append(noted("E", "Ada", "s0"))
    remembered = [Recalled.model_validate({"id": id, "kind": kind}) for id, kind in RECALLED]
    whole.append(reply("s9", parent="s3", recalled=remembered))
    return whole


def counts(schema: Schema) -> dict[str, int]:
    nodes = {each.name: each.count for each in schema.nodes}
    return nodes | {each.name: each.count for each in schema.relationships}


def counted_plainly(memory: Memory) -> dict[str, int]:
    """By the plainest queries there are."""
    nodes = {each.name: memory.query(f"MATCH (n:`{each.name}`) RETURN n.id") for each in (*NODES, META)}
    rels = {each.name: memory.query(f"MATCH (a)-[r:`{each.name}`]->(b) RETURN id(r)") for each in RELS}
    return {name: len(rows) for name, rows in (nodes | rels).items()}


def test_every_table_is_there_with_how_much_is_in_it(full: Memory) -> None:
    schema = full.console.schema()
    assert counts(schema) == counted_plainly(full)
    assert counts(schema) | {"Turn": 8, "RECALLED": 4, "DERIVED_FROM": 3, "PART_OF": 2, "Meta": 1} == counts(schema)


def test_an_empty_memory_has_a_catalogue_too(whole: Memory) -> None:
    assert counts(whole.console.schema()) == counted_plainly(whole)


@pytest.mark.restarts
def test_the_catalogue_of_the_past_counts_what_was_there_then(full: Memory) -> None:
    with full.past(4) as past:
        assert {each.name: each.count for each in past.console.schema().nodes}["Turn"] == 3


def test_relationships_tell_their_ends_and_properties_their_types(whole: Memory) -> None:
    recalled = next(each for each in whole.console.schema().relationships if each.name == "RECALLED")
    assert (recalled.start, recalled.ends) == ("Turn", ("Turn", "Observation", "Chunk", "Reference"))
    assert [(each.name, each.type) for each in recalled.properties] == [
        ("strategy", "STRING"), ("rank", "INT64"), ("score", "DOUBLE"),
    ]  # fmt: skip
    of_engine = {row["name"]: row["type"] for row in whole.query("CALL table_info('Turn') RETURN *")}
    turn = next(each for each in whole.console.schema().nodes if each.name == "Turn")
    assert {each.name: each.type for each in turn.properties} == of_engine


def test_everything_has_a_meaning_and_nothing_else_has() -> None:
    assert TABLES.keys() == {each.name for each in (*NODES, META, *RELS)}
    named = {each.name: set(each.names) for each in (*NODES, META, *RELS) if each.columns}
    assert {table: set(properties) for table, properties in PROPERTIES.items()} == named
    lines = [*TABLES.values(), *(line for table in PROPERTIES.values() for line in table.values())]
    assert all(line and "\n" not in line and len(line) < 100 for line in lines)


@pytest.mark.process
def test_every_name_can_be_typed_as_it_is(whole: Memory) -> None:
    for table in (*NODES, META):
        for name in table.names:
            whole.console.validate(f"MATCH (x:{table.name} {{{name}: null}}) RETURN x.{name} AS {name} ORDER BY {name}")
    for rel in RELS:
        returned = ", ".join(f"x.{name} AS {name}" for name in rel.names) or "x"
        whole.console.validate(f"MATCH ()-[x:{rel.name}]->() RETURN {returned}")
