"""Themes of the memory: turns that belong together in its graph, by replies, by what was recalled, by meaning, and by
the memories, names and relationships that they share (ties.py).

Bounded: at most 2,000 turns are looked at, half of them the newest, pinned and recalled ones first, the others evenly
over everything before, so that old matters have their say. Deterministic: the same memory gives the same communities.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph.recall.columns import Columns
from graph.recall.table import NONE
from graph.recall.ties import NO_TIES, Ties
from graph.whole_words import STOP_WORDS

if TYPE_CHECKING:  # numpy and networkx take longer to import than the first paint may
    import networkx
    import numpy as np
    from numpy.typing import NDArray

MOST_TURNS = 2_000
NEIGHBOURS = 6  # nearest turns that each is connected with
NEAR = 0.3  # the least similarity that connects; unrelated English is mostly below
REPLY, RECALL = 0.3, 0.5  # what an edge weighs, where similarity weighs its own value
MOST_PEOPLE = 5
SMALLEST = 3  # turns; two that belong together are an exchange, not a theme
WORDS = 6
SEED = 7
VOCABULARY = 4_000
READ = 2_000  # characters of each text

Pair = tuple[int, int]

_WORD = re.compile(r"[^\W\d_]{3,}")
_STOP_WORDS = frozenset(STOP_WORDS.split()) | {
    "yeah",
    "really",
    "just",
    "like",
    "good",
    "great",
    "thanks",
    "know",
    "think",
}


@dataclass(frozen=True, slots=True)
class CommunityMembers:
    """A community: all its places, the most central first, and the words that set it apart."""

    places: tuple[int, ...]
    words: tuple[str, ...]
    people: tuple[str, ...] = ()  # who is named in it, the most often named first


def pick(
    columns: Columns, may: "NDArray[np.bool_]", pinned: "NDArray[np.bool_]", recalled: Sequence[int]
) -> "NDArray[np.intp]":
    """The rows to look at, in order; `recalled` are rows that an edge of recall ends at."""
    import numpy as np

    rows = np.flatnonzero(may)
    if len(rows) <= MOST_TURNS:
        return rows
    connected = np.zeros(columns.size, np.bool_)
    connected[[row for row in recalled if row != NONE]] = True
    connected |= pinned
    order = np.lexsort((rows, columns["at"][rows], connected[rows]))
    first = rows[order[-MOST_TURNS // 2 :]]
    rest = np.setdiff1d(rows, first)
    spread = rest[np.linspace(0, len(rest) - 1, MOST_TURNS - len(first)).astype(np.intp)]
    return np.union1d(first, spread)


def group(
    texts: Sequence[str],
    vectors: "NDArray[np.float32] | None",
    replies: Iterable[Pair],
    recalled: Iterable[Pair],
    ties: Ties = NO_TIES,
) -> list[CommunityMembers]:
    """The communities among some turns, given by their texts, the largest first; pairs are of places in `texts`.

    Without vectors, likeness is that of the words.
    """
    import networkx

    words = [_words(text) for text in texts]
    graph = _connect(_by_words(words) if vectors is None else vectors, replies, recalled, ties)
    found = networkx.community.louvain_communities(graph, weight="weight", seed=SEED) if texts else []
    frequency = Counter(word for each in words for word in set(each))
    groups = [
        CommunityMembers(
            tuple(_central(graph, turns, nodes, words)),
            _apart([words[place] for place in turns], frequency, len(texts)),
            _named(graph, nodes, ties),
        )
        for nodes in found
        if len(turns := sorted(place for place in nodes if place < len(texts))) >= SMALLEST
    ]
    return sorted(groups, key=lambda each: (-len(each.places), min(each.places)))


def _connect(
    features: "NDArray[np.float32]", replies: Iterable[Pair], recalled: Iterable[Pair], ties: Ties
) -> "networkx.Graph":
    """The graph to cut into communities: turns, then what ties them."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(len(features)))
    weighed = [*((*pair, REPLY) for pair in replies), *((*pair, RECALL) for pair in recalled), *_nearest(features)]
    weighed += ties.edges
    for one, other, weight in weighed:
        if one != other:
            before = graph.get_edge_data(one, other, {"weight": 0.0})["weight"]
            graph.add_edge(one, other, weight=before + weight)
    return graph


def _nearest(features: "NDArray[np.float32]") -> Iterator[tuple[int, int, float]]:
    """Pairs of places with their likeness, the few nearest of each that are near enough."""
    import numpy as np

    count = min(NEIGHBOURS, len(features) - 1)
    if count < 1:
        return
    likeness = features @ features.T
    np.fill_diagonal(likeness, -1)
    nearest = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
    pairs = {(min(place, other), max(place, other)) for place, row in enumerate(nearest.tolist()) for other in row}
    for one, other in sorted(pairs):
        if likeness[one, other] >= NEAR:
            yield one, other, float(likeness[one, other])


def _named(graph: "networkx.Graph", nodes: Collection[int], ties: Ties) -> tuple[str, ...]:
    """The people among the nodes of a community, by how many of it name them."""
    people = {place: sum(other in nodes for other in graph[place]) for place in nodes if place in ties.people}
    ranked = sorted(people, key=lambda place: (-people[place], ties.people[place]))
    return tuple(dict.fromkeys(ties.people[place] for place in ranked))[:MOST_PEOPLE]


def _central(
    graph: "networkx.Graph", places: Sequence[int], inside: Collection[int], words: Sequence[Sequence[str]]
) -> list[int]:
    """The turns by how strongly each is tied to the others of its community, and by how much it says."""
    ties = {
        place: math.log1p(len(set(words[place])))
        * sum(edge["weight"] for other, edge in graph[place].items() if other in inside)
        for place in places
    }
    return sorted(places, key=lambda place: (-ties[place], place))


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text[:READ].lower()) if word not in _STOP_WORDS]


def _apart(texts: Sequence[Sequence[str]], frequency: "Counter[str]", turns: int) -> tuple[str, ...]:
    """The words that more of these texts have than their share of all."""
    here = Counter(word for text in texts for word in set(text))
    share = len(texts) / turns

    def weight(word: str) -> float:
        return here[word] * math.log((here[word] + 0.5) / (frequency[word] * share + 0.5))

    ranked = sorted((word for word in here if here[word] > 1), key=lambda word: (-weight(word), word))
    return tuple(ranked[:WORDS])


def _by_words(texts: Sequence[Sequence[str]]) -> "NDArray[np.float32]":
    """float32[texts, words]: words weighed by how rare they are, each row of length 1 or 0."""
    import numpy as np

    frequency = Counter(word for text in texts for word in set(text))
    usual = [word for word, count in frequency.most_common(VOCABULARY) if 1 < count <= max(3, len(texts) // 2)]
    column = {word: place for place, word in enumerate(usual)}
    values: NDArray[Any] = np.zeros((len(texts), max(1, len(usual))), np.float32)
    for place, text in enumerate(texts):
        for word in set(text):
            if word in column:
                values[place, column[word]] = math.log(len(texts) / frequency[word]) + 1
    length = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.maximum(length, 1e-9), np.float32)
