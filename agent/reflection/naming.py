"""The people, places and things that a turn names, by rule: few, and only where the words leave no doubt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Category = Literal["person", "place", "thing", "group"]


@dataclass(frozen=True, slots=True)
class Named:
    """A name as it was written, and what it is the name of."""

    name: str
    category: Category


def named(text: str, known: Sequence[str]) -> list[Named]:
    """The names in a text, once each, in order; `known` are names of people that may also begin a sentence."""
    return [Named(name, "person") for name in known if name in text]
