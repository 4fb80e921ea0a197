"""What a member of a cast knows of something, against what was said of it at all: three marks, and what it believes.

Who was away keeps what it heard last, though it is outdated by now: of what it saw on a topic the newest counts. What
only asks tells nothing, and outdates nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.quoting import content_words
from agent.story.stops import SENTENCE
from graph.values import Hit

WORD = re.compile(r"\w")
Mark = Literal["knows", "outdated", "does not know"]
NEAR = 0.5  # of the most words that a hit shares: from there on one is of the same thing
MOST = 20


@dataclass(frozen=True, slots=True)
class Known:
    """A message, and whether a member knows it; outdated: something newer was said of it out of its sight."""

    turn: str
    speaker: str
    text: str
    at: datetime
    mark: Mark


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The messages on a topic, the newest first, and the one that a member goes by; None where it knows nothing."""

    topic: str
    every: tuple[Known, ...]
    believed: Known | None

    @property
    def ignorance(self) -> str:
        """How it is said of a member that it knows nothing of it; empty where it goes by something."""
        if self.believed is not None:
            return ""
        heard = any(each.mark != "does not know" for each in self.every)
        return "was only asked about it, and knows nothing of it" if heard else "knows nothing of it"


def knowledge(topic: str, seen: Sequence[Hit], every: Sequence[Hit]) -> Knowledge:
    """What is known of a topic, from what was found of it in what a member saw, and in all."""
    own, all_ = on_topic(topic, seen), on_topic(topic, every)
    known = {hit.id for hit in own} | ({hit.id for hit in all_} & {hit.id for hit in seen})
    hits = sorted({hit.id: hit for hit in (*all_, *own)}.values(), key=lambda hit: hit.at, reverse=True)
    newest_unseen = max((hit.at for hit in hits if hit.id not in known and tells(hit.text)), default=None)

    def mark(hit: Hit) -> Mark:
        if hit.id not in known:
            return "does not know"
        return "outdated" if newest_unseen is not None and hit.at < newest_unseen else "knows"

    told = tuple(Known(hit.id, hit.speaker, hit.text, hit.at, mark(hit)) for hit in hits)
    believed = (each for each in told if each.mark != "does not know" and tells(each.text))
    return Knowledge(topic, told, next(believed, None))


def tells(text: str) -> bool:
    """Whether words tell something, and do not only ask."""
    return any(not each.rstrip("*\"”’') ").endswith("?") for each in SENTENCE.split(text.strip()) if WORD.search(each))


def on_topic(topic: str, hits: Sequence[Hit]) -> list[Hit]:
    """Those of what was found that share most words with a topic; where none shares any, the best by its meaning."""
    asked = set(content_words(topic))
    shared = {hit.id: len(asked & set(content_words(hit.text))) for hit in hits}
    most = max(shared.values(), default=0)
    if most:
        return [hit for hit in hits if shared[hit.id] >= most * NEAR]
    meant = [hit for hit in hits if any(reason.strategy == "semantic" for reason in hit.reasons)]
    return meant[:1]
