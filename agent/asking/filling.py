"""A match made a query: what its subjects, its time and its small words mean, as parameters and conditions."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any, Literal, TypeVar

from agent.asking.readings import NONE
from graph.querying.lexing import parameters_of
from graph.recall.times import Span

from .matching import AskedQuestion, Match, Matcher
from .readings import LONGEST_SUBJECT, MOST_WORDS
from .shelf import ENTITIES, Speaker, fill, of_entities, of_speaker, of_time, ready_queries
from .values import Translation

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
    _fill_speaker(made, match)
    _fill_kinds(made, match)
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
