"""What a member of a story's cast recalls is what it saw, and in no other order than if there had been nothing else."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.events import EntityNoted, ObservationDeleted, Relation, RelationNoted, TurnDeleted
from graph.memory import Memory
from graph.recall import knowing, later, lexical, naming, ranking, scoring, search, walking
from graph.values import CalledBy, Filters, Hit, Reason, Step
from tests.examples import histories
from tests.graph.deeds import hide, rename
from tests.graph.stories.deeds import forks, resets, sits, was_seen
from tests.graph.stories.played import BOTH, CHAT, MARA, STORY, YOU, answers, asks, begun
from tests.graph.stories.twins import BEA, CAST, START_MS, STEPS, TALE, Deed, Tale, Twin, asked, embed, text, told_twice
from tests.graph.teach import observed

NOW = datetime.fromtimestamp(START_MS / 1000, UTC) + timedelta(days=30)
ASKED = st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999)), min_size=4, max_size=8)
STARTS = (
    *("", "What did Ann say about the ", "When did Bea see the ", "Which things are of Ozric, and the ", "How many "),
    *("Who works with Name0? ", "What did Ann tell last week of ", "lately the ", "Where was the Lamp Room "),
    *("Old Salt and Storm King ", "What did we talk about lately?", "your "),
)
NARROWED: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {}, {"roles": frozenset({"assistant"})}, {"person": "ann"}, {"session": "s0"}, {"live": False}),
    *({"since": NOW - timedelta(days=25)}, {"until": NOW - timedelta(days=27)}, {"project": None}),
    *({"kinds": frozenset({"turn"})}, *[{"kinds": frozenset({"observation"})}] * 4),
)

BOUNDS: dict[ModuleType, dict[str, int]] = {
    lexical: {"MOST_TERMS": 3, "FEW": 2},
    naming: {"MOST": 2},
    walking: {"CROWD": 3, "NEWEST": 2, "FOLLOWED": 2},
    knowing: {"NEWEST": 2},
    scoring: {"WEIGHED": 6},
    ranking: {"LOOKED_AT": 8},
    later: {"LOOKED_AT": 6, "CHOSEN_OF": 4},
    search: {"SPARE": 1},
}
Vectors = Literal["", "few", "most"]  # of the texts


@contextmanager
def twins(steps: list[Deed], vectors: Vectors) -> Iterator[tuple[Tale, Twin, Memory]]:
    """Both memories; recall looks no further in them than it does in ones of a thousand times their size."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        for module, bounds in BOUNDS.items():
            for name, bound in bounds.items():
                patched.setattr(module, name, bound)
        tale, twin, memory = told_twice(Path(folder), steps, lambda tale: asked_meanwhile(tale, vectors))
        if any(isinstance(event, TurnDeleted | ObservationDeleted) for _, event in tale.events):
            tale.memory.recall.forget()  # it keeps the vectors that it read, also of what was erased since
        for each in (tale.memory, memory) if vectors else ():
            embed(each, most=vectors == "most")
        try:
            yield tale, twin, memory
        finally:
            tale.memory.close()
            memory.close()


def question(a: int, b: int) -> str:
    return STARTS[a % len(STARTS)] + (text(a // 7, b // 3) if b % 11 else "🙂 ✨")


def searched(memory: Memory, tale: Tale, a: int, b: int, vectors: Vectors) -> list[Hit]:
    """What Bea recalls."""
    query, worlds = question(a, b), list(dict.fromkeys(tale.worlds.values()))
    world = worlds[b % len(worlds)]
    words = memory.recall.spoken(query, now=NOW, timezone=UTC, world=world, witness=BEA)
    held = frozenset(list(tale.turns)[-(a % 6) :] if a % 3 == 0 else ())
    filters = Filters(world=world, witness=BEA, exclude=held, **NARROWED[(a + b) % len(NARROWED)])
    return memory.recall.search(
        query,
        vector=asked(words) if vectors else None,
        filters=filters,
        now=NOW,
        timezone=UTC,
        limit=3 + a % 20,
        kin=(CalledBy("Name0", "mate", "works_with"),) if a % 2 else (),
        asks=frozenset({"works_with"} if b % 2 else ()),
    )


def asked_meanwhile(tale: Tale, vectors: Vectors) -> None:
    """Questions whose answers nobody looks at: what is kept of them must not tell later on."""
    if vectors:
        embed(tale.memory, most=vectors == "most")
    for member in (BEA, None, CAST[0]):
        filters = Filters(world=TALE, witness=member)
        query = question(tale.count, 3 * tale.count)
        tale.memory.recall.search(
            query, vector=asked(query) if vectors else None, filters=filters, now=NOW, timezone=UTC
        )


def beside(memory: Memory, tale: Tale, a: int, b: int, vectors: Vectors) -> dict[str, object]:
    """What else Bea is told of."""
    words, world = text(a, b), TALE
    vector = asked(words) if vectors else None
    everything = [*tale.turns, *tale.made]
    there = memory.recall.in_world(world, witness=BEA)
    return {
        "near": memory.recall.near(words, vector=vector, world=world, project=None, limit=6, witness=BEA),
        "later": memory.recall.later(everything, world=world, project=None, witness=BEA),
        "stands": (there.observations, there.seen(everything)),
        "spoken": memory.recall.spoken(question(a, b), now=NOW, timezone=UTC, world=world, witness=BEA),
    }


@histories(300)
@given(st.sampled_from(("", "few", "most")), STEPS, ASKED)
def test_the_unseen_might_as_well_not_be(vectors: Vectors, steps: list[Deed], questions: list[tuple[int, int]]) -> None:
    with twins(steps, vectors) as (tale, twin, memory):
        for a, b in questions:
            hits = searched(tale.memory, tale, a, b, vectors)
            assert hits == searched(memory, tale, a, b, vectors)
            found = beside(tale.memory, tale, a, b, vectors)
            assert found == beside(memory, tale, a, b, vectors)
            told = repr((hits, found))
            strange = (*twin.unseen, *twin.unknown, *twin.unheard)
            assert [each for each in strange if each in told] == []


DRAWER, WELL = "The key is in the drawer.", "The key is in the well."


def recalled(memory: Memory, query: str, member: str | None, world: str = STORY, **more: Any) -> list[Hit]:
    filters = Filters(world=world, witness=member, **more)
    return memory.recall.search(query, filters=filters, now=NOW, timezone=UTC, limit=50)


def believes(memory: Memory, member: str | None, *, world: str = STORY) -> set[str]:
    """What a member believes of the key."""
    hits = recalled(memory, "Where is the key?", member, world, kinds=frozenset({"observation"}))
    found = memory.recall.in_world(world, witness=member).observations
    assert {hit.id for hit in hits} == {id for id, stands in found.items() if stands.current}
    return {hit.text for hit in hits}


def hidden_away(memory: Memory, origin: str) -> None:
    """Mara and you see the key in the drawer; you alone see it thrown into the well."""
    memory.append(*begun(), asks("k1", text="I put the key into the drawer", saw=BOTH))
    memory.append(asks("k2", "k1", text="I throw the key into the well", saw=(YOU,)))
    memory.append(before := observed("b1", "k1", world=STORY, text=DRAWER))
    after = observed("b2", "k2", after=before, world=STORY, text=WELL, origin=origin)
    memory.append(after.model_copy(update={"sources": ("k2",)}) if origin == "verbatim" else after)


@pytest.mark.parametrize("origin", ["model", "verbatim", "user"])
def test_whoever_was_away_believes_what_was_so_before_until_they_see_the_rest(memory: Memory, origin: str) -> None:
    hidden_away(memory, origin)
    assert (believes(memory, YOU), believes(memory, MARA)) == ({WELL}, {DRAWER})
    assert believes(memory, None) == {WELL}, "whoever plays sees it as it is"
    assert [id for id, *_ in near(memory, DRAWER, MARA)] == ["b1"]
    assert [id for id, *_ in near(memory, WELL, YOU)] == ["b2"]
    memory.append(was_seen("k2", BOTH))
    assert believes(memory, MARA) == {WELL}
    memory.append(was_seen("k2", (YOU,)))
    assert believes(memory, MARA) == {DRAWER}
    memory.append(hide("k1"))
    assert believes(memory, MARA) == set()


def near(memory: Memory, words: str, member: str) -> list[tuple[str, float, float]]:
    return memory.recall.near(words, vector=None, world=STORY, project=None, limit=5, witness=member)


def test_a_reset_begins_what_is_known_anew_and_is_taken_back(memory: Memory) -> None:
    hidden_away(memory, "model")
    memory.append(resets(MARA, memory.head()))
    assert (recalled(memory, "key", MARA), believes(memory, MARA)) == ([], set())
    assert believes(memory, YOU) == {WELL}
    memory.append(asks("k3", "k2", text="The key is wet"))
    assert [hit.id for hit in recalled(memory, "key", MARA)] == ["k3"]
    memory.append(resets(MARA))
    assert believes(memory, MARA) == {DRAWER}


def test_a_what_if_begins_with_what_was_seen_and_goes_its_own_way(memory: Memory) -> None:
    hidden_away(memory, "model")
    memory.append(forks("if", "k2", "if"))
    assert [hit.id for hit in recalled(memory, "key", MARA, "if")] == ["b1"]
    memory.append(asks("f1", "k2", session="if", text="Mara finds the key", saw=BOTH))
    found = {hit.id: hit for hit in recalled(memory, "finds", MARA, "if")}
    assert found["k1"].path == (Step("lexical", "f1"), Step("REPLIED_TO", "k1")), "there was nothing between, for her"
    assert "f1" not in {hit.id for hit in recalled(memory, "finds", MARA)}
    memory.append(resets(MARA, memory.head()))
    assert believes(memory, MARA, world="if") == {DRAWER}, "it left before that"


def lifted(hits: list[Hit]) -> set[str]:
    """Those that come first because of who said them."""
    return {hit.id for hit in hits if any(boost.name == "speaker" for boost in hit.boosts)}


def test_others_are_called_and_meant_by_the_names_they_have_now_and_their_chats_by_none(memory: Memory) -> None:
    memory.append(*begun(), rename(CHAT, "The murder of Ilya"))
    memory.append(asks("k1", text="The lamp is lit"), answers("k2", "k1", text="Who lit it?"))
    hits = recalled(memory, "What did Mara ask about the lamp?", YOU)
    assert {(hit.id, hit.speaker, hit.session_name) for hit in hits} == {("k1", "Ilya", None), ("k2", "Mara", None)}
    assert {hit.id for hit in recalled(memory, "lamp", YOU, person="mara")} == {"k2"}
    assert {hit.session_name for hit in recalled(memory, "lamp", None)} == {"The murder of Ilya"}
    assert recalled(memory, "lamp", YOU, world="main") == recalled(memory, "lamp", "nobody") == []
    assert lifted(hits) == {"k2"}
    by_name = [f"What did {name} say of the lamp?" for name in ("Mara", "Marta")]
    assert [lifted(recalled(memory, each, YOU)) for each in by_name] == [{"k2"}, set()]
    memory.append(sits(MARA, "host", None, "Marta"))
    assert [lifted(recalled(memory, each, YOU)) for each in by_name] == [set(), {"k2"}]
    assert {hit.speaker for hit in recalled(memory, "lamp", YOU)} == {"Ilya", "Marta"}


def test_what_others_said_later_may_outdate_what_a_member_knows(memory: Memory) -> None:
    memory.append(*begun(), asks("k1", text=DRAWER, said_at=START_MS))
    memory.append(answers("k2", "k1", text=WELL, said_at=START_MS + 1))
    memory.append(asks("k3", "k2", text=f"{WELL} No.", saw=(YOU,), said_at=START_MS + 2))
    embed(memory)
    for member, told in ((MARA, ["k2"]), (YOU, ["k3", "k2"])):
        found = memory.recall.later(["k1"], world=STORY, project=None, witness=member)
        assert [each.turn for each in found["k1"]] == told
    assert memory.recall.later(["k3"], world=STORY, project=None, witness=MARA) == {}


def test_themes_are_of_what_was_seen(whole: Memory) -> None:
    kinds = {"sea": "the tide pools had starfish", "oven": "the sourdough starter bubbles"}
    whole.append(*begun())
    parent = None
    for number in range(16):
        topic, saw = ("sea", BOTH) if number % 2 else ("oven", (YOU,))
        words = f"{kinds[topic]}, number {number}" if topic == "sea" else f"{kinds[topic]}, nonce{number}"
        whole.append(asks(f"{topic}{number}", parent, text=words, saw=saw))
        parent = f"{topic}{number}"
    whole.append(*[EntityNoted(entity="e", category="person", by_turn=f"sea{n}", text="Ozric") for n in (1, 3, 5)])
    whole.append(EntityNoted(entity="e", category="person", by_turn="oven0", text="nonce Ozric"))
    found = whole.recall.communities(None, filters=Filters(world=STORY, witness=MARA))
    assert found, "she saw enough for one"
    assert "nonce" not in repr([(each.words, each.people, [turn.text for turn in each.turns]) for each in found])
    assert {turn.id for each in found for turn in each.turns} <= {f"sea{n}" for n in range(16)}
    assert [each.people for each in found if each.people] == [("Ozric",)]
    every = whole.recall.communities(None, filters=Filters(world=STORY, witness=YOU))
    assert "nonce" in repr(every)


@pytest.mark.restarts
def test_a_past_knows_what_was_known_then(whole: Memory) -> None:
    hidden_away(whole, "model")
    then = whole.head()
    whole.append(was_seen("k2", BOTH), resets(YOU, whole.head()))
    assert (believes(whole, YOU), believes(whole, MARA)) == (set(), {WELL})
    with whole.past(then) as past:
        found = past.recall.in_world(STORY, witness=MARA).observations
        assert {id for id, stands in found.items() if stands.current} == {"b1"}
        filters = Filters(world=STORY, witness=MARA)
        hits = past.recall.search("key well", filters=filters, now=NOW, timezone=UTC)
        assert {hit.id for hit in hits} == {"b1"}


def test_words_and_names_that_were_erased_are_nobodys(memory: Memory) -> None:
    hidden_away(memory, "model")
    (noted,) = memory.append(EntityNoted(entity="e", category="person", by_turn="k1", text="Ozric"))
    memory.append(observed("b3", "k1", world=STORY, text="Someone put it there.", about=("e", MARA)))
    memory.append(RelationNoted.of("b3", Relation(subject="e", kind="knows", object=MARA)))
    assert {hit.way for hit in recalled(memory, "Ozric", MARA)} - {""} == {"Ozric —knows→ Mara"}
    memory.erase(noted.seq)
    assert recalled(memory, "Ozric", MARA) == []


@pytest.mark.parametrize("meanwhile", [False, True])
def test_that_something_unseen_has_a_vector_tells_nothing(memory: Memory, meanwhile: bool) -> None:
    memory.append(*begun(), asks("k1", text="The lamp is lit"), answers("k2", "k1", text="Who lit it?"))
    if meanwhile:
        memory.append(asks("k3", "k2", text="The storm is near", saw=(YOU,)))
        storm = asked("storm")
        (found,) = [hash for hash, of in memory.unembedded(storm.model, 9) if of == "The storm is near"]
        memory.keep_vectors(storm.model, [(found, storm.values)])
    filters = Filters(world=STORY, witness=MARA)
    hits = memory.recall.search(
        "What did Ilya say?", vector=asked("What did I say?"), filters=filters, now=NOW, timezone=UTC
    )
    assert [(hit.id, hit.reasons) for hit in hits] == [("k1", (Reason("recency", 1, 1.0),))]
