"""Two voices of a story that take turns: what is evaluated, copied, written, and the wait beside one speaker alone.

    python -m bench.alternation [--turns 40] [--interjections 8] [--depth 1500] [--prefill] [--threads 1] [--json]

Each voice has a prompt log of its own, and is given what was said since its last reply. In some turns the other one
answers too, right after it. After each reply a judgement is asked for under a grammar, as stories do, which must push
neither voice out. Beside every reply the same log is answered by a model that has only this one speaker: as deep, with
as many new tokens, the order changing from reply to reply.

`evaluated_beyond_new` counts tokens above or below those that are new to a log; a rewrite is a prompt that does not
begin with its log's last one and the reply. With `--prefill` the other voice's log is evaluated after each reply, while
the user would read; then the speaker alone has more new tokens. The model and the shelf are real: `Stage` puts them
together as `Prompts` in agent/prompts.py does, and is the place for the Agent itself.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel

from agent.home import Home
from agent.prompt import PromptLog
from agent.shelf import Shelf, StateKey, to_note
from bench.report import Figure, percentile, report, say
from models.generator import LlamaGenerator, load_generator
from models.protocols import Finished, Generator, KVState, SamplingParams
from models.states import KVStates
from models.store import DEFAULT_CHAT, ModelStore

SESSION = "story"
VOICES = ("Mara", "Jonas")
LONGEST = 24  # tokens of a reply
CARD = (
    "{name} keeps the lighthouse and knows every rock of the bay. {name} speaks slowly, hides a letter in the lamp "
    "room, and trusts nobody who comes by boat at night. "
)
LINES = (
    "I come up the stairs and ask {name} what the light was doing last night.",
    "{name}, did you see who took the boat while the storm was over the bay?",
    "I put the old log on the table and open it at the page that was torn out, {name}.",
    "Tell me again, {name}, how the lamp went out, and who was with you then.",
)


class Mood(BaseModel):
    """What is asked of each utterance."""

    mood: Literal["calm", "wary", "angry"]
    leaves: bool


class Counting:
    """A model that counts the copies that are taken of what it has evaluated, and put back; all else is its own."""

    def __init__(self, model: Generator) -> None:
        self._model = model
        self.copies = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        """A copy."""
        self.copies += 1
        return await self._model.take_state(tokens)

    async def put_state(self, state: KVState) -> bool:
        """And back."""
        self.copies += 1
        return await self._model.put_state(state)


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply; the times in ms until its first text, and until the model was asked; sizes in tokens.

    `begins` as the last one of its log.
    """

    said: list[int]
    first_ms: float
    asked_ms: float
    evaluated: int
    new: int
    depth: int
    begins: bool


@dataclass(slots=True)
class Voice:
    """A prompt log, what it has to be told yet, and how much of it the model has evaluated."""

    log: PromptLog
    untold: list[int] = field(default_factory=list)
    evaluated: int = 0
    before: list[int] = field(default_factory=list)


class Stage:
    """A model and a shelf, and the logs of the voices that it answers for."""

    def __init__(self, model: LlamaGenerator, folder: Path, names: Sequence[str], depth: int) -> None:
        self.model = Counting(model)
        self.folder = folder
        self.voices = {name: Voice(head(model, name, depth)) for name in names}
        self.shelf = Shelf(KVStates(folder, limit=None), self._current)
        self.shelf.idle_s = 3600  # nobody reads for ten seconds here

    def hear(self, frame: list[int], *, but: str = "") -> None:
        """Something was said, before everybody but the one who said it."""
        for name, voice in self.voices.items():
            if name != but:
                voice.untold += frame

    async def reply(self, name: str, most: int = LONGEST) -> Reply:
        """What a voice says next, as `Prompts.prepare`, a generation and `after_reply` bring it about."""
        params = SamplingParams(temperature=0, repeat_penalty=1.0, max_tokens=most)
        voice, key, model = self.voices[name], self._key(name), self.model
        start, first_ms, said = time.perf_counter(), 0.0, list[int]()
        await self.shelf.leave(stays=key)
        self._update(voice)
        await self.shelf.bring_back(key, voice.log)
        opening = [*model.reply_open(), *model.tokenize(f"{name}:")]
        prompt = [*voice.log.tokens, *opening]
        asked_ms = (time.perf_counter() - start) * 1000
        async with aclosing(model.generate(prompt, params)) as items:
            async for item in items:
                if isinstance(item, Finished):
                    finished = item
                    break
                said += item.tokens
                first_ms = first_ms or (time.perf_counter() - start) * 1000
        begins = prompt[: len(voice.before)] == voice.before
        new = len(prompt) - voice.evaluated
        made = Reply(said, first_ms, asked_ms, finished.evaluated_tokens, new, len(prompt), begins)
        # The token that reached the limit was sampled, and never evaluated.
        voice.evaluated = len(prompt) + len(said) - (finished.reason == "length")
        voice.before = prompt + said
        voice.log.tokens += [*opening, *said, *model.reply_close()]
        self.shelf.used(key)
        return made

    async def prefill(self, name: str) -> None:
        """Evaluate what a voice has not been told yet, while the user reads."""
        voice, key = self.voices[name], self._key(name)
        await self.shelf.leave(stays=key)
        self._update(voice)
        await self.shelf.bring_back(key, voice.log, replies=False)
        if await self.shelf.prefill(key, voice.log.tokens):
            voice.evaluated = len(voice.log.tokens)

    async def judge(self, name: str, said: Sequence[int]) -> None:
        """Have something decided about an utterance."""
        text = f"{name} said: {self.model.detokenize(said)}\nWhat is the mood of {name}, and does {name} leave?"
        asked = [*self.model.frame("user", text, first=True), *self.model.reply_open()]
        await self.model.structured(asked, Mood, max_tokens=48)

    @property
    def written(self) -> int:
        """Bytes of states on disk."""
        return sum(path.stat().st_size for path in self.folder.glob("*"))

    def _key(self, name: str) -> StateKey:
        return StateKey(SESSION, cast(Generator, self.model), name)

    def _update(self, voice: Voice) -> None:
        voice.log.tokens += voice.untold
        voice.untold = []

    def _current(self, key: StateKey) -> tuple[list[int], Any]:
        log = self.voices[key.voice or ""].log
        return list(log.tokens), to_note(log)


def head(model: Generator, name: str, depth: int) -> PromptLog:
    """A log that begins with who a voice is, of about `depth` tokens."""
    card = CARD.format(name=name)
    text = f"You are {name}. " + card * max(1, depth // len(model.tokenize(card)))
    return PromptLog(model.frame("system", text, first=True), [(0, text)])


async def play(options: argparse.Namespace, folder: Path, load: Callable[[], LlamaGenerator]) -> dict[str, Figure]:
    """The whole story; returns the figures."""
    models = [await asyncio.to_thread(load) for _ in range(3)]
    story = Stage(models[0], folder / "story", VOICES, options.depth)
    alone = {
        name: Stage(model, folder / name, (name,), options.depth)
        for name, model in zip(VOICES, models[1:], strict=True)
    }
    for name in VOICES:  # each log is evaluated for the first time
        await story.reply(name)
        await alone[name].reply(name)
    story.model.copies = 0
    pairs: list[tuple[Reply, Reply]] = []
    every = max(1, options.turns // max(1, options.interjections))
    interjections = 0
    for turn in range(options.turns):
        name = VOICES[turn % 2]
        asked = story.model.frame("user", "You: " + LINES[turn // 2 % len(LINES)].format(name=name))
        for stage in (story, *alone.values()):
            stage.hear(asked)
        speaking = [name]
        if options.interjections and turn % every == every - 1:
            speaking.append(VOICES[1 - turn % 2])
            interjections += 1
        for each in speaking:
            pairs.append(await both(story, alone, each, first=len(pairs) % 2 == 0))
            made, other = pairs[-1]
            say(
                f"{turn + 1:>3} {each:<6}{made.first_ms:7.0f} ms, alone {other.first_ms:7.0f}   evaluated "
                f"{made.evaluated:4} of {made.depth:5}, new {made.new:4}"
            )
            if options.prefill:
                await story.prefill(next(voice for voice in VOICES if voice != each))
    written = story.written
    await story.shelf.save()
    result = figures(pairs) | {
        "turns": options.turns,
        "interjections": interjections,
        "copies": story.model.copies - 2,  # both voices, by `save`
        "bytes_written_during_play": written,
        "mb_saved_at_the_end": story.written / 1e6,
    }
    for model in models:
        await model.close()
    return result


async def both(story: Stage, alone: dict[str, Stage], name: str, *, first: bool) -> tuple[Reply, Reply]:
    """A reply in the story, and one as long of the speaker alone; what was said is told to the others."""
    if first:
        made = await story.reply(name)
        other = await alone[name].reply(name, len(made.said))
    else:
        other = await alone[name].reply(name)
        made = await story.reply(name, len(other.said))
    heard = story.model.frame("user", f"{name}:{story.model.detokenize(made.said)}")
    for stage in (story, *alone.values()):
        stage.hear(heard, but=name)
    await story.judge(name, made.said)
    return made, other


def figures(pairs: list[tuple[Reply, Reply]]) -> dict[str, Figure]:
    """Bar by bar."""
    replies = [made for made, _ in pairs]
    ratios = [made.first_ms / other.first_ms for made, other in pairs]
    return {
        "replies": len(pairs),
        "evaluated_beyond_new": sum(abs(made.evaluated - made.new) for made in replies),
        "rewrites": sum(not made.begins for made in replies),
        "median_new_tokens": statistics.median(made.new for made in replies),
        "median_new_tokens_alone": statistics.median(other.new for _, other in pairs),
        "depth_at_the_end": replies[-1].depth,
        "depth_at_the_end_alone": pairs[-1][1].depth,
        "first_median_ms": statistics.median(made.first_ms for made in replies),
        "first_p95_ms": percentile([made.first_ms for made in replies], 0.95),
        "alone_median_ms": statistics.median(other.first_ms for _, other in pairs),
        "alone_p95_ms": percentile([other.first_ms for _, other in pairs], 0.95),
        "first_over_alone": statistics.median(ratios),
        "before_the_model_median_ms": statistics.median(made.asked_ms for made in replies),
        "before_the_model_alone_median_ms": statistics.median(other.asked_ms for _, other in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--interjections", type=int, default=8, help="turns in which the other voice answers too")
    parser.add_argument("--depth", type=int, default=1500, help="tokens that each log begins with")
    parser.add_argument("--prefill", action="store_true", help="evaluate the other voice's log after each reply")
    parser.add_argument("--threads", type=int, default=0, help="for the model; 0: one per core")
    options = parser.parse_args()
    home = Home.resolve()
    path = ModelStore(home.models).path(DEFAULT_CHAT)

    def load() -> LlamaGenerator:
        return load_generator(path, name=DEFAULT_CHAT, threads=options.threads or None, memo=home.probed)

    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        report(asyncio.run(play(options, Path(folder), load)), as_json=options.json)


if __name__ == "__main__":
    main()
