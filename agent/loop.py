"""The loop: one message from its acceptance to what is learned from its answer, one at a time, in their order.

`Conversation._message` is the walk, to be read from top to bottom: accept, wait, recall, prompt, tools, stream, keep,
reflect. Each step is durable before it is told. The walk is done by a task of the conversation's own, not of who reads
the events: a face that goes away loses nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

from agent.acceptance import BUSY
from agent.background import Foreground
from agent.pending import Queue
from agent.references.address import Address
from agent.references.quotes import ReferenceQuotes, count_read, is_read
from agent.steps import Approvals
from agent.story.play import Play
from agent.story.spans import marker_of
from agent.story.voice import Voice
from agent.tools import ProposedChanges
from graph.errors import MemoryFailure
from graph.events import (
    FROM_MEMORY,
    Event,
    HeadMoved,
    Recalled,
    Role,
    Sampling,
    StopReason,
    TurnHidden,
    TurnTaken,
    Undone,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import ASSISTANT, Recorded, Reference
from models.errors import ModelError, ServerError
from models.protocols import Generator, SamplingParams

from . import prompt
from .acceptance import NONE_WAITS, RETRIED, Acceptance, NewMessage, PendingAppend, last_message
from .errors import AgentError
from .events import (
    AgentEvent,
    Failed,
    Notice,
    QueueHeld,
    RecallDone,
    ReplyStarted,
    SessionsChanged,
    TokensArrived,
    TurnAccepted,
    Warned,
)
from .model_host import ModelHost
from .outlets import Outlet, joined
from .packs import Fresh, Pack, pack_of
from .pending import Accepted, CancelToken, PendingAnswer, Tell
from .prompt import Limits
from .prompts import Prepared, Prompts
from .question import question
from .recall import Bounds, Recaller, RecallRequest, Recollection
from .recounting import recurring
from .relevance import open_quotes
from .reply import PartialReply, reply_ended, reply_event, stream_reply
from .settings import Settings
from .steps import Steps
from .text import clean_message
from .tools import Toolbox

TOO_LATE = "That message is being answered or was already answered. Nothing was changed. Press Esc to stop a reply."
DROPPED = "This chat was deleted before the message was answered."
LEFT = "Whoever was to answer is not in the story any more."
MOST_REDRAWN = 2
NO_WORDS = "The model answered in no words, three times. /retry asks again; /model chooses another one."
BEHIND = "The graph is behind the log and is catching up. Nothing is lost."
Read = Callable[[], Awaitable[PendingAppend]]  # what somebody said, and what is to be stored of it
Walk = Callable[[Tell], AsyncGenerator[AgentEvent, None]]


# Of a session, its play, who spoke and the reply: who speaks up, if anybody does.
SpeaksUp = Callable[[str, Play, str, str], Awaitable[str | None]]


async def silent(session: str, play: Play, spoke: str, reply: str) -> str | None:
    """Nobody speaks up."""
    return None


class Conversation:
    """Takes messages and answers them; `answering` is the session whose reply is in the making."""

    def __init__(
        self,
        memory: Memory,
        models: ModelHost,
        prompts: Prompts,
        recaller: Recaller,
        toolbox: Toolbox,
        settings: Settings,
        *,
        client: str,
        notify: Callable[[Notice], None],
        foreground: Foreground,
        answered: Callable[[str, str | None, Generator], None],
        speaks_up: SpeaksUp = silent,
        references: ReferenceQuotes | None = None,
        generation_lock: asyncio.Lock | None = None,
    ) -> None:
        """`answered` learns from an exchange: its session, the turn that gives it a title, and the model.

        `speaks_up` says who of a story's cast speaks after a reply that nobody asked them for.

        The lock is first come, first served, and one for all conversations that share a model.
        """
        self.answering: str | None = None
        self.approvals = Approvals(self._record)
        self.generation_lock = generation_lock or asyncio.Lock()
        self._memory = memory
        self._models = models
        self._prompts = prompts
        self._recaller = recaller
        self._settings = settings
        self._client = client
        self._notify = notify
        self._foreground = foreground
        self._answered = answered
        self._speaks_up = speaks_up
        self._references = references
        self._accepting = asyncio.Lock()
        self._reader = Acceptance(memory, prompts.plays)
        self._reader.marker = marker_of(settings.out_of_character)
        self._cancel_token = CancelToken()
        changes = ProposedChanges(memory, prompts, self._record, notify)
        self._steps = Steps(memory, prompts, toolbox, self._cancel_token, changes, self.approvals, record=self._record)
        self._queue = Queue()
        self._pending: Counter[str] = Counter()
        self._newest: dict[str, str] = {}  # the last message of a session, which may wait for its turn on the path
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: dict[str, list[Outlet[AgentEvent]]] = {}
        self._closing = False
        self._dropped: set[str] = set()
        self._current: asyncio.Task[None] | None = None  # the one that holds the lock
        self._generator: Generator | None = None  # what writes the reply

    # What a face asks for

    def send(
        self,
        session: str | None,
        text: str,
        *,
        project: str | None = None,
        client: str | None = None,
        turn: str | None = None,
        whisper: str | None = None,
        references: Sequence[str] = (),
    ) -> AsyncGenerator[AgentEvent, None]:
        """Take a message and answer it; None begins a session. The first event is TurnAccepted or Failed.

        `client` says it where that is not the conversation's own. `turn` is an id that the client has made: a message
        that is there already under it is not taken twice, and its TurnAccepted is all that is told. In a story,
        `whisper` is the member of the cast who alone hears it. `references` are attached with it.
        """
        id = new_id() if turn is None else turn
        new = NewMessage(text, client or self._client, id, whisper)
        return self._begin(lambda tell: self._message(lambda: self._new(session, new, project, references), tell))

    def retry(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last message of a session if it has no reply."""
        return self._begin(lambda tell: self._message(lambda: self._unanswered(session), tell))

    def regenerate(
        self, session: str, turn: str | None = None, *, goes_on: bool = False
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer again the message of a reply (None: the last), beside that; without a word the chat is as it was.

        A reply that was cut off and `goes_on` is gone on with where it ended.
        """
        return self._begin(lambda tell: self._message(lambda: self._answered_before(session, turn, goes_on), tell))

    def speak(self, session: str, member: str) -> AsyncGenerator[AgentEvent, None]:
        """Let a member of a story's cast speak next, whoever was asked."""
        return self._begin(lambda tell: self._message(lambda: self._given_the_word(session, member), tell))

    def edit(
        self, session: str, turn: str, text: str, *, references: Sequence[str] = ()
    ) -> AsyncGenerator[AgentEvent, None]:
        """Say something else in the place of a message of the user's, and answer that."""
        new = NewMessage(text, self._client)
        return self._begin(lambda tell: self._message(lambda: self._edited(session, turn, new, references), tell))

    def watch(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """The events of every message of a session, whoever said it, from the moment of the call until `close`."""
        outlet = Outlet[AgentEvent](joined)
        self._watching.setdefault(session, []).append(outlet)
        return self._watched(session, outlet)

    async def _watched(self, session: str, outlet: Outlet[AgentEvent]) -> AsyncGenerator[AgentEvent, None]:
        try:
            async with aclosing(outlet.events()) as events:
                async for event in events:
                    yield event
        finally:
            self._watching[session].remove(outlet)

    # The walk

    def _begin(self, walk: Walk) -> AsyncGenerator[AgentEvent, None]:
        """Have a task of the conversation's own take a walk; its events."""
        outlet = Outlet[AgentEvent](joined)
        task = asyncio.create_task(self._follow(walk, outlet))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return _told(outlet, task)

    async def _follow(self, walk: Walk, outlet: Outlet[AgentEvent]) -> None:
        """Tell the caller what happens, and whoever watches the session."""
        session = ""

        def tell(event: AgentEvent) -> None:
            nonlocal session
            session = getattr(event, "session", session)
            for each in (outlet, *self._watching.get(session, ())):
                each.put(event)

        try:
            async with aclosing(walk(tell)) as events:
                async for event in events:
                    tell(event)
        except (MemoryFailure, ModelError, AgentError) as error:
            tell(Failed.because(error))
        finally:
            outlet.put(None)

    async def _message(self, read: Read, tell: Tell) -> AsyncGenerator[AgentEvent, None]:
        """One message: made durable, answered when its turn has come, kept, and given to be learned from."""
        async with self._accepting:
            pending = await read()
            taken = pending.accepted
            if pending.events:
                followed = self._memory.graph_ready
                self._warn_if_behind(await asyncio.to_thread(self._memory.append, *pending.events), followed)
                self._newest[taken.session] = taken.turn
            if not taken.over:
                self._pending[taken.session] += 1
                self._queue.join(taken, tell if pending.withdrawable else None)
            waits = self.generation_lock.locked()
        yield TurnAccepted(taken.session, taken.turn, taken.text, queued=waits, new_session=taken.begins)
        if taken.unasked:
            self._notify(SessionsChanged(taken.session))
        if taken.over:
            return
        if taken.first or taken.withheld or pending.branches:
            self._notify(SessionsChanged(taken.session))  # it has its first words for a title, or lost some
        try:
            async with self._turn_of(taken) as has_come:
                if has_come:
                    async for event in self._answer(PendingAnswer(taken, tell)):
                        yield event
        finally:
            self._pending[taken.session] -= 1

    @asynccontextmanager
    async def _turn_of(self, taken: Accepted) -> AsyncIterator[bool]:
        """The one model there is, once it is free and the message not on hold; False where that was withdrawn."""
        while self._queue.waits(taken.turn):
            with self._foreground.held():
                async with self.generation_lock:
                    if self._queue.take(taken.turn):
                        yield True
                        return
            await self._queue.released(taken.turn)
        yield False

    async def _answer(self, at: PendingAnswer) -> AsyncGenerator[AgentEvent, None]:
        """Answer a message; whoever calls holds the generation lock."""
        taken = at.taken
        if self._closing:
            return
        if taken.session in self._dropped:
            yield Failed(DROPPED, taken.turn)
            return
        self.answering, self._current = taken.session, asyncio.current_task()
        self._cancel_token.clear()
        try:
            if taken.queued:
                await asyncio.to_thread(self._put_on_path, taken)
            if taken.unasked:
                self._notify(SessionsChanged(taken.session))
                return
            async for event in self._reply(at) if taken.regeneration is None else self._reply_again(at):
                yield event
            async for event in self._interjection(at):
                yield event
            await asyncio.to_thread(self._keep_out, taken)
            if at.kept is not None and not self._closing and taken.session not in self._dropped:
                self._prompts.after_reply(taken.session, at.generator, at.limits, voice=at.voice_of_prompt)
                self._answered(taken.session, taken.turn if taken.first and at.kept else None, at.generator)
        except (MemoryFailure, ModelError) as error:
            yield Failed.because(error, f"{error} {taken.is_safe}", taken.turn)
        finally:
            self.answering = self._generator = None

    async def _interjection(self, at: PendingAnswer) -> AsyncGenerator[AgentEvent, None]:
        """What another voice of a story says after a reply, unasked, where it cannot leave it unsaid."""
        taken = at.taken
        if at.play is None or taken.voice is None or not at.kept or taken.alone or self._cancel_token.asked:
            return
        speaks_up = self._speaks_up(taken.session, at.play, taken.voice, at.reply_turn)
        other = await self._cancel_token.unless(speaks_up)
        if other is not None:
            heard, text = at.heard.witnesses, at.kept
            next_ = replace(taken, voice=other, after=at.reply_turn, text=text, among=heard, regeneration=None)
            async for event in self._reply(PendingAnswer(next_, at.tell)):
                yield event

    async def _reply(self, at: PendingAnswer) -> AsyncGenerator[AgentEvent, None]:
        """The reply by the session's model; by the stand-in, where a server fails before anything came of it."""
        at.session = await asyncio.to_thread(self._memory.readings.session, at.taken.session)
        if at.taken.voice is not None:
            at.play = await asyncio.to_thread(self._prompts.plays.of, at.session)
            if at.voice is None:
                yield Failed(f"{LEFT} {at.taken.is_safe}", at.taken.turn)
                return
        name, stand_in = at.session.model or self._settings.model, self._settings.stand_in
        try:
            async for event in self._reply_by(at, name):
                yield event
        except ServerError as error:
            if stand_in in ("", name) or self._cancel_token.asked:
                raise
            self._notify(Warned(f"{error} {stand_in} answers instead."))
            async for event in self._reply_by(at, stand_in):
                yield event

    async def _reply_by(self, at: PendingAnswer, model: str) -> AsyncGenerator[AgentEvent, None]:
        """The model, what is recalled, the prompt, the tools, and the reply; Failed where nothing came of it."""
        taken, stopped = at.taken, Failed(f"Stopped before the model was asked. {at.taken.is_safe}", at.taken.turn)
        if not await self._load(at, model):
            yield stopped
            return
        if taken.goes_on is not None:
            at.begun = await asyncio.to_thread(self._prompts.tokens_of, taken.session, at.generator, taken.goes_on)
        voice = at.voice_of_prompt
        attached = await self._attached(at)
        reading = self._references.begin(attached) if self._references is not None else []
        prepared = await self._prompts.prepare(taken.session, at.generator, at.limits, voice=voice)
        held = prepared.held | {taken.turn}
        request = RecallRequest(taken.text, taken.session, held, prepared.first_turn, taken.voice)
        found = await self._recall(request, at, brief=prepared.doubted)
        if found is None:
            yield stopped
            return
        asked = taken.turn if voice is None else await asyncio.to_thread(self._heard_last, at, voice, prepared)
        brought = await self._cancel_token.unless(self._brought(at, attached, prepared, reading))
        if brought is None:
            yield stopped
            return
        recalled = () if found.answer else pack_of(found.hits)  # what the reply tells is not quoted beside the message
        fresh = (*prepared.new_pins, *brought, *recalled) if taken.goes_on is None else taken.goes_on.recalled
        quoted = () if asked in prepared.framed else fresh
        at.fresh = Fresh(asked, quoted)
        at.log = await self._prompts.before_reply(taken.session, at.generator, at.limits, at.fresh, voice=voice)
        held = frozenset(at.log.held)
        hits = found.hits if found.answer else tuple(hit for hit in found.hits if hit.id in held)
        quotes = open_quotes(hits, taken.text) if prepared.doubted and not found.answer else ()
        yield RecallDone(
            taken.session,
            taken.turn,
            found.route,
            hits,
            found.took_ms,
            found.note,
            quotes,
            prepared.left_out,
            count_read(at.pack),
        )
        self._generator = at.generator
        if voice is None and not found.answer:
            # Words of others stand in the prompt: nothing that they say may call a tool.
            choice = "off" if any(map(is_read, at.log.held)) else self._settings.tools
            async for event in self._steps.take(at, choice, themes=found.route == "themes"):
                yield event
        if self._cancel_token.asked:
            yield stopped
            return
        answer, told = found.answer, pack_of(hits)
        if found.route == "themes" and at.looked_up is not None:
            answer, told = recurring(at.looked_up[0]), at.looked_up[1]
        async for event in self._tell(at, answer, told) if answer else self._stream(at, model):
            yield event

    async def _attached(self, at: PendingAnswer) -> list[Reference]:
        """What the chat refers to; no voice of a story is told of it."""
        if self._references is None or at.taken.voice is not None:
            return []
        return await asyncio.to_thread(self._memory.readings.attached, at.taken.session)

    async def _brought(
        self,
        at: PendingAnswer,
        attached: Sequence[Reference],
        prepared: Prepared,
        reading: "Sequence[asyncio.Task[None]]",
    ) -> tuple[Recalled, ...]:
        """What the message is given of what the chat refers to; why of some there is nothing is told on one line."""
        if self._references is None or not attached:
            return ()
        path = await asyncio.to_thread(self._memory.readings.thread, at.taken.session, limit=RETRIED)
        replies = [turn.at for turn in path if turn.role == Role.ASSISTANT]
        brought = await self._references.bring(
            attached,
            at.taken.text,
            held=prepared.held,
            since=replies[-1] if replies else None,
            generator=at.generator,
            room=at.limits.references,
            beside=at.limits.passages,
            tasks=reading,
        )
        if brought.missing:
            more = f" {len(brought.missing) - 1} more could not be read." if len(brought.missing) > 1 else ""
            self._notify(Warned(f"{brought.missing[0]}{more}"))
        return brought.pack

    def _heard_last(self, at: PendingAnswer, voice: Voice, prepared: Prepared) -> str:
        """The turn beside which a voice is quoted to: the one it follows, or the last it heard where it missed that."""
        heard = self._memory.readings.seen(at.taken.session, voice.id, [at.parent])
        return at.parent if heard else prepared.last or at.parent

    async def _tell(self, at: PendingAnswer, answer: str, told: Pack) -> AsyncGenerator[AgentEvent, None]:
        """What the memory itself answers, as a reply that no model wrote."""
        taken, reply_turn = at.taken, at.reply_turn
        yield ReplyStarted(taken.session, taken.turn, reply_turn, FROM_MEMORY, len(at.log.tokens))
        yield TokensArrived(taken.session, reply_turn, answer, 0, 0.0)
        tokens = await asyncio.to_thread(at.generator.tokenize, answer)
        reply = PartialReply(answer, stop_reason=StopReason.END)
        said = reply_event(at, reply_turn, reply, None, told).model_copy(update={"model": FROM_MEMORY, "host": None})
        await asyncio.to_thread(self._record, said, *taken.kept_out(reply_turn))
        prompt.close_reply(at.log, at.generator, turn=reply_turn, tokens=tokens)
        at.kept = answer
        yield reply_ended(at, reply_turn, reply)

    async def _stream(self, at: PendingAnswer, model: str) -> AsyncGenerator[AgentEvent, None]:
        """The reply as it comes, kept on disk meanwhile, and as a turn at its end.

        Where nothing came but a frame of ours, or nothing at all, it is drawn again without what may have caused that.
        """
        taken, generator, reply_turn, pack = at.taken, at.generator, at.reply_turn, at.pack
        reply = PartialReply((taken.goes_on.text or "") if taken.goes_on is not None else "", [*at.begun])
        sampling = await self._sampling(at)
        asked = [*prompt.asking(at.log, generator), *at.begun]
        left_out = at.log.left_out.get(taken.turn, 0)
        speaker = at.voice.name if at.voice is not None else ASSISTANT.speaker
        yield ReplyStarted(taken.session, taken.turn, reply_turn, generator.info.name, len(asked), left_out, speaker)

        if reply.text:
            yield TokensArrived(taken.session, reply_turn, reply.text, len(reply.tokens), 0.0)

        async def save(text: str) -> None:
            await asyncio.to_thread(
                self._memory.stream,
                reply_turn,
                session=taken.session,
                parent=at.parent,
                model=generator.info.name,
                text=text,
                recalled=pack,
                voice=at.heard,
            )

        params = SamplingParams(**sampling.model_dump())
        while True:
            stops = at.stops
            stream = stream_reply(
                reply,
                generator=generator,
                prompt=asked,
                params=params,
                session=taken.session,
                reply_turn=reply_turn,
                save=save,
                progress=at.read,
                stops=stops,
                since=taken.since,
            )
            async with aclosing(stream):
                async for event in stream:
                    yield event
            drawn = at.voice is not None and not stops[0].met  # a voice may say nothing
            if drawn or reply.text.strip() or reply.stop_reason is not StopReason.END or self._cancel_token.asked:
                break
            if reply.redrawn == MOST_REDRAWN:
                reply.stop_reason, reply.error = StopReason.FAILED, NO_WORDS
                break
            asked = await self._without_cause(at, reply)
            pack = at.pack
            reply = PartialReply(redrawn=reply.redrawn + 1, evaluated_tokens=reply.evaluated_tokens)
        if isinstance(reply.cause, ServerError) and not reply.text and self._settings.stand_in not in ("", model):
            raise reply.cause
        if taken.regeneration is not None and not reply.text:
            # An empty reply takes no place beside one that says something.
            yield Failed(f"{reply.error or 'Stopped before the first word.'} {taken.is_safe}", taken.turn)
            return
        said = reply_event(at, reply_turn, reply, sampling, pack)
        await asyncio.to_thread(self._record, said, *taken.kept_out(reply_turn), ends_stream=reply_turn)
        if reply.text.strip():
            prompt.close_reply(at.log, generator, turn=reply_turn, tokens=reply.tokens)
        at.kept = reply.text
        yield reply_ended(at, reply_turn, reply)

    async def _without_cause(self, at: PendingAnswer, reply: PartialReply) -> list[int]:
        """What to ask instead: without what was recalled; where that is not to blame, nothing but the message."""
        pinned = tuple(item for item in at.fresh.pack if "pin" in item.ranks)
        if at.voice is None and reply.redrawn == 0 and pinned != at.fresh.pack:
            at.fresh = replace(at.fresh, pack=pinned)
            at.log = await self._prompts.before_reply(at.taken.session, at.generator, at.limits, at.fresh)
            return prompt.asking(at.log, at.generator)
        if at.voice is None and reply.redrawn:
            system = self._prompts.own_system(at.session)
            asked = prompt.alone(at.taken.text, at.generator)
            return await asyncio.to_thread(question, at.generator, system, asked)
        return prompt.asking(at.log, at.generator)

    async def _reply_again(self, at: PendingAnswer) -> AsyncGenerator[AgentEvent, None]:
        """Answer a message once more; where nothing comes of that, the head is back before it is told."""
        taken = at.taken
        assert taken.regeneration is not None
        failed: list[Failed] = []
        (moved,) = await asyncio.to_thread(self._record, HeadMoved(session=taken.session, turn=at.parent))
        try:
            async for event in self._reply(at):
                if isinstance(event, Failed):
                    failed.append(event)
                else:
                    yield event
        finally:
            if at.kept is None:
                back = HeadMoved(session=taken.session, turn=taken.regeneration.was)
                await asyncio.to_thread(self._record, Undone(events=(moved.seq,)), back)
        for each in failed:
            yield each

    async def _load(self, at: PendingAnswer, model: str) -> bool:
        """The model; False where it was stopped. A load goes on for whoever asks next."""
        loading = asyncio.ensure_future(self._models.get(model))
        loading.add_done_callback(lambda done: done.cancelled() or done.exception())  # told by a notice too
        generator = await self._cancel_token.unless(asyncio.shield(loading))
        if generator is None:
            return False
        at.generator, at.limits = generator, self.limits(generator)
        return True

    async def _recall(self, request: RecallRequest, at: PendingAnswer, *, brief: bool) -> Recollection | None:
        if self._cancel_token.asked:
            return None
        if not self._settings.recall or at.taken.goes_on is not None:
            return Recollection("none")
        tokens = min(self._settings.recall_tokens, at.limits.recalled)
        bounds = Bounds(self._settings.recall_limit, tokens, brief=brief)
        return await self._cancel_token.unless(self._recaller.look(request, at.generator, bounds))

    async def _sampling(self, at: PendingAnswer) -> Sampling:
        """How tokens are drawn; where the seed is fixed each other reply has another, or it would say the same."""
        own = at.session.sampling
        sampling = Sampling.model_validate(own) if own else self._settings.sampling
        if sampling.seed is None:
            return sampling
        before = await asyncio.to_thread(self._memory.history.reach.reply_count, at.taken.turn)
        return sampling.model_copy(update={"seed": (sampling.seed + before) % (1 << 32)})

    # What is said, and what is to be stored of it

    async def _new(
        self, session: str | None, new: NewMessage, project: str | None, references: Sequence[str]
    ) -> PendingAppend:
        new = replace(new, text=clean_message(new.text), references=self._allowed(references))
        self.approvals.refuse_all()  # the user goes on: that is no leave
        queued, newest = session is not None and self._due(session) > 0, self._newest.get(session or "")
        return await asyncio.to_thread(
            lambda: self._reader.known(new) or self._reader.message(session, new, project, queued=queued, newest=newest)
        )

    async def _given_the_word(self, session: str, member: str) -> PendingAppend:
        self._refuse_where_due(session)
        return await asyncio.to_thread(self._reader.spoken, session, member, client=self._client)

    async def _answered_before(self, session: str, turn: str | None, goes_on: bool) -> PendingAppend:
        self._refuse_where_due(session)
        return await asyncio.to_thread(self._reader.regenerated, session, turn, client=self._client, goes_on=goes_on)

    async def _edited(self, session: str, turn: str, new: NewMessage, references: Sequence[str]) -> PendingAppend:
        new = replace(new, text=clean_message(new.text), references=self._allowed(references))
        self._refuse_where_due(session)
        self.approvals.refuse_all()
        return await asyncio.to_thread(self._reader.edited, session, turn, new)

    def _allowed(self, references: Sequence[str]) -> tuple[Address, ...]:
        """Addresses to attach. Raises AgentError where one may not be read."""
        return self._references.hosts.allowed(references) if self._references is not None else ()

    async def _unanswered(self, session: str) -> PendingAppend:
        if self._due(session):
            raise AgentError(NONE_WAITS)
        return await asyncio.to_thread(self._reader.retried, session, client=self._client)

    # What is stored besides

    def _put_on_path(self, taken: Accepted) -> None:
        """A message that waited follows what its chat has come to."""
        about = self._memory.readings.session(taken.session)
        head = about.head if about.story is None else self._memory.readings.stands_at(taken.session)
        turns = (*taken.notes, taken.turn)
        above = (head, *taken.notes)
        self._record(
            *(TurnTaken(turn=turn, session=taken.session, parent=over) for turn, over in zip(turns, above, strict=True))
        )

    def _keep_out(self, taken: Accepted) -> None:
        """The message may have been kept out of memory while it was answered: so is the answer."""
        if not taken.withheld and self._memory.readings.turn(taken.turn).withheld:
            left = self._reader.kept_out_with(taken.turn)
            if left:
                self._record(*left)

    def _record(self, *events: Event, ends_stream: str | None = None) -> list[Recorded]:
        followed = self._memory.graph_ready
        recorded = self._memory.append(*events, ends_stream=ends_stream)
        self._warn_if_behind(recorded, followed)
        return recorded

    def _warn_if_behind(self, recorded: list[Recorded], followed: bool) -> None:
        """`followed`: the graph followed the log before; while it is being opened, it is behind by right."""
        if followed and recorded[-1].graph_behind:
            self._notify(Warned(BEHIND))

    # Stopping, and what waits

    @asynccontextmanager
    async def quiet(self, session: str) -> AsyncIterator[None]:
        """Nothing is answered in a session, and nothing taken meanwhile. Raises AgentError where a reply is due."""
        async with self._accepting:
            self._refuse_where_due(session)
            yield

    def _refuse_where_due(self, session: str) -> None:
        if self._due(session):
            raise AgentError(BUSY)

    def stop(self) -> bool:
        """Stop the reply in the making, keeping what came; False if there is none.

        What is queued behind it in its chat is on hold from then on: `go_on` has it answered, `withdraw` takes it back.
        """
        if self.answering is None:
            return False
        if waiting := self._queue.of(self.answering):
            self._queue.hold(*waiting)
            self._notify(QueueHeld(self.answering, waiting))
        self._cancel()
        return True

    def _cancel(self) -> None:
        """End what runs: loading, looking back, a tool, a question for leave, or the reply, whose text is kept."""
        self._cancel_token.ask()
        self.approvals.refuse_all()
        if self._generator is not None:
            self._generator.stop()

    def go_on(self, session: str) -> bool:
        """Answer the messages of a session that a stop put on hold; False if there are none."""
        held = self._queue.held(session)
        self._queue.release(*held)
        if held:
            self._notify(QueueHeld(session, ()))
        return bool(held)

    async def withdraw(self, session: str, turn: str) -> str:
        """Take back a message whose turn has not come: it is hidden and will not be answered. Returns its words.

        Raises AgentError where it is too late, and MemoryFailure; then it stays in the queue, on hold.
        """
        taken = self._queue.find(session, turn)
        if taken is None:
            raise AgentError(TOO_LATE)
        self._queue.hold(turn)  # it is not taken up meanwhile
        try:
            left = await asyncio.to_thread(self._hide_waiting, taken)
            self._queue.withdraw(turn)
        finally:
            self._notify(QueueHeld(session, self._queue.held(session)))
        self._newest.pop(session, None)
        if newest := self._queue.newest(session) or left:
            self._newest[session] = newest
        self._notify(SessionsChanged(session))
        return taken.text

    def _hide_waiting(self, taken: Accepted) -> str | None:
        """Hide a message that waits, and let its chat stand where it stood before; the last message that is left."""
        events: list[Event] = [TurnHidden(turn=turn) for turn in (*taken.notes, taken.turn)]
        if self._memory.readings.session(taken.session).head == taken.turn:  # it waits for the reply of another chat
            first = (*taken.notes, taken.turn)[0]
            events.append(HeadMoved(session=taken.session, turn=self._memory.readings.turn(first).parent))
        self._record(*events)
        return last_message(self._memory.readings.thread(taken.session, limit=RETRIED))

    def _due(self, session: str) -> int:
        """How many messages of a session are being answered, or will be without anybody's word."""
        return self._pending[session] - len(self._queue.held(session))

    async def drop(self, session: str) -> None:
        """End all that is being said in a session: its queued messages are not taken up, its reply is stopped."""
        self._dropped.add(session)
        self._queue.release(*self._queue.held(session))
        if self.answering == session and self._current is not None:
            self._cancel()
            await asyncio.wait({self._current})

    async def close(self) -> None:
        """Stop the reply, keep its text, and leave queued messages for the next start."""
        self._closing = True
        self._queue.release_all()
        if self.answering is not None:
            self._cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for outlet in (each for outlets in self._watching.values() for each in outlets):
            outlet.put(None)

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        self._settings = settings
        self._prompts.default_system = settings.system_prompt
        self._reader.marker = marker_of(settings.out_of_character)

    @property
    def context(self) -> int:
        """How many tokens a prompt may have, where the model has so many."""
        return self._settings.context

    def limits(self, generator: Generator) -> Limits:
        """The prompt's sizes for a model whose context may be smaller than the settings ask for."""
        context = generator.info.context
        shrink = min(1.0, context / self._settings.context)
        return Limits(context, int(self._settings.high_water * shrink), int(self._settings.low_water * shrink))


async def _told(outlet: Outlet[AgentEvent], task: asyncio.Task[None]) -> AsyncGenerator[AgentEvent, None]:
    """What a task tells; a bug in it is raised to whoever listens."""
    async with aclosing(outlet.events()) as events:
        async for event in events:
            yield event
    await task
