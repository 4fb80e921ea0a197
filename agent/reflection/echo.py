"""Whether a text says an observation again, which then counts as referred to.

Compared are normalised words: case, accents, marks and a verb's final s are no difference. The observation may begin
with who it is about, which the text need not say: "lives in Berlin" is an echo of "The user lives in Berlin".
"""

import re

from .clauses import clause, led_in, parts
from .doubt import believed
from .grounding import FRAMED, agrees
from .sentences import sentences
from .slots import slots_of_part
from .words import NEGATORS, content, numbers, tokens, wordset

LEAST = 12  # characters
WINDOW = 80  # characters
SUBJECTS = wordset("the user users i we my our their his her she he they speaker am is are")
ASKS = re.compile(r"\W*(?:am|is|are|was|do|does|did|can|could|should|would|have|what|where|who|how|why|which)\b", re.I)
FIRST = re.compile(r"(?:,| and| but| -) (?=(?:he|she|they|it|i|we|my|his|her|its|their)\b)", re.I)
ALSO = re.compile(r"\s*[,;]\s*|\s+(?:and|but|so|because|since)\s+", re.I)
NEAR = 3  # words before an echo in which it may be negated


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


def says_again(text: str, known: str) -> bool:
    """Whether some sentence that is meant says all that is known, among other things, or its first clause."""
    kept = [each.text for each in believed(sentences(text), laughing=True) if each is not None]
    said = [each.rpartition(",")[0] if each.rstrip().endswith("?") else each for each in kept]
    said = [each for each in said if not _asks(each)]
    clauses = [part for sentence in said for part in (*parts(sentence), *ALSO.split(sentence))]
    first = next(iter(FIRST.split(known, maxsplit=1)), known)
    wanted = [known, first] if slots_of_part(first) and clause(first) else [known]
    return any(holds(part, each) for part in (*said, *clauses) for each in wanted)


def holds(said: str, known: str) -> bool:
    """Whether a text has all the words, numbers and names of another, and denies as it does."""
    words = set(content(known)) - FRAMED
    have = set(content(said))
    there = all(any(near(word, other) for other in have) for word in words)
    return bool(words) and there and numbers(known) <= numbers(said) and agrees(known, [said])


def near(one: str, other: str) -> bool:
    """Whether two stems are the same but for an ending, as "arbeit" and "arbeitet" are."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and len(long) - len(short) <= 2 and long.startswith(short)


def _asks(sentence: str) -> bool:
    """Whether a sentence is a question from its beginning; "I like it, do you?" is none."""
    return ASKS.match(led_in(sentence)) is not None


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
        before = joined[:at].rsplit(None, NEAR)[-NEAR:] if at else []
        if not any(word in NEGATORS for word in before):
            return True
        at = joined.find(wanted, at + 1)
    return False
