"""Whether the replies of a voice grow short and generic over a long story: its last ones against its first.

Three plain measures: the median length in words, how many pairs of words are different ones, and how many runs of four
words it said before.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

COMPARED = 20  # replies at either end
SHORTER, POORER, OFTENER = 0.6, 0.75, 2.0  # against the first: from there on it is told
LEAST_REPEATED = 0.05
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Measures:
    """Of some replies: the median of their words, the share of pairs of words that differ, that of runs said before."""

    words: float
    distinct: float
    repeated: float


@dataclass(frozen=True, slots=True)
class Decay:
    """The first and the last replies of a voice, and what has become worse, in words; empty where nothing has."""

    replies: int
    first: Measures
    last: Measures
    worse: tuple[str, ...]


def measured(replies: Sequence[str], before: Sequence[str] = ()) -> Measures:
    """The measures of some replies; what was said `before` counts for what is said again."""
    said = [[word.casefold() for word in WORD.findall(text)] for text in replies]
    pairs = [pair for words in said for pair in pairwise(words)]
    known = {run for text in before for run in _runs([word.casefold() for word in WORD.findall(text)])}
    runs = again = 0
    for words in said:
        own = _runs(words)
        runs += len(own)
        again += sum(run in known for run in own)
        known |= set(own)
    return Measures(
        statistics.median(map(len, said)) if said else 0.0,
        len(set(pairs)) / len(pairs) if pairs else 1.0,
        again / runs if runs else 0.0,
    )


def decay(replies: Sequence[str]) -> Decay | None:
    """How the last replies are against the first; None while there are not twice as many as are compared."""
    if len(replies) < 2 * COMPARED:
        return None
    first = measured(replies[:COMPARED])
    last = measured(replies[-COMPARED:], replies[:-COMPARED])
    worse = []
    if last.words < first.words * SHORTER:
        worse.append(f"shorter: {last.words:.0f} words instead of {first.words:.0f}")
    if last.distinct < first.distinct * POORER:
        worse.append(f"plainer: {last.distinct:.0%} different pairs of words instead of {first.distinct:.0%}")
    if last.repeated > max(first.repeated * OFTENER, LEAST_REPEATED):
        worse.append(f"{last.repeated:.0%} of it was said before")
    return Decay(len(replies), first, last, tuple(worse))


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + 4]) for at in range(len(words) - 3)]
