"""How near two sentences are: in meaning, by their vectors, and in what they claim, by their words."""

from collections.abc import Awaitable, Callable, Sequence

from graph.hits import Vector

from .words import NEGATORS, content, fold, numbers, stem, tokens

Embed = Callable[[Sequence[str]], Awaitable[list[Vector | None]]]
SURE = 0.95  # cosines from which sentences are the same whatever their words
NEAR = 0.85  # and from which they are where most words are the same too
SHARED = 0.6
ALL_BUT = 0.8  # share of the words that has to be the same without vectors


def cosine(one: Vector | None, other: Vector | None) -> float | None:
    """Of two unit vectors of the same model, 0-1; None without both."""
    if one is None or other is None or one.model != other.model:
        return None
    return max(0.0, min(1.0, float(one.values @ other.values)))


def shared(one: str, other: str) -> float:
    """The share of the telling words of both that are in both, 0-1."""
    a, b = set(content(one)) - THE_USER, set(content(other)) - THE_USER
    return len(a & b) / len(a | b) if a | b else float(fold(one).split() == fold(other).split())


def same_claims(one: str, other: str) -> bool:
    """Whether neither has a number, a name or a negation that the other has not."""
    if (
        numbers(one) != numbers(other)
        or negated(one) != negated(other)
        or _days(one) != _days(other)
        or _opposed(one, other)
    ):
        return False
    return names_of(one) <= set(tokens(other)) and names_of(other) <= set(tokens(one))


def _opposed(one: str, other: str) -> bool:
    """Whether one has a word and the other its opposite."""
    mine, told = set(tokens(one)), set(tokens(other))
    return any((a in mine - told and b in told - mine) or (b in mine - told and a in told - mine) for a, b in OPPOSITES)


def _days(text: str) -> set[str]:
    """The weekdays that a text names."""
    return {day for word in tokens(text) if (day := word.removesuffix("s")) in WEEKDAYS}


def says_the_same(one: str, other: str, meaning: float | None) -> bool:
    """Whether two sentences are one and the same observation, as far as words and their cosine can tell."""
    if not same_claims(one, other):
        return False
    words = shared(one, other)
    if meaning is None:
        return words >= ALL_BUT
    return words == 1 or meaning >= SURE or (words >= SHARED and meaning >= NEAR)


def negated(text: str) -> bool:
    return not NEGATORS.isdisjoint(tokens(text))


def names_of(text: str) -> set[str]:
    """The folded words with a capital that say something; the first of a sentence is one only where it looks it."""
    found: set[str] = set()
    start = True
    for word in text.split():
        bare = word.strip("\"'“”‘’«»()[]{}.,;:!?…-–—")
        if bare[:1].isupper() and not (start and (bare.lower() in COMMON or bare[1:].islower())):
            found |= {part for part in tokens(bare) if content(part)}
        start = word.endswith((".", "!", "?", ":"))
    return found


OPPOSITES = (
    *(("left", "right"), ("part", "full"), ("older", "younger"), ("early", "late"), ("morning", "evening")),
    *(("north", "south"), ("east", "west"), ("single", "married"), ("before", "after"), ("left", "joined")),
    *(("mother", "father"), ("brother", "sister"), ("son", "daughter"), ("wife", "husband"), ("dog", "cat")),
    *(("hot", "cold"), ("summer", "winter"), ("more", "less"), ("tea", "coffee"), ("am", "pm")),
)
WEEKDAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
COMMON = frozenset(("i", "the", "a", "an", "my", "our", "we", "you", "he", "she", "it", "they", "user"))
THE_USER = frozenset({stem("user")})  # as models call who says "I"
