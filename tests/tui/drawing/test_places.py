"""Where nodes stand, before and after they are put into cells."""

import subprocess
import sys
from math import hypot

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.values import Node, Ref
from tests.tui.drawing.graphs import scattered
from tui.drawing.force import force_positions, layered_positions
from tui.drawing.layout import Spot
from tui.drawing.settling import Seat, settle, swapped
from tui.drawing.view import at_cell, nearest, next_one


def spots(*cells: tuple[int, int]) -> list[Spot]:
    return [Spot(Node(Ref("Turn", str(at)), "x"), x, y, "label", x + 2) for at, (x, y) in enumerate(cells)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_positions_are_within_the_unit_square(count: int) -> None:
    pairs = scattered(count, count) if count > 1 else []
    for places in (force_positions(count, pairs), layered_positions(count, pairs, 80, 22)[0]):
        assert len(places) == count
        assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places)


def test_joined_nodes_lie_nearer_than_others_and_pieces_that_nothing_joins_apart() -> None:
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    places = force_positions(6, triangles)
    left, right = sorted((places[:3], places[3:]))
    assert max(x for x, _ in left) <= min(x for x, _ in right)
    places = force_positions(10, [(at, at + 1) for at in range(9)])
    far = [abs(places[0][0] - places[at][0]) for at in range(10)]
    assert far == sorted(far)


def test_a_circle_of_arrows_has_layers_too() -> None:
    places, in_columns = layered_positions(4, [(0, 1), (1, 2), (2, 3), (3, 0), (2, 2)], 80, 22)
    assert in_columns
    assert [x for x, _ in places] == sorted({x for x, _ in places})


def test_seats_are_fewer_where_there_is_no_room() -> None:
    seats = settle([(0.5, 0.5)] * 20, [10] * 20, 12, 3, rightward=False, stacked=False)
    assert 0 < len(seats) < 20


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_swapping_keeps_all_seats_and_never_makes_lines_longer(pairs: list[tuple[int, int]]) -> None:
    pairs = [(one, other) for one, other in sorted({(min(pair), max(pair)) for pair in pairs}) if one != other]
    seats = [Seat(7 * at % 60, 5 * at % 20, True, 3 + at % 3) for at in range(12)]
    labels = [at % 6 for at in range(12)]
    found = swapped(seats, pairs, labels)

    def length(seats: list[Seat]) -> float:
        ends = ((seats[one], seats[other]) for one, other in pairs)
        return sum(hypot(one.x - other.x, 2 * (one.y - other.y)) for one, other in ends)

    assert sorted(found, key=seats.index) == seats
    assert length(found) <= length(seats) + 1e-6
    assert all(now.kept >= min(before.kept, label) for now, before, label in zip(found, seats, labels, strict=True))


def test_the_nearest_is_rather_ahead_than_aside_the_next_as_one_reads_and_a_click_on_a_label_means_its_node() -> None:
    found = spots((10, 10), (20, 10), (12, 16), (11, 9), (2, 10))
    assert nearest(found, 0, "right") == 1
    assert nearest(found, 0, "left") == 4
    assert nearest(found, 0, "down") == 2
    assert nearest(found, 0, "up") == 3
    assert nearest(found, 2, "down") is None
    found = spots((10, 10), (2, 3), (30, 3))
    assert [next_one(found, place, 1) for place in (1, 2, 0)] == [2, 0, 1]
    assert next_one(found, 1, -1) == 0
    found = spots((10, 10), (20, 10))
    assert [at_cell(found, x, 10) for x in (8, 9, 10, 14, 17, 18, 20, 27, 28)] == [None, 0, 0, 0, 0, None, 1, 1, None]
    assert at_cell(found, 10, 9) is None


@pytest.mark.process
def test_nothing_heavy_is_imported_before_something_is_drawn() -> None:
    heavy = "{'numpy', 'networkx', 'resvg_py', 'kuzu'}"
    code = f"import sys, tui.drawing.view, tui.charts; sys.exit(len({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


@pytest.mark.process
def test_no_layout_needs_scipy() -> None:
    code = """
import sys
sys.modules["scipy"] = None
from tui.drawing.force import force_positions
from tui.drawing.force import layered_positions
pairs = [(at, (at * 7 + 1) % 40) for at in range(40)]
force_positions(40, pairs)
layered_positions(40, pairs, 80, 22)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
