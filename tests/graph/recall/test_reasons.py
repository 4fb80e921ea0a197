"""Why a hit was found, told truly: what others lent it, over which way, at which rank, and whether it was then."""

from collections.abc import Sequence
from datetime import UTC

from graph.memory import Memory
from graph.values import Hit, Step
from tests.graph.deeds import begin, hide
from tests.graph.recall.conftest import NOW, Ask, boosts, embed, ids, ms, named, toward
from tests.graph.talk import said
from tests.tables import each

POOLS = "To the tide pools, they were full of starfish"


def leaning(*boats: str) -> dict[str, Sequence[str]]:
    """Meanings: all of boats, but the tide pools of the sea."""
    return {**{text: ["boat"] for text in boats}, POOLS: ["sea"]}


def strategies(hit: Hit) -> dict[str, int]:
    return {reason.strategy: reason.rank for reason in hit.reasons}


def test_a_turn_alone_was_lent_nothing(memory: Memory) -> None:
    memory.append(begin("s"), said("only", text="Starfish"))
    embed(memory, {"Starfish": ["sea"]})
    hit = memory.recall.search("starfish", vector=toward("sea"), now=NOW, timezone=UTC)[0]
    assert strategies(hit) == {"lexical": 1, "semantic": 1}
    assert hit.path == ()


def test_the_way_goes_over_each_turn_between_up_to_three_replies_and_no_hidden_one(chats: Memory, ask: Ask) -> None:
    chats.append(said("a5", "sea", parent="a4", text="Hm"), said("a6", "sea", parent="a5", text="Well"))
    found = {hit.id: hit.path for hit in ask("starfish")}
    for turn, relation, way in (("a5", "REPLIES_TO", ["a3", "a4", "a5"]), ("a1", "REPLIED_TO", ["a1"])):
        assert found[turn] == (Step("lexical", "a2"), *(Step(relation, each) for each in way))
    assert "a6" not in found
    chats.append(hide("a3"))
    assert named("a4", ask("starfish")).path == (Step("lexical", "a2"), Step("REPLIES_TO", "a4"))


def test_the_neighbour_that_has_the_missing_word_is_the_one_named(chats: Memory, ask: Ask) -> None:
    chats.append(said("c1", "oven", parent="b3", text="gluten and gluten"))
    chats.append(said("c2", "oven", parent="c1", text="gluten again"))
    chats.append(said("c3", "oven", parent="c2", text="a zeppelin"))
    assert named("c2", ask("gluten zeppelin")).path == (Step("lexical", "c3"), Step("REPLIED_TO", "c2"))


def test_what_the_chat_was_about_leads_to_its_other_turns(chats: Memory, ask: Ask) -> None:
    chats.append(*(said(f"x{n}", "oven", parent=f"x{n - 1}" if n else "b3", text=f"Number {n}") for n in range(6)))
    embed(chats, {"My sourdough never rises": ["bread"], **{f"Number {n}": ["boat"] for n in range(6)}})
    assert named("b3", ask("loaf", vector=toward("bread"), limit=50)).path[0] == Step("semantic", "b1")
    far = named("x5", ask("loaf number", vector=toward("bread"), limit=50))
    assert far.path == (Step("semantic", "b1"), Step("IN_SESSION", "oven"))


def test_no_turn_is_next_to_a_hit_where_none_beside_it_matched(chats: Memory, ask: Ask) -> None:
    embed(
        chats, leaning("Where did you go on Sunday?", "That sounds lovely, was it cold?", "Freezing, my toes went blue")
    )
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
    found = {hit.id: boosts(hit) for hit in ask("the tide pools in March")}
    assert "time" in found["a2"]
    assert "time" not in found["l1"] | found["l2"]
    assert "beside_time" in found["l1"] & found["l2"]


def test_where_no_word_and_no_meaning_is_near_nothing_is_found(chats: Memory, ask: Ask) -> None:
    embed(chats, leaning(*(text for _, text in chats.unembedded("any", 9))))
    assert ask("marmalade", vector=toward("money")) == []
    assert sorted(ids(ask("marmalade", vector=toward("sea")))) == ["a1", "a2", "a3"], "with question and answer"
    assert len(ask("starfish", vector=toward("money"))) > 1  # a word was found: all that is near stays


def test_a_query_without_a_letter_finds_nothing_but_an_emoji_the_turn_that_has_it(chats: Memory, ask: Ask) -> None:
    def finds_nothing(query: str) -> None:
        assert ask(query, vector=toward("sea")) == []

    chats.append(said("party", "oven", parent="b3", text="It rose! 🎉"))
    embed(chats, {POOLS: ["sea"]})
    each(('""', "*", "(", "...", "  ", "-", '"*" ()'), finds_nothing)
    for vector in (None, toward("money")):
        hit = ask("🎉", vector=vector)[0]
        assert hit.id == "party"
        assert strategies(hit)["lexical"] == 1
    assert ask("🦀") == []


def test_a_wish_for_the_newest_lists_it(chats: Memory, ask: Ask) -> None:
    def lists_the_newest(query: str) -> None:
        assert ids(ask(query, vector=toward("sea"), limit=2)) == ["b3", "b2"]

    embed(chats, {POOLS: ["sea"]})
    each(("recently", "lately?", "Recap", "sum up this chat"), lists_the_newest)
