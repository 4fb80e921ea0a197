"""What the rest of clew sees of a model: two Protocols and the plain values that cross them.

The llama.cpp ones and the fakes in the tests implement these; nothing outside this package knows llama.cpp.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel

Answer = TypeVar("Answer", bound=BaseModel)
FrameRole = Literal["system", "user", "assistant"]
Entry = Literal["generate", "prefill", "put_state"]  # the methods of a Generator by which a prompt comes in
ReadProgress = Callable[[int, int], None]  # tokens of the prompt that are evaluated, of how many that must be


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A loaded model. `context` is the foreground's, in tokens; `size` is in bytes; `format` names the chat format.

    Of one on a server `path` is only a name, and `size` 0 where the server does not tell it. `away` is the host where
    words go that leave this machine; empty where they stay on it.
    """

    name: str
    path: Path
    architecture: str
    size: int
    context: int
    format: str
    away: str = ""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How tokens are drawn, in llama.cpp's terms; temperature 0 is greedy, `seed` None is random."""

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.1
    seed: int | None = None
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """A bit of a reply: the sampled token ids and the whole characters they complete. Reasoning is never in `text`
    and its tokens are never in `tokens`; `thinking` tells that the model is at it."""

    tokens: tuple[int, ...]
    text: str
    thinking: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a reply. `evaluated_tokens` are the prompt tokens that were not in the KV cache; times in ms."""

    reason: Literal["end", "length", "stopped"]
    prompt_tokens: int
    evaluated_tokens: int
    completion_tokens: int
    first_token_ms: float | None
    total_ms: float


@dataclass(frozen=True, slots=True)
class KVState:
    """What a model has worked out of `tokens`: bytes that only a generator of the same `state_key` can take back."""

    tokens: tuple[int, ...]
    data: memoryview


class Generator(Protocol):
    """A chat model with one warm foreground prompt, and room for background work beside it.

    All methods may be called from the event loop and never block it, but for `frame`, `reply_open`, `reply_close`,
    `tokenize` and `detokenize`, which only tokenise (about 1 ms per KB: use a thread for long texts).
    """

    @property
    def info(self) -> ModelInfo: ...

    def tokenize(self, text: str) -> list[int]:
        """Plain text to token ids; nothing in it becomes a control token."""
        ...

    def detokenize(self, tokens: Sequence[int]) -> str: ...

    def frame(self, role: FrameRole, text: str, *, first: bool = False) -> list[int]:
        """One whole message as the chat format frames it; `first` for the one that begins the prompt (it carries BOS).

        The only way text gets into a prompt: the text itself can never become a control token.
        """
        ...

    def reply_open(self) -> list[int]:
        """What asks for the assistant's reply; `frame("assistant", …)` = reply_open + text + reply_close."""
        ...

    def reply_close(self) -> list[int]: ...

    def generate(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        """Foreground: evaluate what of `prompt` is not in the KV cache, then stream; `Finished` comes last.

        Pieces are batched to at most about 30 a second, the first one at once. Closing the iterator, or `stop()`, ends
        it within 100 ms, during prompt evaluation too; after `stop()` a `Finished("stopped")` still comes.
        `progress` is called from the event loop, at most some ten times a second, while a long prompt is evaluated.

        With `schema` the reply is JSON of it, decoded greedily under its grammar (of `params` only `max_tokens`
        counts). Where `Finished.reason` is "end" the text is whole; it is the caller who validates it. Raises
        StructuredOutputError where the grammar cannot go on.
        """
        ...

    def stop(self) -> None:
        """Stop the foreground, from any thread."""
        ...

    async def prefill(self, prompt: Sequence[int]) -> bool:
        """Background: evaluate `prompt` beside the foreground's KV, then make it the foreground's.

        What was the foreground's stays warm beside it: whichever of both is asked next is gone on with.

        Yields to the foreground within 100 ms and goes on after it. Cancelling keeps what was evaluated, so that a
        later call with the same beginning resumes. True when done; False if the prompt does not fit.
        """
        ...

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        """Background: decode greedily under the grammar of `schema`, validate again on arrival.

        What is warm stays warm, where there is memory for that (`keeps` knows).

        Raises StructuredOutputError if no valid object came within `max_tokens`.
        """
        ...

    @property
    def state_key(self) -> str:
        """Names everything a `KVState` depends on: the model's file as it was loaded, and the version of llama.cpp."""
        ...

    @property
    def reading_s(self) -> float | None:
        """Seconds that a token of a prompt takes to be evaluated, by the last ones; None before the first prompt."""
        ...

    def warm(self, prompt: Sequence[int]) -> int:
        """About how many tokens of `prompt` need no evaluation now; from any thread."""
        ...

    def keeps(self, tokens: Sequence[int], prompt: Sequence[int], entry: Entry) -> bool:
        """Whether what is evaluated of `tokens` stays warm if `prompt` comes in next, by that method; from any thread.

        True also where nothing is, and where no copy could be taken of it.
        """
        ...

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        """Foreground, some 10 ms: copy what is evaluated of `tokens`, and drop what was evaluated beyond them.

        None if nothing is, if what is there is rather somebody else's, or if there is no memory for the copy.
        """
        ...

    async def put_state(self, state: KVState) -> bool:
        """Foreground, some 10 ms: make a state the foreground's; what that one had, unless that is but the beginning
        of this, stays beside it.

        False, with nothing lost but the place, if it does not fit. It must be whole: check it against a digest first.
        """
        ...

    async def forget(self) -> None:
        """Let nothing of what was evaluated lie on any disk: something of it was deleted."""
        ...

    async def close(self) -> None: ...


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        """Vectors: float32[n, dimension], each of length 1; what is beyond the model's context is not looked at.

        Background: yields to the foreground, also within a text. `brief`, for the one text somebody waits for: it
        comes before everything else, and into a reply between two tokens; `most` tokens of each text are looked at.
        """
        ...

    async def close(self) -> None: ...
