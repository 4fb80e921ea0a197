"""Messages taken in and answered: committed first, queued while a reply streams, answered one at a time in their order.

The work is done by tasks that belong to the conversation and not to who reads the events: a face that goes away loses
nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine

from graph.errors import MemoryFailure
from graph.events import Event, Role, SessionStarted, SessionTitled, TurnSaid, TurnTaken, TurnWithheld
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Recorded
from models.errors import ModelError
from models.protocols import Generator

from .answer import Answerer, Done
from .approvals import Approvals
from .changes import Changes
from .errors import AgentError
from .events import AgentEvent, Failed, Notice, SessionsChanged, TurnAccepted, Warned
from .foreground import Foreground
from .models import ModelHost
from .prompt import Limits
from .prompts import Prompts
from .recall import Recaller
from .settings import Settings
from .steps import Accepted, Outbox
from .text import clean_message
from .title import verbatim
from .tools import Toolbox
from .withholding import asks_to_withhold, asks_to_withhold_earlier

USER = "you"
CHAT = "chat"  # the client that shows questions and can be answered
RETRIED = 64  # turns looked through for the one that waits: an answer that was stopped may have left some of tools


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
        spoken: Callable[[str], None] = lambda session: None,
        floor: asyncio.Lock | None = None,
    ) -> None:
        self.answering: str | None = None
        self.approvals = Approvals(self._record, possible=client == CHAT)
        self.floor = floor or asyncio.Lock()  # first come, first served; one for all that share a model
        self._memory = memory
        self._prompts = prompts
        self._answerer = Answerer(
            memory,
            models,
            prompts,
            recaller,
            toolbox,
            Changes(memory, prompts, self._record, notify),
            self.approvals,
            settings,
            client=client,
            record=self._record,
        )
        self._client = client
        self._notify = notify
        self._foreground = foreground
        self._answered = answered
        self._spoken = spoken
        self._accepting = asyncio.Lock()
        self._pending: Counter[str] = Counter()
        self._newest: dict[str, str] = {}  # the last message of a session, which may wait for its turn on the path
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._dropped: set[str] = set()
        self._current: asyncio.Task[None] | None = None  # the one that has the floor

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        self._answerer.settings = settings

    def limits(self, generator: Generator) -> Limits:
        """The prompt's sizes for a model whose context may be smaller than the settings ask for."""
        return self._answerer.limits(generator)

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
        self._answerer.stop()
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
        self.approvals.refuse_all()  # the user goes on: that is no leave
        async with self._accepting:
            waits = self.floor.locked()
            queued = session is not None and self._pending[session] > 0
            taken = await asyncio.to_thread(self._accept, session, text, project, queued)
            self._pending[taken.session] += 1
        self._spoken(taken.session)
        out(TurnAccepted(taken.session, taken.turn, text, queued=waits, new_session=session is None))
        if taken.first or taken.withheld:
            self._notify(SessionsChanged(taken.session))  # it has its first words for a title, or lost some
        try:
            await self._answer_in_turn(taken, out)
        finally:
            self._pending[taken.session] -= 1

    def _accept(self, session: str | None, text: str, project: str | None, queued: bool) -> Accepted:
        """Commit the message, and its session if it begins one, in one transaction."""
        events: list[Event] = []
        parent, untitled, withheld = None, True, asks_to_withhold(text)
        if session is None:
            session = new_id()
            events.append(SessionStarted(session=session, project=project, client=self._client))
        else:
            about = self._memory.session(session)
            if about.deleted:
                raise AgentError("This chat was deleted, so nothing was sent. Begin a new one with /new.")
            parent, untitled = None if queued else about.head, about.name is None
            if asks_to_withhold_earlier(text):
                events += self._withheld_earlier(session, queued)
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
        if withheld:
            events.append(TurnWithheld(turn=turn.turn))
        elif untitled:
            events.append(SessionTitled(session=session, sources=(turn.turn,), text=verbatim(text)))
        self._record(*events)
        self._newest[session] = turn.turn
        return Accepted(session, turn.turn, queued, text, first=untitled and not withheld, withheld=withheld)

    def _withheld_earlier(self, session: str, queued: bool) -> list[Event]:
        """What keeps the message before out of memory, with what was answered so far; the rest follows with that."""
        meant = self._newest.get(session) if queued else None
        if meant is None:
            path = self._memory.thread(session, limit=RETRIED)
            meant = next((turn.id for turn in reversed(path) if turn.role == Role.USER), None)
        return [TurnWithheld(turn=turn) for turn in self._unkept(meant)] if meant is not None else []

    def _unkept(self, turn: str) -> list[str]:
        """Those of a message and its answer that are not kept out of memory yet."""
        said = self._memory.exchange(turn)
        turns = (said.turn, *said.tools, *([said.reply] if said.reply is not None else []))
        return [each.id for each in turns if not each.withheld]

    def _keep_answer_out(self, taken: Accepted) -> None:
        """The message may have been kept out of memory while it was answered: so is the answer."""
        if not taken.withheld and self._memory.turn(taken.turn).withheld and (left := self._unkept(taken.turn)):
            self._record(*(TurnWithheld(turn=each) for each in left))

    async def _retry(self, session: str, out: Outbox) -> None:
        path = await asyncio.to_thread(self._memory.thread, session, limit=RETRIED)
        last = next((turn for turn in reversed(path) if turn.role != Role.TOOL), None)
        if last is None or last.role != Role.USER or self._pending[session]:
            out(Failed("No message here waits for an answer. Nothing was changed."))
            return
        self._pending[session] += 1
        out(TurnAccepted(session, last.id, last.text or "", queued=self.floor.locked(), new_session=False))
        try:
            taken = Accepted(
                session,
                last.id,
                False,
                last.text or "",
                first=last is path[0] and not last.withheld,
                after=path[-1].id,
                withheld=last.withheld,
            )
            await self._answer_in_turn(taken, out)
        finally:
            self._pending[session] -= 1

    async def _answer_in_turn(self, taken: Accepted, out: Outbox) -> None:
        with self._foreground.held():
            await self._answer_at_floor(taken, out)

    async def _answer_at_floor(self, taken: Accepted, out: Outbox) -> None:
        async with self.floor:
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
                done = await self._answerer.answer(taken, out)
                await asyncio.to_thread(self._keep_answer_out, taken)
                if done is not None and not self._closing and taken.session not in self._dropped:
                    self._follow_up(taken, done)
            except (MemoryFailure, ModelError) as error:
                out(Failed(f"{error} Your message is kept: /retry answers it.", taken.turn, error))
            finally:
                self.answering = None
                self._answerer.end()

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
            self._notify(Warned("The graph is behind the log and catches up by itself. Nothing is lost."))
        return recorded
