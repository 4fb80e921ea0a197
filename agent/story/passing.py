"""Whether the user's own prose tells that time passes, that all go somewhere else, or that the scene is over.

It is read of what is told and done, and of what is said where nothing marks speech; never of direct speech, of
questions, or of what is denied, supposed, or told again. What is found is proposed, and never decides. Only English is
read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent.story.names import plain
from agent.story.telling import pieces
from agent.story.words import language, phrases

Sort = Literal["time", "place", "close"]
SENTENCES = re.compile(r"(?<=[.!?…])\s+|\n+")
WORDS = re.compile(r"[\w'-]+")
MOST_WORDS = 40  # of a sentence that is read
LONGEST = 60  # characters of what is proposed
PLACED = (
    "(?:in|at|on|by|near|outside|inside|under|after|there|still|nothing|nobody|everything|everybody|the|an?|all|no)"
)
GOES_ON = rf"(?=\s*(?:[,.:;!…—–-]|$)|\s+(?:i|we|you|he|she|they|it|{PLACED})\b|\s+[A-Z])"


@dataclass(frozen=True, slots=True)
class Passing:
    """What a message tells, and in which words: until when time passes, or where all go; none where a scene is over."""

    sort: Sort
    words: str


def passing(text: str) -> Passing | None:
    """The first that a message tells."""
    parts = [(piece.how, piece.text) for piece in pieces(text)]
    speech = any(how == "told" for how, _ in parts)
    for how, part in parts:
        if how == "said" and speech:
            continue  # direct speech
        for sentence in SENTENCES.split(part):
            found = next(_found(sentence.strip(" \t()*_"), spoken=how == "said"), None)
            if found is not None:
                return found
    return None


def _found(sentence: str, *, spoken: bool) -> Iterator[Passing]:
    low = plain(sentence)
    words = WORDS.findall(low)
    if not words or len(words) > MOST_WORDS or sentence.rstrip().endswith("?"):
        return
    ends = phrases("passing", "ends", "english")
    if ends.at(words) == len(words):
        yield Passing("close", "")
        return
    skip = _patterns()["skip"].match(low)
    if skip is not None:
        yield Passing("time", _cut(sentence[skip.start(1) :]))
        return
    cut = _patterns()["cut"].match(low)
    if cut is not None:
        yield Passing("place", _cut(sentence[cut.start(1) :]))
        return
    if not_now().intersection(words[4:] if spoken else ()):
        return
    for name in ("later", "next", "at"):
        match = _patterns()[name].match(low)
        if match is not None and re.match(GOES_ON, sentence[match.end() :]):
            yield Passing("time", _cut(sentence[: match.end()]))
            return
    move = _patterns()["move"].search(low)
    if move is not None and not not_now().intersection(words):
        yield Passing("place", _cut(sentence[move.start("where") :]))


def not_now() -> frozenset[str]:
    """Words in whose sentence nothing happens now."""
    return phrases("passing", "not_now", "english").words


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    told = language("english")["passing"]

    def any_of(role: str) -> str:
        return "|".join(re.escape(word) for word in told[role].split())

    unit = rf"(?:{any_of('units')})s?"
    number = rf"(?:\d{{1,4}}|{any_of('numbers')})"
    by = r"(?:later|(?:have |has )?pass(?:es|ed)?(?: by)?|go(?:es)? by|went by|after that|comes? and go(?:es)?)"
    return {
        "skip": re.compile(
            r"(?:time ?skip|let'?s (?:skip|fast[- ]forward)|we (?:skip|fast[- ]forward)|skip|fast[- ]forward)"
            r"(?: ahead| forward)?(?: to)?\s*:?\s+(?!to\b)(\w.*)"
        ),
        "cut": re.compile(r"cut to\s+(.+)"),
        "later": re.compile(
            rf"(?:(?:about|almost|nearly|over|only|just|and|then|exactly) )?"
            rf"(?:(?:{number} (?:of )?)+(?:\w+ )?{unit} {by}|(?:{number} )?{unit} {by}|some time (?:later|passes)"
            rf"|(?:much )?later (?:that|the same) {unit})\b"
        ),
        "next": re.compile(
            r"(?:(?:early|late|on|in|by|then) )*(?:the (?:very )?(?:next|following)|that(?: same)?) "
            rf"{unit}\b(?! \w+ed\b)"
        ),
        "at": re.compile(rf"(?:at|by|just before|shortly after) (?:{any_of('times')})\b(?=,)"),
        "move": re.compile(
            rf"\b(?:we|they|i take \w+ .*and we|all (?:\w+ )?of (?:us|them))(?: all| both| then| now| quickly| slowly)*"
            rf" (?:{any_of('moves')})\b(?: \w+){{0,2}}?(?: (?:to|into|at|in|onto|up to|out to|down to))? "
            r"(?P<where>(?:the|our|my|his|her|their|an?) \w+.*)"
        ),
    }


def _cut(words: str) -> str:
    """The words to the next mark, in so many characters."""
    return re.split(r"[.,;:!?…—–\"“”*()\n]", words.strip(), maxsplit=1)[0].strip()[:LONGEST]
