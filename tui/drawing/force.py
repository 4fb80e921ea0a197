"""Where nodes want to stand, from 0 to 1: where joined ones pull and all others push, or in layers along the arrows.

Each connected piece is laid out by stress majorization (Gansner, Koren and North 2004: distances on paper as near as
can be to the distances in the graph), which untangles from any start, then loosened by networkx's spring layout, which
spreads the leaves of a hub; turned so that it is widest from left to right, and given a part of the area by its size.

The arrows that close a circle are left out of account; each node then stands one step after the last that leads to it,
and each column is put in the order in which its neighbours stand (barycentres, swept forth and back), so that few
lines cross.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]  # n × 2


# n × 2

Pair = tuple[int, int]
Position = tuple[float, float]
SEED = 7
ROUNDS = 60  # of the majorization; 40 nodes stand still after about 40
EVEN = 0.45  # how far places are evened out to ranks: none leaves hubs crowded, all loses the shape


def force_positions(count: int, pairs: Sequence[Pair], *, ratio: float = 1.8) -> list[Position]:
    """Positions (x, y) from 0 to 1 of nodes 0 … count - 1; `ratio` is how much wider than high the area is."""
    import networkx as nx

    whole = nx.Graph()
    whole.add_nodes_from(range(count))
    whole.add_edges_from((start, end) for start, end in pairs if start != end)
    pieces = sorted(([*sorted(piece)] for piece in nx.connected_components(whole)), key=lambda p: (-len(p), p[0]))
    places: list[Position] = [(0.5, 0.5)] * count
    for piece, (left, top, width, height) in zip(pieces, _areas([len(p) for p in pieces], ratio), strict=True):
        for node, (x, y) in zip(piece, _piece(whole.subgraph(piece), piece), strict=True):
            places[node] = (left + x * width, top + y * height)
    return places


def _piece(graph: Any, nodes: Sequence[int]) -> Iterable[Position]:
    import networkx as nx
    import numpy as np

    if len(nodes) == 1:
        return [(0.5, 0.5)]
    apart = np.ones((len(nodes), len(nodes)))
    place_of = {node: place for place, node in enumerate(nodes)}
    for node, lengths in nx.all_pairs_shortest_path_length(graph):
        for other, length in lengths.items():
            apart[place_of[node], place_of[other]] = length
    points = _majorized(apart)
    start = {node: points[place] for place, node in enumerate(nodes)}
    loose = nx.spring_layout(graph, pos=start, k=1.2 / len(nodes) ** 0.5, iterations=15, seed=SEED, method="force")
    points = _turned(np.array([loose[node] for node in nodes]))
    return [(round(float(x), 6), round(float(y), 6)) for x, y in _evened(points)]  # as far as all machines agree


def _majorized(apart: "Points") -> "Points":
    """Points whose distances are as near as can be to `apart` (n × n), the near ones first."""
    import numpy as np

    count = len(apart)
    points = np.random.default_rng(SEED).normal(size=(count, 2)) * 0.01 + _scaled_distances(apart)
    weights = (apart + np.eye(count)) ** -2.0
    np.fill_diagonal(weights, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / count)  # its pseudo-inverse but for a shift of all points
    for _ in range(ROUNDS):
        between = np.linalg.norm(points[:, None] - points[None], axis=2)
        np.fill_diagonal(between, 1)
        pull = -weights * apart / np.maximum(between, 1e-9)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        points = inverse @ (pull @ points)
    return points


def _scaled_distances(apart: "Points") -> "Points":
    """The two main axes of the distances (classical scaling): the start from which nothing has to cross over."""
    import numpy as np

    squares = apart**2.0
    np.fill_diagonal(squares, 0)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    axes = np.random.default_rng(SEED).normal(size=(len(apart), 2))
    for _ in range(ROUNDS):  # subspace iteration: only two of the axes are wanted
        axes, sizes = np.linalg.qr(-centred @ axes / 2)
    return np.asarray(axes * np.sqrt(np.abs(np.diag(sizes))))


def _turned(points: "Points") -> "Points":
    """The points about their middle, widest from left to right, the first node's side on the left."""
    import numpy as np

    points = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(points.T @ points)
    points = points @ axes[:, ::-1]
    return points * np.where(points[0] > 0, -1, 1)


def _evened(points: "Points") -> "Points":
    """From 0 to 1 along both axes, partly by rank: a crowd gets more of the area than it asks for."""
    import numpy as np

    spread = np.maximum(np.ptp(points, axis=0), 1e-9)
    shares = (points - points.min(axis=0)) / spread
    flat = np.ptp(points, axis=0) < 1e-6
    ranks = np.argsort(np.argsort(points, axis=0, kind="stable"), axis=0, kind="stable") / max(1, len(points) - 1)
    evened = (1 - EVEN) * shares + EVEN * ranks
    return np.where(flat, 0.5, evened)


def _areas(sizes: Sequence[int], ratio: float) -> list[tuple[float, float, float, float]]:
    """A rectangle (left, top, width, height) of the unit square for each, by its size; `sizes` from large to small."""
    found: list[tuple[float, float, float, float]] = []

    def share(sizes: Sequence[int], left: float, top: float, width: float, height: float) -> None:
        if len(sizes) == 1:
            found.append((left, top, width, height))
            return
        half, at = sizes[0], 1
        while at < len(sizes) - 1 and half + sizes[at] <= sum(sizes) / 2:
            half, at = half + sizes[at], at + 1
        part = half / sum(sizes)
        if width * ratio >= height:
            share(sizes[:at], left, top, width * part, height)
            share(sizes[at:], left + width * part, top, width * (1 - part), height)
        else:
            share(sizes[:at], left, top, width, height * part)
            share(sizes[at:], left, top + height * part, width, height * (1 - part))

    if sizes:
        share(sizes, 0.0, 0.0, 1.0, 1.0)
    return found


NARROWEST = 13  # cells of a column: a sign and the beginning of a label
SWEEPS = 4


def layered_positions(count: int, pairs: Sequence[Pair], width: int, height: int) -> tuple[list[Position], bool]:
    """Positions (x, y) from 0 to 1 of nodes 0 … count - 1 on an area of so many cells; whether they are in columns."""
    layers = _ordered(_layers(count, pairs), pairs)
    parts = [-(-len(layer) // height) for layer in layers]  # columns that each layer takes, by turns
    places: list[Position] = [(0.5, 0.5)] * count
    if sum(parts) * NARROWEST <= max(width, NARROWEST):
        for at, (layer, part) in enumerate(zip(layers, parts, strict=True)):
            first = sum(parts[:at])
            for rank, node in enumerate(layer):
                places[node] = ((first + rank % part + 0.1) / sum(parts), (rank + 0.5) / len(layer))
        return places, True
    strips = -(-len(layers) // max(1, height // 2))  # every other row: a line is seen between
    rows = -(-len(layers) // strips)
    for at, layer in enumerate(layers):
        strip, row = divmod(at, rows)
        for rank, node in enumerate(layer):
            places[node] = ((strip + (rank + 0.5) / len(layer)) / strips, (row + 0.5) / rows)
    return places, False


def _layers(count: int, pairs: Sequence[Pair]) -> list[list[int]]:
    """The nodes by the longest way that leads to them; those that nothing leads to stand right before what follows."""
    import networkx as nx

    whole = nx.DiGraph()
    whole.add_nodes_from(range(count))
    whole.add_edges_from((start, end) for start, end in pairs if start != end)
    onward = nx.DiGraph()
    onward.add_nodes_from(range(count))
    onward.add_edges_from(_without_circles(whole))
    depth = {node: at for at, nodes in enumerate(nx.topological_generations(onward)) for node in nodes}
    for node in range(count):
        if onward.in_degree(node) == 0 and onward.out_degree(node):
            depth[node] = min(depth[after] for after in onward.successors(node)) - 1
    alone = max(depth.values(), default=0) + 1
    depth.update((node, alone) for node in range(count) if onward.degree(node) == 0)
    layers: dict[int, list[int]] = {}
    for node in range(count):
        layers.setdefault(depth[node], []).append(node)
    return [layers[at] for at in sorted(layers)]


def _without_circles(graph: "object") -> list[Pair]:
    """The arrows that do not lead back to where the walk to them came from, and the others turned round."""
    import networkx as nx

    open_now: set[int] = set()
    found: list[Pair] = []
    for start, end, what in nx.dfs_labeled_edges(graph):
        if start == end:
            (open_now.add if what == "forward" else open_now.discard)(start)
        elif what == "forward":
            open_now.add(end)
            found.append((start, end))
        elif what == "nontree":
            found.append((end, start) if end in open_now else (start, end))
        else:
            open_now.discard(end)
    return found


def _ordered(layers: list[list[int]], pairs: Sequence[Pair]) -> list[list[int]]:
    """Each layer in the order of the mean place of its neighbours in the layers beside it."""
    beside: dict[int, set[int]] = {node: set() for layer in layers for node in layer}
    for start, end in pairs:
        beside[start].add(end)
        beside[end].add(start)
    place = {node: (rank + 0.5) / len(layer) for layer in layers for rank, node in enumerate(layer)}
    layer_of = {node: at for at, layer in enumerate(layers) for node in layer}
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        for at in range(len(layers)) if forth else range(len(layers) - 1, -1, -1):
            means = {}
            for node in layers[at]:
                before = (other for other in beside[node] if (layer_of[other] < at if forth else layer_of[other] > at))
                near = [place[other] for other in before]
                means[node] = sum(near) / len(near) if near else place[node]
            layers[at].sort(key=lambda node: (means[node], node))
            for rank, node in enumerate(layers[at]):
                place[node] = (rank + 0.5) / len(layers[at])
    return layers
