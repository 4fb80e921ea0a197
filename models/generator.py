"""LlamaGenerator: the Generator over llama.cpp."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from models.engine import Engine, EngineCall, shared_engine
from models.errors import ContextFull, EngineClosed, StructuredOutputError, TooBigForMemory
from models.frames import vocabulary_of
from models.header import GgufHeader
from models.jobs import Contexts, GenerateJob, PrefillJob, StructuredJob
from models.loading import load_model
from models.machine import Paces, available_memory, physical_cores
from models.native import LoadProgress, NativeContext, NativeModel
from models.protocols import Answer, Entry, Finished, FrameRole, KVState, ModelInfo, Piece, ReadProgress, SamplingParams
from models.template import Vocabulary

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
    progress: LoadProgress = lambda _: None,
) -> "LlamaGenerator":
    """Load a chat model; blocking, so call it in a thread.

    `context` in tokens, at most what the model was trained for; `threads` None fits the machine; `gpu_layers` -1 as
    many as fit, used where llama.cpp was built for a GPU; `memo` is a file that remembers which models were tried and
    found good; `warn` is told once that this one only runs in a slower way, and `progress` the share that is loaded.
    Raises LoadError's children.
    """
    model, header = load_model(
        path, embeds=False, context=context, gpu_layers=gpu_layers, memo=memo, warn=warn, progress=progress
    )
    size = min(context, model.train_context or context)
    engine = shared_engine()
    paces = Paces.of(threads or physical_cores())
    front = NativeContext.make(model, engine.flag, size=size, paces=paces)
    if front is None:
        model.free()
        raise TooBigForMemory(path, header.size + size * header.kv_bytes_per_token(), available_memory())
    vocabulary = vocabulary_of(model, header, memo)
    return LlamaGenerator(model, header, front, engine, vocabulary, name=name, paces=paces)


class LlamaGenerator:
    """One loaded chat model. Made by `load_generator`; usable from any event loop, one at a time."""

    def __init__(
        self,
        model: NativeModel,
        header: GgufHeader,
        front: NativeContext,
        engine: Engine,
        vocabulary: Vocabulary,
        *,
        name: str,
        paces: Paces,
    ) -> None:
        self._vocabulary = vocabulary
        kv_bytes = header.kv_bytes_per_token()
        self.contexts = Contexts(model, front, engine, vocabulary=self._vocabulary, paces=paces, kv_bytes=kv_bytes)
        self._engine = engine
        self._paces = paces
        self._info = ModelInfo(
            name, header.path, header.architecture, header.size, front.size, self._vocabulary.format.name
        )
        self._state_key = _state_key(header.path)
        engine.own(self.contexts.free)

    @property
    def info(self) -> ModelInfo:
        return self._info

    def tokenize(self, text: str) -> list[int]:
        return self._vocabulary.text(text)

    def detokenize(self, tokens: Sequence[int]) -> str:
        return self._vocabulary.words(tokens)

    def frame(self, role: FrameRole, text: str, *, first: bool = False) -> list[int]:
        return self._vocabulary.frame(role, text, first=first)

    def reply_open(self) -> list[int]:
        return list(self._vocabulary.around("assistant")[0])

    def reply_close(self) -> list[int]:
        return list(self._vocabulary.around("assistant")[1])

    async def generate(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        self.contexts.check_open()
        if not 0 < len(prompt) < self.contexts.front.size:
            raise ContextFull(len(prompt), self.contexts.front.size)
        job = GenerateJob(self.contexts, prompt, params, schema=schema, progress=progress)
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
        self.contexts.check_open()
        if not 0 < len(prompt) < self.contexts.front.size:
            return False
        job = PrefillJob(self.contexts, prompt)
        self._engine.submit(job)
        try:
            return bool(await job.outcome)
        finally:
            self._engine.cancel(job)

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        from pydantic import ValidationError

        self.contexts.check_open()
        if not 0 < len(prompt) < self.contexts.front.size:
            raise ContextFull(len(prompt), self.contexts.front.size)
        job = StructuredJob(self.contexts, prompt, schema, max_tokens=max_tokens)
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
        return self.contexts.common(prompt) if prompt else 0

    def keeps(self, tokens: Sequence[int], prompt: Sequence[int], entry: Entry) -> bool:
        return self.contexts.keeps(tokens, prompt, entry)

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        def measure() -> int:
            context = self.contexts.holder(tokens)
            return 0 if context is None else context.state_size()

        size = await self._call(measure)
        # Allocated and touched outside the engine's thread: fresh pages cost more than the copy.
        room = await asyncio.to_thread(_room, size)
        if room is None:
            return None

        def copy() -> KVState | None:
            context = self.contexts.holder(tokens)
            if context is None or not context.tokens or context.state_size() != size or not context.copy_state(room):
                return None
            return KVState(tuple(context.tokens), memoryview(room))

        return await self._call(copy)

    async def put_state(self, state: KVState) -> bool:
        import numpy as np

        if not 0 < len(state.tokens) < self.contexts.front.size:
            return False
        data = np.frombuffer(state.data, np.uint8)

        def put() -> bool:
            context = self.contexts.beside(state.tokens, "put_state") or self.contexts.front
            done = context.set_state(data, state.tokens)
            if done and context is not self.contexts.front:
                self.contexts.swap()
            return done

        return await self._call(put)

    async def _call(self, function: Callable[[], Result]) -> Result:
        """Run a short function on the engine's thread, ahead of the background. Raises EngineClosed."""

        def checked() -> Result:
            self.contexts.check_open()
            return function()

        call = EngineCall(checked)
        self._engine.submit(call)
        result: Result = await call.outcome
        return result

    async def forget(self) -> None:
        """Nothing lies on a disk but by what `take_state` gave."""

    async def close(self) -> None:
        """End what runs and free the memory; whoever still waits gets EngineClosed. Idempotent."""
        if self.contexts.closed:
            return
        self.contexts.closed = True
        self._engine.disown(self.contexts.free)
        self.stop()
        call = EngineCall(self.contexts.free)
        try:
            self._engine.submit(call)
        except EngineClosed:
            return
        await asyncio.shield(call.outcome)


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
