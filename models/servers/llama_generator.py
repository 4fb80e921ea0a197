"""LlamaServerGenerator: the Generator over llama.cpp's own server, with its token ids and its slots.

Prompts go as ids, so the append-only prompt holds as it does here, and `timings.prompt_n` is what was evaluated. A
prompt is evaluated in steps of about a tenth of a second before the reply is asked for: closing a connection ends a
reply within some milliseconds, but never the evaluation of what came with it.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from models.errors import (
    ContextFull,
    EngineClosed,
    ServerBroken,
    ServerError,
    ServerLost,
    ServerUnreachable,
    StructuredOutputError,
)
from models.protocols import Answer, Entry, Finished, FrameRole, KVState, ModelInfo, Piece, ReadProgress, SamplingParams
from models.sampling import PENALTY_WINDOW, gbnf
from models.servers.client import RETRY, ServerClient
from models.servers.llama_slots import Slot, Slots, slots_told
from models.servers.llama_tokens import unreadable, vocabulary_of
from models.servers.turns import Turns, ended
from models.template import OPEN, ReplyText

EVERY_S = 0.033  # between two pieces: about 30 a second
READ_EVERY_S = 0.1
LONG_TO_READ = 256  # tokens
THOUGHT = 4096  # tokens that a model may think ahead of a reply
MOST_SLOTS = 256  # that are chosen from
SAMPLERS = ("penalties", "top_k", "top_p", "min_p", "temperature")
CHANGED = "Load it again with /model; your chats are safe."
Reason = Literal["end", "length", "stopped"]


def connect_llama(client: ServerClient, *, name: str, context: int) -> "LlamaServerGenerator":
    """The model of a llama-server; `context` in tokens, at most what one of its slots has. Blocking.

    Raises ServerError.
    """
    props = client.ask("/props")
    match props:
        case {"default_generation_settings": {"n_ctx": int(size)}, "total_slots": int(count)} if size > 0 < count:
            pass
        case _:
            raise ServerBroken(client.address.name, "it does not say what it has loaded (GET /props)", RETRY)
    return LlamaServerGenerator(client, props, name=name, context=min(context, size), slots=_two_slots(client, count))


def _two_slots(client: ServerClient, count: int) -> list[int]:
    """Two slots, or one where there is no other; of a server with many those that are idle now, by chance."""
    from models.errors import ServerRefused

    ids = list(range(min(count, MOST_SLOTS)))
    with suppress(ServerRefused):  # a server may keep its slots to itself
        busy = [each.get("id") for each in slots_told(client.ask("/slots")) if each.get("is_processing")]
        ids = [id for id in ids if id not in busy] or ids
    random.shuffle(ids)
    return ids[:2]


class LlamaServerGenerator:
    """One model on a llama-server. Made by `connect_llama`; usable from one event loop."""

    def __init__(
        self, client: ServerClient, props: dict[str, Any], *, name: str, context: int, slots: Sequence[int]
    ) -> None:
        self.slots = Slots(client, slots, context=context)
        self.client = client
        self._vocabulary, self._tokenizer = vocabulary_of(client, props)
        self.spaced = self._vocabulary.spaced
        self.thinks = OPEN in str(props.get("chat_template"))
        self.identity = identity_of(props)
        self._replies: tuple[_Reply, ...] = ()  # replaced, never changed: `stop` reads it anywhere
        self._turns = Turns()
        size, architecture = _size_of(client)
        away = "" if client.address.local else client.address.host
        self._info = ModelInfo(name, Path(name), architecture, size, context, self._vocabulary.format.name, away)
        self._closed = False

    @property
    def info(self) -> ModelInfo:
        return self._info

    def tokenize(self, text: str) -> list[int]:
        return self._vocabulary.text(text)

    def detokenize(self, tokens: Sequence[int]) -> str:
        return self._tokenizer.words(list(tokens)) if tokens else ""

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
        self._check(prompt)
        with self._turns.foreground():
            reply = _Reply(self, prompt, params, schema=schema, progress=progress)
            self._replies = (*self._replies, reply)
            try:
                while True:
                    item = await reply.items.get()
                    if isinstance(item, Exception):
                        raise item
                    yield item
                    if isinstance(item, Finished):
                        return
            finally:
                self._replies = tuple(each for each in self._replies if each is not reply)
                await reply.end()

    def stop(self) -> None:
        for reply in self._replies:
            reply.stop()

    async def prefill(self, prompt: Sequence[int]) -> bool:
        if self._closed:
            raise EngineClosed
        if not 0 < len(prompt) < self.slots.context:
            return False
        await self._turns.background(lambda: self._evaluate_apart(prompt))
        if self.slots.front.common(prompt) < len(prompt) - 1:
            self.slots.swap()
        return True

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        self._check(prompt)
        text, whole = await self._turns.background(lambda: self._decoded(prompt, schema, max_tokens))
        if not whole:
            raise StructuredOutputError("it did not end in time", text)
        try:
            return schema.model_validate_json(text)
        except ValidationError as error:
            raise StructuredOutputError(f"it does not fit the schema ({error.error_count()} errors)", text) from error

    @property
    def state_key(self) -> str:
        named = f"{self.client.address.url}|{self.identity}|{self.slots.context}"
        return blake2b(named.encode("utf-8", "replace"), digest_size=16).hexdigest()

    @property
    def reading_s(self) -> float | None:
        return self.slots.pace.reading_s

    def warm(self, prompt: Sequence[int]) -> int:
        return max(self.slots.known(each, prompt) for each in (self.slots.front, self.slots.back)) if prompt else 0

    def keeps(self, tokens: Sequence[int], prompt: Sequence[int], entry: Entry) -> bool:
        return True  # no copy could be taken of it

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        return None  # it stays with the server, which has a cache of its own

    async def put_state(self, state: KVState) -> bool:
        return False

    async def forget(self) -> None:
        """Nothing lies on a disk, unless a pool had it written down."""

    async def close(self) -> None:
        """End what runs; whoever still waits gets EngineClosed. Idempotent."""
        if self._closed:
            return
        self._closed = True
        for reply in self._replies:
            reply.fail(EngineClosed())
        await self._turns.close()
        await self.client.close()

    async def still_the_same(self) -> None:
        """Raises ServerBroken where the server has another model than at first, whose tokens mean something else."""
        props = await self.client.asked("/props")
        if not isinstance(props, dict):
            raise unreadable(self.client, "what it has loaded")
        if identity_of(props) != self.identity:
            raise ServerBroken(self.client.address.name, "it has loaded another model since", CHANGED)

    def _check(self, prompt: Sequence[int]) -> None:
        if self._closed:
            raise EngineClosed
        if not 0 < len(prompt) < self.slots.context:
            raise ContextFull(len(prompt), self.slots.context)

    async def _evaluate_apart(self, prompt: Sequence[int]) -> Slot:
        """Evaluate a prompt beside the foreground's; the slot it is in. Cancelled, it leaves what it has done."""
        slot = self._apart(prompt)
        known = self.slots.known(slot, prompt)
        while slot.common(prompt) < len(prompt) - 1:
            await self.slots.evaluate(slot, prompt[: known + self.slots.pace.step()])
            known = slot.common(prompt)
        return slot

    def _apart(self, prompt: Sequence[int]) -> Slot:
        """The foreground's where that has only to be gone on with and nothing of it is lost, else the background's."""
        front = self.slots.front
        shared = front.common(prompt)
        return front if shared >= len(front.tokens) - 1 and shared * 2 > len(prompt) else self.slots.back

    async def _decoded(self, prompt: Sequence[int], schema: type[BaseModel], most: int) -> tuple[str, bool]:
        """What was decoded under the grammar, and whether it came to its end."""
        slot = await self._evaluate_apart(prompt)
        body = {"prompt": list(prompt), "id_slot": slot.id, "n_predict": most, "temperature": 0, "stream": True}
        text, came = "", 0
        async with aclosing(self.client.stream("/completion", body | {"grammar": gbnf(schema)})) as events:
            async for event in events:
                text, came = text + _content(self.client, event), came + 1
                if event.get("stop"):
                    return text, event.get("stop_type") != "limit"
                if came > most:  # each is a token at least
                    return text, False
        raise ServerLost(self.client.address.name, "the connection ended in the middle", RETRY)


class _Reply:
    """One reply, made by a task of its own and put into `items`: pieces, and its end or the error that ended it."""

    def __init__(
        self,
        model: LlamaServerGenerator,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None,
        progress: ReadProgress | None,
    ) -> None:
        self.items: asyncio.Queue[Piece | Finished | Exception] = asyncio.Queue()
        self._model = model
        self._prompt = list(prompt)
        self._params = params
        self._schema = schema
        self._progress = progress
        self._text = ReplyText(skip_space=model.spaced)
        self._evaluated = 0
        self._sampled: list[int] = []
        self._silent: list[int] = []  # tokens without a text: the last one may be what ends the reply
        self._said = 0
        self._told_at = 0.0
        self._first_ms: float | None = None
        self._start = time.perf_counter()
        self._stopping = False
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(self._tell_bug)

    def stop(self) -> None:
        """From any thread: what came is all; its end is told."""
        self._stopping = True
        self._loop.call_soon_threadsafe(self._task.cancel)

    def fail(self, error: Exception) -> None:
        """Nothing more comes of it."""
        self._task.cancel()
        self.items.put_nowait(error)

    async def end(self) -> None:
        """Nobody listens any more."""
        await ended(self._task)

    def _tell_bug(self, task: asyncio.Task[None]) -> None:
        """An error that nobody thought of is raised to whoever listens, who would wait for ever."""
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self.items.put_nowait(error)

    async def _run(self) -> None:
        from models.errors import ModelError

        try:
            reason = await self._again_if_lost()
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            reason = "stopped"
        except ModelError as error:
            if isinstance(error, ServerUnreachable | ServerLost | ServerBroken):
                self._model.slots.forget()
            self._tell(*self._text.end())
            if isinstance(error, ServerError):
                error.evaluated = self._evaluated
            self.items.put_nowait(error)
            return
        self._tell(*self._text.end())
        total_ms = (time.perf_counter() - self._start) * 1000
        self.items.put_nowait(
            Finished(reason, len(self._prompt), self._evaluated, len(self._sampled), self._first_ms, total_ms)
        )

    async def _again_if_lost(self) -> Reason:
        """A second time, where the connection was lost before anything came."""
        try:
            return await self._made()
        except ServerLost:
            if self._sampled:
                raise
            return await self._made()

    async def _made(self) -> Reason:
        await self._model.still_the_same()
        slots, prompt = self._model.slots, self._prompt
        slot = slots.nearest(prompt)
        known = slots.known(slot, prompt)
        cold, told_at = len(prompt) - known, 0.0
        while len(prompt) - known > slots.pace.step():
            self._evaluated += await slots.evaluate(slot, prompt[: known + slots.pace.step()])
            known = slot.common(prompt)
            if self._progress is not None and cold >= LONG_TO_READ and time.perf_counter() - told_at > READ_EVERY_S:
                told_at = time.perf_counter()
                self._progress(self._evaluated, cold)
        return await self._decoded(slot)

    async def _decoded(self, slot: Slot) -> Reason:
        slots = self._model.slots
        room, expected = slots.context - len(self._prompt), len(self._prompt) - slots.known(slot, self._prompt)
        slots.give(slot, self._prompt)
        known, came = False, 0
        async with aclosing(self._model.client.stream("/completion", self._body(slot, room))) as events:
            async for event in events:
                if not known:
                    count = slots.evaluated(event)
                    slots.compare(count, expected)
                    self._evaluated += count
                    known = True
                await self._take(event, slot)
                if event.get("stop"):
                    return "length" if event.get("stop_type") == "limit" or event.get("truncated") else "end"
                came += 1  # each is a token at least, but for a server that does not end
                if self._said >= self._params.max_tokens or max(came, len(self._sampled)) >= room:
                    return "length"
        raise ServerLost(self._model.client.address.name, "the connection ended in the middle", RETRY)

    def _body(self, slot: Slot, room: int) -> dict[str, Any]:
        params = self._params
        body: dict[str, Any] = {
            "prompt": self._prompt,
            "stream": True,
            "return_tokens": True,
            "timings_per_token": True,  # so that what was evaluated is known however it ends
            "cache_prompt": True,
            "id_slot": slot.id,
            "n_predict": min(room, params.max_tokens + (THOUGHT if self._model.thinks else 0)),
        }
        if self._schema is not None:
            return body | {"temperature": 0, "repeat_penalty": 1.0, "grammar": gbnf(self._schema)}
        return body | {
            "samplers": SAMPLERS,
            "temperature": params.temperature,
            "top_k": params.top_k,
            "top_p": params.top_p,
            "min_p": params.min_p,
            "repeat_penalty": params.repeat_penalty,
            "repeat_last_n": PENALTY_WINDOW,
            "seed": random.getrandbits(32) if params.seed is None else params.seed & 0xFFFFFFFF,
        }

    async def _take(self, event: dict[str, Any], slot: Slot) -> None:
        """What was sampled since: a token, or several that make one character, of which a server tells the last."""
        match event:
            case {"tokens": [*tokens], "tokens_predicted": int(count)} if all(isinstance(each, int) for each in tokens):
                pass
            case _:
                raise unreadable(self._model.client, "the tokens of a reply")
        text = _content(self._model.client, event)
        tokens = [*self._silent, *tokens]
        if event.get("stop") and event.get("stop_type") == "eos":
            tokens = tokens[:-1] if not text else tokens
        elif not text and not event.get("stop"):
            self._silent = tokens
            return
        self._silent = []
        missing = count - len(self._sampled) - len(tokens)
        if text and missing > 0:
            found = await asyncio.to_thread(self._model.tokenize, text)
            if len(found) == missing + len(tokens) and found[len(found) - len(tokens) :] == tokens:
                tokens = found
        for number, token in enumerate(tokens, start=1):
            self._sampled.append(token)
            slot.tokens.append(token)
            self._text.push(token, text.encode("utf-8", "replace") if number == len(tokens) else b"")
            self._said += self._text.begun
        if time.perf_counter() - self._told_at > EVERY_S:
            self._tell(*self._text.take())

    def _tell(self, tokens: tuple[int, ...], text: str) -> None:
        if not tokens and not text and not self._text.thinking:
            return
        self._told_at = time.perf_counter()
        if self._first_ms is None:
            self._first_ms = (self._told_at - self._start) * 1000
        self.items.put_nowait(Piece(tokens, text, thinking=self._text.thinking))


def _content(client: ServerClient, event: dict[str, Any]) -> str:
    text = event.get("content", "")
    if not isinstance(text, str):
        raise unreadable(client, "text")
    return text


def identity_of(props: Mapping[str, Any]) -> str:
    """What tells one model on a server from another, wherever its file lies: its name, its template, its edges."""
    file = str(props.get("model_path")).replace("\\", "/").rpartition("/")[2]
    return "|".join([file, *(str(props.get(name)) for name in ("chat_template", "bos_token", "eos_token"))])


def _size_of(client: ServerClient) -> tuple[int, str]:
    """Bytes of the model's file, 0 where that is not told; and its kind."""
    match client.ask("/v1/models"):
        case {"data": [{"meta": {"size": int(size)}}, *_]}:
            return size, "llama-server"
    return 0, "llama-server"
