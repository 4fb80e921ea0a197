"""What of an answer is drawn: nodes, relationships and paths, wherever they stand in its values."""

from graph.values import Edge, Ref
from tests.tui.queries.test_cells import PATH, PERSON, SAID_BY, TURN
from tui.queries.completing import tables_of
from tui.queries.export import HIDDEN, MOST_NODES, first_ref, ref_in, subgraph_of

FIRST, SECOND = Ref("Turn", "T1"), Ref("Entity", "noor")


def test_nodes_and_relationships_in_columns_of_their_own() -> None:
    found = subgraph_of([(TURN, SAID_BY, PERSON)])
    assert {node.ref for node in found.nodes} == {FIRST, SECOND}
    assert found.edges == (Edge(FIRST, SECOND, "SAID_BY"),)


def test_paths_lists_and_structures_are_looked_through() -> None:
    for value in (PATH, [PATH], {"a": {"b": [TURN, SAID_BY, PERSON]}}):
        found = subgraph_of([(value,), (value,)])
        assert len(found.nodes) == 2
        assert len(found.edges) == 1


def test_a_path_in_a_circle_ends() -> None:
    back = {**SAID_BY, "_src": "3:0", "_dst": "2:0", "_id": "9:1", "_label": "KNOWS"}
    found = subgraph_of([({"_nodes": [TURN, PERSON, TURN], "_rels": [SAID_BY, back]},)])
    assert len(found.nodes) == 2
    assert {edge.name for edge in found.edges} == {"SAID_BY", "KNOWS"}


def test_a_relationship_without_its_ends_is_counted_as_left_out() -> None:
    found = subgraph_of([(SAID_BY,)])
    assert (found.nodes, found.edges, found.more_edges) == ((), (), 1)


def test_more_nodes_than_can_be_drawn_are_counted() -> None:
    found = subgraph_of([({**TURN, "_id": f"2:{each}", "id": f"T{each}"},) for each in range(MOST_NODES + 7)])
    assert len(found.nodes) == MOST_NODES
    assert found.more_nodes == 7


def test_the_nodes_with_the_most_relationships_come_first() -> None:
    found = subgraph_of([({**TURN, "_id": "2:9", "id": "T9"},), (PATH,)])
    assert found.nodes[-1].ref == Ref("Turn", "T9")


def test_words_of_a_hidden_turn_are_not_drawn() -> None:
    node = subgraph_of([({**TURN, "hidden": True},)]).nodes[0]
    assert (node.title, node.mark) == (HIDDEN, "hidden")
    assert "Hello" not in str(node.details)


def test_plain_values_have_nothing_to_draw() -> None:
    assert subgraph_of([(1, "a", None, [2], {"x": 3})]).nodes == ()


def test_a_cell_leads_to_its_node_or_to_the_one_whose_id_it_is_or_to_the_first_of_its_row() -> None:
    assert first_ref([1, [PERSON]]) == SECOND
    cypher = "MATCH (t:Turn)-[:SAID_BY]->(e:Entity) RETURN t, t.id, e.id, e.name"
    assert tables_of(cypher, "e") == ["Entity"]
    columns, row = ("t.id", "e.id", "e.name"), ("T1", "noor", "Noor")
    assert ref_in(cypher, columns, row, 1) == SECOND
    assert ref_in(cypher, columns, row, 0) == FIRST
    assert ref_in(cypher, columns, row, 2) == FIRST
    assert ref_in(cypher, ("n", "t"), (1, TURN), 0) == FIRST
    assert ref_in(cypher, ("n",), (1,), 0) is None
