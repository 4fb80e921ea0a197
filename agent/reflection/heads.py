"""Heads: what a clause is, by weights over what the embedder makes of it and over its words.

Each is a logistic regression, the one with vectors of clauses with a hidden layer beside it, fitted by `python -m
training.fit` to text that several people wrote and labelled (training/). Weights belong to one embedder; with another
one, or none, those over words alone are taken, which are less sure. What they say is a probability, 0–1; what is
done with it is for the caller to say.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent.language.clauses import Clause, buckets, hashed, marks, pairs_of
from graph.events import ObservationKind
from graph.values import Vector

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).with_name("heads.npz")
MEANING, WORDS = 3.0, 4.0  # what vectors and words are multiplied by, so that one penalty fits both
KINDS = tuple(ObservationKind)
ALONE = "words"  # the weights for whoever has no embedder that they were fitted to
SURER = 1.1  # what is added where words alone decide, which are never as sure: the same bar is then right for both
CHANGED = 0.75  # of a pair, from which none of 100 additions, nor of 120 conversations, was taken for a change
IN_QUESTION = 0.62  # and from which at most 3 of them were
MARKED = re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class Weights:
    """One head: for each of its outputs weights over values, over buckets of words, and what it begins with."""

    dense: "NDArray[np.float32]"  # float32[outputs, values]
    words: "NDArray[np.float32]"  # float32[outputs, BUCKETS]
    bias: "NDArray[np.float32]"  # float32[outputs]
    hidden: "NDArray[np.float32] | None" = None  # float32[units, values and what each begins with], if it has units
    told: "NDArray[np.float32] | None" = None  # float32[outputs, units]

    def of(self, values: "NDArray[np.float32]", found: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        """The outputs for each row of values with its buckets, before they are made probabilities."""
        import numpy as np

        said = [self.words[:, list(each)].sum(axis=1) * (WORDS / max(len(each), 1) ** 0.5) for each in found]
        made: NDArray[np.float32] = values @ self.dense.T + np.array(said, np.float32) + self.bias
        if self.hidden is None or self.told is None:
            return made
        units = np.maximum(values @ self.hidden[:, :-1].T + self.hidden[:, -1], 0)
        return np.asarray(made + units @ self.told.T, np.float32)


@lru_cache(maxsize=1)
def _file() -> "dict[str, NDArray[np.float32]]":
    import numpy as np

    with np.load(FILE) as kept:
        return {name: kept[name].astype(np.float32) for name in kept.files}


@lru_cache(maxsize=16)
def weights(head: str, embedder: str) -> Weights:
    """The weights of a head for an embedder, by its name."""
    kept = _file()
    plain = (kept[f"{head}/{embedder}/{part}"] for part in ("dense", "words", "bias"))
    return Weights(*plain, *(kept.get(f"{head}/{embedder}/{part}") for part in ("hidden", "told")))


def fitted_to(vectors: Sequence[Vector | None]) -> str:
    """The embedder that made all of the vectors, where weights were fitted to it; else ALONE."""
    names = {vector.model.partition("@")[0] if vector is not None else ALONE for vector in vectors}
    name = names.pop() if len(names) == 1 else ALONE
    return name if f"lasting/{name}/bias" in _file() else ALONE


def lasting(
    text: str, found: Sequence[Clause], vectors: Sequence[tuple[Vector | None, Vector | None, Vector | None]]
) -> list[float]:
    """How likely each clause of a message tells something that lasts; `vectors` are of its `contents`."""
    import numpy as np

    if not found:
        return []
    name = fitted_to([each for row in vectors for each in row])
    seen = np.array([marks(text, clause) for clause in found], np.float32)
    if name != ALONE:
        meaning = [np.concatenate([each.values for each in row if each is not None]) for row in vectors]
        seen = np.concatenate([MEANING * np.array(meaning, np.float32), seen], axis=1)
    outputs = weights("lasting", name).of(seen, [buckets(text, clause) for clause in found])
    return [float(each) for each in _logistic(outputs[:, 0] + (SURER if name == ALONE else 0))]


def by_words(text: str, found: Sequence[Clause]) -> list[float]:
    """The same by words alone: what is surely nothing need not be embedded."""
    return lasting(text, found, [(None, None, None)] * len(found))


def kind_and_weight(text: str, vector: Vector | None) -> tuple[ObservationKind, int]:
    """The kind of what is told, and how much it matters: 1 notable, 2 significant, 3 pivotal."""
    name = fitted_to([vector])
    kinds, matters = (
        weights(head, name).of(_alone(vector, name), [hashed(pairs_of(text))])[0] for head in ("kind", "significance")
    )
    return KINDS[int(kinds.argmax())], 1 + int(matters.argmax())


def changes(later: str, vector: Vector | None, known: Sequence[tuple[str, Vector | None]]) -> list[float]:
    """How likely what is said later ends or changes each of what is known; 0 without vectors.

    Two things speak for it: words that tell of a change or an end, and nearness in meaning. Neither is enough.
    """
    import numpy as np

    name = fitted_to([vector, *(each for _, each in known)])
    if name == ALONE or vector is None or not known:
        return [0.0] * len(known)
    cue = float(weights("cue", name).of(_alone(vector, name), [hashed(pairs_of(later))])[0, 0])
    rows = [pair(later, text, float(vector.values @ of.values), cue) for text, of in known if of is not None]
    none: list[list[int]] = [[]] * len(rows)
    return [float(each) for each in _logistic(weights("pair", name).of(np.array(rows, np.float32), none)[:, 0])]


def pair(later: str, known: str, cosine: float, cue: float) -> list[float]:
    """What is seen of a pair: nearness, the cue of change, both together, and words that they share."""
    shared = len(_long(later) & _long(known))
    return [cosine, cue, cue * cosine, min(shared, 3) / 3]


def _long(text: str) -> set[str]:
    return set(MARKED.findall(text.casefold()))


def _alone(vector: Vector | None, name: str) -> "NDArray[np.float32]":
    import numpy as np

    if vector is None or name == ALONE:
        return np.zeros((1, 0), np.float32)
    return (MEANING * vector.values[None, :]).astype(np.float32)


def _logistic(values: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    return np.asarray(1 / (1 + np.exp(-values)), np.float32)
