"""LlamaGenerator: the Generator over llama.cpp, with one warm foreground context and a second one for the background.

The two contexts are of one size and trade places: a prefill is evaluated in the background's, and when it is done that
one simply becomes the foreground's. Nothing is copied, and until then the old prompt stays warm.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from models.engine import Call, Engine, shared_engine
from models.errors import ContextFull, EngineClosed, StructuredOutputError, TooBigForMemory
from models.header import GgufHeader
from models.jobs import GenerateJob, PrefillJob, StructuredJob
from models.loading import available_memory, load_model, physical_cores
from models.native import NativeContext, NativeModel
from models.pace import Paces
from models.protocols import Answer, Finished, FrameRole, KVState, ModelInfo, Piece, ReadProgress, SamplingParams
from models.reply import CLOSE, OPEN
from models.template import choose_format

# A user-defined token that acts like a control token; others are runs of white space and the like.
MARKER = re.compile(r"[<\[].*[>\]]\Z", re.DOTALL)
Result = TypeVar("Result")


def load_generator(
    path: Path,
    *,
    name: str,
    context: int = 8192,
    threads: int | None = None,
    gpu_layers: int = -1,
    memo: Path | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> "LlamaGenerator":
    """Load a chat model; blocking, so call it in a thread.

    `context` in tokens, at most what the model was trained for; `threads` None fits the machine; `gpu_layers` -1 as
    many as fit, used where llama.cpp was built for a GPU; `memo` is a file that remembers which models were tried and
    found good; `warn` is told once that this one only runs in a slower way. Raises LoadError's children.
    """
    model, header = load_model(path, embeds=False, context=context, gpu_layers=gpu_layers, memo=memo, warn=warn)
    size = min(context, model.train_context or context)
    engine = shared_engine()
    paces = Paces.of(threads or physical_cores())
    front = NativeContext.make(model, engine.flag, size=size, paces=paces)
    if front is None:
        model.free()
        raise TooBigForMemory(path, header.size + size * header.kv_bytes_per_token(), available_memory())
    return LlamaGenerator(model, header, front, engine, name=name, paces=paces)


class LlamaGenerator:
    """One loaded chat model. Made by `load_generator`; usable from any event loop, one at a time."""

    def __init__(
        self, model: NativeModel, header: GgufHeader, front: NativeContext, engine: Engine, *, name: str, paces: Paces
    ) -> None:
        self.model = model
        self.front = front
        self._back: NativeContext | None = None
        self._engine = engine
        self.between = engine.between
        self._paces = paces
        self._vocabulary = Vocabulary(model, header)
        self._info = ModelInfo(
            name, header.path, header.architecture, header.size, front.size, self._vocabulary.format.name
        )
        self._state_key = _state_key(header.path)
        self._closed = False
        engine.own(self._free)

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def vocabulary(self) -> "Vocabulary":
        return self._vocabulary

    def tokenize(self, text: str) -> list[int]:
        return self._vocabulary.text(text)

    def detokenize(self, tokens: Sequence[int]) -> str:
        return self._vocabulary.words(tokens)

    def frame(self, role: FrameRole, text: str, *, first: bool = False) -> list[int]:
        before, after = self._vocabulary.around(role, first=first)
        return [*before, *self._vocabulary.text(text), *after]

    def reply_open(self) -> list[int]:
        return list(self._vocabulary.around("assistant", first=False)[0])

    def reply_close(self) -> list[int]:
        return list(self._vocabulary.around("assistant", first=False)[1])

    async def generate(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        self.check_open()
        if not 0 < len(prompt) < self.front.size:
            raise ContextFull(len(prompt), self.front.size)
        job = GenerateJob(self, prompt, params, schema=schema, progress=progress)
        self._engine.submit(job)
        try:
            while True:
                item = await job.items.get()
                if isinstance(item, Exception):
                    raise item
                yield item
                if isinstance(item, Finished):
                    return
        finally:
            self._engine.cancel(job)

    def stop(self) -> None:
        self._engine.stop_foreground()

    async def prefill(self, prompt: Sequence[int]) -> bool:
        self.check_open()
        if not 0 < len(prompt) < self.front.size:
            return False
        job = PrefillJob(self, prompt)
        self._engine.submit(job)
        try:
            return bool(await job.outcome)
        finally:
            self._engine.cancel(job)

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        from pydantic import ValidationError

        self.check_open()
        if not 0 < len(prompt) < self.front.size:
            raise ContextFull(len(prompt), self.front.size)
        job = StructuredJob(self, prompt, schema, max_tokens=max_tokens)
        self._engine.submit(job)
        try:
            text: str = await job.outcome
        finally:
            self._engine.cancel(job)
        try:
            return schema.model_validate_json(text)
        except ValidationError as error:
            raise StructuredOutputError(f"it does not fit the schema ({error.error_count()} errors)", text) from error

    @property
    def state_key(self) -> str:
        return self._state_key

    @property
    def reading_s(self) -> float | None:
        return self._paces.reading.quickest

    def warm(self, prompt: Sequence[int]) -> int:
        return max(context.common(prompt) for context in (self.front, self._back or self.front)) if prompt else 0

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        size = await self._call(lambda: self._holder(tokens).state_size())
        # Allocated and touched outside the engine's thread: fresh pages cost more than the copy.
        room = await asyncio.to_thread(_room, size)
        if room is None:
            return None

        def copy() -> KVState | None:
            context = self._holder(tokens)
            if not context.tokens or context.state_size() != size or not context.copy_state(room):
                return None
            return KVState(tuple(context.tokens), memoryview(room))

        return await self._call(copy)

    async def put_state(self, state: KVState) -> bool:
        import numpy as np

        if not 0 < len(state.tokens) < self.front.size:
            return False
        data = np.frombuffer(state.data, np.uint8)

        def put() -> bool:
            context = (self.back() if self.front.tokens else None) or self.front
            done = context.set_state(data, state.tokens)
            if done and context is not self.front:
                self.swap()
            return done

        return await self._call(put)

    async def _call(self, function: Callable[[], Result]) -> Result:
        """Run a short function on the engine's thread, ahead of the background. Raises EngineClosed."""

        def checked() -> Result:
            self.check_open()
            return function()

        call = Call(checked)
        self._engine.submit(call)
        result: Result = await call.outcome
        return result

    def _holder(self, tokens: Sequence[int]) -> NativeContext:
        """The context that has most of `tokens`, cut back to what it has of them; on the engine's thread."""
        context = self.front
        if self._back is not None and self._back.common(tokens) > self.front.common(tokens):
            context = self._back
        context.keep_shared(tokens)
        return context

    async def close(self) -> None:
        """End what runs and free the memory; whoever still waits gets EngineClosed. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._engine.disown(self._free)
        self.stop()
        call = Call(self._free)
        try:
            self._engine.submit(call)
        except EngineClosed:
            return
        await asyncio.shield(call.outcome)

    def check_open(self) -> None:
        """Raises EngineClosed after `close`."""
        if self._closed:
            raise EngineClosed

    def back(self) -> NativeContext | None:
        """The background's context, made when it is first needed; None if there is no memory for it."""
        if self._back is None:
            self._back = NativeContext.make(self.model, self._engine.flag, size=self.front.size, paces=self._paces)
        return self._back

    def nearest(self, prompt: Sequence[int]) -> NativeContext:
        """The context that has evaluated more of `prompt`, as the foreground's; on the engine's thread.

        A prefill that was interrupted, or that nobody waited for, has left its work in the background's.
        """
        if self._back is not None and self._back.common(prompt) > self.front.common(prompt):
            self.swap()
        return self.front

    def swap(self) -> None:
        """The background's context becomes the foreground's; on the engine's thread."""
        if self._back is not None:
            self.front, self._back = self._back, self.front

    def _free(self) -> None:
        self.front.free()
        if self._back is not None:
            self._back.free()
        self.model.free()


def _room(size: int) -> Any:
    """uint8[size], its pages touched; None if it would take more than half of the memory that is free."""
    import numpy as np

    if not 0 < size < available_memory() // 2:
        return None
    room = np.empty(size, np.uint8)
    room.fill(0)
    return room


def _state_key(path: Path) -> str:
    """Where the file lies, its size and its time tell it from others without reading it."""
    import llama_cpp

    stat = path.stat()
    named = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{llama_cpp.__version__}"
    return blake2b(named.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


class Vocabulary:
    """Text to tokens and back, in this model's chat format; no text of anyone becomes a control token."""

    def __init__(self, model: NativeModel, header: GgufHeader) -> None:
        self._model = model
        self._marked = model.marked_tokens()
        special = {str(header.values.get(f"tokenizer.ggml.{kind}_token_id")): kind for kind in ("bos", "eos")}
        named = {kind: model.piece(int(token)).decode() for token, kind in special.items() if token.isdigit()}
        self.format = choose_format(
            header.chat_template, bos=named.get("bos", ""), eos=named.get("eos", ""), markers=self._marked.values()
        )
        space = header.values.get("tokenizer.ggml.add_space_prefix", True)
        self.spaced = header.values.get("tokenizer.ggml.model") == "llama" and bool(space)
        self._around: dict[tuple[FrameRole, bool], tuple[list[int], list[int]]] = {}
        self._reply_pieces: dict[int, bytes] = {}
        frames = {token for role in ("system", "user", "assistant") for part in self.around(role) for token in part}
        controls = {token for token in self._marked if model.is_control(token)}
        self.ends = {token for token in self._marked if model.is_end(token)} | (controls & frames)
        self._forbidden = {token for token, text in self._marked.items() if token in controls or MARKER.match(text)}
        self.never_in_text = sorted(token for token in self._forbidden if not model.is_end(token))

    def around(self, role: FrameRole, *, first: bool = False) -> tuple[list[int], list[int]]:
        """The tokens before and after a message."""
        found = self._around.get((role, first))
        if found is None:
            before, after = self.format.around(role, first=first)
            if self.spaced:
                before = before.removesuffix(" ")  # the tokenizer puts one before every text
            found = self._model.tokenize(before, special=True), self._model.tokenize(after, special=True)
            self._around[role, first] = found
        return found

    def text(self, text: str) -> list[int]:
        """Plain tokens of `text`. A marker that the tokenizer knows even in plain text is broken up."""
        tokens = self._model.tokenize(text, special=False)
        met = self._forbidden.intersection(tokens)
        if not met:
            return tokens
        marker = max((self._marked[token] for token in met), key=len)
        if len(marker) < 2 or marker not in text:
            return [token for token in tokens if token not in met]
        inside = f"(?<={re.escape(marker[0])})(?={re.escape(marker[1:])})"
        return [token for part in re.split(inside, text) for token in self.text(part)]

    def words(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, control tokens left out."""
        text = b"".join(self.reply_piece(token) for token in tokens).decode("utf-8", "replace")
        return text.removeprefix(" ") if self.spaced else text

    def reply_piece(self, token: int) -> bytes:
        """The bytes a sampled token adds to a reply: nothing for control tokens but the marks of reasoning."""
        found = self._reply_pieces.get(token)
        if found is None:
            found = self._model.piece(token)
            if token in self._marked and self._model.is_control(token) and found.decode() not in (OPEN, CLOSE):
                found = b""
            self._reply_pieces[token] = found
        return found
