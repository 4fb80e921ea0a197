"""Recall over a real log and a real graph: what is found, why, and what never comes."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from graph.errors import GraphFailure
from graph.memory import Memory
from graph.values import Filters, Step, Vector
from tests.graph.conftest import Open, ignore
from tests.graph.deeds import archive, begin, delete, drop, fork, hide, move, pin, rename, unhide
from tests.graph.recall.conftest import MODEL, NOW, Ask, boosts, embed, ids, named, toward
from tests.graph.talk import reply, said, talk
from tests.graph.teach import read
from tests.tables import each

BREAD: dict[str, Sequence[str]] = {"My sourdough never rises": ["bread"]}


def test_words_find_their_turn_in_any_form_or_script_with_who_said_it_when_and_where(chats: Memory, ask: Ask) -> None:
    assert ids(ask("tide pool"))[0] == "a2"
    assert ids(ask("TIDES!"))[0] == "a2"
    chats.append(said("x1", "oven", parent="b3", text="Привет, мир"), said("x2", "oven", parent="x1", text="καλημέρα"))
    assert ids(ask("мир"))[0] == "x1"
    assert ids(ask("Καλημέρα"))[0] == "x2"
    chats.append(rename("sea", "At the sea"))
    hit = ask("starfish")[0]
    assert (hit.kind, hit.role, hit.speaker) == ("turn", "user", "Anna")
    assert (hit.session, hit.session_name) == ("sea", "At the sea")
    assert hit.at == datetime(2026, 3, 3, 9, 1, tzinfo=UTC)
    assert hit.text.startswith("To the tide pools")


def test_meaning_finds_a_turn_that_shares_no_word_and_warming_changes_no_answer(chats: Memory, ask: Ask) -> None:
    embed(chats, {**BREAD, "Freezing, my toes went blue": ["sea"]})
    for _ in range(2):
        hit = ask("loaf", vector=toward("bread"))[0]
        assert hit.id == "b1"
        assert (hit.reasons[0].strategy, hit.reasons[0].rank) == ("semantic", 1)
        chats.recall.forget()
        chats.recall.warm()


def test_a_reply_is_reached_over_what_it_answers_and_that_over_its_reply(chats: Memory, ask: Ask) -> None:
    hit = named("b2", ask("sourdough"))
    assert hit.path == (Step("lexical", "b1"), Step("REPLIES_TO", "b2"))
    assert [reason.strategy for reason in hit.reasons] == ["graph"]
    assert named("b1", ask("starter")).path == (Step("lexical", "b2"), Step("REPLIED_TO", "b1"))
    chats.append(said("c1", "oven", parent="b3", text="Look up the gluten for me"))
    chats.append(said("c2", "oven", parent="c1", role="tool", speaker="search_memory", text="gluten gluten"))
    chats.append(reply("c3", "oven", parent="c2", text="It is a protein"))
    found = ask("gluten")
    assert "c2" not in ids(found), "turns of tools never come, but do not cut the path"
    assert named("c3", found).path == (Step("lexical", "c1"), Step("REPLIES_TO", "c3"))


FILTERED: list[tuple[dict[str, object], set[str]]] = [
    ({"session": "oven"}, set()),
    ({"session": "sea"}, {"a1", "a2", "a3", "a4"}),
    ({"project": "trip"}, {"a1", "a2", "a3", "a4"}),
    ({"project": "none"}, set()),
    ({"person": "anna"}, {"a2", "a4"}),
    ({"person": "nobody"}, set()),
    ({"roles": frozenset({"assistant"})}, {"a3"}),
    ({"since": datetime(2026, 3, 3, 9, 2, tzinfo=UTC)}, {"a3", "a4"}),
    ({"until": datetime(2026, 3, 3, 9, 2, tzinfo=UTC)}, {"a1", "a2"}),
    ({"exclude": frozenset({"a1", "a3", "gone"})}, {"a2", "a4"}),
    ({"world": "elsewhere"}, set()),
]


def test_filters_narrow_what_comes(ask: Ask) -> None:
    def check(row: tuple[dict[str, object], set[str]]) -> None:
        filters, found = row
        assert set(ids(ask("starfish" if "exclude" not in filters else "Freezing starfish", **filters))) == found

    each(FILTERED, check)


def test_what_is_hidden_deleted_or_off_the_path_never_comes_and_what_is_back_does(chats: Memory, ask: Ask) -> None:
    chats.append(hide("a2"))
    assert ids(ask("starfish")) == []
    chats.append(unhide("a2"))
    assert "a2" in ids(ask("starfish"))
    chats.append(move("sea", "a1"))
    assert ids(ask("starfish")) == []
    assert "a2" in ids(ask("starfish", live=False))
    chats.append(move("sea", "a4"), archive("sea"))
    assert "a2" in ids(ask("starfish")), "archived sessions are remembered"
    chats.append(delete("a2"))
    assert ids(ask("starfish")) == ids(ask("starfish", live=False)) == []
    assert "a4" in ids(ask("toes"))
    chats.append(drop("sea"))
    assert ids(ask("toes")) == []


def test_a_hidden_turn_lends_nothing_to_its_neighbours(chats: Memory, ask: Ask) -> None:
    embed(chats, {"To the tide pools, they were full of starfish": ["sea"]})
    before = {hit.id: hit.score for hit in ask("starfish", vector=toward("sea"))}
    chats.append(hide("a2"))
    after = {hit.id: hit.score for hit in ask("starfish", vector=toward("sea"))}
    assert after["a3"] < before["a3"]


def test_what_was_said_or_erased_a_moment_ago_is_found_or_gone_at_once(chats: Memory, ask: Ask) -> None:
    assert ids(ask("zeppelin")) == []
    for number in range(3):
        chats.append(said(f"z{number}", "oven", parent="b3", text=f"zeppelin number {number}"))
        assert ids(ask("zeppelin"))[0] == f"z{number}"
    assert "b1" in ids(ask("sourdough"))  # whose postings are kept
    chats.append(delete("b1"), said("b4", "oven", parent="b3", text="More sourdough please"))
    assert "b1" not in ids(ask("sourdough"))
    assert "b4" in ids(ask("sourdough"))
    chats.append(reply("e1", "oven", parent="z2", text=""), reply("e2", "oven", parent="e1", text=" \n"))
    found = ids(ask("zeppelin"))
    assert "z2" in found
    assert not {"e1", "e2"}.intersection(found), "a reply that stayed empty is never a hit"


def test_a_pin_lifts_within_bounds_and_the_question_itself_nothing_when_it_is_excluded(chats: Memory, ask: Ask) -> None:
    before = {hit.id: hit.score for hit in ask("tide toes")}
    chats.append(pin("a4"))
    after = {hit.id: hit for hit in ask("tide toes")}
    assert 0 < after["a4"].score - before["a4"] < 0.2
    assert "pin" in boosts(after["a4"])
    assert after["a2"].score == pytest.approx(before["a2"])
    # the question itself lifts nothing where it is excluded
    chats.append(said("q", "oven", parent="b3", text="What about the starfish?"))
    assert ids(ask("What about the starfish?", exclude=frozenset({"q", "b3", "b2", "b1"}), limit=1)) == ["a2"]
    assert "b3" not in ids(ask("What about the starfish?", exclude=frozenset({"q"})))


def test_a_time_beside_words_lifts_but_does_not_exclude(chats: Memory, ask: Ask) -> None:
    chats.append(
        begin("later"),
        said("l1", "later", text="More tide pools", said_at=1_777_000_000_000),  # 24 April
        said("l2", "later", parent="l1", text="Nothing else", said_at=1_777_000_001_000),
    )
    found = ask("the tide pools in March")
    assert found[0].id == "a2"
    assert "time" in boosts(found[0])
    assert "l1" in ids(found)


def test_a_time_or_a_name_alone_lists_the_newest_of_it(ask: Ask) -> None:
    assert ids(ask("what did we talk about in May?")) == ["b3", "b2", "b1"]
    assert ids(ask("what did we talk about in May?", limit=1)) == ["b3"]
    assert ids(ask("what did we talk about in April?")) == []
    found = ask("what did Anna say?")
    assert ids(found) == ["a4", "a2"]
    assert found[0].path == (Step("named", "Anna"), Step("SAID_BY", "a4"))


NO_WORDS = (
    *("", " ", "the of and", "🙂🙂", '"', "*", "AND", "(", '") OR (', "NEAR(a b)"),
    *("ü" * 300, "\0", "何を話した", "a" * 20_000, "text:x", "-x"),
)


def test_any_text_is_a_safe_question_also_one_of_twenty_kilobytes(chats: Memory, ask: Ask) -> None:
    def finds_nothing(query: str) -> None:
        assert ask(query) == []

    def finds_by_meaning_alone(query: str) -> None:
        assert len(ask(query, vector=toward("sea"))) <= 10

    each(NO_WORDS, finds_nothing)
    page = " ".join(f"word{number}" for number in range(2_500))
    assert "a2" in ids(ask(f"{page} starfish"))
    assert "a2" in ids(ask(f"starfish {page}"))
    embed(chats, {})
    each(NO_WORDS, finds_by_meaning_alone)


def test_a_memory_of_no_turn_of_a_document_alone_and_of_one_turn(memory: Memory) -> None:
    assert memory.recall.search("anything", now=NOW, timezone=UTC) == []
    memory.append(*read("d", "brine"))
    assert ids(memory.recall.search("brine", now=NOW, timezone=UTC, limit=3)) == ["brine"]
    talk(memory, 1)
    assert ids(memory.recall.search("s0", now=NOW, timezone=UTC)) == ["s0"]
    assert ids(memory.recall.search("s0", vector=toward("sea"), now=NOW, timezone=UTC)) == ["s0"]
    assert memory.recall.search("s0", now=NOW, timezone=UTC, limit=0) == []


def test_a_vector_of_another_model_or_dimension_leaves_it_to_the_words(chats: Memory, ask: Ask) -> None:
    embed(chats, {})
    words = ids(ask("starfish"))
    assert ids(ask("starfish", vector=Vector("other@2", np.ones(4, np.float32)))) == words
    assert ids(ask("starfish", vector=Vector(MODEL, np.ones(3, np.float32)))) == words
    assert ids(ask("starfish", vector=Vector(MODEL, np.zeros(4, np.float32)))) == words
    assert ids(ask("starfish", vector=Vector(MODEL, np.full(4, np.nan, np.float32)))) == words


def test_later_vectors_and_repeated_texts_are_found_by_meaning_also_of_a_new_embedder(chats: Memory, ask: Ask) -> None:
    assert ids(ask("loaf", vector=toward("bread"))) == []
    embed(chats, BREAD)
    assert ids(ask("loaf", vector=toward("bread")))[0] == "b1"
    found = chats.unembedded("new@1", 100)
    chats.keep_vectors("new@1", [(hash, np.array([0.9, 1 if "toes" in text else 0.1])) for hash, text in found])
    assert ids(ask("loaf", vector=Vector("new@1", np.array([0, 1], np.float32))))[0] == "a4"
    assert ids(ask("loaf", vector=toward("bread")))[0] == "b1"
    chats.append(begin("s"), said("again", text="My sourdough never rises"))
    assert set(ids(ask("loaf", vector=toward("bread")))[:2]) == {"again", "b1"}


@pytest.mark.restarts
def test_without_its_graph_with_it_and_with_a_rebuilt_one_it_answers_the_same(chats: Memory, ask: Ask) -> None:
    embed(chats, BREAD)
    chats.append(hide("a3"))
    chats.recall.warm()
    before = ask("starfish sourdough", vector=toward("bread"))
    assert before
    chats.open_graph(ignore)
    assert ask("starfish sourdough", vector=toward("bread")) == before
    chats.rebuild(ignore)
    assert ask("starfish sourdough", vector=toward("bread")) == before
    chats.close()
    with pytest.raises(GraphFailure):
        ask("starfish sourdough")


def test_following_live_and_starting_anew_answer_the_same(opening: Open) -> None:
    memory = opening()
    talk(memory, 12)
    memory.recall.search("s3", now=NOW, timezone=UTC)
    memory.append(move("s", "s5"), said("alt", parent="s5", text="s3 again"), hide("s2"))
    memory.append(fork("f", "s", "s8"), reply("fork", "f", parent="s8", text="s3 too"))
    live = memory.recall.search("s3", now=NOW, timezone=UTC, limit=50)
    assert opening().recall.search("s3", now=NOW, timezone=UTC, limit=50) == live
    assert {"alt", "fork", "s3"} <= set(ids(live))
    assert "s2" not in ids(live)


def test_a_what_if_sees_main_as_it_was_at_the_fork(chats: Memory) -> None:
    chats.append(fork("if", "sea", "a2", "what-if"))
    chats.append(said("w1", "if", parent="a2", text="Suppose the starfish could talk"))
    chats.append(said("m1", "oven", parent="b3", text="A starfish in the bread"))

    def found(world: str) -> set[str]:
        return set(ids(chats.recall.search("starfish Freezing", filters=Filters(world=world), now=NOW, timezone=UTC)))

    assert {"w1", "a2"} <= found("what-if")
    assert found("what-if") & {"a3", "a4", "m1"} == set()
    assert "w1" not in found("main")
    assert {"a2", "a4", "m1"} <= found("main")


def test_where_a_name_is_asked_for_a_turn_that_gives_one_comes_first(chats: Memory, ask: Ask) -> None:
    chats.append(
        said("n1", "oven", parent="b3", text="My flour comes from a mill nearby"),
        said("n2", "oven", parent="n1", text="hm"),
        said("n3", "oven", parent="n2", text="hm again"),
        said("n4", "oven", parent="n3", text="and so on"),
        said("n5", "oven", parent="n4", text="My flour comes from the old mill of Werder"),
        said("n6", "oven", parent="n5", speaker="Werder", text="I heard my name"),
    )
    # Who speaks is named in what is said to them: that is no answer.
    assert not any("names" in boosts(hit) for hit in ask("Where does my flour come from?"))
    chats.append(said("n7", "oven", parent="n6", text="No, my flour comes from the mill of Beelitz"))
    hit = ask("Where does my flour come from?")[0]
    assert hit.id == "n7"
    assert "names" in boosts(hit)
