"""What is kept by hand, on a real log and graph: stated, corrected, reviewed, forgotten, pinned, rated."""

import asyncio
from typing import Any

import pytest

from agent.agent import Agent
from agent.errors import AgentError, EmptyMessage
from agent.events import MemoriesChanged
from graph.errors import NotFound
from graph.events import ObservationKind
from graph.ids import new_id
from graph.values import Wanted
from tests.agent.test_recall import say
from tests.graph.teach import observed


async def candidate(agent: Agent, text: str = "The user may like tea", *, of: str | None = None) -> str:
    """A candidate that a message taught, maybe a revision `of` another one; its id."""
    _, _, ended = await say(agent, None, "Tea, perhaps.")
    after = (await agent.memories.story(of)).observation if of else None
    more: dict[str, Any] = {"series": after.series, "supersedes": of} if after else {}
    sources = (ended.turn, *(after.sources if after else ()))
    more |= {"category": ObservationKind.PREFERENCE, "status": "candidate", "confidence": 0.6}
    agent._memory.append(observed(id := new_id(), *sources, text=text, **more))
    return id


async def test_what_is_remembered_is_in_use_at_once_and_its_proof_is_a_note(agent: Agent) -> None:
    notices = agent.notices()
    made = await agent.memories.remember("I live in Lyon.")
    async for notice in notices:
        if isinstance(notice, MemoriesChanged):
            break
    assert (made.text, made.status, made.origin, made.confidence) == ("I live in Lyon.", "active", "user", 1.0)
    (proof,) = (await agent.memories.story(made.id)).proofs[made.id]
    assert (proof.text, proof.relation, proof.speaker, proof.live) == ("I live in Lyon.", "DERIVED_FROM", "you", True)
    assert (await agent.chats.get(proof.session)).name == "Notes"
    boat = await agent.memories.remember("I own a boat.", kind=ObservationKind.PROJECT)
    assert boat.kind == "project"
    assert [each.id for each in await agent.memories.find()] == [boat.id, made.id]
    assert (await agent.chats.thread(proof.session))[-1].text == "I own a boat."

    again = await agent.memories.remember("i live in  lyon")
    assert (again.id, again.proof_count) == (made.id, 2)
    assert len(await agent.memories.find()) == 2
    other = await agent.memories.remember("I live in Lyon.", project="travel")
    assert other.id != made.id


async def test_tags_set_by_hand_are_the_scope_and_stay_through_corrections(agent: Agent) -> None:
    plain = await agent.memories.remember("I row on Sundays.")
    tagged = await agent.memories.remember("I row on Sundays.", tags=["#sport", "club  life", "sport"])
    assert (plain.scope, plain.tags) == ("global", ())
    assert (tagged.scope, tagged.tags) == ("club life,sport", ("club life", "sport"))
    assert tagged.id != plain.id
    again = await agent.memories.remember("I row on Sundays.", tags=["club life", "sport"])
    assert (again.id, again.proof_count) == (tagged.id, 2)
    corrected = await agent.memories.correct(tagged.id, "I row on Mondays.")
    assert (corrected.scope, corrected.tags) == (tagged.scope, tagged.tags)
    for bad in ("a,b", "", "#", "x" * 33):
        with pytest.raises(AgentError, match=r"is not a valid tag.*Nothing was stored"):
            await agent.memories.remember("I swim.", tags=[bad])


async def test_what_is_under_review_and_what_is_in_use_may_say_the_same(agent: Agent) -> None:
    waits = await candidate(agent, "The user likes tea.")
    stated = await agent.memories.remember("The user likes tea.")
    assert (stated.status, stated.proof_count) == ("active", 1)
    assert [each.id for each in await agent.memories.review()] == [waits]
    with pytest.raises(AgentError, match=f"already in use .{stated.id}"):
        await agent.memories.promote(waits)
    assert (await agent.memories.remember("the user likes tea")).id == stated.id
    await agent.memories.reject(stated.id)
    await agent.memories.promote(waits)
    assert [each.id for each in await agent.memories.find()] == [waits]


async def test_a_correction_keeps_the_journey_and_what_it_puts_right_is_no_proof_of_it(agent: Agent) -> None:
    old = await agent.memories.remember("I live in Lyon.")
    assert old.corrected == ()
    new = await agent.memories.correct(old.id[:10], "I live in Porto.")
    assert (new.series, new.supersedes, new.status) == (old.series, old.id, "active")
    assert set(old.sources) < set(new.sources)
    assert (new.corrected, new.proof_count) == (old.sources, 1)
    story = await agent.memories.story(new.id)
    found = [(each.text, each.status) for each in story.revisions]
    assert found == [("I live in Lyon.", "superseded"), ("I live in Porto.", "active")]
    assert [each.id for each in await agent.memories.find()] == [new.id]
    with pytest.raises(AgentError, match="replaced by a later version"):
        await agent.memories.correct(old.id, "I live in Rome.")
    with pytest.raises(AgentError, match="already says"):
        await agent.memories.correct(new.id, "i live in porto")
    _, _, ended = await say(agent, None, "Do I live in Lyon?")
    assert [hit.text for hit in await agent.search.context(ended.reply_turn)] == ["I live in Porto."]
    newer = await agent.memories.correct(new.id, "I live in Rome.")
    assert (set(newer.corrected), newer.proof_count) == (set(new.sources), 1)

    wrong = await agent.memories.remember("I keep bees.")
    await agent.memories.reject(wrong.id)
    right = await agent.memories.correct(wrong.id, "I keep hens.")
    with pytest.raises(AgentError, match=f'since been corrected.*"I keep hens.". `clew correct {right.id}'):
        await agent.memories.correct(wrong.id, "I keep ducks.")
    assert [each.id for each in await agent.memories.find()] == [right.id, newer.id]
    last = await agent.memories.correct(right.id, "I keep ducks.")
    assert [each.id for each in await agent.memories.find()] == [last.id, newer.id]


async def test_a_correction_answers_what_waits_and_of_two_revisions_one_comes_into_use(agent: Agent) -> None:
    old = await agent.memories.remember("I like tea.")
    waits = await candidate(agent, "The user likes coffee", of=old.id)
    assert [each.id for each in await agent.memories.review()] == [waits]
    new = await agent.memories.correct(old.id, "I like water.")
    assert await agent.memories.review() == []
    assert [each.id for each in await agent.memories.find()] == [new.id]

    one = await candidate(agent, "The user likes coffee", of=new.id)
    two = await candidate(agent, "The user likes juice", of=new.id)
    await agent.memories.promote(one)
    for change in (agent.memories.promote(two), agent.memories.reword(two, "I like juice.")):
        with pytest.raises(AgentError, match="Another version of it is now in use"):
            await change
    await agent.memories.reject(two)
    assert [each.id for each in await agent.memories.find()] == [one]


async def test_an_edit_is_the_users_own_form_and_rejecting_it_undoes_it(agent: Agent) -> None:
    id = await candidate(agent)
    made = await agent.memories.reword(id, "I like green tea.")
    assert (made.text, made.status, made.supersedes, made.origin) == ("I like green tea.", "active", id, "user")
    assert await agent.memories.review() == []
    head = agent._memory.head()
    with pytest.raises(AgentError, match=made.id):
        await agent.memories.restore(id, "candidate")
    assert agent._memory.head() == head
    await agent.memories.reject(made.id)
    assert [each.id for each in await agent.memories.review()] == [id]


@pytest.mark.restarts
async def test_what_is_forgotten_is_erased_with_its_notes_and_every_earlier_form(agent: Agent) -> None:
    old = await agent.memories.remember("I live in Lyon.")
    new = await agent.memories.correct(old.id, "I live in Porto.")
    assert [each.id for each in await agent.memories.forgetting(new.id)] == [old.id, new.id]
    impact = (await agent.plans.forget(new.id)).impact
    assert {form.id for form in impact.lost} == {old.id, new.id}
    assert {turn.role for turn in impact.gone} == {"note"}
    assert await agent.memories.forget(new.id) == 2
    with agent._memory.readings.snapshot() as db:
        assert db.execute("SELECT count(*) FROM events WHERE text LIKE 'I live in %'").fetchone() == (0,)
    assert await agent.memories.find(Wanted(everything=True, dead=True)) == []
    with pytest.raises(NotFound):
        await agent.memories.story(old.id)
    assert await agent.search.words("Lyon") == []
    assert await agent.search.words("Porto") == []
    with pytest.raises(NotFound):
        await agent.memories.forget(new.id)


async def test_what_cannot_be_kept_stores_nothing(agent: Agent) -> None:
    head = agent._memory.head()
    for text in ("", " \n ", "x" * 501):
        with pytest.raises((EmptyMessage, AgentError)):
            await agent.memories.remember(text)
    with pytest.raises(NotFound):
        await agent.memories.correct(new_id(), "something")
    assert agent._memory.head() == head


async def test_a_decision_can_be_taken_back_and_none_is_taken_on_what_a_hidden_message_taught(agent: Agent) -> None:
    id = await candidate(agent)
    for decide, status in ((agent.memories.promote, "active"), (agent.memories.reject, "invalid")):
        await decide(id)
        assert (await agent.memories.story(id)).observation.status == status
        await agent.memories.restore(id, "candidate")
        assert [each.id for each in await agent.memories.review()] == [id]
        head = agent._memory.head()
        await agent.memories.restore(id, "candidate")
        assert agent._memory.head() == head
    memories = agent.memories
    reviews = (memories.promote(id), memories.promote(id), memories.reword(id, "I like tea."))
    outcomes = await asyncio.gather(*reviews, return_exceptions=True)
    assert [type(each) for each in outcomes] == [type(None), AgentError, AgentError], "the second changes nothing"
    assert "already in use" in str(outcomes[1])
    assert agent._memory.head() == head + 1
    assert await memories.review() == []
    await memories.restore(id, "candidate")
    await agent.chats.hide((await agent.memories.story(id)).observation.sources[0])
    assert await agent.memories.review() == []
    with pytest.raises(AgentError, match="hidden, deleted or rewound"):
        await agent.memories.promote(id)


async def test_ratings_are_one_append_and_count_what_is_live(agent: Agent) -> None:
    _, _, one = await say(agent, None, "My father died.")
    _, _, two = await say(agent, None, "I bought bread.")
    head = agent._memory.head()
    assert await agent.memories.rate([one.turn, two.turn, one.turn], 3) == 2
    assert agent._memory.head() == head + 2
    assert await agent.memories.rate(two.turn, 0) == 1
    counts = await agent.memories.significance()
    assert (counts[3], counts[0]) == (1, 1)
    assert [turn.id for turn in await agent.memories.rated(3)] == [one.turn]
    with pytest.raises(AgentError, match="4 is not a valid significance"):
        await agent.memories.rate(one.turn, 4)
    with pytest.raises(NotFound, match="Nothing was rated"):
        await agent.memories.rate([one.turn, new_id()], 1)


async def test_blocks_and_projects_are_written_read_and_refused(agent: Agent) -> None:
    await agent.memories.write_block("persona", "You are\nterse.")
    await agent.memories.write_block("persona", "You are kind.")
    (block,) = await agent.memories.blocks()
    assert (block.name, block.text, block.by) == ("persona", "You are kind.", "user")
    await agent.memories.write_block("persona", " ")
    assert await agent.memories.blocks() == []
    with pytest.raises(AgentError, match="no core block persona"):
        await agent.memories.write_block("persona", "")
    with pytest.raises(AgentError, match="letters, digits"):
        await agent.memories.write_block("two words", "x")
    await agent.projects.make("boats", "All about rowing")
    session, _, _ = await say(agent, None, "hello there")
    await agent.projects.assign(session, "Boats")
    (project,) = await agent.projects.all()
    assert (project.name, project.description, project.status) == ("boats", "All about rowing", "active")
    assert (await agent.chats.get(session)).project == "boats"
    await agent.projects.archive("boats")
    assert [each.status for each in await agent.projects.all()] == ["archived"]
    one, two = await agent.memories.remember("I row."), await agent.memories.remember("I row here.", project="boats")
    places = [(await agent.memories.story(each.id)).proofs[each.id][0].session for each in (one, two)]
    assert places[0] != places[1], "notes of a project stand apart"
    assert [each.project for each in await agent.memories.find(Wanted(project="boats"))] == ["boats"]
    assert await agent.chats.last() == session, "and are nobody's last chat"
    with pytest.raises(NotFound, match="no project cars"):
        await agent.projects.assign(session, "cars")
