"""Turns, observations and a store of them, as small as the pure parts of reflection need them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from agent.reflection.likeness import shared
from agent.reflection.material import Material
from graph.events import Event, ObservationKind
from graph.memory import Memory
from graph.values import NearObservation, Observation, Recorded, Session, Story, Turn, Unreflected, Vector

DAY = datetime(2026, 5, 1, tzinfo=UTC)


def said(id: str, text: str, *, speaker: str = "you", role: str = "user", days: int = 10) -> Turn:
    """A turn, some days after DAY."""
    at = DAY + timedelta(days=days)
    return Turn(id, "chat", None, 0, role, speaker, text, at, "test")


def known(id: str, text: str | None, **changes: Any) -> Observation:
    """An active observation of the user's, made from turn `old`, said on DAY."""
    whole = Observation(
        id=id,
        series=id,
        text=text,
        kind=ObservationKind.FACT,
        status="active",
        confidence=0.8,
        grounded=True,
        origin="verbatim",
        world="main",
        project=None,
        scope="global",
        at=DAY,
        first_seen=DAY,
        live=True,
        current=True,
        pinned=False,
        proof_count=1,
        trend="new",
        times=(DAY,),
        sources=("old",),
        supports=(),
        about=("you",),
        reference_count=0,
        last_referenced_at=None,
    )
    return replace(whole, **changes)


def material(*turns: Turn, **changes: Any) -> Material:
    """What a reflection is about."""
    whole = Material(
        reflection="r",
        turns=tuple(turn.id for turn in turns),
        said=tuple(turn for turn in turns if turn.role != "assistant"),
        replies=tuple(turn for turn in turns if turn.role == "assistant"),
        session="chat",
        world="main",
        project=None,
    )
    return replace(whole, **changes)


@dataclass
class Shelf:
    """A store with the given observations, of which all are near to everything, the likest words first."""

    observed: list[Observation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    ratings: dict[str, int] = field(default_factory=dict)
    reinforced: set[tuple[str, str]] = field(default_factory=set)

    @property
    def readings(self) -> "Shelf":
        return self

    @property
    def graph_ready(self) -> bool:
        return True

    def near(
        self,
        text: str,
        *,
        vector: Vector | None,
        world: str,
        project: str | None,
        limit: int = 15,
        under_review: bool = False,
    ) -> list[NearObservation]:
        status = ("candidate", "active") if under_review else ("active",)
        found = [
            NearObservation(each, 0.0, shared(text, each.text or "")) for each in self.observed if each.status in status
        ]
        return sorted(found, key=lambda near: -near.words)[:limit]

    def entities(self, names: Iterable[str], *, world: str) -> dict[str, str]:
        return {name: self.names[name] for name in names if name in self.names}

    def judged(self, turns: Iterable[str]) -> dict[str, int]:
        return {turn: self.ratings[turn] for turn in turns if turn in self.ratings}

    def taught(self, turns: Iterable[str]) -> dict[str, set[str]]:
        return {}

    def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> list[Turn]:
        return []

    def memory(self, id: str, *, world: str | None = None) -> Story:
        raise NotImplementedError

    def append(self, *events: Event) -> list[Recorded]:
        self.events += events
        return []

    def session(self, id: str) -> Session:
        raise NotImplementedError

    def quotable(self, ids: Iterable[str]) -> dict[str, Turn]:
        raise NotImplementedError

    def observations(self, ids: Iterable[str], *, world: str | None = None) -> dict[str, Observation]:
        wanted = set(ids)
        return {each.id: each for each in self.observed if each.id in wanted}

    def unreflected(self, limit: int) -> list[Unreflected]:
        return []

    def unreflected_count(self) -> int:
        return 0


async def no_vectors(texts: Sequence[str]) -> list[Vector | None]:
    """There is no embedder."""
    return [None] * len(texts)


def shelf(*args: Any, **kwargs: Any) -> Memory:
    """A Shelf, as the memory it stands for."""
    return cast(Memory, Shelf(*args, **kwargs))
