"""Why a hit was found, told truly: what others lent it, over which way, at which rank, and whether it was then."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from graph.memory import Memory
from graph.values import Hit, Step
from tests.graph.recall.conftest import Ask, embed, ids, ms, toward
from tests.graph.talk import begin, hide, said

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
POOLS = "To the tide pools, they were full of starfish"


def leaning(*boats: str) -> dict[str, Sequence[str]]:
    """Meanings: the tide pools of the sea, all the others of boats."""
    return {POOLS: ["sea"], **{text: ["boat"] for text in boats if text != POOLS}}


def strategies(hit: Hit) -> dict[str, int]:
    return {reason.strategy: reason.rank for reason in hit.reasons}


def test_a_turn_alone_was_lent_nothing(whole: Memory) -> None:
    whole.append(begin("s"), said("only", text="Starfish"))
    embed(whole, {"Starfish": ["sea"]})
    hit = whole.recall.search("starfish", vector=toward("sea"), now=NOW, timezone=UTC)[0]
    assert strategies(hit) == {"lexical": 1, "semantic": 1}
    assert hit.path == ()


@pytest.mark.parametrize(
    ("turn", "relation", "way"), [("a4", "REPLIES_TO", ["a3", "a4"]), ("a1", "REPLIED_TO", ["a1"])]
)
def test_the_way_goes_over_each_turn_between(ask: Ask, turn: str, relation: str, way: list[str]) -> None:
    hit = next(hit for hit in ask("starfish") if hit.id == turn)
    assert hit.path == (Step("lexical", "a2"), *(Step(relation, each) for each in way))


def test_three_replies_on_there_is_still_a_way_and_four_on_nothing(chats: Memory, ask: Ask) -> None:
    chats.append(said("a5", "sea", parent="a4", text="Hm"), said("a6", "sea", parent="a5", text="Well"))
    found = {hit.id: hit for hit in ask("starfish")}
    assert [step.node for step in found["a5"].path] == ["a2", "a3", "a4", "a5"]
    assert "a6" not in found


def test_a_way_does_not_name_what_is_hidden(chats: Memory, ask: Ask) -> None:
    chats.append(hide("a3"))
    hit = next(hit for hit in ask("starfish") if hit.id == "a4")
    assert hit.path == (Step("lexical", "a2"), Step("REPLIES_TO", "a4"))


def test_the_neighbour_that_has_the_missing_word_is_the_one_named(chats: Memory, ask: Ask) -> None:
    chats.append(
        said("c1", "oven", parent="b3", text="gluten and gluten"),
        said("c2", "oven", parent="c1", text="gluten again"),
        said("c3", "oven", parent="c2", text="a zeppelin"),
    )
    hit = next(hit for hit in ask("gluten zeppelin") if hit.id == "c2")
    assert hit.path == (Step("lexical", "c3"), Step("REPLIED_TO", "c2"))


def test_what_the_chat_was_about_leads_to_its_other_turns(chats: Memory, ask: Ask) -> None:
    chats.append(*(said(f"x{n}", "oven", parent=f"x{n - 1}" if n else "b3", text=f"Number {n}") for n in range(6)))
    embed(chats, {"My sourdough never rises": ["bread"], **{f"Number {n}": ["boat"] for n in range(6)}})
    hit = next(hit for hit in ask("loaf", vector=toward("bread"), limit=50) if hit.id == "b3")
    assert hit.path[0] == Step("semantic", "b1")
    far = next(hit for hit in ask("loaf number", vector=toward("bread"), limit=50) if hit.id == "x5")
    assert far.path == (Step("semantic", "b1"), Step("IN_SESSION", "oven"))


def test_no_turn_is_next_to_a_hit_where_none_beside_it_matched(chats: Memory, ask: Ask) -> None:
    texts = ("Where did you go on Sunday?", POOLS, "That sounds lovely, was it cold?", "Freezing, my toes went blue")
    embed(chats, leaning(*texts))
    chats.append(begin("z"), said("z1", "z", text="zeppelin"))
    assert strategies(ask("zeppelin", vector=toward("money"))[0])["lexical"] == 1
    assert all(hit.path for hit in ask("zeppelin", vector=toward("money")) if "graph" in strategies(hit))


def test_ranks_count_only_turns_that_may_be_answered_with(chats: Memory, ask: Ask) -> None:
    embed(chats, {POOLS: ["sea"]})
    chats.append(said("q", "oven", parent="b3", text="tide pools starfish"))
    for narrowed in ({"exclude": frozenset({"q"})}, {"person": "Anna"}, {"session": "sea"}):
        hit = ask("tide pools starfish", vector=toward("sea"), **narrowed)[0]
        assert hit.id == "a2"
        assert strategies(hit)["lexical"] == strategies(hit)["semantic"] == 1


def test_only_what_was_said_in_the_time_is_told_to_be_from_it(chats: Memory, ask: Ask) -> None:
    chats.append(
        begin("april", said_at=ms(2026, 4, 3, 9)),
        said("l1", "april", text="The tide pools again", said_at=ms(2026, 4, 3, 9)),
        begin("edge", said_at=ms(2026, 4, 1)),
        said("l2", "edge", text="Tide pools at midnight", said_at=ms(2026, 4, 1)),
    )
    found = {hit.id: {boost.name for boost in hit.boosts} for hit in ask("the tide pools in March")}
    assert "time" in found["a2"]
    assert "time" not in found["l1"] | found["l2"]
    assert "beside_time" in found["l1"] & found["l2"]


def test_where_no_word_and_no_meaning_is_near_nothing_is_found(chats: Memory, ask: Ask) -> None:
    texts = (
        "Where did you go on Sunday?",
        "That sounds lovely, was it cold?",
        "Freezing, my toes went blue",
        "My sourdough never rises",
        "Feed the starter twice a day",
        "It doubled overnight, thank you",
    )
    embed(chats, leaning(*texts))
    assert ask("marmalade", vector=toward("money")) == []
    assert sorted(ids(ask("marmalade", vector=toward("sea")))) == [
        "a1",
        "a2",
        "a3",
    ]  # with what it answers and its answer
    assert len(ask("starfish", vector=toward("money"))) > 1  # a word was found: all that is near stays


@pytest.mark.parametrize("query", ['""', "*", "(", "...", "  ", "-", '"*" ()'])
def test_a_query_without_a_letter_finds_nothing_whatever_its_vector(chats: Memory, ask: Ask, query: str) -> None:
    embed(chats, {POOLS: ["sea"]})
    assert ask(query, vector=toward("sea")) == []


def test_an_emoji_finds_the_turn_that_has_it(chats: Memory, ask: Ask) -> None:
    chats.append(said("party", "oven", parent="b3", text="It rose! 🎉"))
    embed(chats, {POOLS: ["sea"]})
    for vector in (None, toward("money")):
        hit = ask("🎉", vector=vector)[0]
        assert hit.id == "party"
        assert strategies(hit)["lexical"] == 1
    assert ask("🦀") == []


@pytest.mark.parametrize("query", ["recently", "lately?", "Recap", "sum up this chat"])
def test_a_wish_for_the_newest_lists_it(chats: Memory, ask: Ask, query: str) -> None:
    embed(chats, {POOLS: ["sea"]})
    assert ids(ask(query, vector=toward("sea"), limit=2)) == ["b3", "b2"]
