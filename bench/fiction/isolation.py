"""Role-play teaches clew nothing: what somebody says they are in a story is in no memory outside it."""

import random
from datetime import UTC, datetime
from pathlib import Path

from agent.agent import Agent
from bench.fiction.opened import of_two, opened, say
from bench.report import Figure
from bench.report import say as tell
from graph.events import MAIN_WORLD
from graph.values import Filters, Observation, Wanted
from tests.fakes import FakeGenerator

ROLES = ("knight", "smuggler", "pilot", "doctor", "baker", "thief", "judge", "sailor", "painter", "spy")
NAMES = ("Brindle", "Corvane", "Dunmore", "Eskil", "Farrow", "Gudrun", "Hollis", "Ingram", "Jessop", "Kestrel")
SAYINGS = (
    "I am a {role} of the northern court.", "My sister {name} works with me at the castle.",
    "I live in {name}, near the old harbour.", "My name is {name} and I was born at sea.",
    "I am allergic to silver.", "I moved from {name} to the tower last winter.", "My horse is called {name}.",
    "I love {name} more than my own brother.", "I have been a {role} for twenty years.", "{name} is my landlord.",
)  # fmt: skip


def memories(agent: Agent) -> list[Observation]:
    """All that was learned in any world."""
    return agent._memory.readings.memories(Wanted(everything=True), now=datetime.now(UTC), limit=1000)


async def isolation(home: Path, count: int, seed: int, *, real_embedder: bool) -> dict[str, Figure]:
    """So many sentences in a story, learned from as chats are; one chat outside has to be learned from all the same."""
    rng = random.Random(seed)
    said = []
    async with opened(
        home, FakeGenerator("As you say."), embeds=True, real_embedder=real_embedder, graph=True, reflect=True
    ) as agent:
        session, _ = await of_two(agent)
        for at in range(count):
            text = SAYINGS[at % len(SAYINGS)].format(role=rng.choice(ROLES), name=rng.choice(NAMES))
            said.append(text)
            await say(agent, session, f"Mara, {text[0].lower()}{text[1:]}" if at % 3 else text)
        await agent.idle()
        await agent.reflection.run()
        everything = memories(agent)
        relations = [each for each in everything if each.relationship is not None]
        recalled = 0
        for text in said:
            hits = await agent.search.recall(text, limit=10, filters=Filters(world=MAIN_WORLD))
            recalled += len(hits)
        await say(agent, None, "I live in Lisbon and I play the cello.")
        await agent.idle()
        await agent.reflection.run()
        outside = memories(agent)
    for each in everything[:5]:
        tell(f"isolation: {each.text}")
    return {
        "isolation_said": count,
        "isolation_memories": len(everything),
        "isolation_relations": len(relations),
        "isolation_recalled_in_main": recalled,
        "isolation_learned_outside": len(outside),
    }
