"""Where nodes stand when joined ones pull and all others push: positions from 0 to 1, the same each time.

Each connected piece is laid out by stress majorization (Gansner, Koren and North 2004: distances on paper as near as
can be to the distances in the graph), which untangles from any start, then loosened by networkx's spring layout, which
spreads the leaves of a hub; turned so that it is widest from left to right, and given a part of the area by its size.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]  # n × 2

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
