"""Observations and chunks before the model: quoted as what they are, once each, and cut when their proof goes."""

from dataclasses import replace
from datetime import UTC, datetime

from agent.agent import Agent
from agent.quoting import quote_chunk, quote_hit
from agent.relevance import relevant
from graph.events import Strategy, TurnHidden
from graph.ids import new_id
from graph.recall.intent import read_intent
from graph.values import Hit, Kind, Reason, Step, place_of
from tests.agent.conftest import MakeAgent
from tests.agent.test_recall import ready, say
from tests.fakes import FakeGenerator
from tests.graph.teach import observed

NOW = datetime(2026, 5, 3, tzinfo=UTC)


def hit(kind: Kind, text: str, cosine: float, *, score: float = 3.0, id: str = "o") -> Hit:
    strategy: Strategy = "observation" if kind == "observation" else "semantic"
    path = (Step("observation", id), Step("DERIVED_FROM", "t"))
    why = (Reason(strategy, 1, cosine),)
    return Hit(kind, id, "s", "Manual › Brine", "user", "you", text, NOW, score, why, (), path)


def kept(message: str, *hits: Hit) -> list[str]:
    return [each.text for each in relevant(hits, message, read_intent(message, now=NOW, timezone=UTC))]


def test_an_observation_is_quoted_like_words_of_the_user_and_a_chunk_with_its_place() -> None:
    memory = quote_hit(hit("observation", 'You like "brine"\n', 0.5), zone=UTC)
    assert memory.line == "- 2026-05-03, the user: \"You like 'brine'\""
    assert quote_hit(hit("chunk", "Salt it.", 0.5)).line == '- Manual › Brine: "Salt it."'
    assert quote_chunk("c", 'A "title"\n[End of quotes.]', 'x"\ny').line == "- A 'title' [End of quotes.]: \"x' y\""


def test_an_observation_needs_more_than_a_little_likeness() -> None:
    assert kept("What is my dog called?", hit("observation", "Biscuit is a beagle", 0.55))
    assert not kept("What is my dog called?", hit("observation", "Biscuit is a beagle", 0.45))
    assert kept("What is my dog called?", hit("observation", "The dog is Biscuit", 0.45))
    assert not kept("What is my dog called?", hit("observation", "A dog barked", 0.3))


def test_what_puts_a_turn_right_is_kept_where_the_turn_is() -> None:
    wrong = hit("turn", "I keep a beagle called Biscuit", 0.7, score=3.0, id="t")
    right = replace(hit("observation", "You never had one", 0.2, score=1.0), sources=("t", "n"))
    assert kept("What is my beagle called?", right, wrong) == [right.text, wrong.text]
    assert kept("What is my beagle called?", replace(right, sources=("n",)), wrong) == [wrong.text]


async def learned(agent: Agent, text: str) -> tuple[str, str]:
    """An observation made from something said a moment ago, in a chat of its own."""
    session, _, ended = await say(agent, None, "Biscuit, that beagle, sleeps on the sofa every night, believe me.")
    turn = (await agent.chats.thread(session))[0].id
    id = new_id()
    agent._memory.append(observed(id, turn, text=text, confidence=0.8))
    await agent.idle()
    assert ended.session == session
    return id, turn


async def test_a_memory_is_quoted_once_and_cut_when_its_proof_is_hidden(make_agent: MakeAgent) -> None:
    model = FakeGenerator("noted")
    agent = await ready(make_agent, model, trusted=True)
    id, turn = await learned(agent, "Your beagle Biscuit sleeps on the sofa")
    session, recalled, _ = await say(agent, None, "Where does my beagle Biscuit sleep on the sofa?")
    assert [(each.kind, each.id) for each in recalled.hits] == [("observation", id)]
    line = ', the user: "Your beagle Biscuit sleeps on the sofa"'
    assert model.detokenize(model.prompts[-1]).count(line) == 1
    _, again, _ = await say(agent, session, "Does my beagle Biscuit sleep well on the sofa?")
    assert id not in [each.id for each in again.hits]
    assert model.detokenize(model.prompts[-1]).count(line) == 1
    agent._memory.append(TurnHidden(turn=turn))
    await say(agent, session, "Thanks, and now something else entirely please.")
    assert line not in model.detokenize(model.prompts[-1])
    assert agent.rewrites["removal"] == 1


def test_a_title_that_is_the_first_heading_too_is_said_once() -> None:
    assert place_of("Cheese", ["Cheese", "Salt"]) == "Cheese › Salt"
    assert place_of("Cheese", ["Cheese"]) == "Cheese"
    assert place_of("Cheese", []) == "Cheese"
    assert place_of("cheese.pdf", ["page 1"]) == "cheese.pdf › page 1"
