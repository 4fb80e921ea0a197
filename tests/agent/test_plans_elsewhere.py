"""What a change does is told for every world that sees it, and of all that loses its words, in use or not."""

from agent.agent import Agent
from tests.agent.test_plans import chat
from tests.graph.teach import observed
from tui.impact import lines_of


async def moved(agent: Agent) -> tuple[list[str], str]:
    """Lyon, then Porto, learned in main; a what-if that left then, and main rewound to before Porto."""
    session, (one, two) = await chat(agent, "I live in Lyon.", "I moved to Porto.")
    first = observed("LYON", one.turn, text="lives in Lyon")
    agent._memory.append(first, observed("PORTO", two.turn, after=first, text="lives in Porto"))
    fork = await agent.branches.fork(session, what_if=True, name="elsewhere")
    await agent.branches.rewind(session, one.reply_turn)
    return [one.turn, two.turn], fork


async def test_what_falls_back_only_in_a_what_if_is_told_of_that_one(agent: Agent) -> None:
    (_, two), fork = await moved(agent)
    impact = (await agent.plans.hide(two)).impact
    assert (impact.world, impact.lost, impact.fallen_back) == ("main", (), ())
    (other,) = impact.elsewhere
    assert (other.world, other.name) == (fork, "elsewhere")
    assert [(form.id, earlier.id) for form, earlier in other.fallen_back] == [("PORTO", "LYON")]
    assert "In the what-if “elsewhere”: 1 memory will go back to an earlier version:" in lines_of(impact)


async def test_what_is_erased_and_not_in_use_is_told_of(agent: Agent) -> None:
    (one, two), _ = await moved(agent)
    off_path = (await agent.plans.delete(two)).impact
    assert (off_path.lost, [form.id for form in off_path.erased]) == ((), ["PORTO"])
    assert "1 memory that no longer applied will be deleted too:" in lines_of(off_path)
    both = (await agent.plans.delete(one)).impact
    assert [form.id for form in both.lost] == ["LYON"]
    assert [form.id for form in both.erased] == ["LYON", "PORTO"]


async def test_no_words_are_told_as_erased_and_as_believed_again(agent: Agent) -> None:
    _, (one, two) = await chat(agent, "I live in Lyon.", "I moved to Porto.")
    first = observed("LYON", one.turn, text="lives in Lyon")
    porto = observed("PORTO", one.turn, two.turn, after=first, text="lives in Porto")
    agent._memory.append(first, porto, observed("AGAIN", two.turn, instead_of="PORTO", text="lives in Porto"))
    impact = (await agent.plans.delete(one.turn)).impact
    assert [form.id for form in impact.returning] == ["AGAIN"]
    told = lines_of(impact)
    assert "1 memory will stay, with less proof:" in told
    assert told.count("  “lives in Porto”") == 1
