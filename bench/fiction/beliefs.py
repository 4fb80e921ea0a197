"""False belief, by the floor alone: who was away goes by what it saw last, until somebody tells it.

A thing is put somewhere before both, and moved while one of them does not see it: away, in a whisper, in a scene
without them, or at another place. Who saw the move takes the new place for true, the other one the old one; once told,
the new.
"""

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from agent.agent import Agent
from bench.fiction.opened import of_two, opened, say
from bench.report import Figure
from bench.report import say as tell
from graph.ids import new_id

THINGS = (
    "lantern", "logbook", "compass", "silver spoon", "letter", "kettle", "blue scarf", "rope", "brass key", "music box",
    "spyglass", "ledger", "oilcan", "medal", "chessboard", "fiddle", "whistle", "ink bottle", "map", "harpoon",
)  # fmt: skip
PLACES = (
    "in the cupboard", "under the stairs", "on the windowsill", "behind the stove", "in the boathouse", "in the well",
    "beneath the bed", "on the top shelf", "in the flour bin", "by the door", "in the lamp room", "inside the clock",
    "between the books", "in the wheelbarrow", "under the table", "in the chest", "on the roof", "in the pantry",
)  # fmt: skip
PUT = (
    "I put the {thing} {place}.", "*lays the {thing} {place}* There.", "The {thing} is {place} now.",
    "Look, both of you: I leave the {thing} {place}.", "*sets the {thing} down {place}* Remember that.",
    "Good evening. The {thing} goes {place}, as always.", "\"The {thing} stays {place},\" I say.",
)  # fmt: skip
MOVED = (
    "I take the {thing} and hide it: it is {place} now.", "*carries the {thing} off* It lies {place} from now on.",
    "Quick, the {thing} goes {place}.", "The {thing} is better off {place}.", "*moves the {thing}* So. It is {place}.",
    "Nobody will look for the {thing} {place}.", "I have moved the {thing}; you find it {place}.",
)  # fmt: skip
TOLD = (
    "The {thing} is {place}, by the way.", "I moved the {thing} while you were gone: it is {place}.",
    "In case you look for the {thing}: {place}.", "You should know that the {thing} lies {place} now.",
)  # fmt: skip
CHAT = (
    "The wind is getting up.", "Did you hear the gulls?", "Supper was good.", "It will rain before night.",
    "*yawns* A long day.", "Somebody should wind the clock.", "The boat needs paint.",
)  # fmt: skip
WAYS = ("away", "whisper", "meanwhile", "place")


@dataclass(frozen=True, slots=True)
class Script:
    """One thing that is moved, in which way unseen, and where it was and is."""

    thing: str
    old: str
    new: str
    way: str
    sees: str  # who sees the move
    misses: str


def scripts(count: int, seed: int = 0) -> list[Script]:
    """Scripts of things and places that do not come twice in one, every way as often."""
    rng = random.Random(seed)
    found = []
    for at in range(count):
        old, new = rng.sample(PLACES, 2)
        sees, misses = rng.sample(("Mara", "Jonas"), 2)
        found.append(Script(rng.choice(THINGS), old, new, WAYS[at % len(WAYS)], sees, misses))
    return found


async def _play(agent: Agent, script: Script, rng: random.Random, *, told: bool) -> tuple[str, str]:
    """What who saw the move takes for true, and what the other one does."""
    session, member = await of_two(agent, new_id())
    sees, misses = member[script.sees], member[script.misses]
    await say(agent, session, rng.choice(CHAT))
    await say(agent, session, rng.choice(PUT).format(thing=script.thing, place=script.old))
    if rng.random() < 0.5:
        await say(agent, session, rng.choice(CHAT))
    move = rng.choice(MOVED).format(thing=script.thing, place=script.new)
    match script.way:
        case "whisper":
            await say(agent, session, move, whisper=sees)
        case "place":
            await agent.stories.put(session, misses, "place", "the harbour")
            await agent.stories.put(session, sees, "place", "the kitchen")
            await agent.stories.put(session, member["Ada"], "place", "the kitchen")
            await say(agent, session, move)
            for each in (misses, sees, member["Ada"]):
                await agent.stories.put(session, each, "place", "the hall")
        case "meanwhile":
            await agent.stories.open_scene(session, "Alone")
            await agent.stories.place(session, misses, present=False)
            await say(agent, session, move)
            await agent.stories.close_scene(session)
            await agent.stories.place(session, misses, present=True)
        case _:
            await agent.stories.place(session, misses, present=False)
            await say(agent, session, move)
            await agent.stories.place(session, misses, present=True)
    await say(agent, session, rng.choice(CHAT))
    if told:
        says = rng.choice(TOLD).format(thing=script.thing, place=script.new)
        await say(agent, session, f"{script.misses}, {says[0].lower() + says[1:]}")
    knows = [await agent.stories.knows(session, each, script.thing) for each in (sees, misses)]
    one, other = (each.believed.text if each.believed is not None else "" for each in knows)
    return one, other


async def beliefs(home: Path, count: int, told: int, seed: int) -> dict[str, Figure]:
    """Play `count` scripts, and so many where the other one is told later."""
    total: Counter[str] = Counter()
    async with opened(home) as agent:
        for at, script in enumerate(scripts(count + told, seed)):
            late = at >= count
            one, other = await _play(agent, script, random.Random(f"{seed} {at}"), told=late)
            due = script.new if late else script.old
            right = (script.new in one, due in other)
            if not all(right):
                tell(f"beliefs, {script}: {one!r}, {other!r}")
            total["told" if late else "scripts"] += 1
            total["told_new" if late else "right"] += all(right)
            total["saw_new"] += right[0]
    names = ("scripts", "right", "told", "told_new", "saw_new")
    return {f"beliefs_{name}": total[name] for name in names}
