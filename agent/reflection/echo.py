"""Whether a text says an observation again, which then counts as referred to (spec D3).

Compared are normalised words: case, accents, marks and a verb's final s are no difference. The observation may begin
with who it is about, which the text need not say: "lives in Berlin" is an echo of "The user lives in Berlin".
"""

from .words import NEGATORS, tokens, wordset

LEAST = 12  # characters
WINDOW = 80  # characters
SUBJECTS = wordset("the user users i we my our their his her she he they speaker am is are")
NEAR = 3  # words before an echo in which it may be negated


def echoes(text: str, observation: str) -> bool:
    """Whether the normalised text holds the first 80 normalised characters of the observation, at least 12."""
    said = _normal(text)
    words = _normal(observation)
    if _held(words, said):
        return True
    start = 0
    while start < len(words) and words[start] in SUBJECTS:
        start += 1
    return start > 0 and len(words) - start >= 3 and _held(words[start:], said)


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
