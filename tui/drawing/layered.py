"""Where the nodes stand when arrows lead onwards: in columns from left to right, or down the page where these are many.

The arrows that close a circle are left out of account; each node then stands one step after the last that leads to it,
and each column is put in the order in which its neighbours stand (barycentres, swept forth and back), so that few
lines cross.
"""

from collections.abc import Sequence

from tui.drawing.force import Pair, Position

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
