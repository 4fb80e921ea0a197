"""A question with its subjects taken out of it, in all the ways in which that can be meant.

A subject is what stands in quotes, a name that the memory knows, or words that no example has. Which of these a
question means shows when each reading is compared with the examples.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .phrasings import Language

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
