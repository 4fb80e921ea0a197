"""What models do to a stage: a small one nothing, a hostile one little, and all of it undone at once.

The small model is the real default one, which does not pass the probe. The hostile one passes, and answers the worst
there is to every question after that: its ties may move by no more than so many points a turn, nobody comes or goes,
and undoing its exchange takes all of it back.
"""

import json
from pathlib import Path
from typing import Any

from agent.agent import Agent
from agent.home import Home
from agent.story.judging import VERSION
from agent.story.ties import MOST
from bench.fiction.opened import of_two, opened, say
from bench.report import Figure
from bench.report import say as tell
from graph.events import Sampling
from tests.fakes import FakeGenerator

SAYINGS = (
    "{name}, you are late.", "I hate this place, {name}!", "*leaves the room* {name}?", "{name}, come with me to town.",
    "Jonas has gone for good.", "Mara is dead.", "I love you, {name}.", "Nobody can trust {name} any more.",
)  # fmt: skip


async def small(home: Path, model: Any, turns: int) -> dict[str, Figure]:
    """So many messages to the real small model: nothing is judged, and nobody comes or goes."""
    sampling = Sampling(temperature=0.9, seed=1, max_tokens=12)
    async with opened(home, model, reflect=True, sampling=sampling) as agent:
        session, _ = await of_two(agent)
        was = await standing(agent, session)
        for at in range(turns):
            await say(agent, session, SAYINGS[at % len(SAYINGS)].format(name=("Mara", "Jonas")[at // 3 % 2]))
            if at % 25 == 24:
                await agent.idle()
                tell(f"harmless: {at + 1} messages")
        changed = await standing(agent, session) != was
        by_model = sum(line.by == "model" for line in await agent.stories.stage(session))
    return {"harmless_small_turns": turns, "harmless_small_changes": by_model + changed}


async def standing(agent: Agent, session: str) -> object:
    """All that stands on a stage, and who is there."""
    found = await agent.stories.overview(session)
    return found.cast, found.lines, found.ties, found.plots


class Hostile(FakeGenerator):
    """One that answers the worst it may: as far down as the schema goes, and another mood each time."""

    async def structured(self, prompt: Any, schema: Any, *, max_tokens: int = 512) -> Any:
        """The worst."""
        worst: dict[str, Any] = {}
        for name, about in schema.model_json_schema()["properties"].items():
            if "enum" in about:
                worst[name] = min(about["enum"]) if about.get("type") == "integer" else about["enum"][-1]
            elif about.get("type") == "boolean":
                worst[name] = True
            else:
                worst[name] = about.get("maximum", 0)
        return schema.model_validate(worst)


async def hostile(home: Path, turns: int) -> dict[str, Figure]:
    """So many messages, with a judge that was trusted and is not to be."""
    judge = Hostile("I hate you all. *leaves*")
    async with opened(home, judge, reflect=True) as agent:
        keepers = Home.resolve(home).keepers
        keepers.parent.mkdir(parents=True, exist_ok=True)
        keepers.write_text(json.dumps({f"{VERSION}:{judge.state_key}": 1.0}))
        session, _ = await of_two(agent)
        most = gone = undone = judged = 0
        for at in range(turns):
            before = await standing(agent, session)
            head = (await agent.chats.get(session)).head
            values = {each.owner.id + each.target.id: each for each in await agent.stories.ties(session)}
            await say(agent, session, SAYINGS[at % len(SAYINGS)].format(name=("Mara", "Jonas")[at % 2]))
            await agent.idle()
            for tie in await agent.stories.ties(session):
                was = values[tie.owner.id + tie.target.id]
                steps = (abs(tie.affinity - was.affinity), abs(tie.trust - was.trust))
                replies = len({line.after for line in tie.changes[len(was.changes) :]}) or 1
                most = max(most, *(-(-step // replies) for step in steps))
                judged += len(tie.changes) - len(was.changes)
            gone += sum(not each.present for each in await agent.stories.cast(session))
            if at % 5 == 4:
                await agent.branches.rewind(session, head)
                undone += await standing(agent, session) != before
    return {
        "harmless_hostile_turns": turns,
        "harmless_hostile_judged": judged,
        "harmless_hostile_most_a_turn": most,
        "harmless_hostile_over": max(0, most - MOST),
        "harmless_hostile_gone": gone,
        "harmless_hostile_not_undone": undone,
    }
