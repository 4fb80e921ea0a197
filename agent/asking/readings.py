"""How people put questions: example phrasings, a language's small words, and the ways one question can be meant.

Phrasings are data: one file phrasings-….toml for each language.

A subject is what stands in quotes, a name that the memory knows, or words that no example has. Which of these a
question means shows when each reading is compared with the examples.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from agent.asking.shelf import Speaker
from graph.events import ObservationKind

NONE = "none"  # the examples of what no ready query answers
KNOWN, STANDS = "known", "stands"  # the ready queries of what is known of somebody, and of relationships
_SLOT = re.compile(r"\{(\w+)\}(?:'s)?")  # a reading has no 's behind a subject either
_AROUND = " ?!,.;:…-"
_WORD = re.compile(r"\w+(?:'\w+)?")


@dataclass(frozen=True, slots=True)
class Example:
    """One phrasing of the ready query of that id: `text` with its slots filled, the slots in their order.

    One that is `timed` is only meant where a time is said. One of a relationship has its kind, and which end of it is
    asked for.
    """

    query: str
    text: str
    slots: tuple[str, ...]
    timed: bool
    kind: str = ""
    asked: Literal["who", "whom", ""] = ""


class Stands(BaseModel, extra="forbid", frozen=True):
    """Examples of how one kind of relationship is asked for: its subjects, and its objects."""

    who: tuple[str, ...] = ()
    whom: tuple[str, ...] = ()


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
    over: frozenset[str] = frozenset()
    relations: dict[str, Stands] = {}

    @cached_property
    def phrasings(self) -> tuple[Example, ...]:
        """All examples, with what stands for a subject in the place of the slots."""
        return (
            *(self._example(query, text) for query, texts in self.examples.items() for text in texts),
            *(each for kind, stands in self.relations.items() for each in self._standing(kind, stands)),
        )

    def _standing(self, kind: str, stands: Stands) -> Iterator[Example]:
        for text in stands.who:
            yield replace(self._example(STANDS, text), kind=kind, asked="who")
        for text in stands.whom:
            yield replace(self._example(STANDS, text), kind=kind, asked="whom")

    @cached_property
    def vocabularies(self) -> tuple[frozenset[str], ...]:
        """The stems of the words that questions are made of, other words being what is asked about.

        First those of what is answered, for a weather can be asked about too; then of what no ready query answers.
        """
        asked = [each for query, texts in self.examples.items() if query != NONE for each in texts]
        asked += [each for stands in self.relations.values() for each in (*stands.who, *stands.whom)]
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
            *self.over,
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


LONGEST = 300  # characters of a question that are read
LONGEST_SUBJECT = 60
MOST_WORDS = 6  # of a subject
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "`": "'"})
_TOKEN = re.compile(r'"[^"]+"|(?<!\w)\'[^\']+\'(?!\w)|[^\s"]+')
_SIGNS = " ?!,.;:…()\"'"

Place = tuple[int, int]  # the end is exclusive


@dataclass(frozen=True, slots=True)
class Reading:
    """A question with the language's blank for each of its subjects.

    `named` is where in the question those stood that were quoted, or are known names.
    """

    text: str
    subjects: tuple[str, ...]
    named: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    """A word of a question without the signs around it, or all that stands in quotes."""

    text: str
    start: int
    end: int
    quoted: bool


def tidy(question: str) -> str:
    """A question on one line, with plain quotes; "" where it is too long to be one."""
    text = " ".join(question.translate(_QUOTES).split())
    return text if len(text) <= LONGEST else ""


def readings(text: str, language: Language, names: Mapping[str, str]) -> Iterator[Reading]:
    """The readings of a bare question, each once; `names` are those that are known, by casefolded name."""
    tokens = list(_tokens(text))
    named = list(_named(tokens, names))
    strange = (_strange(text, tokens, named, words, language) for words in language.vocabularies)
    for ranges in dict.fromkeys(((), tuple(named), *strange)):
        yield _reading(text, tokens, ranges, language, names)


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        quoted = len(found[0]) > 2 and found[0][0] == found[0][-1] and found[0][0] in "\"'"
        word = found[0][1:-1] if quoted else found[0].strip(_SIGNS)
        if word:
            start = found.start() + found[0].index(word)
            yield _Token(word, start, start + len(word), quoted)


def _named(tokens: Sequence[_Token], names: Mapping[str, str]) -> Iterator[Place]:
    """What is quoted or a known name, the longest where several begin at a word."""
    at = 0
    while at < len(tokens):
        ends = range(min(len(tokens), at + MOST_WORDS), at, -1)
        end = at + 1 if tokens[at].quoted else next((end for end in ends if _key(tokens[at:end]) in names), 0)
        if end:
            yield at, end
        at = max(end, at + 1)


def _key(tokens: Sequence[_Token]) -> str:
    return " ".join(token.text for token in tokens).casefold().removesuffix("'s")


def _strange(
    text: str, tokens: Sequence[_Token], named: Sequence[Place], words: Collection[str], language: Language
) -> tuple[Place, ...]:
    """The same, and the words that are not among `words`, as one where they stand side by side."""
    marked = {at for start, end in named for at in range(start, end)}
    marked |= {
        at for at, token in enumerate(tokens) if not token.text.isdigit() and language.stem(token.text) not in words
    }
    found: list[Place] = []
    for at in sorted(marked):
        beside = bool(found) and found[-1][1] == at and not (tokens[at].quoted or tokens[at - 1].quoted)
        if beside and text[tokens[at - 1].end : tokens[at].start].strip(".'") == " ":
            found[-1] = found[-1][0], at + 1
        else:
            found.append((at, at + 1))
    return tuple(found)


def _reading(
    text: str, tokens: Sequence[_Token], ranges: Sequence[Place], language: Language, names: Mapping[str, str]
) -> Reading:
    words: list[str] = []
    subjects, known = [], []
    after = 0
    for start, end in ranges:
        words += [token.text for token in tokens[after:start]]
        while words and words[-1].casefold() in language.articles:
            words.pop()
        words.append(language.blank)
        after, place = end, (tokens[start].start, tokens[end - 1].end)
        said = text[slice(*place)].replace("\\", "").strip()
        said = said if tokens[start].quoted else said.removesuffix("'s")
        subjects.append(names.get(said.casefold(), said))
        if tokens[start].quoted or said.casefold() in names:
            known.append(place)
    words += [token.text for token in tokens[after:]]
    return Reading(" ".join(words), tuple(subjects), tuple(known))
