"""Two voices that take turns, through the whole Agent and with the real model: what each of them costs.

Each message names one of the two by turns, and after some of them the other one speaks up too. Of each reply the prompt
has to begin with the last one of its voice and what was said then, and as many tokens have to be evaluated for it, by
itself or while the user read, as are new. No state is to be written while they play. Beside each reply the same prompt
is answered by a second copy of the model which knows this one voice alone: as deep, and with as many tokens left to be
read.
"""

import asyncio
import statistics
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.agent import Agent
from agent.events import ReplyEnded
from bench.fiction.opened import of_two, opened
from bench.fiction.real import LIMITS, Recorded, sampling
from bench.report import Figure, percentile
from bench.report import say as tell
from models.generator import LlamaGenerator
from models.protocols import Finished, SamplingParams

LONGEST = 24  # tokens of a reply
LINES = (
    "{name}, I come up the stairs and ask what the light was doing last night.",
    "{name}, did you see who took the boat while the storm was over the bay?",
    "{name}, I put the old log on the table and open it at the page that was torn out.",
    "{name}, tell me again how the lamp went out, and who was with you then.",
)
LORE = "The tower has ninety-one steps, a lamp that must never go out, and a door to the cellar that sticks. "


@dataclass(slots=True)
class Known:
    """What the model has read of a voice's log."""

    tokens: list[int]


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply: what was read for it and what was new, whether its prompt follows, and the waits in ms."""

    evaluated: int
    new: int
    follows: bool
    first_ms: float
    alone_ms: float


class Turns:
    """Plays, and looks at what the model was given for each voice."""

    def __init__(self, agent: Agent, model: Recorded, alone: dict[str, LlamaGenerator], session: str) -> None:
        self._agent = agent
        self._model = model
        self._alone = alone
        self._session = session
        self._known: dict[str, Known] = {}
        self.answers: list[Answer] = []
        self.beyond_alone = 0  # tokens that the models which know one voice read above or below those that were new

    async def reply(self, name: str, events: Any) -> None:
        """Let one answer, until nothing runs any more; `events` are those of the Agent."""
        began, ended = len(self._model.drawn), None
        async with aclosing(events):
            async for event in events:
                if isinstance(event, ReplyEnded):
                    ended = event
        assert ended is not None
        drew = self._model.drawn[began]
        turn = next(each for each in await self._agent.chats.thread(self._session) if each.id == ended.reply_turn)
        prompt, known = list(drew.prompt), self._known.get(name)
        if known is not None:
            new = len(prompt) - len(known.tokens)
            follows = prompt[: len(known.tokens)] == known.tokens
            alone_ms = await self._by_itself(name, known.tokens, prompt)
            answer = Answer(turn.evaluated_tokens or 0, new, follows, turn.first_token_ms or 0.0, alone_ms)
            self.answers.append(answer)
            tell(
                f"{len(self.answers):>3} {name:<6}{answer.first_ms:7.0f} ms, alone {alone_ms:7.0f}   read "
                f"{answer.evaluated:4} of {len(prompt):5}, new {new:4}"
            )
        said = self._kept(turn.member, len(prompt), ended.completion_tokens)
        # The token that reached the limit was sampled, and never evaluated.
        self._known[name] = Known(prompt + (said[:-1] if drew.reason == "length" else said))
        await self._agent.idle()
        self._heard()

    def _kept(self, voice: str | None, start: int, count: int) -> list[int]:
        """The tokens of a reply as its log has them: where it began to speak for another, what was cut is not in it."""
        logs = self._agent._prompts._logs.items()
        return next(log.tokens[start : start + count] for key, log in logs if key.voice == voice)

    def _heard(self) -> None:
        """What was read for the others while the user read; a log is known by the beginning it shares with its last."""
        for how, tokens in self._model.heard:
            if how == "prefill":
                for known in self._known.values():
                    if tokens[: len(known.tokens)] == known.tokens:
                        known.tokens = list(tokens)
        self._model.heard.clear()

    async def _by_itself(self, name: str, known: list[int], prompt: list[int]) -> float:
        """The wait in ms until the first piece, of a model that has read so much of this log and no other."""
        model = self._alone[name]
        await model.prefill(known)
        began, first_ms = time.perf_counter(), 0.0
        params = SamplingParams(temperature=0, repeat_penalty=1.0, max_tokens=1)
        async with aclosing(model.generate(prompt, params)) as items:
            async for item in items:
                first_ms = first_ms or (time.perf_counter() - began) * 1000
                if isinstance(item, Finished):
                    self.beyond_alone += abs(item.evaluated_tokens - (len(prompt) - len(known)))
        return first_ms


def written(folder: Path) -> int:
    """Bytes of states below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and "kv" in str(path.parent.name))


async def alternation(
    home: Path, load: Callable[[], LlamaGenerator], turns: int, interjections: int, depth: int
) -> dict[str, Figure]:
    """So many messages, after some of which the other one speaks too."""
    loaded = [await asyncio.to_thread(load) for _ in range(3)]
    model = Recorded(loaded[0])
    given: dict[str, Any] = {
        **LIMITS,
        "context": 4096,
        "high_water": 4000,
        "sampling": sampling(1, LONGEST),
        "kv_mb": 512,
    }
    async with opened(home, model, **given) as agent:
        session, member = await of_two(agent)
        lore = LORE * max(1, depth // len(model.tokenize(LORE)))
        for at in range(0, len(lore), 500):
            await agent.stories.learn(session, member["Mara"], lore[at : at + 500])
        agent._prompts.shelf.idle_s = 3600  # nobody reads for ten seconds here
        playing = Turns(agent, model, {"Mara": loaded[1], "Jonas": loaded[2]}, session)
        before = written(home)
        every = max(1, turns // max(1, interjections))
        for at in range(turns):
            name, other = ("Mara", "Jonas") if at % 2 == 0 else ("Jonas", "Mara")
            await playing.reply(name, agent.send(session, LINES[at // 2 % len(LINES)].format(name=name)))
            if interjections and at % every == every - 1:
                await playing.reply(other, agent.speak(session, member[other]))
        bytes_written = written(home) - before
        rewrites = dict((await agent.status()).rewrites)
    tell(f"alternation: rewritten {rewrites}")
    for each in loaded:
        await each.close()
    answers = playing.answers
    return {
        "alternation_replies": len(answers),
        "alternation_read_beyond_new": sum(abs(each.evaluated - each.new) for each in answers),
        "alternation_prompts_that_do_not_follow": sum(not each.follows for each in answers),
        "alternation_rewrites": sum(rewrites.values()),
        "alternation_alone_read_beyond_new": playing.beyond_alone,
        "alternation_bytes_written_during_play": bytes_written,
        "alternation_median_new": statistics.median(each.new for each in answers),
        "alternation_first_median_ms": statistics.median(each.first_ms for each in answers),
        "alternation_first_p95_ms": percentile([each.first_ms for each in answers], 0.95),
        "alternation_alone_median_ms": statistics.median(each.alone_ms for each in answers),
        "alternation_first_over_alone": statistics.median(each.first_ms / each.alone_ms for each in answers),
    }
