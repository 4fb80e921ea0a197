"""A graph laid out on an area of cells: where each node, label and line is. The same input gives the same picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from graph.values import Node, Ref, Subgraph
from tui.drawing.cells import Box, Cell, DrawnLine, Room, cell_len, cells_between, cut_to, label_of, way_between
from tui.drawing.settling import Seat, settle, swapped

LONGEST = 24  # cells: what is longer hides more lines than it tells
PER_CELL, WHOLE = 1.0, 6.0  # worth of a cell of a label, and of one that is not cut
PER_LINE_CELL, PER_HEAD = 1.5, 6.0  # cost of hiding a line or an arrow head


def placed_labels(
    labels: Sequence[str],
    seats: Sequence[Seat],
    lines: Sequence[tuple[int, int]],
    width: int,
    height: int,
    *,
    steady: float,
) -> list[tuple[str, int]]:
    """The text of each label as it is shown and the cell of the row at which it begins.

    `lines`: the places in `seats` that lines join; `steady`: what it is worth, in cells, that a
    label stays on the side of its seat. Each label gets at least what `settle` kept for it.
    """
    taken, drawn, heads = Room(width, height), Room(width, height), Room(width, height)
    for seat in seats:
        taken.take(seat.y, *seat.stretch(seat.kept))
    for start, end in lines:
        way = cells_between(_cell(seats[start]), _cell(seats[end]))
        for x, y in way:
            drawn.take(y, x, x + 1)
        for x, y in (way[1], way[-2]) if len(way) > 2 else ():
            heads.take(y, x, x + 1)
    found = []
    for label, seat in zip(labels, seats, strict=True):
        taken.give(seat.y, *seat.stretch(seat.kept))
        text, right = _best(label, seat, steady, taken, drawn, heads)
        taken.take(seat.y, *seat.stretch(cell_len(text), right=right))
        found.append((text, seat.x + 2 if right else seat.x - 1 - cell_len(text)))
    return found


def _best(label: str, seat: Seat, steady: float, taken: Room, drawn: Room, heads: Room) -> tuple[str, bool]:
    whole = min(cell_len(label), LONGEST)
    best, text, side = float("-inf"), "", seat.right
    for right in (seat.right, not seat.right):
        least = min(seat.kept, whole) if right == seat.right else min(6, whole)
        for cells in range(least, whole + 1):
            start, end = seat.stretch(cells, right=right)
            if not taken.free(seat.y, start, end):
                break
            shown = cut_to(label, cells)
            worth = cell_len(shown) * PER_CELL + (WHOLE if shown == label else 0) + steady * (right == seat.right)
            first = seat.x + 1 if right else start + 1
            hidden = drawn.count(seat.y, first, first + cells + 1)
            worth -= hidden * PER_LINE_CELL + heads.count(seat.y, first, first + cells + 1) * PER_HEAD
            if worth > best:
                best, text, side = worth, shown, right
    return text, side


def _cell(seat: Seat) -> Cell:
    return seat.x, seat.y


LayoutKind = Literal["force", "layered", "list"]
FEW = 40  # nodes that are drawn closer together: all of them on 76 × 17
CELLS_A_NODE, CELLS_OF_FEW = 44, 32  # below that labels become beginnings
MOST_LISTED = 1000
MOST_NODES = 300  # on any area: laying out more takes seconds
LARGER = 1.25  # times as wide and as high: where all nodes are to have room
NARROWEST, LOWEST = 30, 6  # cells; less is a list of names
NOTHING = Subgraph((), ())
STEADY = {"force": 1.0, "layered": 12.0}  # as `placed_labels` has it: columns of labels are read down
LOOP = "↺ "


@dataclass(frozen=True, slots=True)
class Spot:
    """A node on the area: the cell of its sign, and its label with the cell at which that begins, on the same row."""

    node: Node
    x: int
    y: int
    text: str
    text_x: int

    @property
    def text_end(self) -> int:
        """The cell after the label's last."""
        return self.text_x + cell_len(self.text)

    @property
    def box(self) -> Box:
        """Sign and label as lines see them."""
        return Box(self.x, self.y, min(self.x, self.text_x), max(self.x + 1, self.text_end))


@dataclass(frozen=True, slots=True)
class JoinedEdges:
    """All edges between two nodes, by their place in `spots`: the names of those that lead onwards, and back."""

    start: int
    end: int
    onward: tuple[str, ...]
    back: tuple[str, ...]
    way: DrawnLine


@dataclass(frozen=True, slots=True)
class _Joint:
    start: int
    end: int
    onward: tuple[str, ...]
    back: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """What is drawn, in cells of an area; nodes, lines and edges that are not are counted."""

    kind: LayoutKind
    width: int
    height: int
    spots: tuple[Spot, ...] = ()
    lines: tuple[JoinedEdges, ...] = ()
    loops: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # names of the edges from a node to itself
    more_nodes: int = 0
    more_edges: int = 0
    of: Subgraph = NOTHING  # what was laid out, and the node it is about
    focus: Ref | None = None

    @property
    def crowded_out(self) -> int:
        """Nodes that are not drawn for want of room alone."""
        return self.more_nodes - self.of.more_nodes

    @property
    def only_name(self) -> str:
        """The name that every line has, where there are several: it is told once; else empty."""
        names = {name for line in self.lines for name in (*line.onward, *line.back)}
        return names.pop() if len(names) == 1 and len(self.lines) > 1 else ""


def layout(subgraph: Subgraph, *, kind: LayoutKind, width: int, height: int, focus: Ref | None = None) -> Layout:
    """Lay out as much as is readable on `width` × `height` cells, `focus` and the first nodes before others."""
    if kind == "list" or width < NARROWEST or height < LOWEST:
        return _listed(subgraph, width, focus)
    area = width * height
    most = max(1, area // CELLS_A_NODE, min(FEW, area // CELLS_OF_FEW))
    nodes = _unique(subgraph.nodes, focus)[: min(MOST_NODES, most)]
    joints, loops = _joined(nodes, subgraph)
    pairs = [(joint.start, joint.end) for joint in joints]
    in_columns = False
    if kind == "layered":
        from tui.drawing.force import layered_positions

        arrows = [pair for joint in joints for pair in _directions(joint)]
        wanted, in_columns = layered_positions(len(nodes), arrows, width, height)
    else:
        from tui.drawing.force import force_positions

        wanted = force_positions(len(nodes), pairs, ratio=width / (2 * height))
    labels = [(LOOP if place in loops else "") + label_of(node.title) for place, node in enumerate(nodes)]
    cells = [cell_len(label) for label in labels]
    seats = settle(wanted, cells, width, height, rightward=kind == "layered", stacked=in_columns)
    nodes = nodes[: len(seats)]
    joints, loops = _joined(nodes, subgraph)
    ends = [(joint.start, joint.end) for joint in joints]
    if kind == "force":
        seats = swapped(seats, ends, cells)
    texts = placed_labels(labels[: len(seats)], seats, ends, width, height, steady=STEADY[kind])
    spots = tuple(
        Spot(node, seat.x, seat.y, text, text_x) for node, seat, (text, text_x) in zip(nodes, seats, texts, strict=True)
    )
    return Layout(
        kind=kind,
        width=width,
        height=height,
        spots=spots,
        lines=_routed(joints, spots, width, height, level=in_columns),
        loops=loops,
        more_nodes=subgraph.more_nodes + len(_unique(subgraph.nodes, None)) - len(spots),
        more_edges=subgraph.more_edges + _left_out(subgraph, nodes),
        of=subgraph,
        focus=focus,
    )


def roomy(made: Layout) -> Layout:
    """The same laid out on so large an area that all its nodes are on it, or as many as are ever laid out."""
    if made.kind == "list":
        return made
    while made.crowded_out and len(made.spots) < MOST_NODES:
        width, height = round(made.width * LARGER), round(made.height * LARGER)
        made = layout(made.of, kind=made.kind, width=width, height=height, focus=made.focus)
    return made


def _listed(subgraph: Subgraph, width: int, focus: Ref | None) -> Layout:
    """A row for each node: what a narrow screen shows."""
    every = _unique(subgraph.nodes, None)
    nodes = every[:MOST_LISTED]
    _, loops = _joined(nodes, subgraph)
    spots = tuple(
        Spot(node, 0, row, cut_to(label_of(node.title), max(1, width - 2)), 2) for row, node in enumerate(nodes)
    )
    more = subgraph.more_nodes + len(every) - len(nodes)
    return Layout("list", width, len(spots), spots, (), loops, more, subgraph.more_edges, subgraph, focus)


def _unique(nodes: Sequence[Node], focus: Ref | None) -> list[Node]:
    """Each node once, the focus first."""
    found = {node.ref: node for node in reversed(nodes)}
    order = dict.fromkeys(([focus] if focus in found else []) + [node.ref for node in nodes])
    return [found[ref] for ref in order if ref is not None]


def _joined(nodes: Sequence[Node], subgraph: Subgraph) -> tuple[tuple[_Joint, ...], dict[int, tuple[str, ...]]]:
    """One line for all edges between two nodes, in the order of the nodes, and the edges from a node to itself."""
    places = {node.ref: place for place, node in enumerate(nodes)}
    between: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
    loops: dict[int, list[str]] = {}
    for edge in subgraph.edges:
        start, end = places.get(edge.start), places.get(edge.end)
        if start is None or end is None:
            continue
        if start == end:
            names = loops.setdefault(start, [])
        else:
            names = between.setdefault((min(start, end), max(start, end)), ([], []))[start > end]
        if edge.name not in names:
            names.append(edge.name)
    joints = (_Joint(*ends, tuple(onward), tuple(back)) for ends, (onward, back) in sorted(between.items()))
    return tuple(joints), {place: tuple(names) for place, names in loops.items()}


def _directions(joint: _Joint) -> list[tuple[int, int]]:
    onward = [(joint.start, joint.end)] if joint.onward else []
    return onward + ([(joint.end, joint.start)] if joint.back else [])


def _routed(
    joints: Sequence[_Joint], spots: Sequence[Spot], width: int, height: int, *, level: bool
) -> tuple[JoinedEdges, ...]:
    """The lines with their ways; no arrow head covers a sign or a label. `level`: rather from the sides."""
    covered = Room(width, height)
    for spot in spots:
        covered.take(spot.y, spot.box.start, spot.box.end)
    lines: list[JoinedEdges] = []
    heads: dict[Cell, str] = {}
    for joint in joints:
        ends = spots[joint.start].box, spots[joint.end].box
        way = way_between(
            *ends, onward=bool(joint.onward), back=bool(joint.back), level=level, covered=covered, heads=heads
        )
        lines.append(JoinedEdges(joint.start, joint.end, joint.onward, joint.back, way))
    return tuple(lines)


def _left_out(subgraph: Subgraph, nodes: Sequence[Node]) -> int:
    drawn = {node.ref for node in nodes}
    return sum(edge.start not in drawn or edge.end not in drawn for edge in subgraph.edges)
