"""Who speaks: a role play, a mock interview, a game goes on over messages, and what is said in it is the role's.

A frame begins where a message proposes one (frames.toml), that message included, and ends where one says so, after so
many messages of the same chat, or after so long. A message that does both is oneself's again.
"""

import re
import tomllib
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from graph.values import Turn

LONGEST = 12  # messages of the person
AFTER = timedelta(hours=12)
LOOKED_AT = 1000  # characters of a message


def spoken_in_a_frame(turns: Sequence[Turn]) -> frozenset[str]:
    """Those of a person's turns, oldest first and of one chat, in which somebody else speaks."""
    begins, ends = _frames()
    found: set[str] = set()
    since: tuple[int, Turn] | None = None
    for place, turn in enumerate(turns):
        text = (turn.text or "")[:LOOKED_AT]
        if since is not None and (place - since[0] > LONGEST or turn.at - since[1].at > AFTER or ends.search(text)):
            since = None
        if begins.search(text) and not ends.search(text):
            since = place, turn
        if since is not None:
            found.add(turn.id)
    return frozenset(found)


@lru_cache(maxsize=1)
def _frames() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Read at the first message, not at import."""
    with Path(__file__).with_name("frames.toml").open("rb") as file:
        data = tomllib.load(file)
    begins, ends = ("|".join(each for listed in data[part].values() for each in listed) for part in ("begins", "ends"))
    return re.compile(rf"\b(?:{begins})", re.IGNORECASE), re.compile(rf"(?:{ends})", re.IGNORECASE)
