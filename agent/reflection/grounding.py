"""Whether a sentence is borne out by the words it is said to come from: names, numbers, negation, most other words."""

from collections.abc import Sequence
from dataclasses import dataclass

from .words import content, numbers


@dataclass(frozen=True, slots=True)
class Grounding:
    """`lacking`: what of the text is not in its sources. `overlap`: the share of its words that are, 0-1."""

    grounded: bool
    lacking: tuple[str, ...]
    overlap: float


def ground(text: str, sources: Sequence[str], *, cosine: float | None, known: Sequence[str] = ()) -> Grounding:
    """Check `text` against its sources; `known` are names it may use though nobody said them (the speakers')."""
    said = set(content(" ".join([*sources, *known])))
    words = content(text)
    lacking = [word for word in words if word not in said]
    missing = sorted(numbers(text) - numbers(" ".join(sources)))
    overlap = 1 - len(lacking) / len(words) if words else 0.0
    enough = overlap >= 0.6 and 0 < len(text.split()) <= 30
    return Grounding(enough and not missing, tuple(missing + lacking), overlap)
