"""A memory made from two others: by hand, proposed by a model, gone and back with either, and every bad input."""

import pytest

from agent.agent import Agent
from agent.errors import AgentError, EmptyMessage
from graph.errors import InvalidEvent, NotFound
from graph.events import ObservationDeleted, ObservationRetired
from graph.ids import new_id
from graph.values import Observation, Wanted
from tests.agent.test_recall import say
from tests.fakes import FakeGenerator
from tests.graph.teach import observed

LYON, BOAT, BOTH = "I live in Lyon.", "I own a boat.", "I live in Lyon and own a boat."
EVERYTHING = Wanted(everything=True, dead=True)


async def two(agent: Agent) -> tuple[Observation, Observation]:
    return await agent.memories.remember(LYON), await agent.memories.remember(BOAT)


async def learned(agent: Agent, text: str, *, project: str | None = None) -> tuple[str, str]:
    """What a message taught, in a chat of a project or of none: the message and the memory."""
    session, accepted, _ = await say(agent, None, f"{text} (said)")
    if project is not None:
        await agent.projects.assign(session, project)
    made = observed(new_id(), accepted.turn, text=text, confidence=0.8)
    agent._memory.append(made)
    return accepted.turn, made.observation


def damage(agent: Agent) -> list[str]:
    """What the doctor finds wrong in log, tables and graph."""
    return [check.detail for check in agent._memory.doctor() if not check.ok and check.name != "permissions"]


async def in_use(agent: Agent, id: str) -> bool:
    return id in {each.id for each in await agent.memories.find()}


async def refused(agent: Agent, one: str, other: str, match: str, text: str = BOTH, **where: str) -> None:
    """The making is refused with those words, and nothing is stored."""
    head = agent._memory.head()
    with pytest.raises((AgentError, NotFound), match=match):
        await agent.syntheses.make(one, other, text, **where)
    assert agent._memory.head() == head


async def test_it_says_what_both_say_its_proof_shows_both_and_undoing_takes_it_back(agent: Agent) -> None:
    lyon, boat = await two(agent)
    made = await agent.syntheses.make(lyon.id[:12], boat.id, BOTH)
    assert (await agent.history.changes(limit=1))[0].what == f"made a memory from two others: “{BOTH}”"
    await agent.history.undo()
    assert not await in_use(agent, made.id)
    assert await in_use(agent, lyon.id)
    await agent.history.undo((await agent.history.changes(limit=1))[0].seq)
    assert await in_use(agent, made.id)
    assert (made.text, made.status, made.current, made.parents) == (BOTH, "active", True, (lyon.id, boat.id))
    assert (made.sources, made.grounded) == ((*lyon.sources, *boat.sources), True)
    story = await agent.memories.story(made.id)
    assert [each.text for each in story.parents] == [LYON, BOAT]
    assert [proof.text for proof in story.proofs[made.id]] == [LYON, BOAT]
    assert {lyon.id, boat.id} <= {step.node.ref.id for step in await agent.graph.provenance(made.id)}
    assert damage(agent) == []
    other = await agent.syntheses.make(made.id, (await agent.memories.remember("I row.")).id, "I row on the Saône.")
    assert not other.grounded


async def test_what_hides_or_rewinds_a_word_of_either_takes_it_along_and_back(agent: Agent) -> None:
    lyon, boat = await two(agent)
    turn, tea = await learned(agent, "I drink tea.")
    made = await agent.syntheses.make(tea, boat.id, "I drink tea on a boat.")
    above = await agent.syntheses.make(made.id, lyon.id, "I drink tea on a boat in Lyon.")
    plan = await agent.plans.hide(turn)
    assert {each.id for each in plan.impact.lost} == {tea, made.id, above.id}
    await agent.plans.carry_out(plan)
    assert [await in_use(agent, id) for id in (made.id, above.id, boat.id)] == [False, False, True]
    assert not (await agent.memories.story(made.id)).observation.live
    again = {each.instead_of for each in agent._memory.readings.unreflected(100)}
    assert again.isdisjoint((made.id, above.id))  # the boat is no news
    await agent.history.undo()
    assert await in_use(agent, above.id)
    session = (await agent.chats.get((await agent.memories.story(tea)).proofs[tea][0].session)).id
    await agent.branches.rewind(session, None)
    assert not await in_use(agent, made.id)
    await agent.history.undo()
    assert await in_use(agent, above.id)


async def test_it_is_out_of_use_while_a_parent_is_retired_superseded_or_under_review(agent: Agent) -> None:
    """Invariant 3: what is believed follows what proves it; nothing outdated is told as present."""
    lyon, boat = await two(agent)
    made = await agent.syntheses.make(lyon.id, boat.id, BOTH)
    for change in (
        agent.memories.reject(lyon.id),
        agent.memories.correct(lyon.id, "I live in Porto."),
    ):
        await change
        story = await agent.memories.story(made.id)
        assert (story.observation.live, story.observation.current, story.observation.status) == (True, False, "active")
        assert not await in_use(agent, made.id)
        assert [each.id for each in await agent.search.recall("Lyon boat") if each.id == made.id] == []
        await agent.history.undo()
        assert await in_use(agent, made.id)
    turn, _ = await learned(agent, "I left Lyon.")
    agent._memory.append(ObservationRetired(observation=lyon.id, by_turn=turn))
    assert not await in_use(agent, made.id)
    await agent.plans.carry_out(await agent.plans.hide(turn))
    assert await in_use(agent, made.id)
    await agent.memories.restore(lyon.id, "candidate")
    assert not await in_use(agent, made.id)


@pytest.mark.restarts
async def test_forgetting_a_parent_erases_it_for_good_with_all_its_forms(agent: Agent) -> None:
    lyon, boat = await two(agent)
    made = await agent.syntheses.make(lyon.id, boat.id, BOTH)
    later = await agent.memories.correct(made.id, "I live in Lyon, on my boat.")
    assert later.parents == made.parents
    plan = await agent.plans.forget(lyon.id)
    assert {lyon.id, later.id} <= {each.id for each in plan.impact.lost}
    await agent.memories.forget(lyon.id)
    assert [each.id for each in await agent.memories.find(EVERYTHING)] == [boat.id]
    texts = [getattr(each.event, "text", None) for each in agent._memory._reader.events(after=0, limit=1000)]
    assert [text for text in texts if text and "Lyon" in text] == []
    assert damage(agent) == []
    row, tea = await agent.memories.remember("I row."), await agent.memories.remember("I drink tea.")
    made = await agent.syntheses.make(row.id, tea.id, "I row and drink tea.")
    agent._memory.append(ObservationDeleted(series=tea.series))  # the event alone does so too
    assert {each.id for each in await agent.memories.find(EVERYTHING)} == {boat.id, row.id}
    with pytest.raises(NotFound, match="forgotten"):
        await agent.memories.story(made.id)


async def test_a_what_if_makes_its_own_and_judges_by_its_own(agent: Agent) -> None:
    lyon, boat = await two(agent)
    made = await agent.syntheses.make(lyon.id, boat.id, BOTH)
    session, _, ended = await say(agent, None, "What then?")
    await agent.branches.fork(session, at=ended.turn, what_if=True)
    (world,) = (each.id for each in await agent.branches.worlds() if each.id != "main")
    own = await agent.syntheses.make(lyon.id, boat.id, "The boat lies in Lyon.", world=world)
    there = Wanted(world=world)
    assert {made.id, own.id} <= {each.id for each in await agent.memories.find(there)}
    assert not await in_use(agent, own.id)
    await refused(agent, own.id, boat.id, "belongs to another world", "Something else.")
    await agent.memories.correct(lyon.id, "I live in Porto.", world=world)
    assert {made.id, own.id}.isdisjoint(each.id for each in await agent.memories.find(there))
    assert await in_use(agent, made.id)
    await agent.history.undo()
    assert {made.id, own.id} <= {each.id for each in await agent.memories.find(there)}
    assert damage(agent) == []


async def test_it_is_seen_only_where_both_its_parents_are(agent: Agent) -> None:
    lyon, boat = await two(agent)
    for project in ("rowing", "pots"):
        await agent.projects.make(project)
    _, oars = await learned(agent, "The oars are short.", project="rowing")
    _, tea = await learned(agent, "Tea is brewed at four.")
    _, other = await learned(agent, "The kiln is hot.", project="pots")
    mixed = await agent.syntheses.make(lyon.id, oars, "In Lyon the oars are short.")
    plain = await agent.syntheses.make(boat.id, tea, "Tea is brewed on my boat.")
    everywhere = await agent.syntheses.make(lyon.id, boat.id, BOTH, project="rowing")

    async def seen(viewer: str | None) -> set[str]:
        found = {each.id for each in await agent.memories.find(Wanted(viewer=viewer))}
        return found & {mixed.id, plain.id, everywhere.id}

    assert await seen("rowing") == {mixed.id, everywhere.id}
    assert await seen("pots") == {everywhere.id}
    assert await seen(None) == {plain.id, everywhere.id}
    await refused(agent, oars, other, "of the project rowing, the other of pots")
    await refused(agent, tea, oars, "not seen in the project rowing")
    await refused(agent, lyon.id, other, "not seen in this chat's project", project="rowing")


async def test_what_cannot_be_made_or_leaves_out_a_word_of_its_parents_is_refused(agent: Agent) -> None:
    lyon, boat = await two(agent)
    made = observed(new_id(), *lyon.sources, *boat.sources, text=BOTH, parents=(lyon.id, boat.id))
    for bad, why in (
        (made.model_copy(update={"sources": lyon.sources}), "leaves out the source"),
        (made.model_copy(update={"parents": (lyon.id, lyon.id)}), "both parents are one memory"),
        (made.model_copy(update={"parents": (lyon.id, "nobody")}), "no observation nobody"),
        (made.model_copy(update={"supersedes": lyon.id, "series": lyon.series}), "has the parents of the one before"),
    ):
        with pytest.raises(InvalidEvent, match=why):
            agent._memory.append(bad)

    there = await agent.syntheses.make(lyon.id, boat.id, BOTH)
    turn, tea = await learned(agent, "I drink tea.")
    _, maybe = await learned(agent, "I may row.")
    await agent.memories.restore(maybe, "candidate")
    await agent.plans.carry_out(await agent.plans.hide(turn))
    old = await agent.memories.remember("I row.")
    await agent.memories.correct(old.id, "I rowed.")
    await refused(agent, lyon.id, lyon.id, "Both are the same memory")
    await refused(agent, lyon.id, "0NOSUCHID", "There is no memory")
    await refused(agent, lyon.id, tea, "lost its proof: it was hidden, deleted or rewound")
    await refused(agent, maybe, lyon.id, "is waiting for review")
    await refused(agent, old.id, lyon.id, "was replaced by a later version")
    await refused(agent, there.id, lyon.id, "was itself made from the other", "Something else.")
    await refused(agent, boat.id, there.id, "was itself made from the other", "Something else.")
    await refused(agent, lyon.id, boat.id, "same memory is already there", BOTH.upper())
    await refused(agent, lyon.id, boat.id, "That is 31 words", "word " * 31)
    with pytest.raises(EmptyMessage):
        await agent.syntheses.make(lyon.id, boat.id, " \n ")
    await agent.memories.reject(lyon.id)
    await refused(agent, lyon.id, boat.id, "was rejected or contradicted")
    await refused(agent, there.id, old.id, "is not in use", "Something else.")


async def test_without_a_text_both_wait_for_review_as_they_are(agent: Agent) -> None:
    lyon, boat = await two(agent)
    made = await agent.syntheses.make(lyon.id, boat.id)
    assert (made.text, made.status) == (f"{LYON} {BOAT}", "candidate")
    await agent.memories.promote(made.id)
    assert await in_use(agent, made.id)
    long = await agent.memories.remember("We " + "row and " * 15 + "rest.")
    with pytest.raises(AgentError, match=r"Together they are \d+ words"):
        await agent.syntheses.make(long.id, boat.id)


async def test_a_trusted_model_proposes_what_both_say(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    lyon, boat = await two(agent)
    model = agent._host.current
    assert isinstance(model, FakeGenerator)
    for answer, trusted, kept in (
        (BOTH, True, True),
        (BOTH, False, False),
        ("I live in Lyon and own a yacht.", True, False),
        ("I live in Lyon.", True, False),
        ("I own a boat in Lyon since 1999.", True, False),
    ):
        model.answers = [{"text": answer}]
        monkeypatch.setattr(agent.syntheses, "_doubts", lambda generator, trusted=trusted: not trusted)
        proposed = await agent.syntheses.propose(lyon.id, boat.id)
        assert (proposed.text, proposed.model) == ((answer, "fake") if kept else (f"{LYON} {BOAT}", ""))
