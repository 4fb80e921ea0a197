"""The picnic basket: what an event had with it is gone with it, but for what was chosen to stay.

Each event has props of its own, which the cast talks about while it goes on. Once it is completed, its scene closed and
the prompts are shortened, no word of a prop may stand in what a voice is told of itself and of the stage, nor in what
it keeps of the scene. What was said last before the scene closed stays dialogue, and is not looked at.
"""

import random
from functools import partial
from pathlib import Path

from bench.fiction.opened import of_two, opened, say
from bench.report import Figure
from bench.report import say as tell
from tests.fakes import FakeGenerator

EVENTS = ("picnic", "regatta", "funeral", "fair", "storm watch", "wedding", "auction", "harvest", "trial", "voyage")
SAYINGS = (
    "*reaches for the {prop}* At last.", "Whose {prop} is this?", "The {prop} was here a moment ago.",
    "Mind the {prop}, will you?", "I brought the {prop} as I said I would.", "Nobody touches the {prop} but me!",
)  # fmt: skip
MAKES = ("br", "cl", "dr", "fl", "gr", "kn", "pl", "sk", "sl", "tr", "v", "w", "z")
ENDS = ("andle", "icket", "oomer", "unnel", "atter", "empel", "iddle", "orget", "usket", "aniel")


def props(at: int) -> tuple[str, str]:
    """Two words that are in no other event."""
    return MAKES[at % len(MAKES)] + ENDS[at % len(ENDS)], MAKES[-1 - at % len(MAKES)] + ENDS[(at + 5) % len(ENDS)] + "s"


def _about(_prompt: str, *, rng: random.Random, words: tuple[str, str]) -> str:
    return rng.choice(SAYINGS).format(prop=rng.choice(words))


async def picnic(home: Path, count: int, seed: int) -> dict[str, Figure]:
    """So many events, one story each."""
    rng = random.Random(seed)
    told = left = kept = lacking = 0
    for at in range(count):
        one, other = props(at)
        model = FakeGenerator(partial(_about, rng=rng, words=(one, other)))
        async with opened(home / str(at), model) as agent:
            session, member = await of_two(agent)
            title = f"The {EVENTS[at % len(EVENTS)]}"
            await agent.stories.open_scene(session, "The meadow")
            plot = await agent.stories.note_plot(session, title, texts={"props": f"{one}, {other}"})
            await agent.stories.move_plot(session, plot, "active")
            for turn in range(4):
                await say(agent, session, f"{('Mara', 'Jonas')[turn % 2]}, {rng.choice(SAYINGS).format(prop=one)}")
            told += one in model.detokenize(model.prompts[-1])
            keep = [(member["Mara"], "inventory", other)] if at % 3 == 0 else []
            await agent.stories.move_plot(session, plot, "completed", keep=keep)
            await agent.stories.close_scene(session)
            await agent.idle()
            model.replies = ("Hm.",)
            for turn in range(4):
                await say(agent, session, f"{('Mara', 'Jonas')[turn % 2]}, it is getting late.")
            words = {one, other}
            said = {turn.text or "" for turn in await agent.chats.thread(session)}
            for name, prompt in zip(("Mara", "Jonas"), model.prompts[-2:], strict=True):
                text = model.detokenize(prompt)
                for each in said:
                    text = text.replace(each, "")
                stays = {other} if keep and name == "Mara" else set()
                found = {word for word in words - stays if word in text}
                left += len(found)
                kept, lacking = kept + len(stays), lacking + sum(word not in text for word in stays)
                if found:
                    tell(f"picnic {at}: {name} is told of {', '.join(sorted(found))}")
            lines = [line for line in await agent.stories.stage(session) if line.aspect.startswith("scene:")]
            left += sum(word in (line.text or "") for line in lines for word in words)
    return {
        "picnic_events": count,
        "picnic_told_while_on": told,
        "picnic_words_left": left,
        "picnic_kept": kept,
        "picnic_kept_lacking": lacking,
    }
