"""The passages of what was read, and which of them a message asks for: by its words, and by meaning where it is known.

All of it in memory alone. A passage that shares no telling word with the message, and is not near it in meaning, is not
asked for, so that most messages bring none.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agent.ingesting.sections import Section, paragraphs, pieces
from agent.quoting import content_words
from agent.relevance import NEAR, RELATED
from graph.values import Vector

TELLING = 0.45  # share of the message's words, by their weight, that a passage has to have
FUSED = 60  # of reciprocal ranks


@dataclass(slots=True)
class Passages:
    """What one reading is made of; `vectors` come later, or never."""

    texts: tuple[str, ...]
    words: tuple[frozenset[str], ...]
    vectors: list[Vector | None] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> "Passages":
        """The passages of a text, in its order."""
        texts = tuple(each.text for each in pieces([Section((), paragraphs(text.split("\n")))]))
        return cls(texts, tuple(frozenset(content_words(each)) for each in texts))


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a message asks for: of which source, its place there, and how well it fits."""

    source: str
    place: int
    score: float


def asked_for(
    sources: Iterable[tuple[str, Passages]], about: str, query: Vector | None, *, most: int
) -> list[FoundPassage]:
    """The passages that a message asks for, the best first; of one that asks for none in particular, none."""
    every = [(id, place, each) for id, each in sources for place in range(len(each.texts))]
    asked = set(content_words(about))
    frequency = Counter(word for _, place, each in every for word in each.words[place] & asked)
    weights = {word: math.log(1 + len(every) / (1 + frequency[word])) for word in asked}
    whole = sum(weights.values()) or 1.0
    by_words = {
        (id, place): sum(weights[word] for word in each.words[place] & asked) / whole for id, place, each in every
    }
    near = {(id, place): _cosine(each.vectors, place, query) for id, place, each in every} if query is not None else {}
    wanted = [key for key, telling in by_words.items() if _fits(telling, near.get(key, 0.0))]
    ranks = [_ranked(wanted, by_words), *([_ranked(wanted, near)] if near else [])]
    scored = {key: sum(1 / (FUSED + rank[key]) for rank in ranks) for key in wanted}
    best = sorted(wanted, key=lambda key: (-scored[key], key))[:most]
    return [FoundPassage(id, place, round(scored[id, place], 4)) for id, place in best]


def _fits(telling: float, near: float) -> bool:
    return telling >= TELLING or near >= (RELATED if telling else NEAR)


def _ranked(keys: Sequence[tuple[str, int]], by: dict[tuple[str, int], float]) -> dict[tuple[str, int], int]:
    return {key: rank for rank, key in enumerate(sorted(keys, key=lambda key: (-by[key], key)), start=1)}


def _cosine(vectors: Sequence[Vector | None], place: int, query: Vector) -> float:
    there = vectors[place] if place < len(vectors) else None
    if there is None or there.model != query.model:
        return 0.0
    return float((there.values @ query.values - query.zero) * query.slope)
