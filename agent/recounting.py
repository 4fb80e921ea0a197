"""Questions to the memory itself, answered in what it holds: what was last said, what is known of the user, themes.

No model words these answers: measured, four of four summaries that one wrote of a memory were invented.
"""

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from itertools import groupby

from agent.language.person import as_you
from agent.quoting import excerpt, neutral
from graph.values import Hit

MOST = 12  # things that are told
LONGEST = 160  # characters of one
TALKED = "This is what was said last, the newest first:"
KNOWN = "This is what I know about you, from what you told me:"
RECURRING = "These themes run through our conversations:"
EMPTY = (
    "I don't know anything about you yet. What you tell me about yourself is remembered from now on; /remember keeps "
    "a sentence at once."
)


def talked(hits: Sequence[Hit], zone: tzinfo) -> str:
    """Exchanges in the order that they are given, by chat."""
    parts = []
    for session, said in groupby(hits, lambda hit: (hit.session, hit.session_name, _day(hit, zone))):
        _, name, day = session
        parts.append("\n".join([f"**{_plain(name or 'Untitled')}**, {day}", *map(_said, said)]))
    return "\n\n".join([TALKED, *parts])


def known(hits: Iterable[Hit]) -> str:
    """What is known of the user, told to them."""
    lines = [f"- {_plain(as_you(hit.text) or _stated(hit.text))}" for hit in hits]
    if not lines:
        return EMPTY
    return "\n".join([KNOWN, "", *lines])


def recurring(told: str) -> str:
    """Themes as the tool lists them, without the turns that they rest on."""
    lines = [line for line in told.split("\n") if line[:1].isdigit()]
    return "\n".join([RECURRING, "", *lines]) if lines else told


def _said(hit: Hit) -> str:
    who = {"user": "You", "assistant": "I"}.get(hit.role, _plain(hit.speaker))
    return f"- {who}: {_plain(hit.text)}"


def _stated(text: str) -> str:
    """Words that nobody can be sure to turn stay the user's own."""
    return f"You said: “{neutral(text)}”"


def _day(hit: Hit, zone: tzinfo) -> str:
    return hit.at.astimezone(zone).date().isoformat()


def _plain(text: str) -> str:
    return excerpt(neutral(text), "", LONGEST)
