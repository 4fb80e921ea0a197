"""Recall walks the graph: from whom a question names, over relationships, to what tells of those it leads to."""

from datetime import UTC
from typing import Any

import pytest

from graph.errors import QueryTimeout
from graph.events import Event
from graph.memory import Memory
from graph.recall import walking
from graph.values import CalledBy, Filters, Hit, Step
from tests.graph.conftest import Open, ignore
from tests.graph.deeds import begin, delete, fork, hide, move, release, unhide, withhold
from tests.graph.recall.conftest import NOW
from tests.graph.talk import said
from tests.graph.teach import forget, give_back, noted, observed, reject, related

MY_SISTER = CalledBy("you", "sister", "sibling_of")


def named(entity: str, *turns: str, name: str | None = None) -> list[Event]:
    return [noted(entity, name or entity, turn) for turn in turns]


def apart(session: str, **texts: str) -> list[Event]:
    """Turns of a session by their ids, so far apart that none lends another anything."""
    events: list[Event] = []
    parent = None
    for turn, text in texts.items():
        events.append(said(turn, session, parent=parent, text=text))
        for number in range(4):
            parent, above = f"{turn}-{number}", turn if number == 0 else f"{turn}-{number - 1}"
            events.append(said(parent, session, parent=above, text="hm"))
    return events


@pytest.fixture
def people(whole: Memory) -> Memory:
    """My sister Ada works with Bob, Bob's landlord is Cleo; each is named in a turn of another chat, too."""
    whole.append(
        begin("s"),
        *apart("s", s1="My sister Ada came by", s2="Ada and Bob share an office", s3="Bob pays his rent to Cleo"),
        begin("t"),
        *apart("t", t1="Ada sings zanzibar songs", t5="Bob bakes quinoa bread", t9="Cleo keeps bees"),
        *named("ada", "s1", "s2", "t1", name="Ada"),
        *named("bob", "s2", "s3", "t5", name="Bob"),
        *named("cleo", "s3", "t9", name="Cleo"),
        *related("r1", "ada", "sibling_of", "you", "s1", word="sister"),
        *related("r2", "ada", "works_with", "bob", "s2"),
        *related("r3", "cleo", "landlord_of", "bob", "s3"),
    )
    return whole


def ask(memory: Memory, query: str, *kin: CalledBy, limit: int = 50, **filters: Any) -> dict[str, Hit]:
    """What is found, by id."""
    narrowed = Filters(**{"kinds": frozenset({"turn"}), **filters})
    found = memory.recall.search(query, filters=narrowed, now=NOW, timezone=UTC, limit=limit, kin=kin)
    return {hit.id: hit for hit in found}


def over(hits: dict[str, Hit]) -> dict[str, str]:
    """The ways in words, of those that were found over relationships."""
    return {id: hit.way for id, hit in hits.items() if hit.way}


def lent(hit: Hit) -> float:
    return next((reason.score for reason in hit.reasons if reason.strategy == "graph"), 0.0)


def test_from_a_name_over_two_relationships_the_way_is_told_in_words(people: Memory) -> None:
    found = ask(people, "What about Ada?")
    assert over(found)["t5"] == "Ada —works with→ Bob"
    assert over(found)["s3"] == "Ada —works with→ Bob —rents from→ Cleo"
    assert found["t5"].path == (Step("named", "ada"), Step("RELATES", "bob"), Step("MENTIONS", "t5"))
    assert found["s3"].path[-1] == Step("DERIVED_FROM", "s3")
    assert "t9" not in found  # that is a third edge
    assert not found["t1"].way  # it has the name itself
    found = ask(people, "What about Cleo?")
    assert [reason.score for reason in found["t9"].reasons if reason.strategy == "lexical"] == [1]
    assert lent(found["t5"]) == 0.25, "what is two edges away gets a quarter of the name, and what is one away half"
    assert lent(ask(people, "my sister", MY_SISTER)["t1"]) == 0.5
    people.append(observed("b", "t5", about=("bob",), text="Bakes on Sundays"))
    found = ask(people, "What about Ada?", kinds=frozenset({"turn", "observation"}))
    assert found["r3"].way == "Ada —works with→ Bob —rents from→ Cleo"
    assert found["b"].way == "Ada —works with→ Bob"
    assert found["b"].path == (Step("named", "ada"), Step("RELATES", "bob"), Step("ABOUT", "b"))
    assert lent(found["b"]) == 0.25


def test_whoever_is_meant_by_what_they_are_to_somebody_is_found_by_their_name(people: Memory) -> None:
    found = ask(people, "What does my sister do?", MY_SISTER)
    assert over(found)["t1"] == "you —sibling of→ Ada"
    assert over(found)["s2"] == "you —sibling of→ Ada —works with→ Bob"
    assert over(found)["t5"] == "you —sibling of→ Ada —works with→ Bob"
    found = ask(people, "And Bob's landlord?", CalledBy("And Bob", "landlord", "landlord_of"))
    assert over(found)["t9"] == "Bob —rents from→ Cleo"
    assert not over(ask(people, "my brother", CalledBy("you", "brother", "sibling_of")))
    assert not over(ask(people, "my landlord", CalledBy("you", "landlord", "landlord_of")))
    assert not over(ask(people, "the tenant", CalledBy("Bob", "tenant", "landlord_of", turned=True)))
    people.append(begin("d"), said("d1", "d", speaker="Dora", text="I mow lawns"))
    people.append(said("d2", "d", parent="d1", text="Well done, Dora"), *named("Dora", "d2", name="Dora"))
    people.append(*related("d3", "Dora", "knows", "cleo", "d1"))
    of_dora = over(ask(people, "What about Dora?"))
    assert of_dora["t9"] == "Dora —knows→ Cleo"
    assert "d2" not in of_dora, "who speaks is not found by being spoken to"


def test_of_what_one_message_told_that_comes_which_the_question_asks_for(people: Memory) -> None:
    """Of a message only the best memory is told: it must not be another relationship of hers."""
    people.append(begin("u"), *apart("u", u1="Ada works with Zed, trusts Yan and likes Xi"), *named("ada", "u1"))
    people.append(*(event for name in ("Zed", "Yan", "Xi") for event in named(name.lower(), "u1", name=name)))
    people.append(*related("r4", "ada", "works_with", "zed", "u1", text="Ada works with Zed."))
    people.append(*related("r5", "ada", "trusts", "yan", "u1", text="Ada trusts Yan."))
    people.append(*related("r6", "ada", "likes", "xi", "u1", text="Ada likes Xi."))
    others = Filters(exclude=frozenset({"r2"}))
    for asked, right in (("works_with", "r4"), ("trusts", "r5"), ("likes", "r6")):
        asks = frozenset({asked})
        found = people.recall.search("Who is it with Ada?", now=NOW, timezone=UTC, asks=asks, filters=others)
        assert [hit.id for hit in found if hit.id in ("u1", "r4", "r5", "r6")] == [right]


def test_what_is_over_or_denied_is_told_as_that(people: Memory) -> None:
    people.append(said("s4", parent="s3-3", text="They moved apart, and she had her doubts"))
    people.append(*named("dan", "s4", name="Dan"), *related("r4", "ada", "lives_with", "dan", "s4", until="2025"))
    people.append(*related("r5", "dan", "trusts", "ada", "s4", polarity=False))
    people.append(said("t10", "t", parent="t9-3", text="Dan plays the oboe"), *named("dan", "t10", name="Dan"))
    assert over(ask(people, "Ada?"))["t10"] in ("Ada —lived with→ Dan", "Ada ←does not trust— Dan")
    assert not over(ask(people, "the housemate", CalledBy("Ada", "housemate", "lives_with")))


def test_no_way_comes_back_to_where_it_was(people: Memory) -> None:
    people.append(*related("r6", "bob", "works_with", "ada", "s2"), *related("r7", "bob", "parent_of", "cleo", "s3"))
    people.append(*related("r8", "cleo", "parent_of", "ada", "s3"), *related("r9", "ada", "parent_of", "bob", "s3"))
    for way in over(ask(people, "Ada?")).values():
        people_met = [each for each in ("Ada", "Bob", "Cleo", "you") if each in way]
        assert all(way.count(each) == 1 for each in people_met), way


def test_what_is_not_live_leads_nowhere_and_is_not_reached_until_it_is_back(people: Memory) -> None:
    again = related("again", "ada", "works_with", "bob", "s2")
    for gone, out, back in (
        ({"t5", "s3"}, hide("s2"), [unhide("s2")]),
        ({"t5", "s3"}, withhold("s2"), [release("s2")]),
        ({"t5", "s3"}, reject("r2"), [give_back("r2", "active")]),
        ({"t5", "s3"}, move("s", "s1"), [move("s", "s3-3")]),
        ({"s3"}, move("s", "s2"), [move("s", "s3-3")]),
        ({"t5"}, move("t", "t1-3"), [move("t", "t9-3")]),
        ({"t5"}, hide("t5"), [unhide("t5")]),
        ({"s3"}, hide("s3"), [unhide("s3")]),
        ({"t5", "s3"}, forget("r2"), again),
        ({"t5", "s3"}, delete("s2"), []),
    ):
        assert {"t5", "s3"} <= over(ask(people, "What about Ada?")).keys(), out
        people.append(out)
        found = over(ask(people, "What about Ada?"))
        assert found.keys() & {"t5", "s3"} == {"t5", "s3"} - gone, out
        if gone == {"t5", "s3"}:
            assert not any("Bob" in way for way in found.values()), out
        people.append(*back)


def test_a_project_sees_its_own_relationships_and_what_is_reached_in_it(people: Memory) -> None:
    people.append(begin("p", project="garden"))
    people.append(*apart("p", p1="Ada rents a xylophone from Gus", p5="Gus grows jicama", p9="Bob waters the yams"))
    people.append(*named("gus", "p1", "p5", name="Gus"), *named("bob", "p9", name="Bob"))
    people.append(*related("g1", "ada", "knows", "gus", "p1", project="garden"))
    outside, inside = (over(ask(people, "What about Ada?", project=each)) for each in (None, "garden"))
    assert {"t5", "s3"} <= outside.keys()
    assert not {"p5", "p9", "g1"} & outside.keys()
    assert "Gus" not in " ".join(outside.values())
    assert inside == {"p5": "Ada —knows→ Gus"}
    assert {"t5", "s3", "p5", "p9"} <= over(ask(people, "What about Ada?")).keys()


def test_a_what_if_sees_what_it_left_and_its_own_and_nobody_sees_into_it(people: Memory) -> None:
    people.append(
        fork("w", "s", "s3-3", world="dream"),
        *apart("w", w1="Ada is married to Hugo", w5="Hugo collects kazoos"),
        *named("hugo", "w1", "w5", name="Hugo"),
        *related("h1", "ada", "spouse_of", "hugo", "w1", world="dream"),
    )
    there, here = (over(ask(people, "What about Ada?", world=world)) for world in ("dream", "main"))
    assert there["w5"] == "Ada —married to→ Hugo"
    assert there["s3"] == "Ada —works with→ Bob —rents from→ Cleo"
    assert "w5" not in here
    assert "Hugo" not in " ".join(here.values())


def test_of_crowds_only_the_newest_are_followed_and_no_further(people: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "CROWD", 20)
    monkeypatch.setattr(walking, "NEWEST", 10)
    crowd = [f"member{number}" for number in range(40)]
    people.append(
        said("s4", parent="s3-3", text="We all are of the choir"),
        *named("choir", "s4", name="Choir"),
        *(event for each in (*crowd, "ada") for event in named(each, "s4")),
        *(event for each in (*crowd, "ada") for event in related(f"m-{each}", each, "member_of", "choir", "s4")),
        said("t10", "t", parent="t9-3", text="A quagga was seen"),
        *named("member0", "t10", name="member0"),
        said("t11", "t", parent="t10", text="An okapi was seen"),
        *named("member39", "t11", name="member39"),
    )
    found = over(ask(people, "What about the Choir?", limit=500))
    assert "t11" in found
    assert "t10" not in found
    assert "t11" not in over(ask(people, "What about Ada?", limit=500))  # over the choir


def test_names_are_read_in_any_case_and_script_and_the_longest_counts(people: Memory) -> None:
    people.append(said("s4", parent="s3-3", text="田中さんはボブの上司です"), *named("tanaka", "s4", name="田中"))
    people.append(*related("k1", "tanaka", "manages", "bob", "s4"))
    people.append(said("s5", parent="s4", text="Ada Byron knows a yak"), *named("byron", "s5", name="Ada Byron"))
    people.append(*named("will", "s5", name="Will"), *related("k2", "byron", "knows", "cleo", "s5"))
    people.append(*related("k3", "will", "knows", "cleo", "s5"))
    assert over(ask(people, "田中さんについて?"))["t5"] == "田中 —manages→ Bob"
    assert "t5" in over(ask(people, "what about ADA"))
    assert over(ask(people, "What of Ada Byron?"))["t9"] == "Ada Byron —knows→ Cleo"
    assert not over(ask(people, "what will it be"))
    assert "t9" in over(ask(people, "What of Will?"))


def test_with_a_graph_closed_or_slow_recall_answers_without_it(opening: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opening()
    memory.append(begin("s"), *apart("s", s1="Ada and Bob share an office", s5="Bob bakes"))
    memory.append(*named("ada", "s1", name="Ada"), *named("bob", "s1", "s5", name="Bob"))
    memory.append(*related("r", "ada", "works_with", "bob", "s1"))
    assert "s5" not in ask(memory, "Ada?")
    memory.open_graph(ignore)
    assert "s5" in ask(memory, "Ada?")

    def slow(*_: object, **__: object) -> list[dict[str, Any]]:
        raise QueryTimeout("too slow")

    monkeypatch.setattr(memory._graph, "query", slow)
    found = ask(memory, "Ada?")
    assert "s1" in found
    assert "s5" not in found


def test_made_anew_from_its_log_the_graph_leads_to_the_same(people: Memory, opening: Open) -> None:
    before = over(ask(people, "What about Ada?"))
    again = opening()
    again.open_graph(ignore)
    assert over(ask(again, "What about Ada?")) == before
