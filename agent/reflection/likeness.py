"""How near two sentences are, in meaning and in what they claim, and whether a text says an observation again.

An echo is looked for in normalised words: case, accents, marks and a verb's final s are no difference. The observation
may begin with who it is about, which the text need not say: "lives in Berlin" is an echo of "The user lives in Berlin".
"""

import re
from collections.abc import Awaitable, Callable, Sequence

from agent.language.sentences import sentences
from agent.language.words import NEGATORS, content, fold, numbers, stem, tokens, wordset
from agent.reflection.grounding import KINDRED
from graph.values import Vector

Embed = Callable[[Sequence[str]], Awaitable[list[Vector | None]]]
SURE = 0.95  # cosines from which sentences are the same whatever their words
NEAR = 0.85  # and from which they are where most words are the same too
SHARED = 0.6
AGAIN = 0.8  # and from which one says the other again, where it has no name or number of its own
SUBJECT = 4  # words at the beginning that tell who does something
PRONOUNS = wordset(  # of a third person
    "he she they his her their hes shes er sie ihr il elle ils elles lui él ella ellos ele ela lei hij zij ze"
)
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


def says_again(text: str, known: str, meaning: float | None) -> bool:
    """Whether a text says what is known and no name, number or denial beside it, if maybe in other words."""
    if says_the_same(text, known, meaning):
        return True
    fresh = names_of(text) - set(tokens(known)) or numbers(text) - numbers(known)
    near = meaning is not None and meaning >= AGAIN
    return near and not fresh and negated(text) == negated(known) and not _opposed(text, known)


def of_the_same(text: str, known: str, about: Sequence[str]) -> bool:
    """Whether a text may be about whom a memory is about: "I moved to Rome" says nothing of where a brother lives.

    They are told by the first words: a relative or a pet, or one of the names that the memory is `about`. A pronoun may
    mean anybody.
    """
    said, there = tokens(text)[:SUBJECT], tokens(known)[:SUBJECT]
    if not PRONOUNS.isdisjoint(said):
        return True
    names = {part for name in about for part in tokens(name)}
    mine, theirs = ({word for word in words if stem(word) in KINDRED or word in names} for words in (said, there))
    return mine == theirs


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


LEAST = 12  # characters
WINDOW = 80  # characters
SUBJECTS = wordset("the user users i we my our their his her she he they speaker am is are")
ASKS = re.compile(r"\W*(?:am|is|are|was|do|does|did|can|could|should|would|have|what|where|who|how|why|which)\b", re.I)
BEFORE = 3  # words before an echo in which it may be negated


def echoes(text: str, observation: str) -> bool:
    """Whether the normalised text holds the first 80 normalised characters of the observation, at least 12.

    What is asked says nothing: "Do I like coriander?" is no echo.
    """
    said = _normal(" ".join(each.text for each in sentences(text) if not _asks(each.text)))
    words = _normal(observation)
    if _held(words, said):
        return True
    start = 0
    while start < len(words) and words[start] in SUBJECTS:
        start += 1
    return start > 0 and len(words) - start >= 3 and _held(words[start:], said)


def _asks(sentence: str) -> bool:
    """Whether a sentence is a question from its beginning; "I like it, do you?" is none."""
    return ASKS.match(sentence) is not None


def _normal(text: str) -> list[str]:
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in tokens(text)]


def _held(words: list[str], said: list[str]) -> bool:
    whole = " ".join(words)
    if len(whole) < LEAST:
        return False
    wanted = " " + (whole[:WINDOW].rstrip() if len(whole) > WINDOW else whole + " ")
    joined = f" {' '.join(said)} "
    at = joined.find(wanted)
    while at >= 0:
        before = joined[:at].rsplit(None, BEFORE)[-BEFORE:] if at else []
        if not any(word in NEGATORS for word in before):
            return True
        at = joined.find(wanted, at + 1)
    return False
