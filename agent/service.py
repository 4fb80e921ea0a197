"""The Agent: the one service under every face of clew. Async methods, plain values in, typed frozen events out."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.errors import SURPRISES, EventsMissing, MemoryFailure
from graph.events import (
    Sampling,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    SessionUnarchived,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Exchange, Progress, Session, Turn
from models.errors import ModelError
from models.protocols import Generator
from models.states import KVStates

from .conversation import Conversation
from .documents import Documents
from .embedding import Embedding
from .errors import AgentError
from .events import AgentEvent, GraphProgress, MemoryReady, Notice, SessionsChanged, Warned
from .home import Home, keep_place, read_place
from .importer import ImportProgress, ImportReport, Imports
from .jobs import Jobs
from .models import Abandoned, EmbedderLoader, Loader, ModelHost, llama_embedder_loader, llama_loader
from .prompts import Prompts
from .recall import Recaller
from .remembering import Remembering
from .settings import Settings
from .text import clean_message
from .themes import ThemeMaker
from .title import propose_title
from .tools import GUIDE, Toolbox, in_use

UNCHANGED: Any = object()


@dataclass(frozen=True, slots=True)
class Status:
    """What `/status` shows; `rewrites` counts the prompt's exceptions to append-only by cause."""

    home: str
    starts: int
    uptime_s: float
    counts: dict[str, int]
    log_head: int
    graph_ready: bool
    model: str | None
    model_path: str | None
    context: int | None
    rewrites: dict[str, int]


class Agent(Remembering, Documents):
    """One memory, one model, many chats. `start` before anything else, `close` at the end."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        *,
        client: str,
        loader: Loader | None = None,
        embedder_loader: EmbedderLoader | None = None,
    ) -> None:
        self.settings = settings
        self._home = home
        self._client = client
        self._loader = loader or llama_loader(home, settings)
        self._embedder_loader = embedder_loader or llama_embedder_loader(home, settings)
        self._listeners: set[asyncio.Queue[Notice | None]] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._started_at = time.monotonic()
        self._memory_or_none: Memory | None = None
        self._looked_at: str | None = None
        self._closing = False
        self._conversation: Conversation
        self._embedding: Embedding
        self._imports: Imports
        self._models: ModelHost

    # -- life -----------------------------------------------------------------------------------------------------

    async def start(self, *, load_model: bool = True, load_embedder: bool = True, open_graph: bool = True) -> None:
        """Open the log, then go on in the background with the graph, the model and then the embedder, telling notices.

        Raises MemoryHeld if another clew holds the memory, and the other MemoryFailures if the log cannot be used.
        """
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        memory = await asyncio.to_thread(Memory.open, self._home.memory, command=f"clew ({self._client})")
        self._memory_or_none = memory
        states = KVStates(self._home.states, limit=self.settings.kv_mb << 20)
        self._prompts = Prompts(
            memory, self._tell, default_system=self.settings.system_prompt, states=states, guide=self._guide
        )
        self._models = ModelHost(self._loader, self._tell, leaving=self._prompts.give_up)
        self._jobs = Jobs()
        self._imports = Imports(memory, self._jobs)
        self._embedding = Embedding(memory, self._embedder_loader, self._tell, name=self.settings.embedder)
        self._recaller = Recaller(memory, self._embedding.query)
        self._maker = ThemeMaker(memory, lambda: self._embedding.key)
        self._conversation = Conversation(
            memory,
            self._models,
            self._prompts,
            self._recaller,
            Toolbox(memory, self._recaller, self._maker),
            self.settings,
            client=self._client,
            notify=self._tell,
            answered=self._after_reply,
            spoken=self._remember_place,
        )
        counts = await asyncio.to_thread(memory.counts)
        self._tell(MemoryReady(counts["turns"], memory.recovered))
        if open_graph:
            self.open_graph()
        self._spawn(self._prompts.tidy())
        loading = self._spawn(self._load(self.settings.model)) if load_model else None
        if load_embedder:
            self.embed(after=loading)

    def open_graph(self) -> None:
        """Open the graph in the background, for a start that left it closed."""
        self._spawn(self._open_graph(self._memory))

    def embed(self, *, after: asyncio.Task[None] | None = None) -> None:
        """Load the embedder and embed what was said, in the background, for a start that left that out."""
        self._embedding.start(after=after)

    async def import_chats(
        self, path: Path, progress: Callable[[ImportProgress], None] = lambda _: None
    ) -> ImportReport:
        """Import a file of chats; what is in the memory already is not said again, nor is what was deleted from it.

        Raises ExportUnreadable, and then nothing is imported; cancelled, what was imported stays.
        """
        report = await self._imports.run(path, progress)
        if report.last_session is not None:
            self._tell(SessionsChanged(report.last_session))
        return report

    async def close(self) -> None:
        """Stop what runs, keep the partial reply, close everything. Safe to call twice, and without a start."""
        memory = self._memory_or_none
        if memory is None or self._closing:
            return
        self._closing = True
        await self._jobs.close()
        await self._conversation.close()
        await self._embedding.close()
        await self._prompts.pause()
        await self._models.close()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._prompts.shelf.written()  # what is forgotten just now asks the memory
        self._memory_or_none = None
        await asyncio.to_thread(memory.close)
        for listener in self._listeners:
            listener.put_nowait(None)

    def notices(self) -> AsyncIterator[Notice]:
        """What happens beside the conversation, from the moment of the call until `close`."""
        queue: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._listeners.add(queue)
        return self._listen(queue)

    async def _listen(self, queue: asyncio.Queue[Notice | None]) -> AsyncIterator[Notice]:
        try:
            while (notice := await queue.get()) is not None:
                yield notice
        finally:
            self._listeners.discard(queue)

    # -- the conversation -----------------------------------------------------------------------------------------

    @property
    def answering(self) -> str | None:
        """The session whose reply is in the making."""
        return self._conversation.answering

    def send(self, session: str | None, text: str, *, project: str | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Take a message and answer it; None begins a session. The first event is TurnAccepted or Failed."""
        return self._conversation.send(session, text, project=project)

    def retry(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last message of a session if it has no reply."""
        return self._conversation.retry(session)

    def stop(self) -> bool:
        """Stop the reply in the making, keeping what came; queued messages go on."""
        return self._conversation.stop()

    # -- reading --------------------------------------------------------------------------------------------------

    async def sessions(self, *, archived: bool = False) -> list[Session]:
        """The sessions, newest activity first; the archived ones instead if asked."""
        found = await asyncio.to_thread(self._memory.sessions, archived=archived)
        return [session for session in found if session.archived == archived]

    async def session(self, session: str) -> Session:
        """One session. Raises NotFound."""
        return await asyncio.to_thread(self._memory.session, session)

    async def last_session(self) -> str | None:
        """The session to resume: where the user last spoke or looked, else the one with the newest activity."""
        sessions = [session.id for session in await self.sessions()]
        place = await asyncio.to_thread(read_place, self._home)
        return place if place in sessions else next(iter(sessions), None)

    async def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> list[Turn]:
        """The path to the session's head, oldest first: its last `limit` turns, or those before turn `before`."""
        return await asyncio.to_thread(self._memory.thread, session, before=before, limit=limit)

    async def waiting(self, session: str) -> list[Turn]:
        """Messages that are queued and not taken up yet."""
        return await asyncio.to_thread(self._memory.waiting, session)

    async def said(self, limit: int = 200) -> list[str]:
        """The user's own messages, newest first, for the composer's history."""
        return await asyncio.to_thread(self._memory.said, limit)

    async def exchange(self, turn: str) -> Exchange:
        """The exchange of a user turn or a reply. Raises NotFound."""
        return await asyncio.to_thread(self._memory.exchange, turn)

    async def status(self) -> Status:
        """Everything `/status` shows."""
        counts = await asyncio.to_thread(self._memory.counts)
        model = self._models.current
        return Status(
            home=str(self._home.root),
            starts=self._memory.starts,
            uptime_s=time.monotonic() - self._started_at,
            counts=counts,
            log_head=await asyncio.to_thread(self._memory.head),
            graph_ready=self._memory.graph_ready,
            model=model.info.name if model else None,
            model_path=str(model.info.path) if model else None,
            context=model.info.context if model else None,
            rewrites=self.rewrites,
        )

    # -- changing sessions ----------------------------------------------------------------------------------------

    async def rename(self, session: str, name: str) -> None:
        """Give a session a name of the user's. Raises EmptyMessage for a blank one."""
        await self._record(SessionRenamed(session=session, text=clean_message(name).splitlines()[0][:120]))

    async def archive(self, session: str) -> None:
        """Take a session out of the list; its memory stays."""
        await self._record(SessionArchived(session=session))

    async def unarchive(self, session: str) -> None:
        """Put an archived session back into the list."""
        await self._record(SessionUnarchived(session=session))

    async def delete(self, session: str) -> None:
        """Take a session out of the list and its turns out of what is live; what is being said there ends first."""
        await self.session(session)
        await self._conversation.drop(session)
        turns = await asyncio.to_thread(self._memory.said_in, session)
        await self._record(SessionDeleted(session=session))
        await self._prompts.forget(session)
        await self._prompts.forget_turns(turns)  # others may quote them

    async def configure(
        self,
        session: str | None,
        *,
        system_prompt: str | None = UNCHANGED,
        sampling: Sampling | None = UNCHANGED,
        model: str | None = UNCHANGED,
        project: str | None = None,
    ) -> str:
        """Change a session's own settings from here on (None: back to the default); None begins a session.

        Returns the session's id.
        """
        events: list[SessionStarted | SessionConfigured] = []
        about = None
        if session is None:
            session = new_id()
            events.append(SessionStarted(session=session, project=project, client=self._client))
        else:
            about = await self.session(session)
        was = Sampling.model_validate(about.sampling) if about and about.sampling else None
        events.append(
            SessionConfigured(
                session=session,
                model=(about.model if about else None) if model is UNCHANGED else model,
                sampling=was if sampling is UNCHANGED else sampling,
                text=(about.system_prompt if about else None) if system_prompt is UNCHANGED else system_prompt,
            )
        )
        await asyncio.to_thread(self._memory.append, *events)
        self._tell(SessionsChanged(session))
        return session

    async def use_model(self, name: str, *, session: str | None = None) -> None:
        """Load another model and use it for `session`, or for all that have none of their own.

        Raises ModelError; then the one that was loaded stays.
        """
        await self._models.get(name)
        if session is None:
            self.settings = self.settings.model_copy(update={"model": name})
            self._conversation.use(self.settings)
        else:
            await self.configure(session, model=name)

    async def use_embedder(self, name: str) -> None:
        """Load another embedder; everything said gets a vector of it in the background, and recall goes on meanwhile.

        Raises ModelError; then the one that was loaded stays.
        """
        await self._embedding.use(name)
        self.settings = self.settings.model_copy(update={"embedder": name})

    async def embedder_ready(self) -> bool:
        """Wait until the embedder is loaded, or has failed to; whether recall goes by meaning too."""
        return await self._embedding.ready()

    @property
    def rewrites(self) -> dict[str, int]:
        """How often a prompt did not begin with the one before it, by cause."""
        return {str(cause): count for cause, count in self._prompts.rewrites.items()}

    async def idle(self) -> None:
        """Wait until nothing runs in the background any more: no title, no compaction, no loading, no embedding."""
        while self._background or self._prompts.busy:
            await asyncio.gather(*self._background, return_exceptions=True)
            await self._prompts.settled()
        await self._embedding.idle()

    async def opened(self, session: str) -> None:
        """Tell that the user looks at a session: its prompt is evaluated in the background while they read and type."""
        self._looked_at = session
        self._remember_place(session)
        generator = self._models.current
        if generator is not None and self.answering is None:
            self._prompts.warm(session, generator, self._conversation.limits(generator))

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _memory(self) -> Memory:
        if self._memory_or_none is None:
            raise AgentError("The memory is not open yet, or was closed. Nothing was changed; try again in a moment.")
        return self._memory_or_none

    def _guide(self, generator: Generator) -> str:
        return GUIDE if in_use(self.settings.tools, generator.info) else ""

    async def _chat_model(self) -> Generator | None:
        try:
            return await self._models.get(self.settings.model)
        except ModelError:  # told by a notice
            return None

    async def _record(
        self, event: SessionRenamed | SessionTitled | SessionArchived | SessionUnarchived | SessionDeleted
    ) -> None:
        await self.session(event.session)
        await asyncio.to_thread(self._memory.append, event)
        self._tell(SessionsChanged(event.session))

    def _tell(self, notice: Notice) -> None:
        """Tell every listener; from any thread."""
        if threading.get_ident() == self._thread:
            for listener in self._listeners:
                listener.put_nowait(notice)
        else:
            self._loop.call_soon_threadsafe(self._tell, notice)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _open_graph(self, memory: Memory) -> None:
        loop = asyncio.get_running_loop()

        def progress(step: Progress) -> None:
            loop.call_soon_threadsafe(self._tell, GraphProgress(step.what, step.done, step.total))

        try:
            await asyncio.to_thread(memory.open_graph, progress)
        except EventsMissing as error:
            self._tell(Warned(str(error)))  # the graph follows what is left of the log
        except MemoryFailure as error:
            self._tell(GraphProgress("failed", message=str(error)))
            return
        with contextlib.suppress(MemoryFailure, *SURPRISES):  # then the first recall says why
            await asyncio.to_thread(memory.warm_recall)

    async def _load(self, name: str) -> None:
        try:
            await self._models.get(name)
        except (ModelError, Abandoned):
            return  # told by a notice, or nobody waits any more
        if self._looked_at is not None:
            await self.opened(self._looked_at)

    def _remember_place(self, session: str) -> None:
        """Where the user is now, for the next start; a place that cannot be written is only not remembered."""
        with contextlib.suppress(OSError):
            keep_place(self._home, session)

    def _after_reply(self, session: str, first_turn: str | None, generator: Generator) -> None:
        """A reply is durable; `first_turn` is the message it answers, if that began the session."""
        self._tell(SessionsChanged(session))
        if first_turn is not None:
            self._spawn(self._title(session, first_turn, generator))

    async def _title(self, session: str, turn: str, generator: Generator) -> None:
        """Let the model better a title that is only the first words."""
        try:
            exchange = await self.exchange(turn)
            said, reply = exchange.turn.text or "", (exchange.reply.text or "") if exchange.reply else ""
            better = await propose_title(generator, said, reply)
            now = await self.session(session)
            if better is not None and not now.named_by_user and not now.deleted:
                sources = tuple(part.id for part in (exchange.turn, exchange.reply) if part is not None)
                await self._record(SessionTitled(session=session, sources=sources, text=better))
        except (MemoryFailure, ModelError, AgentError) as error:
            self._tell(Warned(f"The chat's title could not be made: {error}"))
