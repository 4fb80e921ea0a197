"""LlamaGenerator: the Generator over llama.cpp, with one warm foreground context and a second one for the background.

The two contexts are of one size and trade places: a prefill is evaluated in the background's, and when it is done that
one simply becomes the foreground's. Nothing is copied, and until then the old prompt stays warm.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from pydantic import BaseModel

from models.engine import Call, Engine, shared_engine
from models.errors import ContextFull, EngineClosed, StructuredOutputError, TooBigForMemory
from models.header import GgufHeader
from models.jobs import GenerateJob, PrefillJob, StructuredJob
from models.loading import available_memory, load_model, physical_cores
from models.native import NativeContext, NativeModel
from models.pace import Paces
from models.protocols import Answer, Finished, FrameRole, ModelInfo, Piece, SamplingParams
from models.reply import CLOSE, OPEN
from models.template import choose_format

# A user-defined token that acts like a control token; others are runs of white space and the like.
MARKER = re.compile(r"[<\[].*[>\]]\Z", re.DOTALL)


def load_generator(
    path: Path,
    *,
    name: str,
    context: int = 8192,
    threads: int | None = None,
    gpu_layers: int = -1,
    memo: Path | None = None,
) -> "LlamaGenerator":
    """Load a chat model; blocking, so call it in a thread.

    `context` in tokens, at most what the model was trained for; `threads` None fits the machine; `gpu_layers` -1 all,
    used where llama.cpp was built for a GPU; `memo` is a file that remembers which models were tried and found good.
    Raises LoadError's children.
    """
    model, header = load_model(path, embeds=False, context=context, gpu_layers=gpu_layers, memo=memo)
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
        self._paces = paces
        self._vocabulary = Vocabulary(model, header)
        self._info = ModelInfo(
            name, header.path, header.architecture, header.size, front.size, self._vocabulary.format.name
        )
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
        self, prompt: Sequence[int], params: SamplingParams, *, schema: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece | Finished, None]:
        self.check_open()
        if not 0 < len(prompt) < self.front.size:
            raise ContextFull(len(prompt), self.front.size)
        job = GenerateJob(self, prompt, params, schema=schema)
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
