"""What a person says of people and things: named, merged, split, in one world, undone; and what is refused."""

from datetime import UTC, datetime

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from graph.errors import Ambiguous, NotFound
from graph.events import EntityNoted, SessionStarted
from graph.memory import Memory
from graph.values import Filters, Wanted
from tests.agent.relations.test_relating import edges, relate
from tests.graph.talk import said


def tell(memory: Memory) -> None:
    """Ada is named in two messages, Bobby in one; Lisbon is a place; Tom speaks."""
    memory.append(
        SessionStarted(session="s", client="test"),
        said("t1", text="Ada came by."),
        said("t2", text="Ada and Bobby left.", parent="t1"),
        said("t3", text="In Lisbon it rained.", parent="t2"),
        said("t4", text="I stayed.", parent="t3", speaker="Tom"),
        EntityNoted(entity="ada", category="person", by_turn="t1", text="Ada"),
        EntityNoted(entity="ada", category="person", by_turn="t2", text="Ada"),
        EntityNoted(entity="bobby", category="person", by_turn="t2", text="Bobby"),
        EntityNoted(entity="lisbon", category="place", by_turn="t3", text="Lisbon"),
    )


async def mentions(agent: Agent) -> set[tuple[str, str]]:
    """Who names whom, by the graph itself."""
    found = agent._memory.query("MATCH (t:Turn)-[:MENTIONS]->(e:Entity) RETURN t.id AS t, e.name AS e")
    return {(row["t"], row["e"]) for row in found}


def unsound(agent: Agent) -> list[str]:
    """What the tables, the graph and a fold of the log do not agree on."""
    return [each.detail for each in agent._memory.doctor() if not each.ok and each.name in ("tables", "graph")]


async def test_a_name_by_hand_is_what_everything_calls_it_and_undone_it_is_as_before(agent: Agent) -> None:
    made = await relate(agent, "Ada works_with Bob")
    await agent.entities.rename("ada", "Ada Lovelace")
    assert await edges(agent) == [("Ada Lovelace", "works_with", "Bob", True, None)]
    (found,) = await agent.memories.find(Wanted(about="ada lovelace"))
    assert (found.id, found.about) == (made.id, ("Ada Lovelace", "Bob"))
    assert [each.id for each in await agent.memories.find(Wanted(about="Ada"))] == [made.id], "as messages call her"
    assert (await agent.history.undo()).what == "gave Ada the name “Ada Lovelace”"
    assert await edges(agent) == [("Ada", "works_with", "Bob", True, None)]
    assert (await agent.entities.find("Ada")).kind == "person"
    assert unsound(agent) == []


@pytest.mark.restarts
async def test_two_that_are_one_have_all_that_is_of_either_until_they_are_told_apart_again(agent: Agent) -> None:
    tell(agent._memory)
    await relate(agent, "Bob trusts Ada")
    await relate(agent, "Bobby works_with Tom")
    merged = await agent.entities.merge("Bob", "Bobby")
    assert (merged.name, merged.others) == ("Bob", ("Bobby",))
    assert await edges(agent) == [("Bob", "trusts", "Ada", True, None), ("Bob", "works_with", "Tom", True, None)]
    assert ("t2", "Bob") in await mentions(agent)
    assert {turn.id for turn in (await agent.search.dossier("Bob")).words.turns} >= {"t2"}
    assert len(await agent.memories.find(Wanted(about="bobby", related=True))) == 2
    agent._memory.rebuild(lambda _: None)
    assert len(await edges(agent)) == 2
    again = await relate(agent, "Bobby trusts Ada")
    assert again.proof_count == 2, "it is known of Bob"
    await relate(agent, "Bobby likes Ada")
    change = (await agent.history.changes())[2]
    assert (await agent.history.undo(change.seq)).what == "merged Bobby into Bob"
    assert ("Bobby", "works_with", "Tom", True, None) in await edges(agent)
    assert ("t2", "Bobby") in await mentions(agent)
    assert unsound(agent) == []


async def test_an_alias_is_understood_until_it_is_taken_away(agent: Agent) -> None:
    tell(agent._memory)
    await relate(agent, "Ada likes Tom")
    await agent.entities.alias("Ada", "my sister")
    assert (await agent.entities.find("My Sister")).name == "Ada"
    assert await agent.memories.whom("my sister") == "my sister"
    assert {turn.id for turn in (await agent.search.dossier("my sister")).words.turns} >= {"t1", "t2"}
    assert (await agent.search.dossier("my sister")).words.name == "Ada"
    assert len(await agent.memories.find(Wanted(about="my sister", related=True))) == 1
    made = await relate(agent, "my sister trusts Bobby")
    assert made.relationship is not None
    assert made.relationship.subject.name == "Ada"
    with pytest.raises(AgentError, match=r"“my sister” is somebody else already: Ada.*Nothing was changed"):
        await agent.entities.alias("Bobby", "my sister")
    with pytest.raises(AgentError, match=r"“Bobby” is somebody else already.*merge them"):
        await agent.entities.rename("Ada", "Bobby")
    assert (await agent.entities.unalias("Ada", "my sister")).others == ()
    with pytest.raises(NotFound):
        await agent.entities.find("my sister")
    assert (await agent.history.undo()).what == "took the alias “my sister” away"
    assert (await agent.entities.find("my sister")).name == "Ada"


async def test_two_of_one_name_stay_two_and_a_relationship_goes_with_what_says_it(agent: Agent) -> None:
    tell(agent._memory)
    mine = await relate(agent, "Ada sibling_of Tom")
    hers = await relate(agent, "Ada works_with Bobby")
    other = await agent.entities.split("Ada", ["t1", hers.id])
    assert other.name == "Ada"
    with pytest.raises(Ambiguous, match=r"2 are called “Ada”.*Nothing was changed\. Give the id"):
        await agent.entities.find("Ada")
    with pytest.raises(Ambiguous, match="Several are called Ada"):
        await relate(agent, "Ada likes Bobby")
    with pytest.raises(Ambiguous, match=r"2 are called “Ada”: .*Give the id of one"):
        await agent.search.dossier("Ada")
    assert {each.id for each in await agent.memories.find(Wanted(entity="ada", related=True))} == {mine.id}
    assert {each.id for each in await agent.memories.find(Wanted(entity=other.id, related=True))} == {hers.id}
    ends = agent._memory.query("MATCH (a:Entity)-[r:RELATES]->(b) WHERE a.name = 'Ada' RETURN a.id AS a, r.kind AS k")
    assert {(row["a"], row["k"]) for row in ends} == {("ada", "sibling_of"), (other.id, "works_with")}
    assert {turn.id for turn in (await agent.search.dossier(other.id)).words.turns} >= {"t1"}
    assert "t2" not in {turn.id for turn in (await agent.search.dossier(other.id)).words.turns}
    made = await relate(agent, f"{other.id} likes Bobby")
    assert made.text == "Ada likes Bobby."
    await agent.entities.rename(other.id, "Ada B")
    with pytest.raises(AgentError, match="somebody else already"):
        await agent.entities.rename(other.id, "Ada")
    await agent.entities.rename(other.id, "Ada", another=True)
    split = next(each for each in await agent.history.changes() if each.what.startswith("split"))
    await agent.history.undo(split.seq)
    assert ("t1", "Ada") in await mentions(agent)
    assert len(await agent.memories.find(Wanted(entity="ada", related=True))) == 2
    assert unsound(agent) == []


async def test_what_would_make_the_memory_contradict_itself_is_refused_and_nothing_is_stored(agent: Agent) -> None:
    tell(agent._memory)
    await relate(agent, "Ada sibling_of Bobby")
    await relate(agent, "Tom parent_of Eve")
    await relate(agent, "Eve parent_of Uli")
    known = [each.id for each in await agent.memories.find(Wanted(about="Bobby"))]
    head, entities = agent._memory.head(), agent.entities
    for doing, why in (
        (entities.merge("Ada", "Bobby"), r"cannot be one: “Ada is a sibling of Bobby\.” .*Nothing was changed.*forget"),
        (entities.merge("Ada", "ada"), "Both are Ada already"),
        (entities.merge("Tom", "Uli"), "would be their own parent"),
        (entities.set_kind("Ada", "robot"), "no kind “robot”.*person, place"),
        (entities.set_kind("me", "thing"), "cannot be changed"),
        (entities.rename("Ada", "  "), "empty name"),
        (entities.rename("Ada", "x" * 201), "at most 200"),
        (entities.rename("Ada", "Ada"), "called that already"),
        (entities.rename("me", "Tim"), "Add an alias instead"),
        (entities.alias("Ada", "me"), "“me” is you"),
        (entities.alias("Ada", "ADA"), "already"),
        (entities.unalias("Ada", "Addie"), "not given the alias"),
        (entities.split("Ada", []), "by their ids"),
        (entities.split("Ada", ["t3"]), "no message or memory that names Ada"),
        (entities.split("Bobby", ["t2", *known]), "all that"),
        (relate(agent, "Uli parent_of Tom"), "stand so to themselves.*Nothing was stored"),
        (relate(agent, "Ada trusts ada"), "Nothing was stored"),
    ):
        with pytest.raises(AgentError, match=why):
            await doing
    with pytest.raises(NotFound, match=r"Nobody and nothing is called “Zed”\. Nothing was changed"):
        await entities.rename("Zed", "Zoe")
    assert agent._memory.head() == head


async def test_a_kind_can_be_corrected_and_what_was_changed_again_since_is_not_undone_before_that(agent: Agent) -> None:
    tell(agent._memory)
    await agent.entities.rename("Ada", "Eda")
    first = (await agent.history.changes())[0]
    await agent.entities.rename("Eda", "Ida")
    with pytest.raises(AgentError, match=r"said by hand of “Ida” has been changed again since\. Undo that first"):
        await agent.history.undo(first.seq)
    await agent.history.undo()
    await agent.history.undo(first.seq)
    assert (await agent.entities.find("Ada")).name == "Ada"

    with pytest.raises(AgentError, match=r"Ada is a person and Lisbon a place\. Nothing was changed\. If one"):
        await agent.entities.merge("Ada", "Lisbon")
    assert (await agent.entities.set_kind("lisbon", "Person")).kind == "person"
    assert (await agent.search.dossier("Lisbon")).words.kind == "person"
    assert (await agent.entities.merge("Ada", "Lisbon")).others == ("Lisbon",)
    await agent.history.undo()
    assert (await agent.history.undo()).what == "said what Lisbon is: a person"
    assert (await agent.entities.find("Lisbon")).kind == "place"

    await agent.entities.merge("Ada", "Bobby")
    await agent.history.undo()
    again = (await agent.history.changes())[0]
    await relate(agent, "Ada sibling_of Bobby")
    with pytest.raises(AgentError, match="of the two of them"):
        await agent.history.undo(again.seq)


async def test_a_change_in_a_what_if_holds_only_there(agent: Agent) -> None:
    tell(agent._memory)
    await relate(agent, "Bob trusts Ada")
    await relate(agent, "Bobby likes Tom")
    await agent.entities.rename("Tom", "Thomas")
    fork = await agent.branches.fork("s", what_if=True)
    world = (await agent.chats.get(fork)).world
    await agent.entities.rename("Thomas", "Tomas")
    await agent.entities.merge("Bob", "Bobby", world=world)
    await agent.entities.rename("Ada", "Ida", world=world)
    assert (await agent.entities.find("Thomas", world=world)).name == "Thomas", "as it was when the what-if began"
    (trust,) = await agent.memories.find(Wanted(about="Ida", world=world, related=True))
    assert trust.text is not None
    assert trust.relationship is not None
    assert (trust.relationship.subject.name, trust.relationship.object.name) == ("Bob", "Ida")
    assert len(await agent.memories.find(Wanted(about="bobby", world=world, related=True))) == 2
    assert len(await agent.memories.find(Wanted(about="bobby", related=True))) == 1
    assert (await agent.entities.find("Ada")).name == "Ada"
    await agent.history.undo()
    assert (await agent.entities.find("Ada", world=world)).name == "Ada"
    assert unsound(agent) == []


async def test_recall_knows_a_speaker_by_every_name_in_the_world_that_is_asked(agent: Agent) -> None:
    tell(agent._memory)
    agent._memory.append(
        said("t5", text="I slept at the old mill.", parent="t4", speaker="Tom"),
        said("t6", text="I slept at the old mill, too.", parent="t5", speaker="Eve"),
        said("t7", text="I slept at the old mill, as ever.", parent="t6", speaker="Ada"),
    )

    def first(question: str, world: str = "main") -> tuple[str, bool]:
        hits = agent._memory.recall.search(question, filters=Filters(world=world), now=datetime.now(UTC), timezone=UTC)
        return hits[0].id, any(each.name == "speaker" for each in hits[0].boosts)

    assert not first("Where did Thomas sleep, at the old mill?")[1]
    fork = await agent.branches.fork("s", what_if=True)
    world = (await agent.chats.get(fork)).world
    await agent.entities.rename("Tom", "Thomas")
    await agent.entities.alias("Eve", "Evita", world=world)
    assert first("Where did Thomas sleep, at the old mill?") == ("t5", True)
    assert first("Where did Evita sleep, at the old mill?", world) == ("t6", True)
    assert not first("Where did Evita sleep, at the old mill?")[1]
    assert not first("Where did Thomas sleep, at the old mill?", world)[1]


@pytest.mark.restarts
async def test_what_one_was_called_by_hand_goes_with_the_last_words_that_name_them(agent: Agent) -> None:
    tell(agent._memory)
    await agent.entities.rename("Ada", "Quillon")
    await agent.entities.alias("Quillon", "Zyphoria")
    other = await agent.entities.split("Quillon", ["t1"], called="Wexley")
    await agent.entities.rename(other.id, "Brunhild")

    def left() -> str:
        with agent._memory.readings.snapshot() as db:
            texts = [text for (text,) in db.execute("SELECT text FROM events WHERE text IS NOT NULL")]
        return " ".join(texts)

    await agent.plans.carry_out(await agent.plans.delete("t1"))
    assert all(word in left() for word in ("Quillon", "Zyphoria", "Wexley", "Brunhild")), "t2 names Ada still"
    await agent.plans.carry_out(await agent.plans.delete("t2"))
    assert not any(word in left() for word in ("Ada", "Quillon", "Zyphoria", "Wexley", "Brunhild"))
    assert [each.name for each in await agent.entities.everyone() if each.id != "you"] == ["Lisbon", "Tom"]
    assert unsound(agent) == []
