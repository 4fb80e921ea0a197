"""What the tests of recall share: a small memory of two chats, its vectors, and a way to ask it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from graph.memory import Memory
from graph.values import Filters, Hit, Vector
from tests.graph.deeds import begin
from tests.graph.talk import reply, said

MODEL = "toy@1"
AXES = ("sea", "bread", "boat", "money")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

Ask = Callable[..., list[Hit]]


def ms(*when: int) -> int:
    """A moment as it is stored."""
    return int(datetime(*when, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]


def toward(*axes: str) -> Vector:
    """The vector of a question about some of the axes."""
    values = np.array([axis in axes for axis in AXES], np.float32)
    return Vector(MODEL, values / np.linalg.norm(values))


def embed(memory: Memory, meaning: Mapping[str, Sequence[str]]) -> None:
    """Keep vectors for texts, by the axes that each is about; others get one that leans nowhere."""
    found = memory.unembedded(MODEL, 1_000)
    rows = [np.array([axis in meaning.get(text, AXES) for axis in AXES], np.float32) for _, text in found]
    memory.keep_vectors(MODEL, [(hash, row) for (hash, _), row in zip(found, rows, strict=True)])


@pytest.fixture
def chats(memory: Memory) -> Memory:
    """Two chats: Anna at the sea, then bread with the assistant."""
    memory.append(
        begin("sea", project="trip", said_at=ms(2026, 3, 3, 9)),
        said("a1", "sea", text="Where did you go on Sunday?", said_at=ms(2026, 3, 3, 9)),
        said(
            "a2", "sea", parent="a1", speaker="Anna", text="To the tide pools, they were full of starfish",
            said_at=ms(2026, 3, 3, 9, 1),
        ),
        reply("a3", "sea", parent="a2", text="That sounds lovely, was it cold?", said_at=ms(2026, 3, 3, 9, 2)),
        said(
            "a4", "sea", parent="a3", speaker="Anna", text="Freezing, my toes went blue",
            said_at=ms(2026, 3, 3, 9, 3),
        ),
        begin("oven", said_at=ms(2026, 5, 5, 9)),
        said("b1", "oven", text="My sourdough never rises", said_at=ms(2026, 5, 5, 9)),
        reply("b2", "oven", parent="b1", text="Feed the starter twice a day", said_at=ms(2026, 5, 5, 9, 1)),
        said("b3", "oven", parent="b2", text="It doubled overnight, thank you", said_at=ms(2026, 5, 5, 9, 2)),
    )  # fmt: skip
    return memory


@pytest.fixture
def ask(chats: Memory) -> Ask:
    def recall(
        query: str, *, vector: Vector | None = None, limit: int = 10, now: datetime = NOW, **filters: object
    ) -> list[Hit]:
        narrowed = Filters(**filters)  # type: ignore[arg-type]
        return chats.recall.search(query, vector=vector, filters=narrowed, now=now, timezone=UTC, limit=limit)

    return recall


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def named(id: str, hits: Sequence[Hit]) -> Hit:
    """The one hit with an id."""
    (found,) = (hit for hit in hits if hit.id == id)
    return found


def boosts(hit: Hit) -> set[str]:
    return {boost.name for boost in hit.boosts}
