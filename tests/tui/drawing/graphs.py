"""Graphs to draw: of every shape, and with labels of every script."""

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from graph.values import Edge, Node, Ref, Subgraph

TABLES = ("Entity", "Observation", "Turn", "Session", "Document", "Stranger")
TITLES = ("Anna moved to Oslo in March", "tide pools", "I prefer trains to planes", "Lena", "Sourdough needs water")
WEIRD = (
    *(
        "東京タワーの写真と旅行の思い出",
        "👩‍👩‍👧‍👦 family 👍🏽 emoji",
        "שלום עולם מה שלומך",
        "e\u0301le\u0300ve a\u0308o\u0308",
    ),
    *("[bold red]markup[/] [link=x]", "\x1b[31mred\x07 bell\x00", "a\nb\tc", "x" * 100_000, "", " \u200b ", "مرحبا"),
    *("\u202eevil", "한국어 라벨", "\u0301\u0302", "\ud800", "&<>\"'\ufffe"),
)


def graph(
    count: int,
    pairs: Iterable[tuple[int, int]],
    *,
    names: Sequence[str] = ("MENTIONS",),
    titles: Sequence[str] = TITLES,
) -> Subgraph:
    """Nodes 0 … count - 1 with these titles in turn, and edges with these names in turn."""
    refs = [Ref(TABLES[place % len(TABLES)], str(place)) for place in range(count)]
    nodes = tuple(Node(ref, titles[place % len(titles)]) for place, ref in enumerate(refs))
    edges = (Edge(refs[start], refs[end], names[at % len(names)]) for at, (start, end) in enumerate(pairs))
    return Subgraph(nodes, tuple(edges))


def scattered(count: int, edges: int) -> list[tuple[int, int]]:
    """Pairs without a pattern, the same ones each time."""
    numbers = [(7919 * at + 104_729 * (at // count)) % (count * count) for at in range(1, edges + 1)]
    return [(number // count, number % count) for number in numbers]


SHAPES = {
    "one": graph(1, []),
    "both ways": graph(2, [(0, 1), (1, 0)], names=("KNOWS", "LIKES")),
    "to itself": graph(2, [(0, 0), (0, 1)]),
    "parallel": graph(3, [(0, 1), (0, 1), (0, 1), (1, 2)], names=("KNOWS", "WORKS_WITH", "LIKES", "SAID_BY")),
    "star": graph(40, [(0, end) for end in range(1, 40)]),
    "chain": graph(40, [(at, at + 1) for at in range(39)]),
    "circle": graph(12, [(at, (at + 1) % 12) for at in range(12)]),
    "tree": graph(40, [((at - 1) // 3, at) for at in range(1, 40)]),
    "dense": graph(40, scattered(40, 100)),
    "pieces": graph(40, [(0, end) for end in range(1, 8)] + [(8, 9), (9, 10), (10, 8), (11, 12)]),
    "alone": graph(40, []),
    "scripts": graph(16, [(0, end) for end in range(1, 16)], titles=WEIRD),
}


@st.composite
def graphs(draw: st.DrawFn, most: int = 45) -> Subgraph:
    """Any graph of up to so many nodes."""
    count = draw(st.integers(0, most))
    places = st.integers(0, max(0, count - 1))
    pairs = draw(st.lists(st.tuples(places, places), max_size=120)) if count else []
    titles = draw(st.lists(st.one_of(st.text(max_size=60), st.sampled_from(WEIRD + TITLES)), min_size=1, max_size=8))
    return graph(
        count, pairs, names=draw(st.sampled_from((("MENTIONS",), ("KNOWS", "SAID_BY", "名前")))), titles=titles
    )
