"""One message answered: look back, let the model look further, put it all before the model, keep what it says.

The order is the contract of `agent/events.py`: RecallDone, then each tool's call and answer, then the reply. Each of
them is durable before it is told, so that stopping anywhere leaves a thread that can be gone on with.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

from graph.events import Recalled, Role, Sampling, StopReason, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from models.protocols import Generator, SamplingParams

from . import prompt
from .approvals import Approvals
from .changes import ProposedChanges
from .events import Failed, RecallDone, ReplyEnded, ReplyStarted
from .model_host import ModelHost
from .packs import Fresh, Pack, pack_of
from .prompt import Limits, PromptLog
from .prompts import Prompts
from .recall import Bounds, Recaller, RecallRequest, Recollection
from .relevance import open_quotes
from .reply import PartialReply, stream_reply
from .settings import Settings
from .steps import Accepted, AnswerContext, CancelToken, Outbox, Record, Steps, kept_out
from .tools import MOST_LISTED, Call, RecentConversations, Toolbox

ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Done:
    """A reply that was kept, and the model that gave it."""

    generator: Generator
    text: str


class Answerer:
    """Answers one message at a time; `stop` ends what runs, from the event loop."""

    def __init__(
        self,
        memory: Memory,
        models: ModelHost,
        prompts: Prompts,
        recaller: Recaller,
        toolbox: Toolbox,
        changes: ProposedChanges,
        approvals: Approvals,
        settings: Settings,
        *,
        client: str,
        record: Record,
    ) -> None:
        self.settings = settings
        self._memory = memory
        self._models = models
        self._prompts = prompts
        self._recaller = recaller
        self._client = client
        self._record = record
        self._generator: Generator | None = None
        self._cancel_token = CancelToken()
        self._approvals = approvals
        self._steps = Steps(
            memory, prompts, toolbox, self._cancel_token, changes, approvals, client=client, record=record
        )

    def begin(self) -> None:
        """A message is taken up: what stopped the one before does not count."""
        self._cancel_token.clear()

    def end(self) -> None:
        """Nothing is answered any more."""
        self._generator = None

    def stop(self) -> None:
        """End what runs: loading, looking back, a tool, a question for leave, or the reply, whose text is kept."""
        self._cancel_token.ask()
        self._approvals.refuse_all()
        if self._generator is not None:
            self._generator.stop()

    def limits(self, generator: Generator) -> Limits:
        """The prompt's sizes for a model whose context may be smaller than the settings ask for."""
        context = generator.info.context
        shrink = min(1.0, context / self.settings.context)
        return Limits(context, int(self.settings.high_water * shrink), int(self.settings.low_water * shrink))

    async def answer(self, taken: Accepted, out: Outbox) -> Done | None:
        """Answer a message; None if nothing came of it, which is told."""
        session = await asyncio.to_thread(self._memory.session, taken.session)
        loading = asyncio.ensure_future(self._models.get(session.model or self.settings.model))
        loading.add_done_callback(lambda done: done.cancelled() or done.exception())  # told by a notice too
        generator = await self._cancel_token.unless(asyncio.shield(loading))  # a load goes on for whoever asks next
        if generator is not None:
            at = AnswerContext(taken, session, generator, self.limits(generator), out)
            ready = await self._put_before(at)
            if ready is not None and not self._cancel_token.asked:
                return await self._reply(at, *ready)
        out(Failed(f"Stopped before the model was asked. {taken.is_safe}", taken.turn))
        return None

    async def _put_before(self, at: AnswerContext) -> tuple[str, PromptLog, Pack] | None:
        """Everything that the model is given: the turn a reply follows, the prompt, and its context pack."""
        taken = at.taken
        prepared = await self._prompts.prepare(taken.session, at.generator, at.limits)
        message = RecallRequest(taken.text, taken.session, prepared.held | {taken.turn}, prepared.first_turn)
        found = await self._look(message, at, brief=prepared.doubted)
        if found is None:
            return None
        fresh = Fresh(taken.turn, (*prepared.new_pins, *pack_of(found.hits)))
        log = await self._prompts.before_reply(taken.session, at.generator, at.limits, fresh)
        there = log.held
        hits = tuple(hit for hit in found.hits if hit.id in there)
        quotes = open_quotes(hits, taken.text) if prepared.doubted else ()
        at.out(RecallDone(taken.session, taken.turn, found.route, hits, found.took_ms, found.note, quotes))
        self._generator = at.generator
        parent, log = await self._steps.take(
            at,
            self.settings.tools,
            fresh,
            log,
            themes=found.route == "themes",
            known=_nothing_found(found, self.settings.recall_limit),
        )
        return parent, log, tuple(item for item in fresh.pack if item.id in there)

    async def _look(self, message: RecallRequest, at: AnswerContext, *, brief: bool) -> Recollection | None:
        if not self.settings.recall:
            return Recollection("none")
        tokens = min(self.settings.recall_tokens, at.limits.recalled)
        bounds = Bounds(self.settings.recall_limit, tokens, brief=brief)
        return await self._cancel_token.unless(self._recaller.look(message, at.generator, bounds))

    async def _reply(self, at: AnswerContext, parent: str, log: PromptLog, pack: Pack) -> Done | None:
        taken, generator = at.taken, at.generator
        reply, reply_turn = PartialReply(), new_id()
        sampling = await self._sampling(at)
        asked = prompt.asking(log, generator)
        left_out = log.left_out.get(taken.turn, 0)
        at.out(ReplyStarted(taken.session, taken.turn, reply_turn, generator.info.name, len(asked), left_out))

        async def save(text: str) -> None:
            await asyncio.to_thread(
                self._memory.stream,
                reply_turn,
                session=taken.session,
                parent=parent,
                model=generator.info.name,
                text=text,
                recalled=pack,
            )

        stream = stream_reply(
            reply,
            generator=generator,
            prompt=asked,
            params=SamplingParams(**sampling.model_dump()),
            session=taken.session,
            reply_turn=reply_turn,
            save=save,
            progress=at.read,
        )
        async with aclosing(stream):
            async for event in stream:
                at.out(event)
        if (
            taken.regeneration is not None and not reply.text
        ):  # an empty reply takes no place beside one that says something
            at.out(Failed(f"{reply.error or 'Stopped before the first word.'} {taken.is_safe}", taken.turn))
            return None
        said = self._reply_event(at, parent, reply_turn, reply, sampling, log, pack)
        await asyncio.to_thread(self._record, said, *kept_out(taken, reply_turn), ends_stream=reply_turn)
        prompt.close_reply(log, generator, turn=reply_turn, tokens=reply.tokens)
        at.out(_ended(at, reply_turn, reply, log))
        return Done(generator, reply.text)

    async def _sampling(self, at: AnswerContext) -> Sampling:
        """How tokens are drawn; where the seed is fixed each other reply has another, or it would say the same."""
        own = at.session.sampling
        sampling = Sampling.model_validate(own) if own else self.settings.sampling
        if sampling.seed is None:
            return sampling
        before = await asyncio.to_thread(self._memory.reply_count, at.taken.turn)
        return sampling.model_copy(update={"seed": (sampling.seed + before) % (1 << 32)})

    def _reply_event(
        self,
        at: AnswerContext,
        parent: str,
        turn: str,
        reply: PartialReply,
        sampling: Sampling,
        log: PromptLog,
        pack: tuple[Recalled, ...],
    ) -> TurnSaid:
        return TurnSaid(
            turn=turn,
            session=at.taken.session,
            parent=parent,
            role=Role.ASSISTANT,
            speaker=ASSISTANT,
            client=self._client,
            stop_reason=reply.stop_reason or StopReason.FAILED,
            error=reply.error,
            model=at.generator.info.name,
            sampling=sampling,
            prompt_hash=log.hash(),
            prompt_tokens=reply.prompt_tokens,
            evaluated_tokens=reply.evaluated_tokens,
            completion_tokens=len(reply.tokens),
            first_token_ms=reply.first_token_ms,
            total_ms=reply.total_ms,
            recalled=pack,
            text=reply.text,
        )


def _nothing_found(found: Recollection, most: int) -> tuple[Call, str] | None:
    """That nothing was said then, as the tool would tell it: in the prompt, on the screen, and after a restart."""
    if found.nothing is None:
        return None
    return RecentConversations(
        tool="recent_conversations", limit=min(most, MOST_LISTED), since=found.nothing.since
    ), found.nothing.words


def _ended(at: AnswerContext, turn: str, reply: PartialReply, log: PromptLog) -> ReplyEnded:
    reason = reply.stop_reason or StopReason.FAILED
    return ReplyEnded(
        session=at.taken.session,
        turn=at.taken.turn,
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
        context_total=at.limits.context,
    )
