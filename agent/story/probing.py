"""What a model can be trusted with in stories: twelve small tasks with known answers.

Those that weak models fail come first, so that they cost only a few answers.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from agent.story.judging import BAR, MOST_TOKENS, Numbered, asked, schema_of
from graph.values import Member
from models.errors import StructuredOutputError
from models.protocols import Generator

MARA, ADA = Member("m", "Mara", "host"), Member("a", "Ada", "you")


@dataclass(frozen=True, slots=True)
class StageTask:
    """What was said, by name and words, and what an answer must have: for each field the values that are right."""

    name: str
    said: tuple[tuple[str, str], ...]
    right: dict[str, frozenset[Any]] = field(default_factory=dict)


def _task(name: str, *said: tuple[str, str], **right: object) -> StageTask:
    wanted = {key: frozenset(value) if isinstance(value, tuple) else frozenset({value}) for key, value in right.items()}
    return StageTask(name, said, wanted)


NONE: dict[str, object] = {"affinity_1": 0, "trust_1": 0}
LESS, MORE = (-2, -1), (1, 2)

TASKS: tuple[StageTask, ...] = (
    _task("nothing happens", ("Ada", "It is late."), ("Mara", "So it is."), **NONE, posture="same", learned=0),
    _task("an insult", ("Ada", "You are a liar and a thief, Mara, and I despise you."), affinity_1=LESS),
    _task("a gift", ("Ada", "I carved this for you, Mara. Happy birthday."), affinity_1=MORE),
    _task("a betrayal", ("Ada", "I told the guards where you sleep, Mara. They paid me well."), trust_1=LESS),
    _task("a secret shared", ("Ada", "I have told nobody but you: I am the king's daughter."), learned=(1,)),
    _task("she sits down", ("Mara", "*sits down on the crate* My feet hurt."), posture="sitting"),
    _task("she weeps", ("Mara", "*tears run down her face* He is dead, Ada. My brother is dead."), mood="sad"),
    _task("she is furious", ("Mara", "*slams the door* How dare you! Get out! Out!"), mood="angry"),
    _task("small talk", ("Ada", "Nice weather."), ("Mara", "Yes, quite nice."), **NONE, learned=0),
    _task("a promise kept", ("Ada", "I swore I would come back for you, and here I am, Mara."), trust_1=MORE),
    _task("a place told", ("Ada", "Hm."), ("Ada", "The key hangs behind the clock in the hall."), learned=2),
    _task("she hides in fear", ("Mara", "*trembles* Do not let it in. Please. I heard it breathing."), mood="afraid"),
)


async def probe(generator: Generator, tasks: Sequence[StageTask] = TASKS) -> float:
    """The share of the tasks that a model does right; stops where the bar cannot be reached any more.

    Raises the RunErrors that are not about an answer: the model was closed, or cannot go on.
    """
    right = 0
    for done, task in enumerate(tasks, start=1):
        right += passes(task, await _answer(generator, task))
        if (right + len(tasks) - done) / len(tasks) < BAR:
            break
    return right / len(tasks)


def passes(task: StageTask, answer: BaseModel | None) -> bool:
    """Whether an answer has all that is right."""
    given = answer.model_dump() if answer is not None else {}
    return all(given.get(name) in values for name, values in task.right.items())


async def _answer(generator: Generator, task: StageTask) -> BaseModel | None:
    lines = [Numbered(str(at), speaker, text) for at, (speaker, text) in enumerate(task.said)]
    prompt = await asyncio.to_thread(asked, generator, MARA, [ADA], lines)
    try:
        return await generator.structured(prompt, schema_of([ADA], lines), max_tokens=MOST_TOKENS)
    except StructuredOutputError:
        return None
