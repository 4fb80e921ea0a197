"""Whether a person's own words correct an observation, so that it may be retired without a review.

They do where a sentence of theirs, in earnest, takes it back or says that it is otherwise now: the same subject, by its
slot or its words, with a mark of correction, change or negation, and not just the same again.
"""

import re
from dataclasses import dataclass

from .clauses import clause, spelled
from .doubt import DOUBT, INJECTED, JOKE, believed
from .grounding import FRAMED, denies
from .sentences import sentences
from .statements import cue_of, slots_of
from .words import content, numbers

SHARED = 0.6  # of the observation's words
BACK = re.compile(
    r"\b(?:not true|wrong|false|incorrect|no longer|any ?more|kidding|joking|made (?:that"
    r"|it) up|lied|misspoke|i meant|not really|outdated|forget)\b",
    re.I,
)
NOT_BUT = (
    re.compile(
        r"\b(?P<right>[\w' -]{2,40}), (?:and )?not (?:in |at |on |a |an |the )?(?P<wrong>[\w'" r" -]{2,40})", re.I
    ),
    re.compile(r"\bnot (?P<wrong>[\w' -]{2,40}?),? but (?P<right>[\w' -]{2,40})", re.I),
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A sentence that says what is right instead of what: "I meant Bosch, not Siemens"."""

    text: str
    right: str
    wrong: str


def corrects(user_words: str, observation: str) -> bool:
    """Whether the words take the observation back, or say that it is otherwise now."""
    if INJECTED.search(user_words):
        return False
    said = sentences(user_words)
    kept = believed(said)
    return any(
        _corrects(sentence.text, observation)
        for sentence, sure in zip(said, kept, strict=True)
        if sentence.own and (sure is not None or _of_a_joke(sentence.text)) and not sentence.text.rstrip().endswith("?")
    )


def corrections(user_words: str) -> list[Correction]:
    """What was meant instead of what, where a sentence says so."""
    found = []
    for sentence in believed(sentences(user_words)):
        for pattern in NOT_BUT if sentence is not None else ():
            if sentence is not None and len(sentence.text) <= 300 and (match := pattern.search(sentence.text)):
                found.append(Correction(sentence.text, match["right"].strip(), match["wrong"].strip()))
                break
    return found


def _of_a_joke(text: str) -> bool:
    """ "I was joking about the potato" is in earnest, about a joke."""
    return bool(
        re.search(r"\bi(?: was|['’]m| am) (?:just |only )?(?:kidding|joking) (?:about|when)\b", text, re.I)
        and JOKE.search(text)
    )


def _corrects(sentence: str, observation: str) -> bool:
    if DOUBT.search(sentence) or len(sentence) > 400:
        return False
    told, mine = _words(observation), _words(sentence)
    shared = len(told & mine)
    same_words = bool(told) and shared >= SHARED * len(told)
    same_subject = bool(slots_of(sentence) & slots_of(observation))
    opposed = denies(sentence) != denies(observation)
    if BACK.search(spelled(sentence)) and (same_words or (shared and same_subject)):
        return True
    if same_subject:
        return opposed or (cue_of(sentence) != "new" and not told <= mine)
    if _wrong_one(sentence, told):
        return True
    return same_words and opposed and clause(sentence) is not None


def _wrong_one(sentence: str, told: set[str]) -> bool:
    """Whether it names, as what is not, a word of the observation, and as what is, none of it."""
    for pattern in NOT_BUT:
        match = pattern.search(sentence)
        if (
            match
            and _words(match["wrong"]) & told
            and not _words(match["right"]) & (told - _words(match["wrong"])) - _words(match["wrong"])
        ):
            return True
    return False


def _words(text: str) -> set[str]:
    return (set(content(text)) - FRAMED) | numbers(text)
