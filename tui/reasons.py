"""Why something was recalled, in plain words: the strategies that found it with its rank there, then what lifted it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tui.dates import ordinal
from tui.text import one_line

if TYPE_CHECKING:
    from graph.events import Strategy
    from graph.hits import Boost, Hit, Reason, Step

CLEW = "clew"
FOUND_BY: "dict[Strategy, str]" = {
    "lexical": "by its words",
    "semantic": "by its meaning",
    "observation": "by what was learned from it",
    "graph": "next to a hit",
    "recency": "by being new",
    "recent": "among the newest",
    "thread": "from this chat",
    "theme": "from a theme",
    "tool": "looked up by the model",
    "pin": "pinned by you",
}
UNRANKED = frozenset(("pin", "thread"))
LIFTED_BY = {
    "recency": "recent",
    "pin": "pinned",
    "time": "from the time asked about",
    "session": "its chat fits",
    "significance": "it matters",
    "proof": "often confirmed",
    "feedback": "close to the best hits",
    "question": "it answers a question that fits",
}
STEPS = {
    "REPLIES_TO": "a reply away from a hit",
    "NEXT": "beside a hit",
    "FOLLOWS": "beside a hit",
    "SAID_BY": "by who is named",
    "IN_SESSION": "in the chat of a hit",
    "CONTAINS": "in the chat of a hit",
    "DERIVED_FROM": "what a hit was learned from",
    "ABOUT": "about the same as a hit",
    "MENTIONS": "names the same as a hit",
}


def who(role: str, speaker: str) -> str:
    """Who said it, as the screen names people."""
    return CLEW if role == "assistant" and speaker == "assistant" else one_line(speaker) or role


def why(hit: "Hit") -> str:
    """All reasons on one line: `by its words (1st), by its meaning (3rd), next to a hit; recent, you are named`."""
    found = [_reason(reason, hit.path) for reason in sorted(hit.reasons, key=lambda reason: reason.rank)]
    lifted = [_boost(boost, who(hit.role, hit.speaker)) for boost in hit.boosts if boost.amount > 0]
    return "; ".join(", ".join(dict.fromkeys(parts)) for parts in (found, lifted) if parts)


def _reason(reason: "Reason", path: "Iterable[Step]") -> str:
    if reason.strategy == "graph":
        steps = list(path)
        return STEPS.get(steps[-1].relation, FOUND_BY["graph"]) if steps else FOUND_BY["graph"]
    words = FOUND_BY.get(reason.strategy, reason.strategy)
    return words if reason.strategy in UNRANKED or reason.rank < 1 else f"{words} ({ordinal(reason.rank)})"


def _boost(boost: "Boost", speaker: str) -> str:
    if boost.name == "speaker":
        return "you are named" if speaker == "you" else f"{speaker} is named"
    return LIFTED_BY.get(boost.name, boost.name.replace("_", " "))
