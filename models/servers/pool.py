"""Several servers with one model as one Generator: a chat stays where its prompt is evaluated, and moves when it must.

Where a chat begins is decided by rendezvous hashing of its first words, so that many chats spread over all servers and
each finds the same one again, also after a restart. A server that does not answer, or has too much to do, is left alone
for a while, and the chat goes to the next in its order.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from models.errors import EngineClosed, ServerBroken, ServerBusy, ServerError, ServerLost, ServerUnreachable
from models.protocols import Answer, Entry, Finished, FrameRole, Generator, KVState, ModelInfo, Piece, ReadProgress
from models.protocols import SamplingParams as Params
from models.servers.llama_generator import LlamaServerGenerator

LEFT_ALONE_S, FULL_S = 20.0, 2.0
REMEMBERED = 256  # chats
MOVES_FOR = (ServerUnreachable, ServerLost, ServerBusy, ServerBroken)
Result = TypeVar("Result")


class Carrier(Protocol):
    """Takes what one server has evaluated to another, where they share a folder."""

    async def keep(self, source: Generator, chat: str) -> None:
        """Have a server write down what it has of a chat."""
        ...

    async def bring(self, target: Generator, chat: str) -> None:
        """Have another read it."""
        ...

    async def clear(self, servers: Sequence[Generator]) -> None:
        """Have nothing written down any more."""
        ...


@dataclass(slots=True)
class Member:
    """One server of a pool; `generator` is None until it is connected, `down_until` of time.monotonic()."""

    host: str
    connect: Callable[[], Generator]
    generator: Generator | None = None
    down_until: float = 0.0
    why: str = ""


class PoolGenerator:
    """One model on several servers. Made by `pool_of`; usable from one event loop."""

    def __init__(self, members: Sequence[Member], *, carrier: Carrier | None = None) -> None:
        """One of them at least is connected; all have the same vocabulary."""
        self.members = tuple(members)
        self._carrier = carrier
        self._current = next(each for each in self.members if each.generator is not None)
        self._homes: OrderedDict[str, Member] = OrderedDict()  # where each chat was answered last
        self._kept: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def _now(self) -> Generator:
        assert self._current.generator is not None
        return self._current.generator

    @property
    def info(self) -> ModelInfo:
        return self._now.info

    def tokenize(self, text: str) -> list[int]:
        return self._by_any(lambda each: each.tokenize(text))

    def detokenize(self, tokens: Sequence[int]) -> str:
        return self._by_any(lambda each: each.detokenize(tokens))

    def frame(self, role: FrameRole, text: str, *, first: bool = False) -> list[int]:
        return self._by_any(lambda each: each.frame(role, text, first=first))

    def reply_open(self) -> list[int]:
        return self._now.reply_open()

    def reply_close(self) -> list[int]:
        return self._now.reply_close()

    async def generate(
        self,
        prompt: Sequence[int],
        params: Params,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        chat, failed = self._chat(prompt), None
        for member in self._order(chat):
            generator = await self._connected(member)
            if generator is None or await self._full(member, generator):
                continue
            await self._moved(member, generator, chat)
            begun = False
            try:
                async with aclosing(generator.generate(prompt, params, schema=schema, progress=progress)) as steps:
                    async for step in steps:
                        begun = begun or (isinstance(step, Piece) and bool(step.text))
                        if isinstance(step, Finished):
                            self._keep(generator, chat)
                        yield step
                    return
            except MOVES_FOR as error:
                self._leave_alone(member, error)
                if begun:
                    raise
                failed = error
        raise failed or self._nobody()

    def stop(self) -> None:
        for member in self.members:
            if member.generator is not None:
                member.generator.stop()

    async def prefill(self, prompt: Sequence[int]) -> bool:
        return await self._by_its_own(prompt, lambda each: each.prefill(prompt))

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        return await self._by_its_own(prompt, lambda each: each.structured(prompt, schema, max_tokens=max_tokens))

    @property
    def state_key(self) -> str:
        hosts = " ".join(sorted(each.host for each in self.members))
        return blake2b(f"{self.info.name} {hosts}".encode(), digest_size=16).hexdigest()

    @property
    def reading_s(self) -> float | None:
        return self._now.reading_s

    def warm(self, prompt: Sequence[int]) -> int:
        home = self._homes.get(self._chat(prompt), self._current)
        return home.generator.warm(prompt) if home.generator is not None else 0

    def keeps(self, tokens: Sequence[int], prompt: Sequence[int], entry: Entry) -> bool:
        return True  # no copy could be taken of it

    async def take_state(self, tokens: Sequence[int]) -> KVState | None:
        return None

    async def put_state(self, state: KVState) -> bool:
        return False

    async def forget(self) -> None:
        if self._carrier is not None:
            await asyncio.gather(*self._kept, return_exceptions=True)
            await self._carrier.clear([each.generator for each in self.members if each.generator is not None])

    async def close(self) -> None:
        """End what runs at every server; whoever still waits gets EngineClosed. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await self.forget()
        for member in self.members:
            if member.generator is not None:
                await member.generator.close()

    def _chat(self, prompt: Sequence[int]) -> str:
        """What names a chat: all up to where its first reply begins, which stays as it is while the prompt grows."""
        opening = self.reply_open()
        width = len(opening)
        ends = (at for at in range(len(prompt) - width + 1) if list(prompt[at : at + width]) == opening)
        first = prompt[: next(ends, len(prompt))]
        return blake2b(",".join(map(str, first)).encode(), digest_size=12).hexdigest()

    def _order(self, chat: str) -> list[Member]:
        """Those that may be asked, in the order in which a chat would go to them; those left alone come last."""
        now = time.monotonic()

        def rank(member: Member) -> tuple[bool, bool, bytes]:
            weight = blake2b(f"{chat} {member.host}".encode(), digest_size=8).digest()
            return member.down_until > now, self._homes.get(chat) is not member, weight

        return sorted(self.members, key=rank)

    async def _connected(self, member: Member) -> Generator | None:
        """A member's generator, connected anew if need be; None where that cannot be."""
        if self._closed:
            raise EngineClosed
        if member.generator is None:
            try:
                member.generator = await asyncio.to_thread(member.connect)
            except ServerError as error:
                self._leave_alone(member, error)
        return member.generator

    async def _full(self, member: Member, generator: Generator) -> bool:
        """Whether a server has no slot left, and another may have one."""
        others = any(each is not member and each.down_until <= time.monotonic() for each in self.members)
        if not others or not isinstance(generator, LlamaServerGenerator):
            return False
        try:
            full = await generator.slots.full()
        except MOVES_FOR as error:
            self._leave_alone(member, error)
            return True
        if full:
            member.down_until, member.why = time.monotonic() + FULL_S, "all its slots are in use"
        return full

    async def _moved(self, member: Member, generator: Generator, chat: str) -> None:
        """A chat is answered by a member now: it gets what another has written down of it."""
        before = self._homes.get(chat)
        if self._carrier is not None and before is not None and before is not member:
            await self._carrier.bring(generator, chat)
        self._homes[chat] = self._current = member
        self._homes.move_to_end(chat)
        if len(self._homes) > REMEMBERED:
            self._homes.popitem(last=False)

    def _keep(self, generator: Generator, chat: str) -> None:
        if self._carrier is not None and not self._closed:
            task = asyncio.create_task(self._carrier.keep(generator, chat))
            self._kept.add(task)
            task.add_done_callback(self._kept.discard)

    async def _by_its_own(
        self, prompt: Sequence[int], ask: Callable[[Generator], Coroutine[Any, Any, Result]]
    ) -> Result:
        """What the server of a chat makes of it, or the next one."""
        failed: ServerError | None = None
        for member in self._order(self._chat(prompt)):
            if (generator := await self._connected(member)) is None:
                continue
            try:
                return await ask(generator)
            except MOVES_FOR as error:
                self._leave_alone(member, error)
                failed = error
        raise failed or self._nobody()

    def _by_any(self, ask: Callable[[Generator], Result]) -> Result:
        """What the server in use says, or another: all have one vocabulary. Blocking. Raises ServerError."""
        failed: ServerError | None = None
        for member in self._there():
            assert member.generator is not None
            try:
                return ask(member.generator)
            except MOVES_FOR as error:
                self._leave_alone(member, error)
                failed = error
        raise failed or self._nobody()

    def _there(self) -> Iterator[Member]:
        now = time.monotonic()
        connected = [each for each in self.members if each.generator is not None]
        yield from sorted(connected, key=lambda each: (each.down_until > now, each is not self._current))

    def _leave_alone(self, member: Member, error: ServerError) -> None:
        wait_s = error.after_s if isinstance(error, ServerBusy) and error.after_s is not None else LEFT_ALONE_S
        member.down_until, member.why = time.monotonic() + wait_s, str(error)

    def _nobody(self) -> ServerError:
        why = next((each.why for each in self.members if each.why), "")
        return ServerUnreachable("pool", f"none of its {len(self.members)} servers answers", why)
