"""Messages taken in and answered: committed first, queued while a reply streams, answered one at a time in their order.

The work is done by tasks that belong to the conversation and not to who reads the events: a face that goes away loses
nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass

from graph.errors import MemoryFailure
from graph.events import Event, Role, Sampling, SessionStarted, SessionTitled, StopReason, TurnSaid, TurnTaken
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Recorded
from models.errors import ModelError
from models.protocols import Generator, SamplingParams

from . import prompt
from .errors import AgentError
from .events import AgentEvent, Failed, Notice, ReplyEnded, ReplyStarted, TurnAccepted, Warned
from .models import ModelHost
from .prompt import Limits, PromptLog
from .prompts import Prompts
from .reply import Reply, stream_reply
from .settings import Settings
from .text import clean_message
from .title import verbatim

Outbox = Callable[[AgentEvent | None], None]
USER, ASSISTANT = "you", "assistant"


@dataclass(frozen=True, slots=True)
class Accepted:
    """A durable message waiting for its reply; a `queued` one is not on the path yet."""

    session: str
    turn: str
    queued: bool
    first: bool = False  # it is what the session's title is made from


class Conversation:
    """Takes messages and answers them; `answering` is the session whose reply is in the making."""

    def __init__(
        self,
        memory: Memory,
        models: ModelHost,
        prompts: Prompts,
        settings: Settings,
        *,
        client: str,
        notify: Callable[[Notice], None],
        answered: Callable[[str, str | None, Generator], None],
    ) -> None:
        self.answering: str | None = None
        self._memory = memory
        self._models = models
        self._prompts = prompts
        self._settings = settings
        self._client = client
        self._notify = notify
        self._answered = answered
        self._accepting = asyncio.Lock()
        self._floor = asyncio.Lock()  # first come, first served
        self._pending: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._generator: Generator | None = None
        self._stop = asyncio.Event()
        self._closing = False
        self._dropped: set[str] = set()
        self._current: asyncio.Task[None] | None = None  # the one that has the floor

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        self._settings = settings

    def limits(self, generator: Generator) -> Limits:
        """The prompt's sizes for a model whose context may be smaller than the settings ask for."""
        context = generator.info.context
        shrink = min(1.0, context / self._settings.context)
        return Limits(context, int(self._settings.high_water * shrink), int(self._settings.low_water * shrink))

    def send(self, session: str | None, text: str, *, project: str | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Take a message and answer it; None begins a session. The first event is TurnAccepted or Failed."""
        return self._run(lambda out: self._send(session, text, project, out))

    def retry(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last message of a session if it has no reply."""
        return self._run(lambda out: self._retry(session, out))

    def stop(self) -> bool:
        """Stop the reply in the making, keeping what came; False if there is none. Queued messages go on."""
        if self.answering is None:
            return False
        self._stop.set()
        if self._generator is not None:
            self._generator.stop()
        return True

    async def drop(self, session: str) -> None:
        """End all that is being said in a session: its queued messages are not taken up, its reply is stopped."""
        self._dropped.add(session)
        if self.answering == session and self._current is not None:
            self.stop()
            await asyncio.wait({self._current})

    async def close(self) -> None:
        """Stop the reply, keep its text, and leave queued messages for the next start."""
        self._closing = True
        self.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, work: Callable[[Outbox], Coroutine[None, None, None]]) -> AsyncGenerator[AgentEvent, None]:
        events: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        task = asyncio.create_task(self._guarded(work, events.put_nowait))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        while (event := await events.get()) is not None:
            yield event
        await task

    async def _guarded(self, work: Callable[[Outbox], Coroutine[None, None, None]], out: Outbox) -> None:
        try:
            await work(out)
        except (MemoryFailure, ModelError, AgentError) as error:
            out(Failed(str(error), error=error))
        finally:
            out(None)

    async def _send(self, session: str | None, raw: str, project: str | None, out: Outbox) -> None:
        text = clean_message(raw)
        async with self._accepting:
            waits = self._floor.locked()
            queued = session is not None and self._pending[session] > 0
            taken = await asyncio.to_thread(self._accept, session, text, project, queued)
            self._pending[taken.session] += 1
        out(TurnAccepted(taken.session, taken.turn, text, queued=waits, new_session=session is None))
        try:
            await self._answer_in_turn(taken, out)
        finally:
            self._pending[taken.session] -= 1

    def _accept(self, session: str | None, text: str, project: str | None, queued: bool) -> Accepted:
        """Commit the message, and its session if it begins one, in one transaction."""
        events: list[Event] = []
        parent, untitled = None, True
        if session is None:
            session = new_id()
            events.append(SessionStarted(session=session, project=project, client=self._client))
        else:
            about = self._memory.session(session)
            if about.deleted:
                raise AgentError("This chat was deleted, so nothing was sent. Begin a new one with /new.")
            parent, untitled = None if queued else about.head, about.name is None
        turn = TurnSaid(
            turn=new_id(),
            session=session,
            parent=parent,
            role=Role.USER,
            speaker=USER,
            client=self._client,
            queued=queued,
            text=text,
        )
        events.append(turn)
        if untitled:
            events.append(SessionTitled(session=session, sources=(turn.turn,), text=verbatim(text)))
        self._record(*events)
        return Accepted(session, turn.turn, queued, first=untitled)

    async def _retry(self, session: str, out: Outbox) -> None:
        path = await asyncio.to_thread(self._memory.thread, session, limit=2)
        if not path or path[-1].role != Role.USER or self._pending[session]:
            out(Failed("No message here waits for an answer. Nothing was changed."))
            return
        last = path[-1]
        self._pending[session] += 1
        out(TurnAccepted(session, last.id, last.text or "", queued=self._floor.locked(), new_session=False))
        try:
            await self._answer_in_turn(Accepted(session, last.id, queued=False, first=len(path) == 1), out)
        finally:
            self._pending[session] -= 1

    async def _answer_in_turn(self, taken: Accepted, out: Outbox) -> None:
        async with self._floor:
            if self._closing:
                return
            if taken.session in self._dropped:
                out(Failed("This chat was deleted before the message was answered.", taken.turn))
                return
            self.answering = taken.session
            self._current = asyncio.current_task()
            self._stop.clear()
            try:
                if taken.queued:
                    await asyncio.to_thread(self._take_up, taken)
                await self._answer(taken, out)
            except (MemoryFailure, ModelError) as error:
                out(Failed(f"{error} Your message is kept: /retry answers it.", taken.turn, error))
            finally:
                self.answering = None
                self._generator = None

    def _take_up(self, taken: Accepted) -> None:
        head = self._memory.session(taken.session).head
        self._record(TurnTaken(turn=taken.turn, session=taken.session, parent=head))

    async def _answer(self, taken: Accepted, out: Outbox) -> None:
        session = await asyncio.to_thread(self._memory.session, taken.session)
        generator = await self._model(session.model or self._settings.model)
        if generator is None or self._stop.is_set():
            out(Failed("Stopped before the model was asked. Your message is kept: /retry answers it.", taken.turn))
            return
        limits = self.limits(generator)
        await self._prompts.prepare(taken.session, generator, limits)
        log = await self._prompts.before_reply(taken.session, generator, limits)
        reply, reply_turn = Reply(), new_id()
        sampling = Sampling.model_validate(session.sampling) if session.sampling else self._settings.sampling
        asked = prompt.asking(log, generator)
        left_out = log.left_out.get(taken.turn, 0)
        out(ReplyStarted(taken.session, taken.turn, reply_turn, generator.info.name, len(asked), left_out))

        async def save(text: str) -> None:
            await asyncio.to_thread(
                self._memory.stream,
                reply_turn,
                session=taken.session,
                parent=taken.turn,
                model=generator.info.name,
                text=text,
            )

        self._generator = generator
        stream = stream_reply(
            reply,
            generator=generator,
            prompt=asked,
            params=SamplingParams(**sampling.model_dump()),
            session=taken.session,
            reply_turn=reply_turn,
            save=save,
        )
        async with aclosing(stream):
            async for event in stream:
                out(event)
        said = self._reply_event(taken, reply_turn, reply, generator, sampling, log)
        await asyncio.to_thread(self._record, said, ends_stream=reply_turn)
        prompt.close_reply(log, generator, turn=reply_turn, tokens=reply.tokens)
        out(self._ended(taken, reply_turn, reply, log, limits))
        if not self._closing and taken.session not in self._dropped:
            self._prompts.after_reply(taken.session, generator, limits)
            self._answered(taken.session, taken.turn if taken.first and reply.text else None, generator)

    async def _model(self, name: str) -> Generator | None:
        """The model, waiting while it loads; None if the wait was stopped."""
        loading = asyncio.ensure_future(self._models.get(name))
        stopped = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({loading, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if loading.done():
            return loading.result()
        # The load itself goes on for whoever asks next; its failure is told by a notice.
        loading.add_done_callback(lambda done: done.cancelled() or done.exception())
        return None

    def _reply_event(
        self, taken: Accepted, turn: str, reply: Reply, generator: Generator, sampling: Sampling, log: PromptLog
    ) -> TurnSaid:
        return TurnSaid(
            turn=turn,
            session=taken.session,
            parent=taken.turn,
            role=Role.ASSISTANT,
            speaker=ASSISTANT,
            client=self._client,
            stop_reason=reply.stop_reason or StopReason.FAILED,
            error=reply.error,
            model=generator.info.name,
            sampling=sampling,
            prompt_hash=log.hash(),
            prompt_tokens=reply.prompt_tokens,
            evaluated_tokens=reply.evaluated_tokens,
            completion_tokens=len(reply.tokens),
            first_token_ms=reply.first_token_ms,
            total_ms=reply.total_ms,
            text=reply.text,
        )

    def _ended(self, taken: Accepted, turn: str, reply: Reply, log: PromptLog, limits: Limits) -> ReplyEnded:
        reason = reply.stop_reason or StopReason.FAILED
        return ReplyEnded(
            session=taken.session,
            turn=taken.turn,
            reply_turn=turn,
            text=reply.text,
            truncated=reason is not StopReason.END,
            stop_reason=reason.value,
            error=reply.error,
            prompt_tokens=reply.prompt_tokens,
            evaluated_tokens=reply.evaluated_tokens,
            completion_tokens=len(reply.tokens),
            first_token_ms=reply.first_token_ms,
            total_ms=reply.total_ms,
            context_used=len(log.tokens),
            context_total=limits.context,
        )

    def _record(self, *events: Event, ends_stream: str | None = None) -> list[Recorded]:
        followed = self._memory.graph_ready  # while it is being opened, it is behind by right
        recorded = self._memory.append(*events, ends_stream=ends_stream)
        if followed and recorded[-1].graph_behind:
            self._notify(Warned("The graph is behind the log and catches up by itself. Nothing is lost."))
        return recorded
