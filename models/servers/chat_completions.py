"""The Generator over any server that speaks OpenAI's chat completions: Ollama, LM Studio, vLLM, SGLang, a gateway.

Such a server takes messages, not tokens. The prompt is a list of ids that stand for text (`pseudo_tokens`), and is read
back into messages for each request; as it only grows, so do they, and the server's own prefix cache has their
beginning. Which chat a request is of is told by a header, so that a router can send it where that cache is.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from time import perf_counter

from pydantic import BaseModel, ValidationError

from models.errors import (
    ContextFull,
    EngineClosed,
    ServerBroken,
    ServerBusy,
    ServerError,
    ServerLost,
    ServerRefused,
    StructuredOutputError,
)
from models.protocols import Answer as Made
from models.protocols import Entry, Finished, FrameRole, KVState, ModelInfo, Piece, ReadProgress, SamplingParams
from models.servers.answer import Answer, Hear
from models.servers.client import ServerClient
from models.servers.dialect import Dialect, Question
from models.servers.outlet import Outlet
from models.servers.pseudo_tokens import CLOSE, EDGES, flat, frame_of, ids_of, messages_of, shared, text_of
from models.servers.refusals import context_full
from models.servers.turns import Turns, ended
from models.servers.written_object import FirstObject
from models.template import Message

PATH = "/chat/completions"
CHAT = ("X-Clew-Chat", "X-Session-Id")  # the second is what vLLM's router goes by
PATIENCE_S = 10.0  # that a server may want to be left alone before it is told to the person instead
TOKEN_BYTES, SPARE_BYTES = 8, 4096  # more than so many a token, and some, is a reply without an end
WORDY = 2  # answers without an object after which none is asked for any more
REPLIES = 16  # by which the pace of reading is known


# How control tokens of today's models are written. A server takes messages, and may take such words in them for one.
CONTROL = re.compile(
    r"<\|[^<>|\n]{1,60}\|?>|<[\w/.-]{1,60}\|>|\[\|[^\[\]|\n]{1,60}\|\]|\]~!?[a-z]{0,12}[\[\]]|\[e~\["
    r"|<｜[^<>｜\n]{1,60}｜>|<seed:\w{1,30}>|<end_of_utterance>|<[se]op>|<\|?/?(?:s|bos|eos|pad|unk|mask|sep|cls|think|tool_call|tool_response)\|?>"
    r"|<(?:start|end)_of_(?:turn|image|text)>|<(?:unused|reserved_|extra_id_)\w{0,40}>|<<?/?SYS>>?"
    r"|\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|TOOL_CONTENT|ARGS|THINK)\]",
    re.IGNORECASE,
)
JOINER = "\N{WORD JOINER}"  # which nobody sees


def inert(text: str) -> str:
    """A text in which nothing is written as a control token is."""
    return CONTROL.sub(lambda found: f"{found[0][0]}{JOINER}{found[0][1:]}", text)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prompt, what is asked by it, and which chat it is of."""

    prompt: Sequence[int]
    question: Question
    chat: str


class ChatServerGenerator:
    """One model of one server; of the event loop that asked first."""

    def __init__(
        self,
        client: ServerClient,
        *,
        model: str,
        name: str,
        context: int,
        size: int = 0,
        others: Collection[str] = (),
    ) -> None:
        """`model` is its name at the server, `name` the one people see; `context` in tokens, `size` in bytes.

        `others` are the names of the models that the server has besides.
        """
        self._client = client
        self._model = model
        away = "" if client.address.local else client.address.host
        self._info = ModelInfo(name, Path(name), "openai", size, context, "chat", away)
        self._others = frozenset(others)
        self._wordy = 0  # answers in a row that were words where an object was asked for
        self._dialect = Dialect(model)
        self._turns = Turns()
        self._replies: tuple[asyncio.Task[Answer], ...] = ()  # replaced, never changed: `stop` reads it anywhere
        self._paces: deque[float] = deque(maxlen=REPLIES)
        self._sent = b""
        self._closed = False

    @property
    def info(self) -> ModelInfo:
        return self._info

    def tokenize(self, text: str) -> list[int]:
        return ids_of(text)

    def detokenize(self, tokens: Sequence[int]) -> str:
        return text_of(tokens)

    def frame(self, role: FrameRole, text: str, *, first: bool = False) -> list[int]:
        return frame_of(role, text)

    def reply_open(self) -> list[int]:
        return [EDGES["assistant"]]

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
        """As the Protocol has it. No server tells how far it has read: `progress` is never called.

        Raises ServerError, ContextFull, StructuredOutputError; what came before stays with the caller.
        """
        self._check(prompt)
        start = perf_counter()
        first_ms: float | None = None
        outlet, prompt = Outlet(), list(prompt)
        with self._turns.foreground():
            task = asyncio.create_task(self._reply(prompt, params, schema, outlet))
            self._replies = (*self._replies, task)
            task.add_done_callback(lambda _: outlet.end())
            try:
                while (item := await outlet.items.get()) is not None:
                    if item.text and first_ms is None:
                        first_ms = (perf_counter() - start) * 1000
                    yield item
                if task.cancelled() and self._closed:
                    raise EngineClosed
                if not task.cancelled() and isinstance(error := task.exception(), ServerError) and outlet.said:
                    error.evaluated = len(prompt)  # as far as is known
                answer = None if task.cancelled() else task.result()
                yield _finished(answer, len(prompt), len(outlet.said), first_ms, (perf_counter() - start) * 1000)
            finally:
                self._replies = tuple(each for each in self._replies if each is not task)
                await ended(task)
                if outlet.said:
                    self._sent = flat([*prompt, *outlet.said])

    def stop(self) -> None:
        for task in self._replies:
            with suppress(RuntimeError):  # its loop is closed, and nothing runs there any more
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def prefill(self, prompt: Sequence[int]) -> bool:
        """Whether the prompt fits. There is nothing to do: what a server reads it keeps for the next request that
        begins alike, and it reads nothing without being asked for a reply, which somebody may have to pay for."""
        self._check_open()
        return self._fits(prompt)

    async def structured(self, prompt: Sequence[int], schema: type[Made], *, max_tokens: int = 512) -> Made:
        """As the Protocol has it; an object that is not valid is asked for once more. Raises ServerError, too."""
        self._check(prompt)
        return await self._turns.background(lambda: self._object(list(prompt), schema, max_tokens))

    @property
    def state_key(self) -> str:
        named = f"{self._client.address.url}|{self._model}"
        return blake2b(named.encode("utf-8", "replace"), digest_size=16).hexdigest()

    @property
    def reading_s(self) -> float | None:
        return min(self._paces, default=None)

    def warm(self, prompt: Sequence[int]) -> int:
        """What `prompt` shares with the last one and its reply: a guess at what the server still has."""
        return shared(self._sent, prompt)

    def keeps(self, tokens: Sequence[int], prompt: Sequence[int], entry: Entry) -> bool:
        """True: what a server still has is its own affair."""
        return True

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        """Nothing: a server gives no state away."""
        return None

    async def put_state(self, state: KVState) -> bool:
        """False: nor does it take one."""
        return False

    async def forget(self) -> None:
        """Nothing lies on a disk that can be reached from here."""

    async def close(self) -> None:
        """End what runs, and all connections; whoever still waits gets EngineClosed. Idempotent."""
        if self._closed:
            return
        self._closed = True
        for task in self._replies:
            await ended(task)
        await self._turns.close()
        await self._client.close()

    def _check_open(self) -> None:
        if self._closed:
            raise EngineClosed

    def _check(self, prompt: Sequence[int]) -> None:
        self._check_open()
        if not self._fits(prompt):
            raise ContextFull(len(prompt), self._info.context)

    def _fits(self, prompt: Sequence[int]) -> bool:
        return 0 < len(prompt) < self._info.context

    async def _reply(
        self, prompt: Sequence[int], params: SamplingParams, schema: type[BaseModel] | None, outlet: Outlet
    ) -> Answer:
        """The foreground's reply, into `outlet`; with `schema` only its object."""
        if schema is None:
            return await self._answer(self._asked(prompt, params), outlet.say)
        complaint = ""
        while True:
            found = FirstObject()

            def hear(text: str, thinking: bool, found: FirstObject = found) -> None:
                outlet.say(found.push(text), thinking)

            answer = await self._answer(self._asked(prompt, params, schema, complaint), hear, found)
            if found.whole or (found.begun and answer.reason == "length"):
                return answer
            if found.begun or complaint:
                raise StructuredOutputError(f"it is no whole {schema.__name__}")
            complaint = "there was no JSON object in it"

    async def _object(self, prompt: Sequence[int], schema: type[Made], max_tokens: int) -> Made:
        """An object, asked for twice at most. Raises StructuredOutputError."""
        params, complaint = SamplingParams(temperature=0, max_tokens=max_tokens), ""
        while True:
            found, parts = FirstObject(), list[str]()

            def hear(text: str, _: bool, found: FirstObject = found, parts: list[str] = parts) -> None:
                parts.append(found.push(text))

            answer = await self._answer(self._asked(prompt, params, schema, complaint), hear, found)
            text = "".join(parts)
            try:
                return schema.model_validate_json(text)
            except ValidationError as error:
                if complaint:
                    late = not found.whole and answer.reason == "length"
                    why = f"it does not fit the schema ({error.error_count()} errors)"
                    raise StructuredOutputError("it did not end in time" if late else why, text) from error
                complaint = "; ".join(_told(each["loc"], each["msg"]) for each in error.errors()[:3])

    def _asked(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        schema: type[BaseModel] | None = None,
        complaint: str = "",
    ) -> _Asked:
        """`params` with no more tokens than there is room for behind the prompt."""
        most = min(params.max_tokens, self._info.context - len(prompt))
        allowed = SamplingParams(temperature=params.temperature, top_p=params.top_p, seed=params.seed, max_tokens=most)
        messages = [(role, inert(text)) for role, text in messages_of(prompt)]
        return _Asked(prompt, Question(messages, allowed, schema, complaint), _chat_of(messages))

    async def _answer(self, asked: _Asked, hear: Hear, found: FirstObject | None = None) -> Answer:
        """One answer; asked for again where that may help, and nothing of it was heard."""
        if found is not None and self._wordy >= WORDY:
            raise StructuredOutputError("this server makes no objects")
        waited = lost = False
        while True:
            most = asked.question.params.max_tokens * TOKEN_BYTES + SPARE_BYTES
            answer = Answer(self._client.address.name, self._model, most, self._others)
            body = self._dialect.body(asked.question)
            try:
                async with aclosing(self._client.stream(PATH, body, headers=dict.fromkeys(CHAT, asked.chat))) as events:
                    await answer.read(events, hear, found)
            except ServerBusy as error:
                if answer.begun or waited or error.after_s is None or error.after_s > PATIENCE_S:
                    raise
                waited = True
                await asyncio.sleep(error.after_s)  # `stop` ends it, as it ends the request
            except ServerLost:
                if answer.begun or lost:
                    raise
                lost = True
            except (ServerRefused, ServerBroken) as error:
                if full := context_full(error, tokens=len(asked.prompt), context=self._info.context):
                    if full.tokens > full.context:  # it told both; the next prompt keeps to what it has
                        self._info = replace(self._info, context=min(self._info.context, full.context))
                    raise full from error
                if answer.begun or not self._dialect.learn(error, asked.question):
                    raise
            else:
                self._learn_pace(answer, len(asked.prompt))
                if found is not None:
                    self._wordy = 0 if found.begun else self._wordy + 1
                return answer

    def _learn_pace(self, answer: Answer, length: int) -> None:
        evaluated = _evaluated(answer, length)
        if answer.first_s is not None and evaluated:
            self._paces.append(answer.first_s / evaluated)


def _evaluated(answer: Answer, length: int) -> int:
    """How many tokens of a prompt of `length` ids were evaluated, as far as it was told."""
    return max(0, (answer.prompt_tokens or length) - (answer.cached_tokens or 0))


def _finished(answer: Answer | None, length: int, said: int, first_ms: float | None, total_ms: float) -> Finished:
    """The end of a reply of so many ids; None is one that was stopped."""
    if answer is None:
        return Finished("stopped", length, length, said, first_ms, total_ms)
    prompt, evaluated = answer.prompt_tokens or length, _evaluated(answer, length)
    return Finished(answer.reason or "end", prompt, evaluated, answer.completion_tokens or said, first_ms, total_ms)


def _chat_of(messages: Sequence[Message]) -> str:
    """What names a chat from its first exchange on, with no word of it."""
    digest = blake2b(digest_size=12)
    for role, text in messages[:2]:
        digest.update(f"{role} {len(text)} {text}".encode("utf-8", "replace"))
    return digest.hexdigest()


def _told(place: Sequence[int | str], what: str) -> str:
    return f"{'.'.join(map(str, place)) or 'it'}: {what}"
