"""Communities of the memory graph: what belongs together is found, by meaning or by words, the same way each time."""

import numpy as np
import pytest

from graph.errors import GraphFailure
from graph.events import Event, Relation, RelationNoted
from graph.memory import Memory
from graph.recall import communities, ties
from graph.values import Community, Filters
from tests.graph.conftest import ignore
from tests.graph.deeds import begin, delete, hide
from tests.graph.recall.conftest import AXES, MODEL
from tests.graph.talk import said, talk
from tests.graph.teach import noted, observed, retire

TOPICS = {
    "sea": ["The tide pools had starfish", "Starfish cling to the tide pools", "A crab hid in the tide pools"],
    "bread": ["My sourdough starter bubbles", "Feed the sourdough starter rye", "The sourdough starter smells sour"],
    "boat": ["Tom put a sail on the boat", "The boat needs a new sail", "We set the sail of the boat"],
}


def fill(memory: Memory, *, rounds: int = 4) -> None:
    """Chats that jump between the topics, so that only likeness tells them apart."""
    events: list[Event] = []
    for number in range(rounds):
        session, parent = f"s{number}", None
        events.append(begin(session))
        for topic, texts in TOPICS.items():
            turn, text = f"{session}-{topic}", f"{texts[number % len(texts)]}, said number {number}"
            events.append(said(turn, session, parent=parent, text=text))
            parent = turn
    memory.append(*events)


def embed(memory: Memory) -> None:
    found = memory.unembedded(MODEL, 1_000)
    of_text = {text: topic for topic, texts in TOPICS.items() for text in texts}
    about = [of_text[text.split(", said")[0]] for _, text in found]
    rows = [np.array([0.1 + (axis == topic) for axis in AXES]) for topic in about]
    memory.keep_vectors(MODEL, [(hash, row) for (hash, _), row in zip(found, rows, strict=True)])


def topics(found: list[Community]) -> list[set[str]]:
    """The topics of the turns of each community."""
    return [{turn.id.split("-")[1] for turn in each.turns} for each in found]


@pytest.mark.restarts
def test_what_is_alike_is_one_community_with_its_own_words_the_same_each_time(whole: Memory) -> None:
    fill(whole)
    embed(whole)
    for model in (MODEL, None, "unknown@0"):
        found = whole.recall.communities(model)
        assert sorted(map(sorted, topics(found))) == [["boat"], ["bread"], ["sea"]]
        assert {each.size for each in found} == {4}
        words = {min(topic): each.words for topic, each in zip(topics(found), found, strict=True)}
        assert "boat" in words["boat"]
        assert {"sourdough", "starter"} <= set(words["bread"])
        assert {"tide", "pools"} <= set(words["sea"])
    assert whole.recall.communities(None, filters=Filters(person="nobody")) == []
    before = whole.recall.communities(MODEL)
    whole.rebuild(ignore)
    assert whole.recall.communities(MODEL) == before


def test_hidden_and_deleted_turns_are_in_none_and_limits_hold(whole: Memory) -> None:
    fill(whole, rounds=5)
    embed(whole)
    whole.append(hide("s0-sea"), delete("s1-sea"))
    found = whole.recall.communities(MODEL, limit=2, per=3)
    assert [each.size for each in found] == [5, 5]
    assert all(len(each.turns) == 3 for each in found)
    everything = {turn.id for each in whole.recall.communities(MODEL, per=99) for turn in each.turns}
    assert everything & {"s0-sea", "s1-sea"} == set()
    assert len(everything) == 13


def test_a_memory_too_small_for_themes_has_none_and_one_without_its_graph_says_why(memory: Memory) -> None:
    with pytest.raises(GraphFailure):
        memory.recall.communities(None)
    memory.open_graph(ignore)
    assert memory.recall.communities(None) == []
    talk(memory, 2)
    assert memory.recall.communities(None) == []
    assert memory.recall.communities(None, limit=0) == []


def test_a_large_memory_is_seen_in_part_also_old_and_connected(whole: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(whole, rounds=20)
    embed(whole)
    monkeypatch.setattr(communities, "MOST_TURNS", 30)
    found = whole.recall.communities(MODEL, per=99)
    ids = {turn.id for each in found for turn in each.turns}
    assert sum(each.size for each in found) == len(ids) == 30
    assert any(id.startswith(("s0-", "s1-", "s2-")) for id in ids)
    assert {"s19-sea", "s19-boat"} <= ids


EVERYTHING = Filters()
APART = (  # things said that share no word, each in a chat of its own
    *("Kayaks glide quietly", "Violins need rosin", "Pepper grows slowly", "Tariffs rise again"),
    *("Moss covers granite", "Lanterns flicker outside", "Gulls nest early", "Hinges creak loudly"),
)


def say_apart(memory: Memory) -> None:
    """Turns t0 … t7, which only what is known ties together, beside themes of other things."""
    fill(memory)
    for number, text in enumerate(APART):
        memory.append(begin(f"apart{number}"), said(f"t{number}", f"apart{number}", text=text))


def name(memory: Memory, entity: str, *turns: str) -> None:
    memory.append(*(noted(entity, entity.title(), turn) for turn in turns))


def together(memory: Memory, filters: Filters = EVERYTHING) -> list[tuple[set[str], tuple[str, ...]]]:
    found = memory.recall.communities(None, filters=filters, per=99)
    groups = [({turn.id for turn in each.turns}, each.people) for each in found]
    return [(turns, people) for turns, people in groups if any(turn.startswith("t") for turn in turns)]


def test_what_names_the_same_person_or_people_who_are_related_is_a_theme_that_names_them(whole: Memory) -> None:
    say_apart(whole)
    name(whole, "ada", "t0", "t1")
    name(whole, "bob", "t2", "t3")
    assert together(whole) == []
    whole.append(observed("works", "t0", text="Ada works with Bob.", about=("ada", "bob")))
    whole.append(RelationNoted.of("works", Relation(subject="ada", kind="works_with", object="bob")))
    ((turns, people),) = together(whole)
    assert (turns, set(people)) == ({"t0", "t1", "t2", "t3"}, {"Ada", "Bob"})
    whole.append(retire("works"))
    assert together(whole) == []
    name(whole, "ada", "t2")
    name(whole, "bob", "t0", "t1")
    assert together(whole) == [({"t0", "t1", "t2", "t3"}, ("Bob", "Ada"))]
    whole.append(hide("t0"))
    assert all("t0" not in turns for turns, _ in together(whole))


def test_a_memory_joins_what_proves_it_in_the_worlds_and_projects_that_see_it(whole: Memory) -> None:
    say_apart(whole)
    whole.append(observed("cold", "t3", "t4", "t5", text="Winter comes."))
    assert together(whole) == [({"t3", "t4", "t5"}, ())]
    assert together(whole, Filters(project="maze")) == []
    whole.append(hide("t5"))
    assert together(whole) == []


def test_a_name_that_everything_shares_tells_nothing_apart(whole: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    say_apart(whole)
    name(whole, "ada", *(f"t{number}" for number in range(6)))
    assert [len(turns) for turns, _ in together(whole)] == [6]
    monkeypatch.setattr(ties, "HUB", 5)
    assert together(whole) == []
    name(whole, "bob", "t0", "t1", "t2")
    assert together(whole) == [({"t0", "t1", "t2"}, ("Bob",))]
