"""The sentences of a turn in which people describe themselves, verbatim: what is kept where no model can be trusted."""

import re
from dataclasses import dataclass
from typing import Literal

from graph.events import ObservationKind

Cue = Literal["new", "change", "correction"]
MOST = 30  # words


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of `turn`, or two that belong together, verbatim.

    `slot` names what has one value at a time: a later statement of the same slot revises the earlier. `cue` tells how
    the words themselves stand to what was said before. `negated`: it says what is not.
    """

    text: str
    turn: str
    category: ObservationKind
    slot: str | None
    cue: Cue
    negated: bool


def statements(text: str, *, turn: str) -> list[Statement]:
    """What a person says of themselves and their people in a turn, ≤ 30 words each; mostly nothing."""
    found = []
    for sentence in re.findall(r"[^.!?\n]+[.!?]?", text):
        said = sentence.strip()
        if re.match(r"I live in [A-Z]|My name is |I work (?:as|at|for) |I'm an? \w+\.", said) and "?" not in said:
            found.append(Statement(said, turn, ObservationKind.IDENTITY, slot_of(said), "new", False))
    return found


def slot_of(text: str) -> str | None:
    """What that has one value at a time a stored observation tells, if any."""
    for pattern, slot in (
        (r"\blives? in\b", "residence"),
        (r"\bname is\b", "name"),
        (r"\bworks? (?:at|for)\b", "employer"),
    ):
        if re.search(pattern, text):
            return slot
    return None


def slots_of(text: str) -> frozenset[str]:
    """All slots a text tells of: "I work as a nurse at the Charité" is about job and employer."""
    slot = slot_of(text)
    return frozenset([slot] if slot else [])
