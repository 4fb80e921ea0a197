"""Whether a person's own words correct an observation, so that it may be retired without a review."""

import re

from .statements import slots_of
from .words import content

CORRECTION = re.compile(r"\b(actually|no longer|any ?more|i meant|was wrong|not true|moved|quit|now|not)\b", re.I)


def corrects(user_words: str, observation: str) -> bool:
    """Whether the words take the observation back, or say that it is otherwise now."""
    if not CORRECTION.search(user_words):
        return False
    words = content(observation)
    shared = sum(word in set(content(user_words)) for word in words)
    return bool(slots_of(user_words) & slots_of(observation)) or (bool(words) and shared >= 0.6 * len(words))
