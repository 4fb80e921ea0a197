"""Observations and chunks in recall, over a real log and graph: found once each, gone with their proof."""

from typing import Any

import pytest

from graph.events import ChunkRead, DocumentRead, DocumentRemoved, Event, ObservationMade
from graph.memory import Memory
from graph.values import Filters, Hit, Step
from tests.graph.recall.conftest import Ask, embed, ids, ms, toward
from tests.graph.talk import assign, begin, delete, hide, move, rate, release, said, unhide, withhold
from tests.graph.teach import reject, support

TOES = "Anna froze at the tide pools"


def made(id: str, *sources: str, text: str = TOES, **more: Any) -> ObservationMade:
    """An observation in use."""
    fields: dict[str, Any] = {
        "observation": id, "series": id, "category": "fact", "status": "active", "confidence": 0.7, "grounded": True,
        "origin": "model", "sources": sources, "text": text,
    }  # fmt: skip
    return ObservationMade.model_validate({**fields, **more})


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


def test_an_observation_is_found_by_its_words_and_takes_the_place_of_its_turn(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a4"))
    hits = ask("froze")
    assert only(hits, "observation") == ["o1"]
    assert "a4" not in ids(hits)
    (hit,) = [hit for hit in hits if hit.id == "o1"]
    assert [reason.strategy for reason in hit.reasons] == ["observation"]
    assert hit.path == (Step("observation", "o1"), Step("DERIVED_FROM", "a4"))
    assert (hit.sources, hit.session, hit.speaker, hit.role, hit.text) == (("a4",), "sea", "Anna", "user", TOES)
    assert int(hit.at.timestamp() * 1000) == ms(2026, 3, 3, 9, 3)


def test_meaning_finds_an_observation_that_shares_no_word(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a4"))
    embed(chats, {TOES: ["sea"], "Freezing, my toes went blue": ["sea"], "My sourdough never rises": ["bread"]})
    assert only(ask("loaf", vector=toward("sea")), "observation") == ["o1"]


def test_where_the_turn_says_more_the_turn_stays(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a2", text="Anna went to the pools"))
    hits = ask("tide pools starfish")
    assert "a2" in ids(hits)
    assert "o1" not in ids(hits)


def test_what_a_person_put_right_stands_before_the_words_it_corrects(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a2", text="Anna went to the pools"))
    right = made("o2", "a2", "n1", text="Anna went to Hania", series="o1", supersedes="o1", origin="user")
    chats.append(begin("notes", client="notes"))
    chats.append(said("n1", "notes", role="note", text="Anna went to Hania"), right)
    hits = ask("tide pools starfish")
    assert ids(hits)[:2] == ["o2", "a2"], "though only the turn has the words"
    chats.append(reject("o2"))
    assert ids(ask("tide pools starfish"))[0] == "a2"


def test_a_note_that_is_corrected_says_nothing_any_more(chats: Memory, ask: Ask) -> None:
    chats.append(begin("notes", client="notes"))
    chats.append(said("n1", "notes", role="note", text="Zuzana owns a kayak"))
    chats.append(made("o1", "n1", text="Zuzana owns a kayak"))
    assert "o1" in ids(ask("kayak"))
    chats.append(said("n2", "notes", parent="n1", role="note", text="Zuzana sold that boat"))
    chats.append(made("o2", "n2", "n1", text="Zuzana sold that boat", series="o1", supersedes="o1", origin="user"))
    assert ids(ask("kayak")) == ["o2"]


def test_words_of_an_observation_never_count_for_a_turn(chats: Memory, ask: Ask) -> None:
    before = {hit.id: hit.score for hit in ask("starfish", kinds=frozenset({"turn"}))}
    chats.append(made("o1", "b1", text="A starfish baker"), made("o2", "b3", text="starfish starfish"))
    after = {hit.id: hit.score for hit in ask("starfish", kinds=frozenset({"turn"}))}
    assert after == before


@pytest.mark.parametrize(
    ("gone", "back"),
    [
        (hide("a4"), unhide("a4")),
        (move("sea", "a3"), move("sea", "a4")),
        (withhold("a4"), release("a4")),
        (delete("a4"), None),
        (reject("o1"), None),
    ],
)
def test_it_goes_and_comes_with_its_proof(chats: Memory, ask: Ask, gone: Event, back: Event | None) -> None:
    chats.append(made("o1", "a2", "a4", text="Anna froze in brine"))
    assert only(ask("brine"), "observation") == ["o1"]
    chats.append(gone)
    assert only(ask("brine"), "observation") == []
    if back is not None:
        chats.append(back)
        assert only(ask("brine"), "observation") == ["o1"]


def test_only_current_ones_in_use_come(chats: Memory, ask: Ask) -> None:
    chats.append(
        made("o1", "a4", text="Anna likes brine"),
        made("o2", "a4", text="Anna likes brine cakes", status="candidate"),
        made("o3", "a4", "a2", series="o1", supersedes="o1", text="Anna liked brine, now she does not"),
    )
    assert only(ask("brine"), "observation") == ["o3"]


def test_what_the_prompt_holds_is_not_told_again_by_an_observation(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a2", "a4", text="Anna froze in brine"))
    assert only(ask("brine", exclude=frozenset({"a4"})), "observation") == ["o1"]
    assert only(ask("brine", exclude=frozenset({"a2", "a4"})), "observation") == []
    assert only(ask("brine", exclude=frozenset({"o1"})), "observation") == []


def test_a_turn_is_not_told_again_where_the_prompt_holds_what_was_learned_from_it(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a4", text="Freezing toes go blue"))
    assert "a4" not in ids(ask("freezing toes", exclude=frozenset({"o1"})))
    assert "a4" in ids(ask("freezing toes", exclude=frozenset({"o2"}), kinds=frozenset({"turn"})))


def test_filters_narrow_observations_by_their_turns(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a4", text="Anna froze in brine", project="trip"))
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


def test_more_proof_and_what_matters_lift_a_little(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a4", text="Anna froze in brine"))
    (before,) = (hit for hit in ask("brine") if hit.id == "o1")
    chats.append(support("o1", "b1", amount=0.2))
    chats.append(rate("a4", 3))
    (after,) = (hit for hit in ask("brine") if hit.id == "o1")
    assert 0 < after.score - before.score < 0.3
    assert {boost.name for boost in after.boosts} >= {"proof", "confidence", "significance"}
    assert set(after.sources) == {"a4", "b1"}


def test_a_turn_that_matters_much_comes_ahead_of_its_equal_and_says_so(chats: Memory, ask: Ask) -> None:
    chats.append(said("b4", "oven", parent="b3", text="brine one"), said("b5", "oven", parent="b4", text="brine two"))
    chats.append(rate("b4", 2, by="user"))
    hit = next(hit for hit in ask("brine") if hit.id == "b4")
    assert [boost.amount for boost in hit.boosts if boost.name == "significance"] == pytest.approx([0.02])


def test_chunks_are_found_with_their_place_and_leave_with_their_document(chats: Memory, ask: Ask) -> None:
    chats.append(*document("d", "Brine keeps cheese", "Bake at night", project="food"))
    (hit,) = [hit for hit in ask("brine") if hit.kind == "chunk"]
    assert (hit.id, hit.session, hit.session_name, hit.text) == (
        "d0", "d", "Manual d › Part 0", "Brine keeps cheese",
    )  # fmt: skip
    assert [reason.strategy for reason in hit.reasons] == ["lexical"]
    assert only(ask("brine", project="food"), "chunk") == ["d0"]
    assert only(ask("brine", person="Anna"), "chunk") == only(ask("brine", session="sea"), "chunk") == []
    chats.append(made("o1", "d0", text="Cheese likes brine baths"))
    assert "o1" in ids(ask("brine baths"))
    chats.append(DocumentRemoved(document="d"))
    assert [hit.kind for hit in ask("brine baths") if hit.kind != "turn"] == []


def test_a_large_document_does_not_drown_the_conversation(chats: Memory, ask: Ask) -> None:
    chats.append(*document("d", *(f"starfish number {n} of the reef" for n in range(60))))
    hits = ask("starfish", limit=4)
    assert "a2" in ids(hits)
    assert len(only(hits, "chunk")) == 1


def test_a_document_alone_answers_too(whole: Memory) -> None:
    from datetime import UTC

    from tests.graph.recall.conftest import NOW

    whole.append(*document("d", "Brine keeps cheese"))
    hits = whole.recall.search("brine", filters=Filters(), now=NOW, timezone=UTC, limit=3)
    assert ids(hits) == ["d0"]


def test_a_session_that_changes_its_project_is_found_there(chats: Memory, ask: Ask) -> None:
    assert ids(ask("sourdough", project="trip")) == []
    chats.append(assign("oven", "trip"))
    assert "b1" in ids(ask("sourdough", project="trip"))
    chats.append(assign("oven", None))
    assert ids(ask("sourdough", project="trip")) == []


def test_near_tells_what_is_known_of_some_words(chats: Memory) -> None:
    chats.append(
        made("o1", "a4", text="Anna froze in brine"),
        made("o2", "b1", text="You bake sourdough", status="candidate"),
        made("o3", "b3", text="You bake in the sea"),
    )
    embed(chats, {"Anna froze in brine": ["sea"], "You bake sourdough": ["bread"], "You bake in the sea": ["sea"]})

    def near(text: str, *axes: str, **more: Any) -> list[str]:
        vector = toward(*axes) if axes else None
        fields: dict[str, Any] = {"world": "main", "project": None, **more}
        return [each.observation.id for each in chats.near(text, vector=vector, **fields)]

    assert near("I bake sourdough bread")[0] == "o2"
    assert near("ice", "sea", project="trip")[0] == "o1"
    assert near("bake in the sea", "sea")[0] == "o3"
    assert near("bake in the sea", "sea", project="trip") == ["o1"]
    assert near("bake sourdough", status=("active",)) == ["o3"]
    assert near("bake", limit=0) == near("bake", world="elsewhere") == []
    (found,) = (each for each in chats.near("sourdough", vector=None, world="main", project=None))
    assert found.cosine == 0.0
    assert found.words == pytest.approx(0.5)


def test_an_erased_observation_is_not_found_although_its_postings_were_kept(chats: Memory, ask: Ask) -> None:
    chats.append(made("o1", "a4", text="Anna froze in brine"))
    assert "o1" in ids(ask("brine"))
    chats.append(delete("a4"))
    assert "o1" not in ids(ask("brine", live=False))
    assert chats.near("brine", vector=None, world="main", project=None) == []
