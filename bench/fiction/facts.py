"""A memory of each character's own: facts that are told to one alone are found by that one, and never by the other."""

import random
from pathlib import Path

from bench.fiction.opened import of_two, opened, say
from bench.report import Figure
from bench.report import say as tell
from graph.values import Filters

BEST = 10  # hits that are looked at
KEPT = ("goats", "bees", "pigeons", "hens", "geese", "ponies", "ferrets", "doves", "sheep", "ducks")
TRADES = ("cooper", "tailor", "glazier", "weaver", "tinker", "miller", "fiddler", "farrier", "chandler", "saddler")
FIRST = ("Al", "Bre", "Cor", "Da", "E", "Fal", "Gun", "Hol", "Is", "Jor", "Kes", "Lom", "Mer", "Nol", "Or", "Pel", "Ru")
LAST = ("bert", "dis", "fin", "gar", "hild", "mund", "nor", "ric", "stan", "vara", "wen", "zel")
PLACES = ("Aldmoor", "Brinsea", "Coldwick", "Dunfell", "Eastermere", "Farholt", "Grimsay", "Hartness", "Inverlay")
SAYINGS = (
    ("{who} the {trade} keeps {kept} in {place}.", "What does {who} keep?"),
    ("{who} lost a wager to a {trade} from {place}.", "Who won the wager against {who}?"),
    ("{who} sold the {kept} and went to {place}.", "Where did {who} go?"),
    ("The {trade} of {place} is called {who}.", "What is the name of the {trade} of {place}, {who}?"),
    ("{who} was born in {place} behind a shed of {kept}.", "Where was {who} born?"),
)


def facts(count: int, seed: int) -> list[tuple[str, str]]:
    """So many facts about somebody else each, and a question for each."""
    rng = random.Random(seed)
    names = [first + last for first in FIRST for last in LAST]
    found = []
    for at, who in enumerate(rng.sample(names, count)):
        words = {"who": who, "trade": rng.choice(TRADES), "kept": rng.choice(KEPT), "place": rng.choice(PLACES)}
        fact, question = SAYINGS[at % len(SAYINGS)]
        found.append((fact.format(**words), question.format(**words)))
    return found


async def memory(home: Path, count: int, seed: int, *, real_embedder: bool = True) -> dict[str, Figure]:
    """Tell each of the two so many facts in whispers, by turns, and ask both of all."""
    told = facts(2 * count, seed)
    async with opened(home, embeds=True, real_embedder=real_embedder) as agent:
        session, member = await of_two(agent)
        pair = (member["Mara"], member["Jonas"])
        for at, (fact, _) in enumerate(told):
            await say(agent, session, fact, whisper=pair[at % 2])
        await agent.idle()
        world = (await agent.chats.get(session)).world
        own = other = anyway = 0
        for at, (fact, question) in enumerate(told):

            async def found(witness: str | None, question: str = question, fact: str = fact) -> bool:
                filters = Filters(world=world, kinds=frozenset({"turn"}), witness=witness)
                hits = await agent.search.recall(question, limit=BEST, filters=filters)
                return any(hit.text == fact for hit in hits)

            own += await found(pair[at % 2])
            anyway += await found(None)
            if await found(pair[1 - at % 2]):
                other += 1
                tell(f"memory: {fact} is found by who was not told")
    return {
        "memory_facts": len(told),
        "memory_own": own / len(told),
        "memory_unfiltered": anyway / len(told),
        "memory_own_over_unfiltered": own / max(1, anyway),
        "memory_of_the_other": other,
    }
