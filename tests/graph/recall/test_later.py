"""What was said later on the topic of something stands beside it, as far as it is seen, and never what only asks."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from graph.events import ObservationKind, Relation, RelationNoted
from graph.memory import Memory
from graph.recall.later import MOST
from tests.graph.deeds import begin, hide, rate, unhide, what_if
from tests.graph.recall.conftest import embed, ms
from tests.graph.talk import said
from tests.graph.teach import noted, observed

SKODA, SOLD, BREAD, ASKED = "I drive an old Skoda", "sold it, I cycle now", "the bread did not rise", "what do I drive?"
OVEN = ("My sourdough never rises", "It doubled overnight, thank you")
MEANING: dict[str, Sequence[str]] = {
    **{text: ["sea"] for text in (SKODA, SOLD, ASKED)},
    **{text: ["bread"] for text in (BREAD, *OVEN)},
}


def life(memory: Memory, *later: str) -> None:
    """A fact, and what was said in the weeks after it."""
    memory.append(begin("car"))
    before = None
    for number, text in enumerate((SKODA, *later)):
        memory.append(said(f"c{number}", "car", text=text, parent=before, said_at=ms(2026, 4, 1 + number, 9, 0)))
        before = f"c{number}"


def beside(memory: Memory, id: str, *, world: str = "main") -> list[str]:
    return [each.turn for each in memory.recall.later([id], world=world, project=None).get(id, ())]


def test_what_was_said_later_on_the_topic_is_told_and_nothing_else(chats: Memory) -> None:
    life(chats, BREAD, SOLD, ASKED)
    assert beside(chats, "c0") == [], "without vectors nothing is"
    embed(chats, MEANING)
    assert beside(chats, "c0") == ["c2"]
    assert beside(chats, "c2") == []
    (told,) = chats.recall.later(["c0"], world="main", project=None)["c0"]
    assert (told.text, told.session, told.role, told.speaker) == (SOLD, "car", "user", "you")
    assert int(told.at.timestamp() * 1000) == ms(2026, 4, 3, 9, 0)
    hits = chats.recall.search("Skoda", now=datetime(2026, 5, 1, tzinfo=UTC), timezone=UTC)
    assert [[each.turn for each in hit.later] for hit in hits if hit.id == "c0"] == [["c2"]]
    chats.append(rate("c3", 1))
    assert "c3" in beside(chats, "c0"), "what tells something of weight counts though it asks too"


def test_the_newest_comes_first_and_there_are_few_and_what_matters_more_is_among_them(chats: Memory) -> None:
    life(chats, *[SOLD] * (MOST + 1))
    embed(chats, MEANING)
    found = beside(chats, "c0")
    assert len(found) == MOST
    assert found == sorted(found, reverse=True)
    chats.append(*(rate(f"c{number + 1}", 1) for number in range(MOST + 1)))
    assert "c1" in beside(chats, "c0")
    chats.append(*(rate(f"c{number + 2}", 2) for number in range(MOST)))
    assert "c1" not in beside(chats, "c0")


def test_of_a_memory_it_is_what_followed_all_that_says_it(chats: Memory) -> None:
    """ "You own Skoda" is like nothing that anybody says of a car: of how two stand the words count that told it."""
    life(chats, SOLD)
    owns: dict[str, Any] = {
        "text": "You own Skoda.",
        "category": ObservationKind.RELATIONSHIP,
        "about": ("you", "skoda"),
    }
    chats.append(observed("o1", "c0", text=SKODA), noted("skoda", "Skoda", "c0", category="thing"))
    chats.append(observed("o2", "c0", **owns))
    chats.append(RelationNoted.of("o2", Relation(subject="you", kind="owns", object="skoda")))
    chats.append(observed("o3", "c0", text="You own Skoda."))
    embed(chats, {**MEANING, "You own Skoda.": ["bread"]})
    assert beside(chats, "o1") == beside(chats, "o2") == ["c1"]
    assert "c1" not in beside(chats, "o3")
    (listed,) = chats.readings.with_later(list(chats.readings.observations(["o1"]).values()))
    assert [each.turn for each in listed.later] == ["c1"]


def test_what_is_hidden_or_of_another_world_is_not_told(chats: Memory) -> None:
    life(chats, SOLD)
    embed(chats, MEANING)
    chats.append(hide("c1"))
    assert beside(chats, "c0") == []
    chats.append(unhide("c1"), what_if("w", "car", "c1"))
    chats.append(said("w1", "w", text=SOLD, parent="c1", said_at=ms(2026, 4, 9, 9, 0)))
    embed(chats, MEANING)
    assert beside(chats, "c0") == ["c1"]
    assert beside(chats, "c0", world="w") == ["w1", "c1"]
