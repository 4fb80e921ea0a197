"""How people put questions: example phrasings of each ready query, and the small words of a language.

They are data: one file phrasings-….toml for each language.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel

from graph.events import ObservationKind

from .shelf import Speaker

NONE = "none"  # the examples of what no ready query answers
_SLOT = re.compile(r"\{(\w+)\}")
_AROUND = " ?!,.;:…-"
_WORD = re.compile(r"\w+(?:'\w+)?")


@dataclass(frozen=True, slots=True)
class Example:
    """One phrasing of the ready query of that id: `text` with its slots filled, the slots in their order.

    One that is `timed` is only meant where a time is said.
    """

    query: str
    text: str
    slots: tuple[str, ...]
    timed: bool


class Language(BaseModel, extra="forbid", frozen=True):
    """One file of phrasings; phrasings-english.toml says what its parts are."""

    blank: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    articles: frozenset[str]
    words: str
    endings: tuple[str, ...]
    recently: tuple[str, ...]
    speakers: dict[Speaker, tuple[str, ...]]
    entities: dict[str, tuple[str, ...]]
    observations: dict[ObservationKind, tuple[str, ...]]
    examples: dict[str, tuple[str, ...]]

    @cached_property
    def phrasings(self) -> tuple[Example, ...]:
        """All examples, with what stands for a subject in the place of the slots."""
        return tuple(self._example(query, text) for query, texts in self.examples.items() for text in texts)

    @cached_property
    def vocabularies(self) -> tuple[frozenset[str], ...]:
        """The stems of the words that questions are made of, other words being what is asked about.

        First those of what is answered, for a weather can be asked about too; then of what no ready query answers.
        """
        asked = [each for query, texts in self.examples.items() if query != NONE for each in texts]
        narrow = self._stems(asked)
        return narrow, narrow | self._stems(self.examples[NONE])

    @cached_property
    def bags(self) -> tuple[tuple[frozenset[str], float], ...]:
        """The words of each example, and what they weigh together."""
        return tuple((words, sum(map(self.weight, words))) for words in self._words)

    def weight(self, word: str) -> float:
        """How much a word tells: the more, the fewer examples have it (inverse document frequency)."""
        return math.log(1 + len(self._words) / (1 + self._counts[word]))

    @cached_property
    def _words(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(self.stems(example.text)) for example in self.phrasings)

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word for words in self._words for word in words)

    def bare(self, text: str) -> str:
        """A question on one line without what is said around it."""
        before = None
        while text != before:
            before = text
            text = text.strip(_AROUND)
            folded = text.casefold()
            first = max((each for each in self.before if folded.startswith(f"{each} ")), key=len, default="")
            last = max((each for each in self.after if folded.endswith(f" {each}")), key=len, default="")
            text = text[len(first) : len(text) - len(last)]
        return text

    def knows(self, text: str) -> bool:
        """Whether all words of a text, but for numbers, are ones that questions are made of."""
        return all(word.isdigit() or word in self.vocabularies[0] for word in self.stems(text))

    def stems(self, text: str) -> list[str]:
        """The words of a text without their endings."""
        return [self.stem(word) for word in _WORD.findall(text.casefold())]

    def stem(self, word: str) -> str:
        """A word in small letters without the first of the endings that it has, if three letters stay."""
        plain = word.casefold()
        stems = (plain.removesuffix(end) for end in self.endings if plain.endswith(end))
        return next((stem for stem in stems if len(stem) > 2), plain)

    def _stems(self, texts: Iterable[str]) -> frozenset[str]:
        """Those of some texts, and of the small words."""
        tables = (*self.speakers.values(), *self.entities.values(), *self.observations.values())
        listed = (
            *texts,
            *self.before,
            *self.after,
            *self.articles,
            self.words,
            *(each for table in tables for each in table),
        )
        return frozenset(stem for text in listed for stem in self.stems(_SLOT.sub(" ", text)))

    def _example(self, query: str, text: str) -> Example:
        slots = tuple(_SLOT.findall(text))
        filled = _SLOT.sub(lambda found: "" if found[1] == "when" else self.blank, text)
        return Example(query, self.bare(filled), tuple(slot for slot in slots if slot != "when"), "when" in slots)


@cache
def languages() -> tuple[Language, ...]:
    """The languages in which questions can be put."""
    files = sorted(Path(__file__).parent.glob("phrasings-*.toml"))
    return tuple(Language.model_validate(tomllib.loads(file.read_text(encoding="utf-8"))) for file in files)
