"""What was said later on the topic of something stands beside it, as far as it is seen, and never what only asks."""

from collections.abc import Sequence
from datetime import UTC, datetime

from graph.events import ObservationKind, Relation, RelationNoted
from graph.memory import Memory
from graph.recall.later import MOST
from tests.graph.recall.conftest import embed, ms
from tests.graph.recall.test_learned import made
from tests.graph.talk import begin, hide, rate, said, unhide, what_if
from tests.graph.teach import noted

SKODA, SOLD, BREAD, ASKED = "I drive an old Skoda", "sold it, I cycle now", "the bread did not rise", "what do I drive?"
OVEN = ("My sourdough never rises", "It doubled overnight, thank you")
MEANING: dict[str, Sequence[str]] = {
    SKODA: ["sea"],
    SOLD: ["sea"],
    ASKED: ["sea"],
    **{text: ["bread"] for text in (BREAD, *OVEN)},
}


def life(memory: Memory, *later: str) -> None:
    """A fact, and what was said in the weeks after it."""
    memory.append(begin("car"))
    before = None
    for number, text in enumerate((SKODA, *later)):
        memory.append(said(f"c{number}", "car", text=text, parent=before, said_at=ms(2026, 4, 1 + number, 9, 0)))
        before = f"c{number}"
    embed(memory, MEANING)


def beside(memory: Memory, id: str, *, world: str = "main") -> list[str]:
    return [each.turn for each in memory.recall.later([id], world=world, project=None).get(id, ())]


def test_what_was_said_later_on_the_topic_is_told_and_nothing_else(chats: Memory) -> None:
    life(chats, BREAD, SOLD, ASKED)
    assert beside(chats, "c0") == ["c2"]
    assert beside(chats, "c2") == []
    (told,) = chats.recall.later(["c0"], world="main", project=None)["c0"]
    assert (told.text, told.session, told.role, told.speaker) == (SOLD, "car", "user", "you")
    assert int(told.at.timestamp() * 1000) == ms(2026, 4, 3, 9, 0)


def test_the_newest_comes_first_and_there_are_few(chats: Memory) -> None:
    life(chats, *[SOLD] * (MOST + 2))
    found = beside(chats, "c0")
    assert len(found) == MOST
    assert found == sorted(found, reverse=True)


def test_of_a_memory_it_is_what_followed_all_that_says_it(chats: Memory) -> None:
    life(chats, SOLD)
    chats.append(made("o1", "c0", text=SKODA))
    embed(chats, MEANING)
    assert beside(chats, "o1") == ["c1"]
    (listed,) = chats.readings.with_later(list(chats.readings.observations(["o1"]).values()))
    assert [each.turn for each in listed.later] == ["c1"]


def test_of_how_two_stand_to_each_other_it_is_what_followed_the_words_that_told_it(chats: Memory) -> None:
    """ "You own Skoda" is like nothing that anybody says of a car."""
    life(chats, SOLD)
    relation = Relation(subject="you", kind="owns", object="skoda")
    chats.append(
        noted("skoda", "Skoda", "c0", category="thing"),
        made("o1", "c0", text="You own Skoda.", category=ObservationKind.RELATIONSHIP, about=("you", "skoda")),
        RelationNoted.of("o1", relation),
        made("o2", "c0", text="You own Skoda."),
    )
    embed(chats, {**MEANING, "You own Skoda.": ["bread"]})
    assert beside(chats, "o1") == ["c1"]
    assert "c1" not in beside(chats, "o2")


def test_what_matters_more_comes_before_what_is_as_near(chats: Memory) -> None:
    life(chats, *[SOLD] * (MOST + 1))
    chats.append(*(rate(f"c{number + 1}", 1) for number in range(MOST + 1)))
    assert "c1" in beside(chats, "c0")
    chats.append(*(rate(f"c{number + 2}", 2) for number in range(MOST)))
    assert "c1" not in beside(chats, "c0")


def test_one_that_tells_something_of_weight_counts_though_it_asks_too(chats: Memory) -> None:
    life(chats, ASKED)
    assert beside(chats, "c0") == []
    chats.append(rate("c1", 1))
    assert beside(chats, "c0") == ["c1"]


def test_what_is_hidden_or_of_another_world_is_not_told(chats: Memory) -> None:
    life(chats, SOLD)
    chats.append(hide("c1"))
    assert beside(chats, "c0") == []
    chats.append(unhide("c1"))
    chats.append(what_if("w", "car", "c1"))
    chats.append(said("w1", "w", text=SOLD, parent="c1", said_at=ms(2026, 4, 9, 9, 0)))
    embed(chats, MEANING)
    assert beside(chats, "c0") == ["c1"]
    assert beside(chats, "c0", world="w") == ["w1", "c1"]


def test_recall_gives_it_with_the_hit(chats: Memory) -> None:
    life(chats, SOLD)
    hits = chats.recall.search("Skoda", now=datetime(2026, 5, 1, tzinfo=UTC), timezone=UTC)
    assert [[each.turn for each in hit.later] for hit in hits if hit.id == "c0"] == [["c1"]]


def test_without_vectors_nothing_is(chats: Memory) -> None:
    chats.append(begin("car"))
    chats.append(said("c0", "car", text=SKODA), said("c1", "car", text=SOLD, parent="c0"))
    assert beside(chats, "c0") == []
