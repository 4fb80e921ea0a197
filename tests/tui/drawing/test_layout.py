"""What a drawing promises, of any graph on any area."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.values import Edge, Node, Ref, Subgraph
from tests.examples import examples
from tests.tui.drawing.graphs import SHAPES, WEIRD, graph, graphs
from tui.drawing.cells import cell_len, sign_of
from tui.drawing.layout import Layout, LayoutKind, layout
from tui.drawing.picture import paint
from tui.text import shown

KINDS: tuple[LayoutKind, ...] = ("force", "layered")


def taken_cells(made: Layout) -> Counter[tuple[int, int]]:
    """How often each cell is taken by a sign or a label."""
    cells = Counter((spot.x, spot.y) for spot in made.spots)
    for spot in made.spots:
        cells.update((x, spot.y) for x in range(spot.text_x, spot.text_end))
    return cells


def check(made: Layout, subgraph: Subgraph) -> None:
    cells = taken_cells(made)
    assert all(count == 1 for count in cells.values()), "labels and signs collide"
    assert all(0 <= x < made.width and 0 <= y < made.height for x, y in cells), "something is outside"
    assert all(cell_len(spot.text) > 0 for spot in made.spots), "a node has no label"
    assert all(spot.text == shown(spot.text) and "\n" not in spot.text for spot in made.spots)
    refs = [spot.node.ref for spot in made.spots]
    assert len(refs) == len(set(refs))
    assert len(refs) + made.more_nodes == len({node.ref for node in subgraph.nodes}) + subgraph.more_nodes
    check_arrows(made, cells)
    check_picture(made)


def check_arrows(made: Layout, taken: Counter[tuple[int, int]]) -> None:
    """Each head stands beside its node, points at it, and covers nothing."""
    of_cell: dict[tuple[int, int], str] = {}
    for line in made.lines:
        ends = [made.spots[line.end]] if line.onward else []
        ends += [made.spots[line.start]] if line.back else []
        beside = {
            cell
            for spot in ends
            for cell in (
                ((spot.x, spot.y - 1), "▾"),
                ((spot.x, spot.y + 1), "▴"),
                ((spot.box.start - 1, spot.y), "▸"),
                ((spot.box.end, spot.y), "◂"),
            )
        }
        assert set(line.way.heads) <= beside
        assert len(line.way.heads) <= len(ends)
        for cell, head in line.way.heads:
            assert cell not in taken
            assert of_cell.setdefault(cell, head) == head


def check_picture(made: Layout) -> None:
    """Every row is as wide as the area, and labels and signs are where the layout says."""
    picture = paint(made, 0 if made.spots else None)
    rows = ["".join(text for text, _ in picture.row(y)) for y in range(made.height)]
    assert all(cell_len(row) == made.width for row in rows)
    for spot in made.spots:
        assert spot.text in rows[spot.y]
        assert sign_of(spot.node) in rows[spot.y]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("width", "height"), [(80, 22), (120, 38), (30, 6)])
def test_every_shape_is_drawn_without_collisions(name: str, kind: LayoutKind, width: int, height: int) -> None:
    check(layout(SHAPES[name], kind=kind, width=width, height=height), SHAPES[name])


@examples(60)
@given(graphs(), st.sampled_from(KINDS), st.integers(30, 130), st.integers(6, 40))
def test_any_graph_is_drawn_without_collisions(subgraph: Subgraph, kind: LayoutKind, width: int, height: int) -> None:
    made = layout(subgraph, kind=kind, width=width, height=height)
    assert (made.width, made.height) == (width, height)
    check(made, subgraph)


@examples(30)
@given(graphs(), st.sampled_from(KINDS), st.integers(1, 29), st.integers(1, 30))
def test_a_narrow_area_gets_a_list_of_all_names(subgraph: Subgraph, kind: LayoutKind, width: int, height: int) -> None:
    made = layout(subgraph, kind=kind, width=width, height=height)
    assert made.kind == "list"
    assert [spot.node for spot in made.spots] == list(subgraph.nodes)
    assert all(spot.text_end <= max(width, 3) and spot.x == 0 and spot.y == row for row, spot in enumerate(made.spots))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in SHAPES if name != "scripts"])
def test_forty_nodes_are_readable_on_eighty_by_twenty_two(name: str, kind: LayoutKind) -> None:
    made = layout(SHAPES[name], kind=kind, width=80, height=22)
    assert len(made.spots) == len(SHAPES[name].nodes)
    lengths = [cell_len(spot.text) for spot in made.spots]
    assert min(lengths) >= 4
    assert sum(lengths) / len(lengths) >= 9
    arrows = sum(bool(line.onward) + bool(line.back) for line in made.lines)
    assert sum(len(line.way.heads) for line in made.lines) >= 0.97 * arrows


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_graph_gives_the_same_picture(kind: LayoutKind) -> None:
    first, second = (layout(SHAPES["dense"], kind=kind, width=80, height=22) for _ in range(2))
    assert first == second


def test_a_larger_area_draws_more_what_is_left_out_is_counted_and_the_focus_is_drawn_if_it_comes_last() -> None:
    many = graph(210, [((at - 1) // 4, at) for at in range(1, 210)])
    small = layout(many, kind="force", width=80, height=22)
    large = layout(many, kind="force", width=160, height=44)
    assert (len(small.spots), small.more_nodes) == (40, 170)
    assert len(large.spots) > 100
    assert sum(len(line.onward) + len(line.back) for line in small.lines) + small.more_edges == len(many.edges)
    made = layout(graph(1100, []), kind="force", width=20, height=10)
    assert (len(made.spots), made.more_nodes) == (1000, 100)
    many = graph(100, [])
    made = layout(many, kind="force", width=80, height=22, focus=many.nodes[-1].ref)
    assert many.nodes[-1].ref in {spot.node.ref for spot in made.spots}


def test_edges_between_two_nodes_share_a_line_one_to_itself_is_a_sign_and_one_to_nowhere_is_counted() -> None:
    made = layout(SHAPES["parallel"], kind="force", width=80, height=22)
    found = [(line.onward, line.back) for line in made.lines]
    assert found == [(("KNOWS", "WORKS_WITH", "LIKES"), ()), (("SAID_BY",), ())]
    both = layout(SHAPES["both ways"], kind="force", width=80, height=22)
    assert {head for _, head in both.lines[0].way.heads} == {"▸", "◂"}
    assert "knows / likes" in "".join(text for text, _ in paint(both).row(both.spots[0].y))
    made = layout(SHAPES["to itself"], kind="force", width=80, height=22)
    assert made.spots[0].text.startswith("↺ ")
    assert made.loops == {0: ("MENTIONS",)}
    node = Node(Ref("Turn", "1"), "here")
    made = layout(
        Subgraph((node, node), (Edge(node.ref, Ref("Turn", "2"), "REPLIES_TO"),)), kind="layered", width=80, height=22
    )
    assert (len(made.spots), made.lines, made.more_edges) == (1, (), 1)


def test_layers_lead_from_left_to_right_and_a_long_chain_goes_down_the_page() -> None:
    made = layout(graph(6, [(0, 1), (1, 2), (3, 1), (2, 4), (4, 5)]), kind="layered", width=80, height=22)
    assert all(made.spots[line.start].x < made.spots[line.end].x for line in made.lines if line.onward)
    made = layout(SHAPES["chain"], kind="layered", width=80, height=22)
    down = [made.spots[line.end].y - made.spots[line.start].y for line in made.lines]
    assert sum(0 < step <= 3 for step in down) >= 36


def test_a_title_of_any_length_is_cut_by_cells() -> None:
    made = layout(SHAPES["scripts"], kind="force", width=80, height=22)
    texts = {spot.node.title: spot.text for spot in made.spots}
    assert texts[WEIRD[0]].endswith("…")
    assert texts[""] == "(no words)"
    assert all(cell_len(text) <= 24 for text in texts.values())
