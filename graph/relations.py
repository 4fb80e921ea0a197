"""The kinds of relationships there are between people, places and things: a closed table (relations.toml)."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RelationKind:
    """A kind, told from subject to object: "Ada works for Siemens"; read from the other end: "Siemens employs Ada".

    Of a `single` one a subject has one at a time; one that is not `circular` leads nobody back to themselves. One that
    is not told to hold is `denied`, one that is over `ended`.
    """

    name: str
    label: str
    inverse: str
    ended: str
    denied: str
    symmetric: bool = False
    single: bool = False
    circular: bool = True

    def verb(self, *, polarity: bool = True, until: str | None = None) -> str:
        """How it reads from subject to object: as it holds, as it is over, or as it is said not to be so."""
        return self.denied if not polarity else self.ended if until is not None else self.label

    def says(
        self,
        subject: str,
        object: str,
        *,
        polarity: bool = True,
        since: str | None = None,
        until: str | None = None,
    ) -> str:
        """The relationship of two, in a sentence; "I" and "me" are who says it."""
        verb = self.verb(polarity=polarity, until=until)
        if subject == SPEAKER:
            verb = _of_speaker(verb)
        times = "".join(f" {word} {time}" for word, time in (("since", since), ("until", until)) if time is not None)
        return f"{subject} {verb} {'me' if object == SPEAKER else object}{times}."


SPEAKER = "I"
DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")  # a day, a month or a year
_OF_SPEAKER = {"is": "am", "has": "have", "does": "do", "teaches": "teach"}


def _of_speaker(verb: str) -> str:
    """A verb of the table, as its first person has it: "works for" is "work for", "worked for" stays."""
    word, _, rest = verb.partition(" ")
    own = _OF_SPEAKER.get(word) or (word[:-1] if word.endswith("s") and word != "was" else word)
    return f"{own} {rest}".strip()


@cache
def kinds() -> dict[str, RelationKind]:
    """All kinds by their names, in the table's order."""
    told = tomllib.loads(Path(__file__).with_name("relations.toml").read_text(encoding="utf-8"))
    return {name: _kind(name, **each) for name, each in told.items()}


def _kind(
    name: str,
    *,
    label: str,
    ended: str,
    inverse: str | None = None,
    denied: str | None = None,
    symmetric: bool = False,
    single: bool = False,
    circular: bool = True,
) -> RelationKind:
    verb, _, rest = label.partition(" ")
    negated = denied or f"{verb} not {rest}".strip()
    return RelationKind(name, label, inverse or label, ended, negated, symmetric, single, circular)
