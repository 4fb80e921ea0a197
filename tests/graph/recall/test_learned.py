"""Observations and chunks in recall, over a real log and graph: found once each, gone with their proof."""

from typing import Any

import pytest

from graph.events import ChunkRead, DocumentRead, Event
from graph.memory import Memory
from graph.values import Hit, Step
from tests.graph.deeds import assign, begin, delete, hide, move, rate, release, unhide, withhold
from tests.graph.recall.conftest import Ask, boosts, embed, ids, ms, named, toward
from tests.graph.talk import said
from tests.graph.teach import observed, reject, remove, support

TOES = "Anna froze at the tide pools"
BRINE = observed("o1", "a2", "a4", text="Anna froze in brine")


def document(id: str, *chunks: str, project: str | None = None) -> list[Event]:
    """A document whose chunks stand under one heading each."""
    read = [
        ChunkRead(chunk=f"{id}{n}", document=id, headings=1, text=f"Part {n}\n{text}") for n, text in enumerate(chunks)
    ]
    held = tuple(each.chunk for each in read)
    listed = f"Manual {id}\n/tmp/{id}.md"
    return [*read, DocumentRead(document=id, category="markdown", project=project, size=9, chunks=held, text=listed)]


def only(hits: list[Hit], kind: str) -> list[str]:
    return [hit.id for hit in hits if hit.kind == kind]


def test_an_observation_is_found_by_words_or_meaning_and_takes_the_place_of_its_turn(chats: Memory, ask: Ask) -> None:
    chats.append(observed("o1", "a4", text=TOES))
    hits = ask("froze")
    assert only(hits, "observation") == ["o1"]
    assert "a4" not in ids(hits)
    hit = named("o1", hits)
    assert [reason.strategy for reason in hit.reasons] == ["observation"]
    assert hit.path == (Step("observation", "o1"), Step("DERIVED_FROM", "a4"))
    assert (hit.sources, hit.session, hit.speaker, hit.role, hit.text) == (("a4",), "sea", "Anna", "user", TOES)
    assert int(hit.at.timestamp() * 1000) == ms(2026, 3, 3, 9, 3)
    embed(chats, {TOES: ["sea"], "Freezing, my toes went blue": ["sea"], "My sourdough never rises": ["bread"]})
    assert only(ask("loaf", vector=toward("sea")), "observation") == ["o1"]


def test_where_the_turn_says_more_it_stays_and_what_a_person_put_right_is_before_it(chats: Memory, ask: Ask) -> None:
    chats.append(observed("o1", "a2", text="Anna went to the pools"))
    hits = ask("tide pools starfish")
    assert "a2" in ids(hits)
    assert "o1" not in ids(hits)
    chats.append(begin("notes", client="notes"), said("n1", "notes", role="note", text="Anna went to Hania"))
    right: dict[str, Any] = {"text": "Anna went to Hania", "series": "o1", "supersedes": "o1", "origin": "user"}
    chats.append(observed("o2", "a2", "n1", **right))
    assert ids(ask("tide pools starfish"))[:2] == ["o2", "a2"], "though only the turn has the words"
    chats.append(reject("o2"))
    assert ids(ask("tide pools starfish"))[0] == "a2"


def test_a_note_that_is_corrected_says_nothing_any_more(chats: Memory, ask: Ask) -> None:
    first = observed("o1", "n1", text="Zuzana owns a kayak")
    chats.append(begin("notes", client="notes"), said("n1", "notes", role="note", text="Zuzana owns a kayak"), first)
    assert "o1" in ids(ask("kayak"))
    chats.append(said("n2", "notes", parent="n1", role="note", text="Zuzana sold that boat"))
    chats.append(observed("o2", "n2", after=first, text="Zuzana sold that boat", origin="user"))
    assert ids(ask("kayak")) == ["o2"]


def test_it_goes_and_comes_with_its_proof(chats: Memory, ask: Ask) -> None:
    chats.append(BRINE, observed("other", "a2", text="Anna loves brine"))
    for gone, back in (
        (hide("a4"), unhide("a4")),
        (move("sea", "a3"), move("sea", "a4")),
        (withhold("a4"), release("a4")),
    ):
        assert "o1" in only(ask("brine"), "observation")
        chats.append(gone)
        assert only(ask("brine"), "observation") == ["other"]
        chats.append(back)
    assert "o1" in only(ask("brine"), "observation")
    chats.append(reject("other"), delete("a4"))
    assert only(ask("brine"), "observation") == []
    assert only(ask("brine", live=False), "observation") == [], "although its postings were kept"
    assert chats.near("brine", vector=None, world="main", project=None) == []


def test_only_current_ones_in_use_come_and_their_words_never_count_for_a_turn(chats: Memory, ask: Ask) -> None:
    before = {hit.id: hit.score for hit in ask("starfish", kinds=frozenset({"turn"}))}
    chats.append(observed("o1", "a4", text="Anna likes brine"))
    chats.append(observed("o2", "a4", text="Anna likes brine cakes", status="candidate"))
    chats.append(observed("o3", "a4", "a2", series="o1", supersedes="o1", text="Anna liked brine, now she does not"))
    chats.append(observed("o4", "b1", text="A starfish baker"), observed("o5", "b3", text="starfish starfish"))
    assert only(ask("brine"), "observation") == ["o3"]
    assert {hit.id: hit.score for hit in ask("starfish", kinds=frozenset({"turn"}))} == before


def test_what_the_prompt_holds_is_not_told_again_by_turn_or_observation(chats: Memory, ask: Ask) -> None:
    chats.append(BRINE)
    assert only(ask("brine", exclude=frozenset({"a4"})), "observation") == ["o1"]
    assert only(ask("brine", exclude=frozenset({"a2", "a4"})), "observation") == []
    assert only(ask("brine", exclude=frozenset({"o1"})), "observation") == []
    chats.append(observed("o2", "a4", text="Freezing toes go blue"))
    assert "a4" not in ids(ask("freezing toes", exclude=frozenset({"o2"})))
    assert "a4" in ids(ask("freezing toes", exclude=frozenset({"o3"}), kinds=frozenset({"turn"})))


def test_filters_narrow_observations_by_their_turns(chats: Memory, ask: Ask) -> None:
    chats.append(observed("o1", "a4", text="Anna froze in brine", project="trip"))
    for filters, found in (
        ({"person": "anna"}, ["o1"]),
        ({"person": "you"}, []),
        ({"session": "oven"}, []),
        ({"project": "trip"}, ["o1"]),
        ({"project": "other"}, []),
        ({"kinds": frozenset({"turn", "chunk"})}, []),
        ({"world": "elsewhere"}, []),
    ):
        assert only(ask("brine", **filters), "observation") == found, filters


def test_more_proof_and_what_matters_lift_a_little_and_say_so(chats: Memory, ask: Ask) -> None:
    chats.append(observed("o1", "a4", text="Anna froze in brine"))
    before = named("o1", ask("brine"))
    chats.append(support("o1", "b1", amount=0.2), rate("a4", 3))
    after = named("o1", ask("brine"))
    assert 0 < after.score - before.score < 0.3
    assert boosts(after) >= {"proof", "confidence", "significance"}
    assert set(after.sources) == {"a4", "b1"}
    chats.append(said("b4", "oven", parent="b3", text="brine one"), said("b5", "oven", parent="b4", text="brine two"))
    chats.append(rate("b4", 2, by="user"))
    hits = ask("brine")
    assert [hit.id for hit in hits if hit.id in ("b4", "b5")] == ["b4", "b5"]
    amounts = [boost.amount for boost in named("b4", hits).boosts if boost.name == "significance"]
    assert amounts == pytest.approx([0.02])


def test_chunks_are_found_with_their_place_and_leave_with_their_document(chats: Memory, ask: Ask) -> None:
    chats.append(*document("d", "Brine keeps cheese", "Bake at night", project="food"))
    (hit,) = [hit for hit in ask("brine") if hit.kind == "chunk"]
    assert (hit.id, hit.session, hit.session_name, hit.text) == ("d0", "d", "Manual d › Part 0", "Brine keeps cheese")
    assert [reason.strategy for reason in hit.reasons] == ["lexical"]
    assert only(ask("brine", project="food"), "chunk") == ["d0"]
    assert only(ask("brine", person="Anna"), "chunk") == only(ask("brine", session="sea"), "chunk") == []
    chats.append(observed("o1", "d0", text="Cheese likes brine baths"))
    assert "o1" in ids(ask("brine baths"))
    chats.append(remove("d"))
    assert [hit.kind for hit in ask("brine baths") if hit.kind != "turn"] == []


def test_a_large_document_does_not_drown_the_conversation(chats: Memory, ask: Ask) -> None:
    chats.append(*document("d", *(f"starfish number {n} of the reef" for n in range(60))))
    hits = ask("starfish", limit=4)
    assert "a2" in ids(hits)
    assert len(only(hits, "chunk")) == 1


def test_a_session_that_changes_its_project_is_found_there(chats: Memory, ask: Ask) -> None:
    assert ids(ask("sourdough", project="trip")) == []
    chats.append(assign("oven", "trip"))
    assert "b1" in ids(ask("sourdough", project="trip"))
    chats.append(assign("oven", None))
    assert ids(ask("sourdough", project="trip")) == []


def test_near_tells_what_is_known_of_some_words(chats: Memory) -> None:
    chats.append(observed("o1", "a4", text="Anna froze in brine"))
    chats.append(observed("o2", "b1", text="You bake sourdough", status="candidate"))
    chats.append(observed("o3", "b3", text="You bake in the sea"))
    embed(chats, {"Anna froze in brine": ["sea"], "You bake sourdough": ["bread"], "You bake in the sea": ["sea"]})

    def near(text: str, *axes: str, **more: Any) -> list[str]:
        vector = toward(*axes) if axes else None
        fields: dict[str, Any] = {"world": "main", "project": None, **more}
        return [each.observation.id for each in chats.near(text, vector=vector, **fields)]

    assert near("I bake sourdough bread", under_review=True)[0] == "o2"
    assert "o2" not in near("I bake sourdough bread"), "it is proposed"
    assert near("ice", "sea", project="trip")[0] == "o1"
    assert near("bake in the sea", "sea")[0] == "o3"
    assert near("bake in the sea", "sea", project="trip") == ["o1"]
    assert near("bake", limit=0) == near("bake", world="elsewhere") == []
    (found,) = (each for each in chats.near("bake", vector=None, world="main", project=None))
    assert found.cosine == 0.0
    assert found.words == pytest.approx(0.5)
