"""The dossier of a name: who it stands how to, what is believed and what was, when, and the words; in one world."""

import pytest

from agent.agent import Agent
from agent.dossier import Dossier
from agent.relations.stating import read
from tests.agent.conftest import MakeAgent
from tests.agent.relations.test_learning import started
from tests.agent.test_recall import say


async def relate(agent: Agent, *stated: str, world: str = "main") -> None:
    for each in stated:
        await agent.memories.relate(read(each), world=world)


def sentences(found: Dossier) -> list[str]:
    return [each.text or "" for each in found.relationships]


def moments(found: Dossier) -> list[tuple[str, str, bool]]:
    return [(each.when, each.what, each.over) for each in found.timeline]


async def test_relationships_come_by_kind_those_that_are_over_last(agent: Agent) -> None:
    await relate(agent, "Ada works_with Bob since 2026-05", "Ada works_for Siemens since 2020 until 2023-05")
    await relate(agent, "Ada lives_in Lisbon", "me sibling_of Ada")
    found = await agent.search.dossier("ada")
    assert sentences(found) == [
        "I am a sibling of Ada.",
        "Ada works with Bob since 2026-05.",
        "Ada lives in Lisbon.",
        "Ada worked for Siemens since 2020 until 2023-05.",
    ]
    assert found.believed == ()  # what says no more than a relationship is told once
    assert moments(found)[:3] == [
        ("2020", "Ada works for Siemens", True),
        ("2023-05", "no longer: Ada works for Siemens", False),
        ("2026-05", "Ada works with Bob", False),
    ]
    assert len(found.words.turns) == 4


async def test_what_was_believed_is_told_with_what_came_instead(agent: Agent) -> None:
    made = await agent.memories.remember("Ada is allergic to peanuts")
    again = await agent.memories.correct(made.id, "Ada can eat peanuts again")
    wrong = await agent.memories.remember("Ada has a parrot")
    await agent.memories.reject(wrong.id)
    found = await agent.search.dossier("Ada")
    assert [each.text for each in found.believed] == ["Ada can eat peanuts again"]
    told = {each.text: instead.id if instead is not None else None for each, instead in found.was}
    assert told == {"Ada is allergic to peanuts": again.id, "Ada has a parrot": None}
    assert [(what, over) for _, what, over in moments(found)] == [
        ("Ada is allergic to peanuts", True),
        ("Ada can eat peanuts again", False),
        ("Ada has a parrot", True),
    ]


async def test_a_word_of_relationship_is_whom_it_means(make_agent: MakeAgent) -> None:
    agent = await started(make_agent)
    await say(agent, None, "My sister is called Ada.")
    await relate(agent, "Ada works_with Bob")
    found = await agent.search.dossier("my sister")
    assert found.words.name == "Ada"
    assert "Ada works with Bob." in sentences(found)
    assert (await agent.search.dossier("my uncle")).empty


@pytest.mark.restarts
async def test_a_what_if_has_its_own_and_what_its_only_proof_is_deleted_of_is_gone_with_its_times(agent: Agent) -> None:
    session, _, _ = await say(agent, None, "Ada is here")
    world = agent._memory.readings.world_of(await agent.branches.fork(session, what_if=True))
    await relate(agent, "Ada manages Xyzzy", world=world)
    assert sentences(await agent.search.dossier("Ada", world=world)) == ["Ada manages Xyzzy."]
    assert "Xyzzy" not in repr(await agent.search.dossier("Ada"))
    assert (await agent.search.dossier("Xyzzy")).empty
    made = await agent.memories.relate(read("Ada works_with Bob since 2026-05"))
    assert not (await agent.search.dossier("Bob")).empty
    await agent.memories.forget(made.id)
    found = await agent.search.dossier("Bob")
    assert (found.relationships, found.timeline) == ((), ())


async def test_a_name_is_no_stem_of_other_words(agent: Agent) -> None:
    await agent.memories.remember("I live in Porto.")
    found = await agent.search.dossier("Ines")
    assert (found.words.turns, found.believed, found.relationships) == ((), (), ())
    await agent.memories.remember("Ines bakes bread.")
    assert [each.text for each in (await agent.search.dossier("ines")).believed] == ["Ines bakes bread."]
