"""A message cut into clauses, and what of each is looked at: which of them last is told by weights, not by patterns.

A clause is a slice of the message, trimmed, at least three words long where its sentence is. It is cut after marks and
before joining words; which word joins is not told apart by language, as a cut too many does little harm: what stands
side by side and lasts is put together again.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.kept import kept
from agent.language.sentences import MASK, sentences

LEAST = 3  # words of a clause
BUCKETS = 1 << 14  # of words and pairs of words
BEFORE, OPENING, AFTER = 60, 60, 40  # characters around a clause that are looked at
LONG = 400  # characters that are a clause, of however many words
MOSTLY = 0.3  # share of a clause that may be quoted or code
JOINING = (
    "and but so because cause cuz since while although though whereas which who und aber weil denn et mais parce y "
    "pero porque e ma mas perché en maar want omdat"
)
BLANKS = r"(?<!\s)\s+"  # all of them: from within a run none is tried
JOINT = re.compile(
    rf"[,;:]\s+|{BLANKS}[-–—]+\s+|(?:{BLANKS})?[—…]\s*|{BLANKS}\(|\)\s*|\.\.+\s*"
    rf"|{BLANKS}(?=(?:{JOINING.replace(' ', '|')})\s+\S+\s+\S+)",
    re.IGNORECASE,
)
TOKEN = re.compile(r"\w+(?:['’]\w+)?|[?!]")
DIGITS = re.compile(r"\d+")
CAPITAL = re.compile(r"(?<!^)(?<![.!?] )\b[A-ZÀ-Þ][a-zà-ÿ]+")


@dataclass(frozen=True, slots=True)
class Clause:
    """The slice `start:end` of a message, in the sentence `opens:closes`; `own` is false of quotes, code and lists."""

    start: int
    end: int
    opens: int
    closes: int
    own: bool


def clauses(text: str) -> list[Clause]:
    """The clauses of a message in order; none of a pasted document."""
    found: list[Clause] = []
    for sentence in sentences(text):
        cuts = [0, *(match.end() for match in JOINT.finditer(sentence.text)), len(sentence.text)]
        for start, end in _long_enough(sentence.text, cuts):
            words = sentence.text[start:end]
            first = start + len(words) - len(words.lstrip())
            last = first + len(words.strip())
            own = sentence.plain[first:last].count(MASK) < MOSTLY * (last - first)
            at = sentence.start
            found.append(Clause(at + first, at + last, at, sentence.end, own))
    return found


def _long_enough(text: str, cuts: Sequence[int]) -> list[tuple[int, int]]:
    """The spans between cuts; one that is too short goes with the one before it, or that with it."""
    spans: list[tuple[int, int]] = []
    for start, end in pairwise(cuts):
        if not text[start:end].strip():
            continue
        if spans and (_is_short(text, start, end) or _is_short(text, *spans[-1])):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _is_short(text: str, start: int, end: int) -> bool:
    return end - start < LONG and len(text[start:end].split()) < LEAST


def contents(text: str, clause: Clause) -> tuple[str, str, str]:
    """What is embedded of a clause: itself, its sentence, the message."""
    return text[clause.start : clause.end], text[clause.opens : clause.closes], text[:1500]


def buckets(text: str, clause: Clause) -> list[int]:
    """The words and pairs of words of a clause, and the words before it, after it and that open the message, hashed."""
    around = (
        *_words(text[clause.opens : clause.start][-BEFORE:], "b:"),
        *_words(text[:OPENING], "m:"),
        *_words(text[clause.end : clause.closes][:AFTER], "a:"),
    )
    return hashed((*pairs_of(text[clause.start : clause.end]), *around))


def pairs_of(text: str) -> list[str]:
    """The words of a text, and each two that stand side by side."""
    words = _words(text, "s:")
    bare = ["^", *(word[2:] for word in words), "$"]
    return [*words, *(f"s:{one} {other}" for one, other in pairwise(bare))]


def _words(text: str, where: str) -> list[str]:
    return [where + DIGITS.sub("0", word.casefold()) for word in TOKEN.findall(text)]


def hashed(words: Iterable[str]) -> list[int]:
    """The buckets of some words, once each."""
    return sorted({_bucket(word) for word in words})


@kept(1 << 14)
def _bucket(word: str) -> int:
    return zlib.crc32(word.encode()) % BUCKETS


def marks(text: str, clause: Clause) -> list[float]:
    """What is seen of a clause without reading it: quoted, asked, how long, where it stands, numbers, names, lists."""
    words, sentence = text[clause.start : clause.end], text[clause.opens : clause.closes]
    return [
        clause.own,
        sentence.rstrip().endswith("?"),
        words.rstrip().endswith("?"),
        min(len(words.split()), 30) / 30,
        min(len(text.split()), 200) / 200,
        clause.start / len(text),
        clause.start == clause.opens,
        DIGITS.search(words) is not None,
        CAPITAL.search(words) is not None,
        text.count("\n") > 3,
        words[:1].isupper(),
    ]
