"""What an export brings, and what is known of the whole of it before the first event is taken in.

Invariant: an event keeps its id wherever it goes, so what is known is known by its id, and a thing that was erased here
is met by its tombstone.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph.codec import KINDS, decode
from graph.errors import InvalidEvent, LogDamaged, LogNewer
from graph.events import (
    Event,
    HeadMoved,
    MarkCleared,
    MarkRestored,
    MarkSet,
    SessionForked,
    TextErased,
    TurnSaid,
    TurnTaken,
    Undone,
)

FORMAT = 1
FIRST_REFUSED = 5  # lines whose refusal is told one by one
OF_THE_LOG = (TextErased, MarkSet, MarkCleared, MarkRestored, Undone)  # these speak of places in a log, not of things


@dataclass(frozen=True, slots=True)
class Brought:
    """One event of an export: its line in the file, its number in the log it is of, and whether its text is erased."""

    line: int
    seq: int
    id: str
    at: int
    event: Event
    erased: bool


@dataclass(slots=True)
class Whole:
    """What all lines of an export say together: the ids of its events, and where each session's head stands at last."""

    ids: set[str] = field(default_factory=set)
    heads: dict[str, tuple[int, str, str | None]] = field(default_factory=dict)  # number and id of the event, the turn

    def add(self, brought: Brought) -> None:
        """Take a line into account; in any order."""
        self.ids.add(brought.id)
        moved = head_of(brought.event)
        if moved is not None:
            session, turn = moved
            before = self.heads.get(session)
            if before is None or before[0] < brought.seq:
                self.heads[session] = (brought.seq, brought.id, turn)


@dataclass(slots=True)
class Merged:
    """What a merge did, in events; `turns` are those of the new ones that were said. `refused` counts by why.

    `erased` were erased here and stay so; `deleted` are deletions of the export that hit something here; `older` are
    changes of something that was changed here later.
    """

    new: int = 0
    turns: int = 0
    known: int = 0
    erased: int = 0
    deleted: int = 0
    older: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    first_refused: list[tuple[int, str]] = field(default_factory=list)  # line and why
    begun: set[str] = field(default_factory=set)  # sessions that were not here before
    grown: set[str] = field(default_factory=set)
    known_sessions: set[str] = field(default_factory=set)
    last_session: str | None = None

    def refuse(self, line: int, error: InvalidEvent) -> None:
        """Note an event that could not follow."""
        why = str(error).removeprefix("The event was not stored: ").rstrip(".")
        self.refused[why if len(self.refused) < 1000 else "others"] += 1
        if len(self.first_refused) < FIRST_REFUSED:
            self.first_refused.append((line, why))


class Unknown(LogNewer):
    """A line that only a newer clew understands."""


def read(line: int, value: Any) -> Brought:
    """The event of a line. Raises LogNewer for one of a newer clew, LogDamaged for one that is none."""
    match value:
        case {
            "seq": int(seq),
            "id": str(id),
            "at": int(at),
            "kind": str(kind),
            "version": int(version),
            "structure": dict(structure),
        }:
            pass
        case _:
            raise LogDamaged("it is no event")
    text = value.get("text")
    if not isinstance(text, str | None) or not id or seq < 1 or version < 1:
        raise LogDamaged("it is no event")
    known = KINDS.get(kind)
    if known is None or version > known.version:
        raise Unknown(f"line {line} has an event this clew does not know ({kind}, version {version})")
    return Brought(line, seq, id, at, _event(kind, version, structure, text), value.get("erased") is True)


def head_of(event: Event) -> tuple[str, str | None] | None:
    """The session whose head an event moves, and the turn it moves to."""
    match event:
        case TurnSaid(queued=False) | TurnTaken() | HeadMoved():
            return event.session, event.turn
        case SessionForked():
            return event.session, event.at
        case _:
            return None


def named_by(event: Event) -> set[str]:
    """Every text in an event's structure: the ids it names among them."""
    return set(_texts(event.model_dump(mode="json", exclude={"text"})))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)


def renamed(event: Event, names: Mapping[str, str]) -> Event:
    """An event with some ids in its structure replaced by others."""
    if not names:
        return event
    fields = event.model_dump(mode="json", exclude={"text"})
    changed = _renamed(fields, names)
    if changed == fields:
        return event
    return type(event).model_validate(changed | ({"text": event.text} if hasattr(event, "text") else {}))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value, value)
        case list():
            return [_renamed(each, names) for each in value]
        case dict():
            return {key: _renamed(each, names) for key, each in value.items()}
        case _:
            return value


def _event(kind: str, version: int, structure: dict[str, Any], text: str | None) -> Event:
    try:
        return decode(kind, version, json.dumps(structure), text)
    except LogDamaged as e:
        raise LogDamaged(f"it is no {kind} as clew writes it") from e
