"""Messages taken in and answered: committed first, queued while a reply streams, answered one at a time in their order.

The work is done by tasks that belong to the conversation and not to who reads the events: a face that goes away loses
nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from graph.errors import MemoryFailure
from graph.events import Event, HeadMoved, Role, TurnHidden, TurnTaken, Undone
from graph.memory import Memory
from graph.values import Recorded
from models.errors import ModelError
from models.protocols import Generator

from .accepting import RETRIED, Accepting, PendingAppend, last_message
from .answer import Answerer, Done
from .approvals import Approvals
from .changes import ProposedChanges
from .errors import AgentError
from .events import AgentEvent, Failed, Notice, QueueHeld, SessionsChanged, TurnAccepted, Warned
from .foreground import Foreground
from .model_host import ModelHost
from .prompt import Limits
from .prompts import Prompts
from .queue import Queue
from .reachable import BUSY
from .recall import Recaller
from .settings import Settings
from .steps import Accepted, Outbox
from .text import clean_message
from .tools import Toolbox

CHAT = "chat"  # the client that shows questions and can be answered
TOO_LATE = "That message is being answered or was already answered. Nothing was changed. Press Esc to stop a reply."


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
        generation_lock: asyncio.Lock | None = None,
    ) -> None:
        self.answering: str | None = None
        self.approvals = Approvals(self._record, possible=client == CHAT)
        self.generation_lock = (
            generation_lock or asyncio.Lock()
        )  # first come, first served; one for all that share a model
        self._memory = memory
        self._prompts = prompts
        self._answerer = Answerer(
            memory,
            models,
            prompts,
            recaller,
            toolbox,
            ProposedChanges(memory, prompts, self._record, notify),
            self.approvals,
            settings,
            client=client,
            record=self._record,
        )
        self._client = client
        self._notify = notify
        self._foreground = foreground
        self._answered = answered
        self._taker = Accepting(memory, client=client)
        self._accepting = asyncio.Lock()
        self._queue = Queue()
        self._pending: Counter[str] = Counter()
        self._newest: dict[str, str] = {}  # the last message of a session, which may wait for its turn on the path
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._dropped: set[str] = set()
        self._current: asyncio.Task[None] | None = None  # the one that holds the lock

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        self._answerer.settings = settings
        self._prompts.default_system = settings.system_prompt

    def limits(self, generator: Generator) -> Limits:
        """The prompt's sizes for a model whose context may be smaller than the settings ask for."""
        return self._answerer.limits(generator)

    def send(self, session: str | None, text: str, *, project: str | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Take a message and answer it; None begins a session. The first event is TurnAccepted or Failed."""
        return self._run(lambda out: self._send(session, text, project, out))

    def retry(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last message of a session if it has no reply."""
        return self._run(lambda out: self._retry(session, out))

    def regenerate(self, session: str, turn: str | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Answer again the message of a reply (None: the last), beside that; without a word the chat is as it was."""
        return self._run(lambda out: self._regenerate(session, turn, out))

    def edit(self, session: str, turn: str, text: str) -> AsyncGenerator[AgentEvent, None]:
        """Say something else in the place of a message of the user's, and answer that."""
        return self._run(lambda out: self._edit(session, turn, text, out))

    @asynccontextmanager
    async def quiet(self, session: str) -> AsyncIterator[None]:
        """Nothing is answered in a session, and nothing taken meanwhile. Raises AgentError where a reply is due."""
        async with self._accepting:
            if self._due(session):
                raise AgentError(BUSY)
            yield

    def stop(self) -> bool:
        """Stop the reply in the making, keeping what came; False if there is none.

        What is queued behind it in its chat is on hold from then on: `go_on` has it answered, `withdraw` takes it back.
        """
        if self.answering is None:
            return False
        if waiting := self._queue.of(self.answering):
            self._queue.hold(*waiting)
            self._notify(QueueHeld(self.answering, waiting))
        self._answerer.stop()
        return True

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
        events: list[Event] = [TurnHidden(turn=taken.turn)]
        if self._memory.session(taken.session).head == taken.turn:  # it waits for the reply of another chat
            events.append(HeadMoved(session=taken.session, turn=self._memory.turn(taken.turn).parent))
        self._record(*events)
        return last_message(self._memory.thread(taken.session, limit=RETRIED))

    def _due(self, session: str) -> int:
        """How many messages of a session are being answered, or will be without anybody's word."""
        return self._pending[session] - len(self._queue.held(session))

    async def drop(self, session: str) -> None:
        """End all that is being said in a session: its queued messages are not taken up, its reply is stopped."""
        self._dropped.add(session)
        self._queue.release(*self._queue.held(session))
        if self.answering == session and self._current is not None:
            self._answerer.stop()
            await asyncio.wait({self._current})

    async def close(self) -> None:
        """Stop the reply, keep its text, and leave queued messages for the next start."""
        self._closing = True
        self._queue.release_all()
        if self.answering is not None:
            self._answerer.stop()
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
        self.approvals.refuse_all()  # the user goes on: that is no leave
        async with self._accepting:
            waits = self.generation_lock.locked()
            queued = session is not None and self._due(session) > 0
            taken = await asyncio.to_thread(self._accept, session, text, project, queued)
            self._pending[taken.session] += 1
            self._queue.join(taken, out)
        out(TurnAccepted(taken.session, taken.turn, text, queued=waits, new_session=session is None))
        if taken.first or taken.withheld:
            self._notify(SessionsChanged(taken.session))  # it has its first words for a title, or lost some
        try:
            while self._queue.waits(taken.turn):
                with self._foreground.held():
                    async with self.generation_lock:
                        if self._queue.take(taken.turn):
                            await self._answer_now(taken, out)
                await self._queue.released(taken.turn)
        finally:
            self._pending[taken.session] -= 1

    def _accept(self, session: str | None, text: str, project: str | None, queued: bool) -> Accepted:
        """Commit the message, and its session if it begins one, in one transaction."""
        newest = self._newest.get(session or "")
        return self._commit(self._taker.message(session, text, project, queued=queued, newest=newest))

    def _commit(self, pending: PendingAppend) -> Accepted:
        self._record(*pending.events)
        self._newest[pending.accepted.session] = pending.accepted.turn
        return pending.accepted

    def _keep_answer_out(self, taken: Accepted) -> None:
        """The message may have been kept out of memory while it was answered: so is the answer."""
        if not taken.withheld and self._memory.turn(taken.turn).withheld:
            left = self._taker.kept_out_with(taken.turn)
            if left:
                self._record(*left)

    async def _regenerate(self, session: str, turn: str | None, out: Outbox) -> None:
        async with self.quiet(session):
            taken = await asyncio.to_thread(self._taker.regenerated, session, turn)
            self._pending[session] += 1
        await self._answer_accepted(taken, out, queued=self.generation_lock.locked())

    async def _edit(self, session: str, turn: str, raw: str, out: Outbox) -> None:
        text = clean_message(raw)
        async with self.quiet(session):
            self.approvals.refuse_all()
            waits = self.generation_lock.locked()
            taken = await asyncio.to_thread(lambda: self._commit(self._taker.edited(session, turn, text)))
            self._pending[session] += 1
        self._notify(SessionsChanged(session))
        await self._answer_accepted(taken, out, queued=waits)

    async def _answer_accepted(self, taken: Accepted, out: Outbox, *, queued: bool) -> None:
        """Tell of a message that counts as pending, and answer it."""
        out(TurnAccepted(taken.session, taken.turn, taken.text, queued=queued, new_session=False))
        try:
            with self._foreground.held():
                async with self.generation_lock:
                    await self._answer_now(taken, out)
        finally:
            self._pending[taken.session] -= 1

    async def _retry(self, session: str, out: Outbox) -> None:
        path = await asyncio.to_thread(self._memory.thread, session, limit=RETRIED)
        last = next((turn for turn in reversed(path) if turn.role != Role.TOOL), None)
        if last is None or last.role != Role.USER or self._due(session):
            out(Failed("No message here is waiting for a reply. Nothing was changed."))
            return
        self._pending[session] += 1
        taken = Accepted(
            session,
            last.id,
            False,
            last.text or "",
            first=last is path[0] and not last.withheld,
            after=path[-1].id,
            withheld=last.withheld,
        )
        await self._answer_accepted(taken, out, queued=self.generation_lock.locked())

    async def _answer_now(self, taken: Accepted, out: Outbox) -> None:
        """Answer a message; whoever calls holds the generation lock."""
        if self._closing:
            return
        if taken.session in self._dropped:
            out(Failed("This chat was deleted before the message was answered.", taken.turn))
            return
        self.answering = taken.session
        self._current = asyncio.current_task()
        self._answerer.begin()
        try:
            if taken.queued:
                await asyncio.to_thread(self._take_up, taken)
            answer = self._answerer.answer if taken.regeneration is None else self._answer_again
            done = await answer(taken, out)
            await asyncio.to_thread(self._keep_answer_out, taken)
            if done is not None and not self._closing and taken.session not in self._dropped:
                self._follow_up(taken, done)
        except (MemoryFailure, ModelError) as error:
            out(Failed(f"{error} {taken.is_safe}", taken.turn, error))
        finally:
            self.answering = None
            self._answerer.end()

    async def _answer_again(self, taken: Accepted, out: Outbox) -> Done | None:
        """Answer a message once more; where nothing comes of that, the head is back before it is told."""
        assert taken.regeneration is not None
        done, failed = None, list[Failed]()

        def tell(event: AgentEvent | None) -> None:
            if isinstance(event, Failed):
                failed.append(event)
            else:
                out(event)

        (moved,) = await asyncio.to_thread(self._record, HeadMoved(session=taken.session, turn=taken.turn))
        try:
            done = await self._answerer.answer(taken, tell)
        finally:
            if done is None:
                back = HeadMoved(session=taken.session, turn=taken.regeneration.was)
                await asyncio.to_thread(self._record, Undone(events=(moved.seq,)), back)
            for event in failed:
                out(event)
        return done

    def _follow_up(self, taken: Accepted, done: Done) -> None:
        self._prompts.after_reply(taken.session, done.generator, self.limits(done.generator))
        self._answered(taken.session, taken.turn if taken.first and done.text else None, done.generator)

    def _take_up(self, taken: Accepted) -> None:
        head = self._memory.session(taken.session).head
        self._record(TurnTaken(turn=taken.turn, session=taken.session, parent=head))

    def _record(self, *events: Event, ends_stream: str | None = None) -> list[Recorded]:
        followed = self._memory.graph_ready  # while it is being opened, it is behind by right
        recorded = self._memory.append(*events, ends_stream=ends_stream)
        if followed and recorded[-1].graph_behind:
            self._notify(Warned("The graph is behind the log and is catching up. Nothing is lost."))
        return recorded
