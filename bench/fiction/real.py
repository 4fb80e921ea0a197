"""A real model as a `Performance` needs it: all that it is given, and all that it draws, is kept."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from bench.fiction.playing import How
from graph.events import Sampling
from models.generator import LlamaGenerator, load_generator
from models.protocols import Finished, Piece, ReadProgress, SamplingParams
from models.store import DEFAULT_CHAT, ModelStore

LIMITS = {"context": 4096, "high_water": 3000, "low_water": 1500}
CONTEXT = 4096


@dataclass(slots=True)
class Drew:
    """One reply as it was drawn: the prompt, and each step's tokens and text."""

    prompt: tuple[int, ...]
    steps: list[tuple[tuple[int, ...], str]] = field(default_factory=list)
    reason: str = ""

    @property
    def text(self) -> str:
        """All that was drawn."""
        return "".join(text for _, text in self.steps)


class Recorded:
    """The model, in the place of which this stands; ended by whoever loaded it, so that others go on with it."""

    def __init__(self, model: LlamaGenerator) -> None:
        self.model = model
        self.heard: list[tuple[How, list[int]]] = []
        self.drawn: list[Drew] = []
        self.line = 0
        self.you = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def again(self) -> "Recorded":
        """The same for another start."""
        return self

    def text(self, tokens: Sequence[int]) -> str:
        """What some tokens say."""
        return self.model.detokenize(tokens)

    async def generate(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        """As the model does."""
        self.heard.append(("reply" if schema is None else "judgement", list(prompt)))
        drew = Drew(tuple(prompt))
        self.drawn.append(drew)
        async with aclosing(self.model.generate(prompt, params, schema=schema, progress=progress)) as steps:
            async for step in steps:
                if isinstance(step, Piece):
                    drew.steps.append((tuple(step.tokens), step.text))
                else:
                    drew.reason = step.reason
                yield step

    async def prefill(self, prompt: Sequence[int]) -> bool:
        """As the model does."""
        self.heard.append(("prefill", list(prompt)))
        return await self.model.prefill(prompt)

    async def structured(self, prompt: Sequence[int], schema: Any, *, max_tokens: int = 512) -> Any:
        """As the model does."""
        self.heard.append(("judgement", list(prompt)))
        return await self.model.structured(prompt, schema, max_tokens=max_tokens)

    async def close(self) -> None:
        """Whoever loaded the model does that."""


def default_model(store: ModelStore, *, threads: int | None = None) -> LlamaGenerator:
    """The default chat model; without `threads` as many as fit the machine. Raises ModelError where there is none."""
    return load_generator(store.path(DEFAULT_CHAT), name="smollm2-135m", context=CONTEXT, threads=threads)


def sampling(seed: int, most: int) -> Sampling:
    """How replies are drawn: freely, and each time the same."""
    return Sampling(temperature=0.9, seed=seed, max_tokens=most)
