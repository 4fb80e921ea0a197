"""What an answer has to draw: the nodes, relationships and paths in its rows, wherever they stand, as a Subgraph.

Invariants: a node is drawn once however often it comes; a relationship is drawn where both its ends came back, and else
counted as left out. Words of a hidden turn are not drawn.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from graph.walk.subgraphs import Edge, Node, Ref, Subgraph
from tui.queries.cells import TIMES, TITLES, is_node, is_path, is_relationship, title_of

MOST_NODES = 400  # that are looked at: a drawing of more is none
MOST_EDGES = 2_000
MOST_VALUES = 200_000  # of rows, lists and structures that are looked through
INNER = ("_id", "_label", "_src", "_dst")
LONGEST_TITLE = 120
HIDDEN = "(hidden)"


def ref_of(value: Any) -> Ref | None:
    """Which node a value of an answer is; None if it is none."""
    if not is_node(value) or value.get("id") is None:
        return None
    return Ref(str(value["_label"]), str(value["id"]))


def first_ref(value: Any) -> Ref | None:
    """The node that a value is, or the first that it holds."""
    return next((ref for each in _things(value, [MOST_VALUES]) if (ref := ref_of(each)) is not None), None)


def subgraph_of(rows: Sequence[Sequence[Any]]) -> Subgraph:
    """All that can be drawn of these rows; the nodes with the most relationships first."""
    nodes: dict[str, Node] = {}
    joined: dict[str, tuple[str, str, str]] = {}
    left_nodes: set[str] = set()
    budget = [MOST_VALUES]
    for row in rows:
        for value in row:
            for each in _things(value, budget):
                key = str(each.get("_id"))
                if is_relationship(each):
                    if len(joined) < MOST_EDGES:
                        joined[key] = (str(each["_src"]), str(each["_dst"]), str(each.get("_label", "")))
                elif key not in nodes and (ref := ref_of(each)) is not None:
                    if len(nodes) < MOST_NODES:
                        nodes[key] = node_of(ref, each)
                    else:
                        left_nodes.add(key)
    edges = [
        Edge(nodes[start].ref, nodes[end].ref, name)
        for start, end, name in joined.values()
        if start in nodes and end in nodes
    ]
    count = Counter(ref for edge in edges for ref in {edge.start, edge.end})
    ranked = sorted(nodes.values(), key=lambda node: -count[node.ref])
    return Subgraph(tuple(ranked), tuple(edges), len(left_nodes), len(joined) - len(edges))


def node_of(ref: Ref, value: Mapping[str, Any]) -> Node:
    """A node of an answer as it is drawn and walked from."""
    hidden = bool(value.get("hidden"))
    deleted = bool(value.get("deleted"))
    mark = "deleted" if deleted else "hidden" if hidden else _standing(value)
    kept = {
        name: each
        for name, each in value.items()
        if name not in INNER and each is not None and not (hidden and name in TITLES and name != "id")
    }
    said = HIDDEN if hidden else title_of(value, LONGEST_TITLE)
    return Node(ref, said or ref.id, _time_of(value), mark, _what_if(value), kept)


def _standing(value: Mapping[str, Any]) -> str:
    if value.get("withheld"):
        return "kept out"
    if value.get("live") is False:
        return "on another branch"
    match value.get("status"):
        case "candidate":
            return "under review"
        case "superseded":
            return "superseded"
        case "invalid":
            return "retired"
    return ""


def _what_if(value: Mapping[str, Any]) -> str | None:
    world = value.get("world")
    return str(world) if world not in (None, "main") else None


def _time_of(value: Mapping[str, Any]) -> datetime | None:
    at = next((value[name] for name in TIMES if isinstance(value.get(name), int)), None)
    if at is None or not 0 < at < 100_000_000_000_000:
        return None
    return datetime.fromtimestamp(at / 1000, UTC)


def _things(value: Any, budget: list[int]) -> Iterator[Mapping[str, Any]]:
    """The nodes and relationships in a value, in their order, as long as the budget lasts."""
    budget[0] -= 1
    if budget[0] < 0:
        return
    if is_path(value):
        for each in (*(value["_nodes"] or ()), *(value["_rels"] or ())):
            yield from _things(each, budget)
    elif is_node(value) or is_relationship(value):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _things(each, budget)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _things(each, budget)
