"""A graph of which all is known twice: as a memory that is asked in Cypher, and as lists that Python counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from graph.memory import Memory
from tests.graph.deeds import begin, pin
from tests.graph.talk import reply, said
from tests.graph.teach import noted, observed

BEGAN = datetime(2025, 12, 27, 9, 30, 15, tzinfo=UTC)  # in the 52nd week; its turns go on into the year after
LONG, SHORT = 45, 5  # turns: the engine by itself walks 30 steps, and no more
WORDS = ("the boat leaks", "two boats, a pier", "rain; rain", "pack: tent, rope, , map", "see you at 8080")
NAMES = {"anna": (3, 7, 11), "ben": (7, 20)}  # who is named in which turns of the long chat
PINNED = (2, 5, 8)
PROOF = {"o1": ("l0",), "o2": ("l0", "l4"), "o3": ("h1",)}
CONFIDENCE = {"o1": 0.25, "o2": 0.5, "o3": 0.8125}


@dataclass(frozen=True)
class Turn:
    id: str
    session: str
    parent: str | None
    role: str
    text: str
    said: datetime
    index: int
    pinned: bool = False

    @property
    def at(self) -> int:
        return round(self.said.timestamp() * 1000)


def _turns() -> Iterator[Turn]:
    for session, letter, count in (("long", "l", LONG), ("short", "h", SHORT)):
        for index in range(count):
            yield Turn(
                f"{letter}{index}",
                session,
                f"{letter}{index - 1}" if index else None,
                "assistant" if index % 2 else "user",
                f"{WORDS[index % len(WORDS)]} {index}",
                BEGAN + timedelta(hours=31 * index, days=100 * (session == "short")),
                index,
                session == "long" and index in PINNED,
            )


TURNS = tuple(_turns())
BY_ID = {each.id: each for each in TURNS}
EDGES = (
    *(("REPLIES_TO", each.id, each.parent) for each in TURNS if each.parent is not None),
    *(("IN_SESSION", each.id, each.session) for each in TURNS),
    *(("SAID_BY", each.id, "you" if each.role == "user" else "assistant") for each in TURNS),
    *(("MENTIONS", f"l{turn}", name) for name, turns in NAMES.items() for turn in turns),
    *(("DERIVED_FROM", observation, turn) for observation, turns in PROOF.items() for turn in turns),
    ("HEAD", "long", f"l{LONG - 1}"),
    ("HEAD", "short", f"h{SHORT - 1}"),
    *(("IN_WORLD", each, "main") for each in ("long", "short")),
)  # fmt: skip


def tell(memory: Memory) -> None:
    """Put all that into a memory."""
    for session in ("long", "short"):
        events = [
            (reply if each.role == "assistant" else said)(
                each.id, session, parent=each.parent, text=each.text, said_at=each.at
            )
            for each in TURNS
            if each.session == session
        ]
        memory.append(begin(session), *events)
    memory.append(
        *(noted(name, name.title(), f"l{turn}") for name, turns in NAMES.items() for turn in turns),
        *(pin(f"l{turn}") for turn in PINNED),
        *(observed(id, *turns, confidence=CONFIDENCE[id]) for id, turns in PROOF.items()),
    )


def trails(start: str, least: int, most: int, *types: str, ways: str = "both") -> list[tuple[int, str]]:
    """The length and end of each walk that takes no relationship twice."""
    found: list[tuple[int, str]] = []
    open_ends: list[tuple[str, frozenset[int]]] = [(start, frozenset())]
    while open_ends:
        at, gone = open_ends.pop()
        if least <= len(gone):
            found.append((len(gone), at))
        if len(gone) == most:
            continue
        for number, (type, one, other) in enumerate(EDGES):
            if number in gone or (types and type not in types):
                continue
            if one == at and ways in ("both", "out"):
                open_ends.append((other, gone | {number}))
            if other == at and ways in ("both", "in"):
                open_ends.append((one, gone | {number}))
    return sorted(found)
