"""All there is to somebody or something, as every face tells it: relationships, beliefs, what was, times, words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from agent.relations.whom import meant
from graph.events import MAIN_WORLD
from graph.readings.memory import MemoryReadings
from graph.relations import kinds
from graph.values import About, Observation, Reference, Wanted
from graph.visibility import EVERYONE, Viewer, sees_said

MOST = 200  # relationships
MOST_BELIEVED = 50


@dataclass(frozen=True, slots=True)
class Moment:
    """What began, ended or was said: on a day, in a month or a year ("2026-10-14", "2026-10", "2026")."""

    when: str
    what: str
    memory: str  # the id of the observation that says so
    over: bool = False  # it does not hold any more


@dataclass(frozen=True, slots=True)
class Dossier:
    """What a world, and there a chat of a project, knows about one name.

    `relationships` in the order of the table of kinds, those that are over last; `believed` is what is in use or under
    review besides, `was` what was superseded or contradicted, with what came instead, if anything did; both the newest
    first. `timeline` is of all of them, the oldest first; `words` are the messages. `wrote` is what chats refer to and
    it wrote, the newest first.
    """

    words: About
    relationships: tuple[Observation, ...] = ()
    believed: tuple[Observation, ...] = ()
    was: tuple[tuple[Observation, Observation | None], ...] = ()
    timeline: tuple[Moment, ...] = ()
    wrote: tuple[Reference, ...] = ()

    @property
    def empty(self) -> bool:
        """Nothing mentions it."""
        words = self.words
        learned = self.relationships or self.believed or self.was
        return not (words.said or words.mentioned or words.turns or learned or self.wrote)


def dossier(
    readings: MemoryReadings,
    name: str,
    *,
    limit: int = 20,
    world: str = MAIN_WORLD,
    project: Viewer = EVERYONE,
    private: bool = True,
) -> Dossier:
    """The dossier of a name, or of whom a word of relationship means, with at most `limit` messages. Blocks.

    Raises Ambiguous where several are meant.

    Without `private` there is neither what waits for review nor what was rejected: both are the user's own affair.
    """
    wanted = meant(readings, name, world=world, project=project if isinstance(project, str) else None)
    asked = Wanted(about=wanted, world=world, viewer=project)
    stands = readings.memories(replace(asked, status="active", related=True), now=datetime.now(UTC), limit=MOST)
    believed = _said(readings, asked if private else replace(asked, status="active"))
    was = _said(readings, replace(asked, status="superseded"))
    was += _said(readings, replace(asked, status="invalid")) if private else []
    was.sort(key=lambda each: each.at, reverse=True)
    instead = {each.supersedes: each for each in (*was, *stands, *believed)}
    stands, believed = (readings.with_later(each, world=world, project=project) for each in (stands, believed))
    return Dossier(
        words=_called(readings.about(wanted, limit=limit, world=world, project=project), (*stands, *believed, *was)),
        relationships=tuple(sorted(stands, key=_place)),
        believed=tuple(believed),
        was=tuple((each, instead.get(each.id)) for each in was[:MOST_BELIEVED]),
        timeline=tuple(_timeline([*stands, *believed], was)),
        wrote=tuple(_wrote(readings, wanted, world, project)) if private else (),
    )


def _wrote(readings: MemoryReadings, name: str, world: str, project: Viewer) -> Iterator[Reference]:
    """What chats that a viewer sees refer to, and those of the name wrote."""
    for each in readings.called(name, world=world):
        for reference in readings.written_by(each.id):
            about = readings.session(reference.session)
            if about.world == world and sees_said(project, about.project):
                yield reference


def _called(words: About, memories: Iterable[Observation]) -> About:
    """The words under the name as it is written, where no speaker and no project has it."""
    names = (name for each in memories for name in each.about if name.casefold() == words.name.casefold())
    return replace(words, name=next(names, words.name)) if words.kind == "word" else words


def _said(readings: MemoryReadings, asked: Wanted) -> list[Observation]:
    """What is about the name, or has it among its words, but for what says no more than a relationship."""
    whole = f'"{(asked.about or "").replace(chr(34), " ")}"'
    named, now = replace(asked, about=None, text=whole), datetime.now(UTC)
    found = [each for wanted in (asked, named) for each in readings.memories(wanted, now=now, limit=MOST)]
    told = {each.id: each for each in found if each.relationship is None or each.text != each.relationship.sentence}
    return list(told.values())[:MOST_BELIEVED]


def _place(memory: Observation) -> tuple[bool, int]:
    told = memory.relationship
    assert told is not None
    return told.until is not None, list(kinds()).index(told.kind)


def _timeline(held: Iterable[Observation], was: Iterable[Observation]) -> list[Moment]:
    found = [(each, moment) for each in held for moment in _moments(each)]
    found += [(each, replace(moment, over=True)) for each in was for moment in _moments(each)]
    found.sort(key=lambda pair: (pair[1].when, pair[0].at, pair[0].id))
    return [moment for _, moment in found]


def _moments(memory: Observation) -> Iterator[Moment]:
    """When it began and ended, where it says so; else when it was said."""
    told = memory.relationship
    if told is None or not (told.since or told.until):
        said = memory.first_seen if memory.supersedes is None else memory.at
        yield Moment(_day(said), (memory.text or "").removesuffix("."), memory.id)
        return
    began = replace(told, since=None, until=None).sentence.removesuffix(".")
    if told.since is not None:
        yield Moment(told.since, began, memory.id, over=told.until is not None)
    if told.until is not None:
        yield Moment(told.until, f"no longer: {began}", memory.id)


def _day(moment: datetime) -> str:
    return date.isoformat(moment.astimezone().date())
