"""Two logs that take turns on the real model: each evaluates what is new to it, whatever goes on beside them."""

from dataclasses import dataclass, field
from typing import Literal

import pytest
from pydantic import BaseModel

from models import jobs, machine
from models.generator import LlamaGenerator
from models.native import NativeContext
from models.protocols import SamplingParams
from tests.models.test_generator import collect, long_prompt

APART = 512  # tokens of the context of judgements
SHORTLY = SamplingParams(temperature=0, repeat_penalty=1.0, max_tokens=4)


class Mood(BaseModel):
    mood: Literal["calm", "wary"]


@dataclass
class Log:
    """A prompt log, and how much of it is evaluated."""

    model: LlamaGenerator
    tokens: list[int]
    evaluated: int = 0
    said: list[str] = field(default_factory=list)

    def hears(self, text: str) -> None:
        self.tokens += self.model.frame("user", text)

    async def replies(self) -> tuple[int, int]:
        """How many tokens were evaluated for a reply, and how many were new."""
        prompt = [*self.tokens, *self.model.reply_open()]
        new = len(prompt) - self.evaluated
        tokens, text, finished = await collect(self.model, prompt, SHORTLY)
        self.evaluated = len(prompt) + len(tokens) - (finished.reason == "length")
        self.tokens = [*prompt, *tokens, *self.model.reply_close()]
        self.said.append(text)
        return finished.evaluated_tokens, new


def two_logs(model: LlamaGenerator) -> tuple[Log, Log]:
    return Log(model, long_prompt(model, 90, "Mara. ")), Log(model, long_prompt(model, 80, "Jonas. "))


async def judged(model: LlamaGenerator, text: str = "The sea is calm.") -> None:
    asked = [*model.frame("user", text, first=True), *model.reply_open()]
    await model.structured(asked, Mood, max_tokens=12)


async def test_two_voices_evaluate_what_is_new_to_each_and_judgements_push_neither_out(fresh: LlamaGenerator) -> None:
    mara, jonas = two_logs(fresh)
    for speaker, listener in ((mara, jonas), (jonas, mara)):
        for log in (mara, jonas):
            log.hears("I come up the stairs.")
        evaluated, new = await speaker.replies()
        assert evaluated == new
        listener.hears(f"She says: {speaker.said[-1]}")
        await judged(fresh)
    evaluated, new = await mara.replies()  # an interjection: right after the other's reply
    assert evaluated == new < 60


async def test_the_other_voice_is_evaluated_while_the_user_reads_and_either_goes_on(generator: LlamaGenerator) -> None:
    mara, jonas = two_logs(generator)
    for log in (mara, jonas):
        await log.replies()
    for asked in (mara, jonas):
        mara.hears("A boat is coming, slowly, over the bay.")
        assert await generator.prefill(mara.tokens)
        mara.evaluated = len(mara.tokens)
        evaluated, new = await asked.replies()
        assert evaluated == new < 10


async def test_a_prefill_goes_on_in_front_where_a_reply_was_broken_off(generator: LlamaGenerator) -> None:
    mara, jonas = two_logs(generator)
    for log in (jonas, mara):
        await log.replies()
    prompt = [*mara.tokens, *generator.frame("user", "Who was it?"), *generator.reply_open()]
    await collect(generator, prompt, SHORTLY)  # nothing of this reply is kept
    mara.hears("Who was it?")
    mara.hears("Tell me who was in the boat.")
    assert await generator.prefill(mara.tokens)
    evaluated, new = await jonas.replies()
    assert evaluated == new


async def test_judgements_get_a_context_that_can_grow(fresh: LlamaGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "APART", APART)
    mara, jonas = two_logs(fresh)
    for log in (mara, jonas):
        await log.replies()
    made: list[NativeContext | None] = [fresh.contexts._apart]
    for _ in range(2):
        await judged(fresh)
        made.append(fresh.contexts._apart)
    made.append(fresh.contexts.apart(APART + 1))
    assert [context and context.size for context in made] == [None, APART, APART, fresh.info.context]
    assert made[1] is made[2]
    for log in (mara, jonas):
        evaluated, new = await log.replies()
        assert evaluated == new


async def test_without_memory_judgements_go_behind(fresh: LlamaGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    mara, jonas = two_logs(fresh)
    for log in (mara, jonas):
        await log.replies()
    assert fresh.keeps(mara.tokens, jonas.tokens, "generate")
    monkeypatch.setattr(machine, "available_memory", lambda: 0)
    assert not fresh.keeps(mara.tokens, jonas.tokens, "generate")
    state = await fresh.take_state(mara.tokens)
    assert state is not None
    await judged(fresh)
    assert fresh.contexts._apart is None
    assert fresh.warm(mara.tokens) < 10
    assert await fresh.put_state(state)
    for log in (mara, jonas):
        evaluated, new = await log.replies()
        assert evaluated == new


async def test_a_third_log_takes_the_place_of_the_one_used_longest_ago(generator: LlamaGenerator) -> None:
    mara, jonas = two_logs(generator)
    for log in (mara, jonas):
        await log.replies()
    third = Log(generator, long_prompt(generator, 90, "Ada. "))
    assert not generator.keeps(mara.tokens, third.tokens, "generate")
    assert generator.keeps(jonas.tokens, third.tokens, "generate")
    await third.replies()
    for log in (jonas, third):
        evaluated, new = await log.replies()
        assert evaluated == new
