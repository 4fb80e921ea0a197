"""The fakes: a Generator with scripted replies and a pretend KV cache, and an Embedder of hashed words.

They keep the promises of models/protocols.py that the rest of clew leans on: text never becomes a control token,
sampled tokens are not what `tokenize` makes of the same text, and evaluated tokens are counted against a KV that holds
what was really evaluated.
"""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from models import placing
from models.errors import ContextFull, EngineClosed, StructuredOutputError
from models.protocols import Answer, Entry, Finished, FrameRole, KVState, ModelInfo, Piece, ReadProgress, SamplingParams

BOS, SYSTEM, USER, ASSISTANT, CLOSE = range(5)
OPEN: dict[FrameRole, int] = {"system": SYSTEM, "user": USER, "assistant": ASSISTANT}
FIRST_WORD = 16
PREFILL_BATCH = 64
LONG_TO_READ = 256  # as models/jobs.py has it


@dataclass(frozen=True, slots=True)
class Reply:
    """What the fake says to one prompt; after `fail_after` pieces it raises `error`, `thinking` pieces come first.

    `took_ms` is what it says that it took until the first piece, and in all; else that is measured.
    """

    text: str
    reason: Literal["end", "length"] = "end"
    thinking: int = 0
    error: Exception | None = None
    fail_after: int = 0
    took_ms: tuple[float, float] | None = None


@dataclass
class Vocabulary:
    """Pieces of text and their ids, growing as they are met; ids below FIRST_WORD are control tokens."""

    ids: dict[str, int] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)

    def encode(self, pieces: Sequence[str]) -> list[int]:
        for piece in pieces:
            if piece not in self.ids:
                self.ids[piece] = FIRST_WORD + len(self.pieces)
                self.pieces.append(piece)
        return [self.ids[piece] for piece in pieces]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(self.pieces[token - FIRST_WORD] for token in tokens if token >= FIRST_WORD)


def words(text: str) -> list[str]:
    """Split into words with the space before them, losslessly."""
    return re.findall(r"\s*\S+|\s+", text)


def sampled(text: str) -> list[str]:
    """The same text in other pieces than `words`, as sampled tokens are seldom what a tokenizer would choose."""
    return [word[at : at + 4] for word in words(text) for at in range(0, len(word), 4)]


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    length = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        length += 1
    return length


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a pretend context holds; the first `read` tokens of it were a prompt."""

    tokens: list[int]
    read: int


class FakeGenerator:
    """Says `replies` in turn (a function is asked with the prompt as text); the last one again when they run out.

    Clear `gate` to make it wait before its next piece, or before its next prefill batch; `waiting` is set while it
    does. `prompts` holds what it was asked, `kv` what would be evaluated, `prefills` the finished ones; `background` is
    the other context, which a `crowded` one lends to objects by grammar; `taken` and `put` count the copies. Where a
    schema is given, the next of `structured_replies` is said instead: an object of the schema, its values, or any text.
    """

    def __init__(
        self,
        *replies: str | Reply | Callable[[str], str | Reply],
        context: int = 8192,
        name: str = "fake",
        answers: Sequence[Any] = (),
        structured_replies: Sequence[BaseModel | dict[str, Any] | str] = (),
    ) -> None:
        self.replies = replies or ("Hello from the fake.",)
        self.answers = list(answers)
        self.structured_replies = list(structured_replies)
        self.prompts: list[list[int]] = []
        self.prefills: list[list[int]] = []
        self.kv: list[int] = []
        self.background: list[int] = []
        self.crowded = False
        self.taken = self.put = 0
        self._sampled, self._sampled_behind = 0, 0  # tokens at the end of either context
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = asyncio.Event()
        self.closed = False
        self.forgot = 0
        self.reading_s: float | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopped = asyncio.Event()
        self._said = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._vocabulary = Vocabulary()
        self._info = ModelInfo(name, Path(f"{name}.gguf"), "fake", 1, context, "fake")

    @property
    def info(self) -> ModelInfo:
        return self._info

    def tokenize(self, text: str) -> list[int]:
        return self._vocabulary.encode(words(text))

    def detokenize(self, tokens: Sequence[int]) -> str:
        return self._vocabulary.decode(tokens)

    def frame(self, role: FrameRole, text: str, *, first: bool = False) -> list[int]:
        return [*([BOS] if first else []), OPEN[role], *self.tokenize(text), CLOSE]

    def reply_open(self) -> list[int]:
        return [ASSISTANT]

    def reply_close(self) -> list[int]:
        return [CLOSE]

    async def generate(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        if self.closed:
            raise EngineClosed
        if len(prompt) >= self._info.context:
            raise ContextFull(len(prompt), self._info.context)
        self._loop = asyncio.get_running_loop()
        self._stopped.clear()
        start = time.perf_counter()
        self.prompts.append(list(prompt))
        if placing.behind(*self._contexts(), prompt, "generate"):
            self._swap()
        kept = min(common(self.kv, prompt), len(prompt) - 1)
        self.kv = list(prompt)
        self._sampled = 0
        reply = self._reply(prompt) if schema is None else self._structured_reply(schema)
        self._idle.clear()
        tokens = self._vocabulary.encode(sampled(reply.text))
        most = max(1, min(params.max_tokens, self._info.context - len(prompt)))
        reason: Literal["end", "length", "stopped"] = reply.reason if len(tokens) <= most else "length"
        said = 0
        first_ms: float | None = None
        try:
            new = len(prompt) - kept
            if progress is not None and new >= LONG_TO_READ:
                for done in range(PREFILL_BATCH, new + PREFILL_BATCH, PREFILL_BATCH):
                    await self._pass()
                    progress(min(done, new), new)
            for number in range(reply.thinking):
                await self._pass()
                if reply.error and number >= reply.fail_after:
                    raise reply.error
                yield Piece((), "", thinking=True)
            for token in tokens[:most]:
                await self._pass()
                if self._stopped.is_set():
                    break
                if reply.error and said >= reply.fail_after:
                    raise reply.error
                said += 1
                if first_ms is None:
                    first_ms = (time.perf_counter() - start) * 1000
                yield Piece((token,), self.detokenize([token]))
                self.kv.append(token)
                self._sampled += 1
            if reply.error:
                raise reply.error
        finally:
            self._idle.set()
        total_ms = (time.perf_counter() - start) * 1000
        if reply.took_ms is not None:
            first_ms, total_ms = reply.took_ms
        reason = "stopped" if self._stopped.is_set() else reason
        yield Finished(reason, len(prompt), len(prompt) - kept, said, first_ms, total_ms)

    def stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)

    async def prefill(self, prompt: Sequence[int]) -> bool:
        if len(prompt) >= self._info.context:
            return False
        while common(self.kv, prompt) < len(prompt):
            await self._idle.wait()
            await self._pass()
            if not self._idle.is_set():
                continue
            behind = placing.behind(*self._contexts(), prompt, "prefill")
            evaluated = self.background if behind else self.kv
            del evaluated[common(evaluated, prompt) :]
            evaluated += prompt[len(evaluated) :][:PREFILL_BATCH]
            if behind:
                self._sampled_behind = 0
            else:
                self._sampled = 0
            if behind and len(evaluated) == len(prompt):
                self._swap()
        await self._idle.wait()
        self.prefills.append(list(prompt))
        return True

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        await self._idle.wait()
        await self._pass()
        if self.crowded:
            self.background = list(prompt)
        if not self.answers:
            raise StructuredOutputError("the fake has no answer left")
        return schema.model_validate(self.answers.pop(0))

    @property
    def state_key(self) -> str:
        return self._info.name

    def warm(self, prompt: Sequence[int]) -> int:
        return max(common(kv, prompt[:-1]) for kv in (self.kv, self.background))

    def keeps(self, tokens: Sequence[int], prompt: Sequence[int], entry: Entry) -> bool:
        return placing.keeps(*self._contexts(), tokens, prompt, entry, jobs=self.crowded)

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        if self.closed:
            raise EngineClosed
        self.taken += 1
        behind = common(self.background, tokens) > common(self.kv, tokens)
        kv = self.background if behind else self.kv
        del kv[common(kv, tokens) :]
        return KVState(tuple(kv), memoryview(json.dumps(kv).encode())) if kv else None

    async def put_state(self, state: KVState) -> bool:
        if self.closed:
            raise EngineClosed
        if bytes(state.data) != json.dumps(state.tokens).encode():
            return False
        self.put += 1
        if placing.behind(*self._contexts(), state.tokens, "put_state"):
            self._swap()
        self.kv = list(state.tokens)
        self._sampled = 0
        return True

    async def forget(self) -> None:
        self.forgot += 1

    async def close(self) -> None:
        self.closed = True
        self._stopped.set()

    def _contexts(self) -> tuple[Evaluated, Evaluated]:
        """The foreground's and the background's."""
        return (
            Evaluated(self.kv, max(0, len(self.kv) - self._sampled)),
            Evaluated(self.background, max(0, len(self.background) - self._sampled_behind)),
        )

    def _swap(self) -> None:
        self.kv, self.background = self.background, self.kv
        self._sampled, self._sampled_behind = self._sampled_behind, self._sampled

    def _reply(self, prompt: Sequence[int]) -> Reply:
        self._said += 1
        reply = self.replies[min(self._said, len(self.replies)) - 1]
        said = reply(self.detokenize(prompt)) if callable(reply) else reply
        return said if isinstance(said, Reply) else Reply(said)

    def _structured_reply(self, schema: type[BaseModel]) -> Reply:
        if not self.structured_replies:
            raise StructuredOutputError("the fake has no structured reply left")
        said = self.structured_replies.pop(0)
        if isinstance(said, dict):
            said = schema.model_validate(said)
        return Reply(said if isinstance(said, str) else said.model_dump_json())

    async def _pass(self) -> None:
        """Let others run, and wait at the gate while it is closed (unless stopped)."""
        await asyncio.sleep(0)
        if self.gate.is_set() or self._stopped.is_set():
            return
        self.waiting.set()
        waits = [asyncio.ensure_future(event.wait()) for event in (self.gate, self._stopped)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.waiting.clear()
            for wait in waits:
                wait.cancel()


class FakeEmbedder:
    """Texts that share words get near vectors: every word adds to the one of `dimension` places its hash names."""

    def __init__(self, *, dimension: int = 32, name: str = "fake-embedder") -> None:
        self._dimension = dimension
        self._info = ModelInfo(name, Path(f"{name}.gguf"), "fake", 1, 512, "none")

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        import numpy as np

        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()) or [""]:
                row[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % self._dimension] += 1
            row /= np.linalg.norm(row)
        return vectors

    async def close(self) -> None:
        return None
