"""The prose that a story begins with, read for what to confirm before play: where, when, who is there, and doing what.

Modest rules over the words of english.toml and german.toml: each value is a piece of the prose, with the sentence it
stands in; what is not found is empty, and nothing is added. What is said in direct speech is not looked at.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.story.names import Named, Names, Part, Token, plain
from agent.story.telling import pieces
from agent.story.words import common, language, phrases

LANGUAGES = ("english", "german")
SENTENCE = 120  # words of a sentence that are read
FIRST = 2  # sentences that may begin with the place
AROUND = 6  # words of the name of a place, and of each place it is in
HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
CLOCK = re.compile(
    r"\b(?:\d{1,2}[:.]\d\d(?:\s?[ap]\.?m\b\.?)?(?:\s?uhr)?(?!\d)|\d{1,2}\s?(?:[ap]\.?m\b\.?|o['’]clock|uhr)"
    rf"|(?:{HOURS})\s+o['’]clock|(?:half|(?:a\s+)?quarter|five|ten|twenty)\s+(?:past|to)\s+(?:{HOURS}))",
    re.I,
)
AFTER = re.compile(r"(?<=[.!?])\s+(?=\S)")
LAST = Token(Part.END, "", "", 0, 0)
LABEL = re.compile(r"^[ \t>*_-]*(?P<label>[^\W\d_]+)[*_]*[ \t]*:[*_ \t]*(?![*_ \t])(?P<value>[^\n]*[^\s*_])", re.M)


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of the prose, and the sentence or line that it stands in."""

    value: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Person:
    """A member who is there; `where` is "" where it is not said."""

    id: str
    where: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Activity:
    """The sentence that tells what a member is doing."""

    id: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Kickoff:
    """What the prose says of a beginning; `met`: whether the two characters know each other, None for nothing said."""

    place: Found | None = None
    clock: Found | None = None
    daytime: Found | None = None
    weather: Found | None = None
    people: tuple[Person, ...] = ()
    activities: tuple[Activity, ...] = ()
    met: bool | None = None
    met_sentence: str = ""


def parse(prose: str, members: Sequence[Named], *, you: str | None = None) -> Kickoff:
    """What the prose says of where, when and with whom a story begins.

    `members`: everybody of the story; `you` is the id of whoever the prose calls "you" or "I", and `met` is of the two
    others. Each is taken from where it is said first.
    """
    words = _Words(_language_of(prose))
    sentences = [*_sentences(prose, Names(members, common=common()))]
    told = _labelled(prose, words)
    when = told.get("time")
    people = [_person(sentences, member.id, words, you=you) for member in members]
    activities = [_activity(sentences, member.id, words, you=you) for member in members]
    met, sentence = _met(sentences, [member.id for member in members if member.id != you], words)
    return Kickoff(
        place=told.get("place") or _place(sentences, words),
        clock=_clock(when.value, when.sentence) if when else _first(_clock(each.text, each.text) for each in sentences),
        daytime=_daytime_of(when, words) if when else _first(_daytime(each, words) for each in sentences),
        weather=told.get("weather") or _first(_weather(each, words) for each in sentences),
        people=tuple(each for each in people if each is not None),
        activities=tuple(each for each in activities if each is not None),
        met=met,
        met_sentence=sentence,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """What a language's file says of beginnings."""

    language: str

    @property
    def data(self) -> Mapping[str, Any]:
        told: Mapping[str, Any] = language(self.language)["kickoff"]
        return told

    def starts(self, role: str, lows: Sequence[str], at: int = 0) -> int:
        """How many words from `at` on make the longest phrase of a role; 0 where none begins there."""
        return phrases("kickoff", role, self.language).at(lows, at)

    def has(self, role: str, lows: Sequence[str]) -> bool:
        return any(self.starts(role, lows, at) for at in range(len(lows)))

    def is_place(self, low: str) -> bool:
        """Whether a word is called as places are; in German by its last part."""
        places = phrases("kickoff", "places", self.language).words
        return low in places or (self.data.get("endings", False) and low.endswith(tuple(places)))


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence as it is written, and its tokens, cut off where it is too long."""

    text: str
    tokens: tuple[Token, ...]
    lows: tuple[str, ...]

    def slice(self, start: int, end: int) -> str:
        """The words from one token up to another, as they are written."""
        first = self.tokens[0].start
        return self.text[self.tokens[start].start - first : self.tokens[end - 1].end - first]

    def is_word(self, at: int) -> bool:
        return 0 <= at < len(self.tokens) and self.tokens[at].part in (Part.WORD, Part.NAME)


def _language_of(prose: str) -> str:
    """The language most of whose small words the prose has; English where none stands out."""
    words = re.findall(r"[^\W\d_]+", plain(prose[:4000]))
    told = {
        name: sum(word in {*map(plain, language(name)["kickoff"]["marks"])} for word in words) for name in LANGUAGES
    }
    return max(LANGUAGES, key=lambda name: told[name])


def _sentences(prose: str, names: Names) -> Iterator[_Sentence]:
    """The sentences outside of direct speech."""
    parts = [*pieces(prose)]
    spoken = any(part.how == "told" for part in parts)
    for part in parts:
        tokens: list[Token] = []
        for token in (*names.tokens("" if spoken and part.how == "said" else part.text), LAST):
            if token.part is not Part.END:
                tokens.append(token)
            elif tokens:
                end = token.end if token is not LAST else tokens[-1].end
                kept = tuple(tokens[:SENTENCE])
                yield _Sentence(part.text[kept[0].start : end].rstrip(), kept, tuple(each.low for each in kept))
                tokens = []


def _labelled(prose: str, words: _Words) -> dict[str, Found]:
    """What lines such as "Place: the lighthouse" say."""
    found: dict[str, Found] = {}
    for match in LABEL.finditer(prose):
        for role, labels in words.data["labels"].items():
            if plain(match["label"]) in map(plain, labels):
                value = AFTER.split(match["value"], maxsplit=1)[0].removesuffix(".")
                if any(char.isalnum() for char in value):
                    found.setdefault(role, Found(value, match[0].strip()))
    return found


def _first(found: Iterable[Found | None]) -> Found | None:
    return next((each for each in found if each is not None), None)


def _clock(text: str, sentence: str) -> Found | None:
    match = CLOCK.search(text)
    return None if match is None else Found(match[0], sentence)


def _daytime_of(when: Found, words: _Words) -> Found | None:
    """The time of day that a labelled time tells, or the whole of it where it tells no clock."""
    tokens = tuple(Names((), common=()).tokens(when.value))
    told = _daytime(_Sentence(when.value, tokens, tuple(each.low for each in tokens)), words) if tokens else None
    if told is not None:
        return Found(told.value, when.sentence)
    return None if CLOCK.search(when.value) else when


def _daytime(sentence: _Sentence, words: _Words) -> Found | None:
    if words.has("elsewhere", sentence.lows):
        return None
    for at, token in enumerate(sentence.tokens):
        size = words.starts("daytimes", sentence.lows, at)
        named = token.part is Part.NAME and token.sure
        if size and not named and not words.starts("other_days", sentence.lows, at - 1):
            return Found(sentence.slice(at, at + size), sentence.text)
    return None


def _weather(sentence: _Sentence, words: _Words) -> Found | None:
    """The first weather, with what is said of it beside it: "heavy rain and wind"."""
    lows = sentence.lows
    if words.has("elsewhere", lows):
        return None
    for at, token in enumerate(sentence.tokens):
        size = words.starts("weather", lows, at)
        if (
            not size
            or token.part is not Part.WORD
            or any(words.starts("figurative", lows, at - back) for back in (0, 1))
        ):
            continue
        start, end = at, at + size
        while words.starts("weathers", lows, start - 1) and lows[start - 1] not in words.data["and"]:
            start -= 1
        after = end
        while after < len(lows) and (
            more := words.starts("weather", lows, after) or words.starts("weathers", lows, after)
        ):
            after += more
            end = after if words.starts("weather", lows, after - more) else end
        return Found(sentence.slice(start, end), sentence.text)
    return None


def _place(sentences: Sequence[_Sentence], words: _Words) -> Found | None:
    """The first place that something is in, at or of; else one that the first sentences begin with."""
    for role in ("containing", "belonging"):
        for sentence in (each for each in sentences if not words.has("elsewhere", each.lows)):
            for at in range(len(sentence.tokens)):
                start = at + words.starts(role, sentence.lows, at)
                end = _place_end(sentence, start, words, called=role == "containing") if start > at else None
                if end is not None:
                    return Found(sentence.slice(start, end), sentence.text)
    for at, sentence in enumerate(sentences):
        end = _place_end(sentence, 0, words, called=False)
        if end is not None and (at < FIRST or words.starts("are", sentence.lows, end)):
            return Found(sentence.slice(0, end), sentence.text)
    return None


def _place_end(sentence: _Sentence, start: int, words: _Words, *, called: bool = True) -> int | None:
    """Where a place ends that begins there, with the places it is in; `called`: by a name of its own too."""
    end = _one_place_end(sentence, start, words, called=called)
    while end is not None:
        size = words.starts("chaining", sentence.lows, end)
        more = _one_place_end(sentence, end + size, words, called=True) if size else None
        if more is None:
            return end
        end = more
    return None


def _one_place_end(sentence: _Sentence, start: int, words: _Words, *, called: bool) -> int | None:
    lows = sentence.lows
    first = start + words.starts("determiners", lows, start)
    found = None
    for at in range(first, min(first + AROUND, len(lows))):
        ends = (
            words.starts("prepositions", lows, at)
            or words.starts("chaining", lows, at)
            or words.starts("cuts", lows, at)
        )
        if not sentence.is_word(at) or ends or words.starts("determiners", lows, at):
            break
        found = at + 1 if words.is_place(lows[at]) else found
    if found is None and not called:
        return None
    end = _capitals_end(sentence, found or first, words)
    return end if end > first else None


def _capitals_end(sentence: _Sentence, at: int, words: _Words) -> int:
    """Where words with capitals that name no member end."""
    while sentence.is_word(at) and sentence.tokens[at].capital and not words.starts("no_places", sentence.lows, at):
        if sentence.tokens[at].part is Part.NAME:
            break
        at += 1
    return at


def _subjects(sentence: _Sentence, id_: str, words: _Words, *, you: str | None) -> Iterator[tuple[int, int]]:
    """Where a member is who does something, and where what they do may be told: after names that are joined."""
    for at, token in enumerate(sentence.tokens):
        named = (
            token.part is Part.NAME and token.ids == {id_} and not token.possessive and (token.sure or token.capital)
        )
        if not named and not (id_ == you and token.low in ("you", "i", "du", "ihr", "ich")):
            continue
        before = at - 1
        while before > 0 and sentence.lows[before] in words.data["and"] and sentence.is_word(before - 1):
            if sentence.tokens[before - 1].part is not Part.NAME and sentence.lows[before - 1] not in (
                "you",
                "i",
                "du",
            ):
                break
            before -= 2
        after = at + 1
        while after + 1 < len(sentence.lows) and sentence.lows[after] in words.data["and"]:
            if sentence.tokens[after + 1].part is not Part.NAME and sentence.lows[after + 1] not in ("you", "i", "du"):
                break
            after += 2
        does = words.starts("postures", sentence.lows, after) or words.starts("are", sentence.lows, after)
        begins = before < 0 or not sentence.is_word(before) or words.starts("cuts", sentence.lows, before)
        inverted = words.starts("postures", sentence.lows, before) or words.starts("are", sentence.lows, before)
        if begins or does or inverted:
            yield at, after


def _person(sentences: Sequence[_Sentence], id_: str, words: _Words, *, you: str | None) -> Person | None:
    """A member who is there, from the sentence that tells where, or else from the first that names them as present."""
    there: Person | None = None
    for sentence in sentences:
        for at, after in _subjects(sentence, id_, words, you=you):
            if words.has("absent", sentence.lows[after : after + 8]) or words.has("elsewhere", sentence.lows):
                continue
            if (where := _where(sentence, at, after, words)) is not None:
                return Person(id_, where, sentence.text)
            there = there or Person(id_, "", sentence.text)
        if there is None and _accompanies(sentence, id_, words):
            there = Person(id_, "", sentence.text)
    return there


def _accompanies(sentence: _Sentence, id_: str, words: _Words) -> bool:
    """Whether somebody is with a member: "beside Mara"."""
    return any(
        token.ids == {id_} and not token.possessive and token.sure and words.starts("beside", sentence.lows, at - 1) > 0
        for at, token in enumerate(sentence.tokens)
        if not words.has("elsewhere", sentence.lows) and not words.has("absent", sentence.lows)
    )


def _where(sentence: _Sentence, at: int, after: int, words: _Words) -> str | None:
    """Where somebody is: after "sits" or "is", before "sits Mara", or right after the name."""
    lows = sentence.lows
    posture = words.starts("postures", lows, after) or words.starts("are", lows, after)
    if posture:
        near = range(
            after + posture, min(after + posture + (4 if words.starts("postures", lows, after) else 2), len(lows))
        )
        for start in near:
            if not sentence.is_word(start):
                break
            if words.starts("prepositions", lows, start):
                return _phrase(sentence, start, words)
    elif words.starts("prepositions", lows, after) and words.has("postures", lows[:at]):
        return _phrase(sentence, after, words)
    size = 1 if words.starts("postures", lows, at - 1) or words.starts("are", lows, at - 1) else 0
    if size:
        start = at - size
        while start > 0 and sentence.is_word(start - 1):
            start -= 1
        if words.starts("prepositions", lows, start):
            return sentence.slice(start, at - size)
    return None


def _phrase(sentence: _Sentence, start: int, words: _Words) -> str | None:
    """The words from a preposition on, up to where something else is told."""
    lows, end = sentence.lows, start + words.starts("prepositions", sentence.lows, start)
    while sentence.is_word(end) and not words.starts("cuts", lows, end):
        noun = (
            words.starts("nouns", lows, end) or words.is_place(lows[end]) or words.starts("determiners", lows, end - 1)
        )
        if lows[end].endswith("ing") and not noun:
            break
        end += 1
    size = words.starts("prepositions", lows, start)
    return sentence.slice(start, end) if end > start + size else None


def _activity(sentences: Sequence[_Sentence], id_: str, words: _Words, *, you: str | None) -> Activity | None:
    for sentence in sentences:
        for at, after in _subjects(sentence, id_, words, you=you):
            if not words.has("absent", sentence.lows[after : after + 8]) and _does(sentence, at, after, words):
                return Activity(id_, sentence.text)
    return None


def _does(sentence: _Sentence, at: int, after: int, words: _Words) -> bool:
    """Whether a sentence tells what somebody does: a posture, "is mending", "mends"."""
    lows = sentence.lows
    if not sentence.is_word(after):  # "Mara, the keeper, is mending a net"
        ends = [each for each in range(after + 1, len(lows)) if not sentence.is_word(each)][:1]
        after = ends[0] + 1 if ends else len(lows)
    while after < len(lows) and lows[after].endswith("ly"):
        after += 1
    if words.starts("postures", lows, after) or words.starts("postures", lows, at - 1):
        return True
    if words.starts("are", lows, after):
        return any(low.endswith("ing") or words.starts("postures", (low,)) for low in lows[after + 1 : after + 3])
    if words.starts("prepositions", lows, after) and words.has("postures", lows[:at]):
        return True
    if not sentence.is_word(after) or sentence.tokens[after].part is Part.NAME or sentence.tokens[after].capital:
        return False
    plural = after > at + 1 or sentence.tokens[at].part is Part.WORD
    verb = plural or lows[after].endswith(tuple(words.data["verb_endings"]))
    return verb and not words.starts("no_activity", lows, after)


def _met(sentences: Sequence[_Sentence], pair: Sequence[str], words: _Words) -> tuple[bool | None, str]:
    """Whether two members have met, with the sentence that says so."""
    if len(pair) != 2:
        return None, ""
    for sentence in sentences:
        lows = sentence.lows
        named = {id_ for token in sentence.tokens for id_ in token.ids} & {*pair}
        both = len(named) == 2 or (words.has("together", lows) and not {"you", "i", "du", "ich"} & {*lows})
        if not both or words.has("supposing", lows):
            continue
        for role, met in (("strangers", False), ("acquainted", True)):
            if words.has(role, lows):
                return met, sentence.text
    return None, ""
