"""The words by which stories are read, from a file for each language, read at first use."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agent.story.names import Token, plain

LANGUAGES = ("english", "german", "french", "spanish", "italian", "portuguese")


class Phrases:
    """Phrases of folded words, found where they begin in a text."""

    def __init__(self, told: Iterable[str]) -> None:
        self._known = frozenset(tuple(plain(phrase).split()) for phrase in told)
        sizes: dict[str, set[int]] = {}
        for phrase in self._known:
            sizes.setdefault(phrase[0], set()).add(len(phrase))
        self._sizes = {first: sorted(each, reverse=True) for first, each in sizes.items()}
        self.longest = max(map(len, self._known), default=0)
        self.words = frozenset(phrase[0] for phrase in self._known if len(phrase) == 1)

    def at(self, words: Sequence[str], at: int = 0) -> int:
        """How many words from `at` on make the longest of the phrases; 0 where none begins there."""
        sizes = self._sizes.get(words[at]) if 0 <= at < len(words) else None
        if sizes is None:
            return 0
        left = len(words) - at
        return next((size for size in sizes if size <= left and tuple(words[at : at + size]) in self._known), 0)

    def of(self, tokens: Sequence[Token], at: int = 0) -> int:
        """The same of tokens."""
        return self.at([token.low for token in tokens[at : at + self.longest]]) if at >= 0 else 0


@cache
def language(name: str) -> Mapping[str, Any]:
    """What a language's file says."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def phrases(section: str, role: str, *languages: str) -> Phrases:
    """The phrases that play a role in any of some languages, all of them by default.

    A file has a list of phrases, or single words in one text.
    """
    told = (language(name).get(section, {}).get(role, ()) for name in languages or LANGUAGES)
    return Phrases(phrase for each in told for phrase in (each.split() if isinstance(each, str) else each))


def common() -> frozenset[str]:
    """English words that people are called by too."""
    return phrases("names", "common", "english").words
