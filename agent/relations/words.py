"""A language's words for relationships, read from its file at first use, and a sentence taken apart into its tokens."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any

LANGUAGES = ("english", "german", "spanish", "french")
TOKEN = re.compile(r"w/|\d+|[^\W\d_]+(?:['’\-.&+#]+[^\W_]+)*['’]?|[^\s]")
NAMES = ("people", "places", "tools")
APOSTROPHES = str.maketrans("’ʼ‘`", "''''")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a sign as it was written, and in lower case."""

    text: str
    low: str

    @property
    def capital(self) -> bool:
        """Whether it is written as names are; a script without capitals has nothing else."""
        first = self.text[:1]
        return first.isupper() or (first.isalpha() and first.lower() == first.upper())

    @property
    def word(self) -> bool:
        return self.text[:1].isalpha()


@dataclass(frozen=True, slots=True)
class Noun:
    """A word of relationship: whoever is called so is the kind's subject, or its object (`turned`)."""

    word: str
    kind: str
    gender: str | None
    turned: bool
    plural: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """What is said that somebody does; `words` are verbs' lemmas, other words, "~" for the object and "*" for any.

    `mine`: its object is who speaks; `needs`: an object that is called a "group" or a "doctor", or a "time".
    """

    kind: str
    words: tuple[str, ...]
    turned: bool = False
    over: bool = False
    begins: bool = False
    denied: bool = False
    together: bool = False
    careful: bool = False
    loose: bool = False
    past: bool = False
    mine: bool = False
    needs: str = ""
    but: frozenset[str] = frozenset()
    not_before: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Language:
    """What a language's file says."""

    data: Mapping[str, Any]

    def has(self, role: str, word: str) -> bool:
        """Whether a word in lower case plays a role, such as "speaker"."""
        return (word,) in self._role(role)

    def starts(self, role: str, tokens: Sequence[Token], at: int) -> int:
        """How many tokens from `at` on make the longest of a role's phrases; 0 where none begins there."""
        known = self._role(role)
        lows = tuple(each.low for each in tokens[at : at + 7])
        return next((size for size in range(len(lows), 0, -1) if lows[:size] in known), 0)

    def option(self, name: str) -> Any:
        return self.data["grammar"].get(name)

    def _role(self, role: str) -> frozenset[tuple[str, ...]]:
        if role not in self._roles:
            told = self.data["words"].get(role) or self.data["times"].get(role) or self.data.get(role) or ()
            self._roles[role] = frozenset(tuple(self._spelled(each)) for each in told)
        return self._roles[role]

    @cached_property
    def _roles(self) -> dict[str, frozenset[tuple[str, ...]]]:
        return {}

    def calls(self, tokens: Sequence[Token], at: int) -> tuple[int, Noun | None]:
        """How many tokens from `at` on say where from somebody is known, and what that makes of them."""
        size = self.starts("calls", tokens, at)
        word = self.data.get("calls", {}).get(" ".join(each.low for each in tokens[at : at + size]), "")
        return size, self.nouns.get((word,))

    def small_names(self, text: str) -> set[str]:
        """Names in lower case: those that are known for names, and, where nothing has capitals, what follows slots."""
        tokens, found = self.tokens(text), set[str]()
        none = not any(token.capital and len(token.text) > 1 for token in tokens)
        for at, token in enumerate(tokens):
            if (self.has("people", token.low) or self.has("places", token.low)) and not self.has("no_lower", token.low):
                found |= {token.text} - {token.text.capitalize()}
            size = self.starts("slots", tokens, at) if none else 0
            after = tokens[at + size] if 0 < size < len(tokens) - at else None
            if after is not None and after.word and after.low not in self.common and not self.has("unnamed", after.low):
                found.add(after.text)
        return found

    @cached_property
    def common(self) -> frozenset[str]:
        """All words that are told of here but the names."""
        told = (each.split() for role, many in self.data["words"].items() if role not in NAMES for each in many)
        return frozenset(chain(self.forms, *told, *self.nouns))

    @cached_property
    def nouns(self) -> dict[tuple[str, ...], Noun]:
        """The words of relationship, singular and plural."""
        found = {}
        for entry in self.data["noun"]:
            for role, gender in (("female", "f"), ("male", "m"), ("either", None)):
                for line in entry.get(role, ()):
                    word, _, others = line.partition(": ")
                    noun = Noun(word, entry["kind"], gender, entry.get("called") == "object")
                    for each in (word, *(others.split(", ") if others else ())):
                        found[tuple(each.split())] = noun
                        for ending in self.data["grammar"].get("plural", ["s"]):
                            found.setdefault(tuple((each + ending).split()), replace(noun, plural=True))
        for many, one in self.data.get("plurals", {}).items():
            found[tuple(many.split())] = replace(found[tuple(one.split())], plural=True)
        return found

    @cached_property
    def phrases(self) -> dict[str, list[Phrase]]:
        """The phrases by their first word, longest first."""
        found: dict[str, list[Phrase]] = {}
        for entry in self.data["says"]:
            rest = {key: value for key, value in entry.items() if key not in ("words", "but", "not_before")}
            but, not_before = (frozenset(entry.get(key, ())) for key in ("but", "not_before"))
            for words in entry["words"]:
                said = tuple(words.split())
                found.setdefault(said[0], []).append(Phrase(words=said, but=but, not_before=not_before, **rest))
        return {
            first: sorted(each, key=lambda phrase: ("*" in phrase.words, -len(phrase.words)))
            for first, each in found.items()
        }

    @cached_property
    def forms(self) -> dict[str, set[tuple[str, str]]]:
        """The lemmas that a written form may be of, each with which form it is: base, third, past, ing, done."""
        found: dict[str, set[tuple[str, str]]] = {}
        for lemma, written in self.data["verbs"].items():
            present, *others = (part.split() for part in written.split(","))
            agrees = self.option("agrees") and len(present) == 2
            told = [(form, "third" if agrees and at else "base") for at, form in enumerate(present)]
            told += [(form, name) for name, part in zip(("past", "ing", "done"), others, strict=False) for form in part]
            told += [(form, "done") for form in (others[0] if len(others) == 2 else ())]
            for form, name in told:
                found.setdefault(form, set()).add((lemma, name))
                if name == "past" and form.endswith("ed"):
                    found[form].add((lemma, "done"))
        return found

    def tokens(self, text: str) -> list[Token]:
        """A sentence's words and signs; short forms are spelled out, and a possessive is a token of its own."""
        return [Token(*each) for word in TOKEN.findall(text.translate(APOSTROPHES)) for each in self._parts(word)]

    def _parts(self, word: str) -> Iterable[tuple[str, str]]:
        low = word.lower()
        spelled = self.data.get("spelled", {}).get(low)
        if spelled:
            parts = spelled.split()
            first = parts[0].capitalize() if word[0].isupper() and low[0] == parts[0][0] else parts[0]
            return [(first, parts[0]), *((part, part) for part in parts[1:])]
        head, _, tail = low.rpartition("'")
        if head in self.data["grammar"].get("elided", ()):
            return [(word[: len(head) + 1], f"{head}'"), *([(word[len(head) + 1 :], tail)] if tail else [])]
        if low.endswith("n't") and len(low) > 3:
            return [(word[:-3], low[:-3]), ("not", "not")]
        if head and tail == "s":
            return [*self._parts(word[:-2]), ("'s", "'s")]
        if head and not tail:
            return [(word[:-1], head), *([("'s", "'s")] if head.endswith("s") else [])]
        name = word[0].isupper() and (word.rpartition("-")[2][0].isupper() or low.partition("-")[0] not in self.common)
        if "-" in word and not name:
            return [(part, part.lower()) for part in word.split("-") if part]
        return [(word, low)]

    def _spelled(self, phrase: str) -> list[str]:
        return [token.low for token in self.tokens(phrase)]


@cache
def language(name: str) -> Language:
    """One language's words."""
    return Language(tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")))


def language_of(text: str) -> Language:
    """The language most of whose small words a text has; English where none stands out."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    told = {
        name: sum(2 * (word in language(name).option("marks")) + (word in language(name).forms) for word in words)
        for name in LANGUAGES
    }
    return language(max(LANGUAGES, key=lambda name: (told[name], name == LANGUAGES[0])))
