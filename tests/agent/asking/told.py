"""A memory with a bit of everything in it, for queries that are to give what their titles say."""

from datetime import UTC, datetime
from typing import Any

from graph import events
from graph.memory import Memory
from tests.graph.talk import reply, said
from tests.graph.teach import observed, read

Kind = events.ObservationKind
MARCH, NOVEMBER = (2026, 3, 10), (2026, 11, 5)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def at(day: tuple[int, int, int], hour: int = 12, minute: int = 0) -> dict[str, Any]:
    """When something was said."""
    return {"said_at": int(datetime(*day, hour, minute, tzinfo=UTC).timestamp() * 1000)}


def noted(entity: str, name: str, *turns: str, category: Any = "person") -> list[events.EntityNoted]:
    """Turns name somebody."""
    return [events.EntityNoted(entity=entity, category=category, by_turn=turn, text=name) for turn in turns]


def tell(memory: Memory) -> None:
    """Two chats of March and November, a what-if of the second, a document, and what was learned of all that."""
    memory.append(
        events.SessionStarted(session="spring", client="test", **at(MARCH)),
        said("a1", "spring", text="Anna Berg planted a garden with Ben.", **at(MARCH, 9)),
        reply("a2", "spring", parent="a1", text="A garden is a fine thing.", total_ms=900.0, **at(MARCH, 9, 1)),
        said("a3", "spring", parent="a2", text="Anna Berg's gardens are in Oslo. ANNA BERG!", **at(MARCH, 9, 2)),
        reply("a4", "spring", parent="a3", text="Oslo is cold.", total_ms=2500.0, **at(MARCH, 9, 3)),
        events.SessionTitled(session="spring", sources=("a1",), text="Gardens"),
        events.SessionStarted(session="autumn", client="test", **at(NOVEMBER)),
        events.SessionRenamed(session="autumn", text="Sailing"),
        said("b1", "autumn", text="Ben likes planning boats, and I like tea.", **at(NOVEMBER, 15)),
        reply(
            "b2", "autumn", parent="b1", text="Boats need wind.", total_ms=100.0, **at(NOVEMBER, 15, 1),
            recalled=(events.Recalled(id="a1"),),
        ),
        said("b3", "autumn", parent="b2", text="I moved from Oslo to Bergen.", **at(NOVEMBER, 15, 2)),
        said("b4", "autumn", parent="b3", text="A secret about Anna Berg.", **at(NOVEMBER, 15, 3)),
        *noted("anna", "Anna Berg", "a1", "a3", "b4"),
        *noted("ben", "Ben", "a1", "b1"),
        *noted("oslo", "Oslo", "a3", "b3", category="place"),
        *noted("bergen", "Bergen", "b3", category="place"),
        events.TurnHidden(turn="b4"),
        events.PinSet(turn="b1"),
    )  # fmt: skip
    lives = observed("oslo-home", "a3", text="The user lives in Oslo.", category=Kind.STATE)
    memory.append(
        lives,
        observed("bergen-home", "b3", after=lives, text="The user lives in Bergen.", category=Kind.STATE),
        observed("tea", "b1", text="The user likes tea.", category=Kind.PREFERENCE),
        events.ObservationSupported(observation="tea", source="b3"),
        events.ObservationReinforced(observation="tea", by_turn="a3", step=0.1, before=0.7, after=0.8),
        observed("anna-garden", "a1", text="She has a garden.", about=("anna",)),
        observed(
            "boat-plan", "b1", text="The user plans a boat.", category=Kind.PLAN, status="candidate",
            confidence=0.4,
        ),
        observed("nonsense", "b1", text="The user is a boat."),
        events.ObservationRejected(observation="nonsense"),
        observed("secret", "b4", text="There is a secret about Anna Berg.", about=("anna",)),
        events.PinSet(observation="tea"),
        reply(
            "b5", "autumn", parent="b4", text="Tea it is.", recalled=(events.Recalled(id="tea", kind="observation"),),
            **at(NOVEMBER, 15, 4),
        ),
        *read("manual", "c1", "c2"),
        events.SessionForked(session="whatif", origin="autumn", at="b3", world="whatif", client="test"),
        said("w1", "whatif", parent="b3", text="What if Anna Berg sailed a boat?"),
        *noted("anna", "Anna Berg", "w1"),
    )  # fmt: skip
