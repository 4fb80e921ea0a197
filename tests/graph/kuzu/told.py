"""The events of the graph that the engine is asked about: all that is expected of an answer is read off from here.

Two chats in main, one of them in a project, a document of that project, and a what-if that left the first chat.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from graph.events import EntityNoted, Event, ObservationMade, ProjectMade, Recalled, TurnSaid
from tests.graph.deeds import begin, fork, hide, pin, rate, rename, titled
from tests.graph.talk import NOON, reply, said
from tests.graph.teach import noted, observed, read, retire, support

AT = round(NOON.timestamp() * 1000)
HOUR = 3_600_000
DAY = 24 * HOUR  # the second chat is of the day after
TEXTS = {
    "b0": "Anna sails to Senja",
    "b1": "A fine boat",
    "b2": "Anna and Ben meet at 8080",
    "b3": "See you there",
    "b4": "A secret",
    "c0": "Ben bakes bread",
    "c1": "With rye?",
    "c2": "Anna likes rye",
    "c3": "Never mind",
    "f0": "What if it rains",
}
WHEN = {id: AT + int(id[1]) * HOUR + (DAY if id[0] == "c" else 0) for id in TEXTS} | {"f0": AT + 5 * HOUR}


def _said(id: str, session: str, parent: str | None) -> TurnSaid:
    return said(id, session, parent=parent, text=TEXTS[id], said_at=WHEN[id])


def _reply(id: str, session: str, parent: str, *, ms: float, tokens: int, recalled: Sequence[Recalled] = ()) -> Event:
    cost: Mapping[str, Any] = {"model": "tiny", "total_ms": ms, "completion_tokens": tokens}
    return reply(id, session, parent=parent, text=TEXTS[id], said_at=WHEN[id], recalled=recalled, **cost)


def _names(turn: str, *people: str) -> list[EntityNoted]:
    return [noted(each, each.title(), turn) for each in people]


SAILS = observed("o1", "b0", text="Anna sails.", confidence=0.75, about=("anna",))
BAKES = observed("o2", "c0", text="Ben bakes.", category="preference", confidence=0.5, about=("ben",))
RYE = observed("o3", "c1", after=BAKES, text="Ben bakes rye.", category="preference", origin="user", about=("ben",))
BOAT = observed(
    "o4", "b2", text="Anna has a boat.", category="plan", status="candidate", confidence=0.25, about=("anna",)
)
HATES = observed("o5", "c0", text="Ben hates bread.", category="state")
PAPER = observed("o6", "k0", text="It was read.", confidence=0.5)
SECRET = observed("o7", "b4", text="It is secret.")

EVENTS: tuple[Event, ...] = (
    ProjectMade(project="sail", text="The trip north"),
    begin("boat", project="sail"),
    rename("boat", "Boats"),
    _said("b0", "boat", None),
    *_names("b0", "anna"),
    noted("senja", "Senja", "b0", category="place"),
    _reply("b1", "boat", "b0", ms=1500, tokens=12),
    _said("b2", "boat", "b1"),
    *_names("b2", "anna", "ben"),
    SAILS,
    support("o1", "b2", 0.125),
    BOAT,
    _reply(
        *("b3", "boat", "b2"),
        ms=2500,
        tokens=7,
        recalled=(
            Recalled(id="b0", score=0.5, ranks={"lexical": 1}),
            Recalled(id="o1", kind="observation", score=0.25, ranks={"semantic": 2, "graph": 3}),
        ),
    ),
    rate("b2", 2, by="user"),
    pin("b0"),
    pin(observation="o1"),
    _said("b4", "boat", "b3"),
    SECRET,
    hide("b4"),
    begin("cook"),
    _said("c0", "cook", None),
    *_names("c0", "ben"),
    _reply("c1", "cook", "c0", ms=500, tokens=3),
    _said("c2", "cook", "c1"),
    *_names("c2", "anna"),
    BAKES,
    RYE,
    HATES,
    _said("c3", "cook", "c1"),  # in the place of c2, which is off the path now
    retire("o5", "c3"),
    titled("cook", "Bread", "c0"),
    *read("d1", "k0", "k1", project="sail"),
    PAPER,
    fork("if", "boat", "b1", "dream"),
    _said("f0", "if", "b1"),
)  # fmt: skip


def _numbers() -> Iterator[tuple[str, int]]:
    for number, event in enumerate(EVENTS, start=1):
        match event:
            case TurnSaid(turn=id) | ObservationMade(observation=id):
                yield f"seq {id}", number
            case EntityNoted(entity=id, by_turn=by):
                yield f"seq {id} by {by}", number


# What texts of conformance.toml mean.
STANDS_FOR: dict[str, Any] = {
    **dict(_numbers()),
    **{f"at {id}": at for id, at in WHEN.items()},
    "null": None,
    "1 day, 1:00:00": timedelta(days=1, hours=1),
}
