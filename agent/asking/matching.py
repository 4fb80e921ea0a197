"""Which ready query a question comes nearest to, by vectors or words, and the match made a query with its values.

Invariants:
- The examples are embedded once for each embedder, by the engine behind whatever is being written; their vectors are
  kept in a small file that is only a cache.
- Cosines are taken from the middle of all examples: what all questions have in common says nothing, and how near any
  two texts are differs from one embedder to another.
"""

import asyncio
import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar
from zipfile import BadZipFile

from agent.asking.readings import (
    LONGEST_SUBJECT,
    MOST_WORDS,
    NONE,
    STANDS,
    Example,
    Language,
    Reading,
    languages,
    readings,
    tidy,
)
from agent.asking.shelf import (
    ENTITIES,
    Speaker,
    Translation,
    fill,
    of_entities,
    of_relationship,
    of_speaker,
    of_time,
    ready_queries,
)
from graph.console.lexing import parameters_of
from graph.recall.times import Span, find_time
from graph.relations import kinds
from graph.values import YOU, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


RECENT = timedelta(days=30)
SURE = 0.6  # of a cosine; tests/agent/asking/test_questions.py measures how often that is right
SURE_BY_WORDS = 0.7  # of the words
MARGIN = 0.06  # to the next nearest query: else it may be that one
WORD_FOR_WORD = 0.99  # what is more is an example itself
LIKELY = 0.4  # what is further away is not even offered

Timed = tuple[Reading, Span | None]  # a reading, and the time that was taken out of the question for it
Vectors = tuple["NDArray[np.float32]", "Sequence[NDArray[np.float32]]"]


class VectorSource(Protocol):
    """What makes vectors, as agent/embedding.py does; None where it cannot."""

    @property
    def key(self) -> str | None: ...

    async def query(self, text: str) -> Vector | None: ...

    async def vectors(self, texts: Sequence[str]) -> list[Vector | None]: ...


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question in plain words, and what it is read with.

    `names` are those that the memory knows, `speakers` of them who wrote messages, both by casefolded name; `now` is
    aware.
    """

    text: str
    names: Mapping[str, str]
    speakers: Mapping[str, str]
    now: datetime
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class Match:
    """The example that a question comes nearest to of those of one ready query.

    It is `sure` only where it is near, and no other query nearly as near.
    """

    example: Example
    reading: Reading
    span: Span | None
    language: Language
    score: float
    sure: bool


class Matcher:
    """Compares questions with the examples of all languages; `file` keeps the vectors of these."""

    def __init__(self, embedder: VectorSource, file: Path) -> None:
        self._embedder = embedder
        self._file = file
        self._kept: tuple[str, NDArray[np.float32]] | None = None

    async def matches(self, question: AskedQuestion) -> list[Match]:
        """The nearest example of each ready query, and of what none answers, the nearest first."""
        spoken = await asyncio.to_thread(languages)
        vectors = await self._vectors([example.text for language in spoken for example in language.phrasings])
        found: list[Match] = []
        for language in spoken:
            read = await asyncio.to_thread(_read_in, language, question)
            asked = None if vectors is None else await self._embedded([reading.text for reading, _ in read])
            compared = None if vectors is None or asked is None else (vectors[: len(language.phrasings)], asked)
            vectors = None if vectors is None else vectors[len(language.phrasings) :]
            found += await asyncio.to_thread(_compare, read, compared, language)
        nearest: dict[str, Match] = {}
        for match in sorted(found, key=lambda match: -match.score):
            nearest.setdefault(match.example.query, match)
        scores = [match.score for match in nearest.values()]
        alone = len(scores) < 2 or scores[0] - scores[1] >= MARGIN or scores[0] > WORD_FOR_WORD > scores[1]
        return [replace(match, sure=match.sure and alone and at == 0) for at, match in enumerate(nearest.values())]

    async def _embedded(self, texts: Sequence[str]) -> "list[NDArray[np.float32]] | None":
        found = [each.values for each in await asyncio.gather(*map(self._embedder.query, texts)) if each is not None]
        return found if len(found) == len(texts) else None

    async def _vectors(self, texts: Sequence[str]) -> "NDArray[np.float32] | None":
        """float32[len(texts), dimension] of the examples, or None where there is no embedder, or this one fails."""
        key = self._embedder.key
        if key is None:
            return None
        import numpy as np

        name = hashlib.sha256("\n".join((key, *texts)).encode()).hexdigest()
        if self._kept is None or self._kept[0] != name:
            rows = await asyncio.to_thread(_read, self._file, name)
            if rows is None:
                found = [each.values for each in await self._embedder.vectors(texts) if each is not None]
                if len(found) < len(texts):
                    return None
                rows = np.stack(found)
                await asyncio.to_thread(_write, self._file, name, rows)
            self._kept = name, rows
        return self._kept[1]


def _read_in(language: Language, question: AskedQuestion) -> list[Timed]:
    """The readings of a question without its time, each with it, and those in which it is part of a name."""
    text = language.bare(tidy(question.text))
    span = find_time(text, now=question.now, timezone=question.zone) or _recently(text, language, question.now)
    found: list[Timed] = []
    if span is not None:
        cut = language.bare(span.cut(text))
        found += [(reading, span) for reading in readings(cut, language, question.names)]
    whole = readings(text, language, question.names)
    return [*found, *((reading, None) for reading in whole if span is None or _holds(reading, span))]


def _recently(text: str, language: Language, now: datetime) -> Span | None:
    said = next((each for each in language.recently if text.casefold().endswith(f" {each}")), None)
    return None if said is None else Span((now - RECENT).astimezone(UTC), None, ((len(text) - len(said), len(text)),))


def _holds(reading: Reading, span: Span) -> bool:
    """Whether a time ends within what is quoted or known: "Friday" may be somebody's name."""
    return all(any(start < last <= end for start, end in reading.named) for _, last in span.places)


def _compare(read: Sequence[Timed], vectors: "Vectors | None", language: Language) -> list[Match]:
    """What is likely of each reading and example, wherever as many subjects are asked for as there are."""
    texts = [reading.text for reading, _ in read]
    rows = [_by_words(text, language) for text in texts] if vectors is None else _cosines(*vectors)
    sure = SURE_BY_WORDS if vectors is None else SURE
    return [
        Match(example, reading, span, language, score, score >= sure and language.knows(reading.text))
        for (reading, span), row in zip(read, rows, strict=True)
        for example, score in zip(language.phrasings, row, strict=True)
        if score >= LIKELY and len(example.slots) == len(reading.subjects) and (span is not None or not example.timed)
    ]


def _cosines(examples: "NDArray[np.float32]", vectors: "Sequence[NDArray[np.float32]]") -> list[list[float]]:
    import numpy as np

    if not vectors:
        return []
    middle = examples.mean(axis=0)
    found: list[list[float]] = (_unit(np.stack(vectors) - middle) @ _unit(examples - middle).T).tolist()
    return found


def _unit(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def _by_words(text: str, language: Language) -> list[float]:
    """The share of words that a text has in common with each example, rare words counting more (Dice, by idf)."""
    asked = frozenset(language.stems(text))
    whole = sum(map(language.weight, asked))
    return [2 * sum(map(language.weight, asked & words)) / (whole + weight or 1) for words, weight in language.bags]


def _read(file: Path, name: str) -> "NDArray[np.float32] | None":
    import numpy as np

    try:
        with np.load(file, allow_pickle=False) as kept:
            found: NDArray[np.float32] | None = kept["rows"] if str(kept["name"]) == name else None
            return found
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None  # lost or damaged: they are made again


def _write(file: Path, name: str, rows: "NDArray[np.float32]") -> None:
    import numpy as np

    partial = file.with_suffix(".part")
    try:
        with partial.open("wb") as beside:
            np.savez(beside, name=np.array(name), rows=rows)
        partial.replace(file)
    except OSError:
        return  # it is only a cache


COUNT, MOST = 20, 500
_NAMES = ("name", "one", "other")
_MESSAGES: dict[Speaker, str] = {
    "everybody": "messages",
    "you": "your messages",
    "assistant": "the assistant's replies",
}


class Unfit(Exception):
    """A question that only looked like one of these."""


@dataclass(slots=True)
class _Made:
    """Parameters, places in the Cypher and places in the sentence, as they come."""

    parameters: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)


async def nearest(question: AskedQuestion, matcher: Matcher) -> Translation | None:
    """The ready query that a question comes nearest to and that has a place for what it says; None where none does."""
    for match in await matcher.matches(question):
        if match.example.query == NONE:
            return None
        with suppress(Unfit):
            return translation(match, question)
    return None


def translation(match: Match, question: AskedQuestion) -> Translation:
    """The query of a match. Raises Unfit where it has no place for what was said, or names nobody there is."""
    query = ready_queries()[match.example.query]
    made = _Made()
    if match.span is not None and not query.time:
        raise Unfit  # a time that was said is never left out
    _fill_subjects(made, match, question)
    if query.mine and query.mine not in made.parameters:
        made.parameters[query.mine], made.words[query.mine] = YOU, YOU
    _fill_speaker(made, match)
    _fill_kinds(made, match)
    _fill_relationship(made, match)
    _fill_numbers(made, match, question)
    if match.span is not None:
        _fill_time(made, match.span, query.time, question.zone)
    cypher = query.filled(**made.places)
    wanted = [name for name in parameters_of(cypher) if name != "world"]
    if not made.parameters.keys() >= set(wanted):
        raise Unfit  # memories of no kind
    parameters = {name: made.parameters[name] for name in wanted}
    how: Literal["template", "nearest"] = "template" if match.sure else "nearest"
    return Translation(question.text, cypher, parameters, how, fill(query.about, made.words), ready=query.id)


def _fill_subjects(made: _Made, match: Match, question: AskedQuestion) -> None:
    known = []
    for slot, said in zip(match.example.slots, match.reading.subjects, strict=True):
        if len(said) > LONGEST_SUBJECT or len(said.split()) > MOST_WORDS or not any(map(str.isalnum, said)):
            raise Unfit
        value = said
        if slot in _NAMES:
            name = _known(said, question.names)
            known.append(name)
            value = name or said
        elif slot == "who":
            value = question.speakers.get(said.casefold(), "")
            if not value:
                raise Unfit  # of somebody who never wrote here nothing can be found
            made.places["by"] = " AND lower(t.speaker) = lower($who)"
            made.words |= {each: f"messages of “{value}”" for each in ("messages", "all_messages")}
        parameter = "what" if slot == "name" else slot
        made.parameters[parameter] = value
        made.words[parameter] = f"“{value}”"
    distinct = {value.casefold() for value in made.parameters.values()}
    if (known and not any(known)) or len(distinct) < len(match.example.slots):
        raise Unfit


def _known(said: str, names: Mapping[str, str]) -> str | None:
    """The name that is meant: this one in any case, or the only longer one that begins with these words."""
    key = said.casefold()
    longer = [name for folded, name in names.items() if folded.startswith(f"{key} ")]
    return names.get(key) or (longer[0] if len(longer) == 1 else None)


def _fill_speaker(made: _Made, match: Match) -> None:
    """Whose messages count: the first word for somebody says so."""
    if "by" in made.places:
        return
    speakers = {word: speaker for speaker, words in match.language.speakers.items() for word in words}
    said = (speakers.get(word) for word in match.reading.text.casefold().split())
    speaker: Speaker = next((each for each in said if each), "everybody")
    made.places["by"] = of_speaker(speaker)
    made.words["messages"] = _MESSAGES[speaker]
    made.words["all_messages"] = "all messages" if speaker == "everybody" else _MESSAGES[speaker]


def _fill_kinds(made: _Made, match: Match) -> None:
    """Of which kind the names are, and the memories."""
    said = match.reading.text.casefold().split()
    entities = _spoken_of(said, match.language.entities)
    entities = ENTITIES if entities is None else entities
    made.places["entities"] = of_entities(entities)
    made.words["entities"] = match.language.entities[entities][0]
    memories = _spoken_of(said, match.language.observations)
    if memories is not None:
        made.parameters["kind"], made.words["kind"] = str(memories), f"“{memories}”"


def _fill_relationship(made: _Made, match: Match) -> None:
    """Of which kind a relationship is, which end of it is asked for, and whether it is over."""
    example = match.example
    if example.query != STANDS:
        return
    over = any(word in match.language.over for word in match.reading.text.casefold().split())
    made.places["related"] = of_relationship(example.kind, example.asked, over=over if example.kind else None)
    whose = made.words["what"]
    made.words["relationship"] = f"The relationships of {whose}"
    if example.kind:
        told = kinds()[example.kind]
        made.parameters["kind"] = example.kind
        if example.asked == "who":
            made.words["relationship"] = f"Who {told.ended if over else told.label} {whose}"
        else:
            made.words["relationship"] = f"Who or what {f'{whose} {told.ended}' if over else f'{told.inverse} {whose}'}"


AnyKind = TypeVar("AnyKind", bound=str)


def _spoken_of(words: Sequence[str], kinds: Mapping[AnyKind, Collection[str]]) -> AnyKind | None:
    return next((kind for word in words for kind, named in kinds.items() if word in named), None)


def _fill_numbers(made: _Made, match: Match, question: AskedQuestion) -> None:
    """How many, and how far the wall clock of here and now is from UTC, in milliseconds."""
    numbers = (int(word) for word in match.reading.text.split() if word.isdecimal() and word.isascii())
    made.places["count"] = made.words["count"] = str(min(max(next(numbers, COUNT), 1), MOST))
    offset = question.now.astimezone(question.zone).utcoffset() or timedelta(0)
    made.parameters["offset"] = int(offset.total_seconds() * 1000)


def _fill_time(made: _Made, span: Span, column: str, zone: tzinfo) -> None:
    bounds = [("since", ">=", span.since), ("until", "<", span.until)]
    said = [(name, sign, moment) for name, sign, moment in bounds if moment is not None]
    made.places["time"] = of_time(column, *((name, sign) for name, sign, _ in said))
    made.parameters |= {name: moment.astimezone(zone).isoformat(timespec="seconds") for name, _, moment in said}
    made.words["when"] = _when(span, zone)
    made.words["made"] = f", made{made.words['when']}"


def _when(span: Span, zone: tzinfo) -> str:
    """A time in a sentence, with a blank before it."""
    match span.since, span.until:
        case datetime() as since, None:
            return f" since {_day(since, zone)}"
        case None, datetime() as until:
            return f" before {_day(until, zone)}"
        case datetime() as since, datetime() as until:
            first, last = _day(since, zone), _day(until, zone)
            if "," in first or "," in last:  # a time of day
                return f" from {first} to {last}"
            last = _day(until - timedelta(hours=1), zone).partition(",")[0]
            return f" on {first}" if first == last else f" from {first} to {last}"
    return ""


def _day(moment: datetime, zone: tzinfo) -> str:
    local = moment.astimezone(zone)
    day = f"{local.day} {local:%B} {local.year}"
    return day if (local.hour, local.minute) == (0, 0) else f"{day}, {local:%H:%M}"
