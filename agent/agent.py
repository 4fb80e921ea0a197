"""The Agent: the one service under every face of clew. Async methods, plain values in, typed frozen events out."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.background import Foreground, Jobs
from agent.chats import Projects
from agent.graph import GraphOpening
from agent.outlets import Notifications
from agent.private import PrivateChats
from agent.steps import Approvals
from graph.errors import MemoryHeld
from graph.log.lock import is_brief
from graph.memory import Memory
from models.errors import ModelError
from models.protocols import Generator
from models.states import KVStates

from .asking.queries import Queries
from .background import BackgroundTasks
from .backups import Nightly
from .branches import Branches
from .chats import Chats
from .documents import Documents
from .embedding import Embedding
from .erasure import Erasure
from .errors import AgentError
from .events import AgentEvent, MemoryAwaited, MemoryReady, Notice
from .graph import GraphReader
from .history import History
from .home import Home
from .loop import Conversation
from .marks import Marks
from .memories import Memories
from .model_host import Abandoned, EmbedderLoader, Loader, ModelHost, llama_embedder_loader, llama_loader
from .models import Models
from .past import PastViewer
from .planning import Planner
from .private import Shared
from .prompts import Prompts
from .proposals import Proposals
from .recall import Recaller
from .recorder import Recorder
from .reflection.learning import Learning
from .reflection.reflector import Reflector
from .reflection.trust import Trusts
from .reflections import Reflection
from .search import Search
from .settings import Settings
from .themes import ThemeMaker
from .tools import GUIDE, Toolbox, in_use

MOMENT_S = 8.0  # a brief holder of the memory is waited for
TURN_S = 60.0  # by one that is brief itself: several may be before it
TOLD_S = 2.0  # and that is told from here on
POLL_S = 0.05
NOT_OPEN = "The memory is not open yet, or was closed. Nothing was changed. Try again in a moment."


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
    to_learn_from: int = 0  # exchanges that wait for reflection


class Agent:
    """One memory, one model, many chats. `start` before anything else, `close` at the end.

    What it can do lies in its parts, which are there once it has started.
    """

    chats: Chats
    branches: Branches
    memories: Memories
    projects: Projects
    proposals: Proposals
    plans: Planner
    history: History
    past: PastViewer
    search: Search
    documents: Documents
    graph: GraphReader
    queries: Queries
    models: Models
    private: PrivateChats
    reflection: Reflection
    erasure: Erasure

    def __init__(
        self,
        home: Home,
        settings: Settings,
        *,
        client: str,
        brief: bool = False,
        fetching: bool = False,
        loader: Loader | None = None,
        embedder_loader: EmbedderLoader | None = None,
    ) -> None:
        """With `fetching` the default models are fetched when they are missing: nothing else here asks the network."""
        self.settings = settings
        self._home = home
        self._client = client
        self._brief = brief  # it promises to close by itself, in a moment
        # Each time by the settings that are in force then.
        self._loader = loader or (
            lambda name, progress: llama_loader(home, self.settings, fetching=fetching)(name, progress)
        )
        self._embedder_loader = embedder_loader or (lambda name: llama_embedder_loader(home, self.settings)(name))
        self._started_at = time.monotonic()
        self._notifications = Notifications()
        self._background = BackgroundTasks()
        self._memory_or_none: Memory | None = None
        self._looked_at: str | None = None
        self._closing = False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """A part that is not there yet. Raises AgentError."""
            if name in Agent.__annotations__:
                raise AgentError(NOT_OPEN)
            raise AttributeError(f"'Agent' object has no attribute {name!r}")

    # -- life -----------------------------------------------------------------------------------------------------

    async def start(self, *, load_model: bool = True, load_embedder: bool = True, open_graph: bool = True) -> None:
        """Open the log, then go on in the background with the graph, the model and then the embedder, telling notices.

        Raises MemoryHeld if another clew holds the memory, and the other MemoryFailures if the log cannot be used. One
        that holds it for a moment is waited for.
        """
        self._notifications.begin()
        memory = self._memory_or_none = await self._open_memory()
        self._compose_conversation(memory)
        self._compose_changes(memory)
        self._compose_models(memory)
        self._compose_readings(memory)
        counts = await asyncio.to_thread(memory.counts)
        self._notifications.tell(MemoryReady(counts["turns"], memory.recovered))
        if open_graph:
            self.open_graph()
        self._background.start(self.private.sweep())
        loading = self._background.start(self._load()) if load_model else None
        if load_embedder:
            self.embed(after=loading)
        if load_model and open_graph:
            self._reflect_on_what_comes(memory)
            if self.settings.reflect:
                self._reflector.start()
        self._nightly.start()

    async def _open_memory(self) -> Memory:
        """The memory, as soon as who has it for a moment let go of it: waiting here can be given up."""
        command, loop = f"clew ({self._client})", asyncio.get_running_loop()
        began = loop.time()
        while True:
            try:
                return await asyncio.to_thread(
                    Memory.open, self._home.memory, command=command, brief=self._brief, waits_s=0.0
                )
            except MemoryHeld as held:
                waited = loop.time() - began
                if not is_brief(held.holder) or waited >= (TURN_S if self._brief else MOMENT_S):
                    raise
                if waited >= TOLD_S:
                    who = f"`{held.holder.command}` (process {held.holder.pid})" if held.holder else "another clew"
                    self._notifications.tell(MemoryAwaited(f"waiting for {who}, which is using the memory"))
            await asyncio.sleep(POLL_S)

    def open_graph(self) -> None:
        """Open the graph in the background, for a start that left it closed."""
        self._graph_opening.begin()
        self._background.start(self.erasure.resume())  # without a graph it could only throw that away

    def embed(self, *, after: asyncio.Task[None] | None = None) -> None:
        """Load the embedder and embed what was said, in the background, for a start that left that out."""
        self._embedding.start(after=after)

    async def close(self) -> None:
        """Stop what runs, keep the partial reply, close everything. Safe to call twice, and without a start."""
        memory = self._memory_or_none
        if memory is None or self._closing:
            return
        self._closing = True
        await self._nightly.close()
        await self._jobs.close()
        await self.private.end()
        await self._conversation.close()
        await self._reflector.close()
        await self._embedding.close()
        await self._prompts.pause()
        await self.models.close()
        await self._background.close()
        await self._prompts.shelf.written()  # what is forgotten just now asks the memory
        self._memory_or_none = None
        await asyncio.to_thread(memory.close)
        self._notifications.close()

    def notices(self) -> AsyncIterator[Notice]:
        """What happens beside the conversation, from the moment of the call until `close`."""
        return self._notifications.listen()

    async def idle(self) -> None:
        """Wait until nothing runs in the background any more: no compaction, loading, reflection, or embedding."""
        while self._background or self._prompts.busy or self._reflector.busy:
            await self._background.done()
            await self._prompts.settled()
            await self._reflector.idle()
        await self._embedding.idle()

    # -- the conversation -----------------------------------------------------------------------------------------

    @property
    def answering(self) -> str | None:
        """The session whose reply is in the making."""
        return self._conversation.answering or self.private.answering

    @property
    def approvals(self) -> Approvals:
        """What a model asked to change, and waits for leave."""
        return self._conversation.approvals

    def send(
        self,
        session: str | None,
        text: str,
        *,
        project: str | None = None,
        client: str | None = None,
        turn: str | None = None,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Take a message and answer it; None begins a session. The first event is TurnAccepted or Failed.

        `client` says it where that is not the one this agent was made for. `turn` is an id that the client has made: a
        message that is there already under it is not taken twice, and its TurnAccepted is all that is told.
        """
        conversation = self.private.conversation_of(session)
        return conversation.send(session, text, project=project, client=client, turn=turn)

    def watch(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """The events of every message of a session, whoever said it, from the moment of the call until `close`."""
        return self.private.conversation_of(session).watch(session)

    def retry(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last message of a session if it has no reply."""
        return self.private.conversation_of(session).retry(session)

    def regenerate(self, session: str, turn: str | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Make the last reply anew, or the given one (or that to a message), beside it: the events are as of `send`.

        Where it is stopped or fails before a word came, the chat is as it was. A message that waits is answered.
        """
        return self.private.conversation_of(session).regenerate(session, turn)

    def edit(self, session: str, turn: str, text: str) -> AsyncGenerator[AgentEvent, None]:
        """Say something else in the place of an earlier message, and answer that: the events are as of `send`."""
        return self.private.conversation_of(session).edit(session, turn, text)

    def stop(self) -> bool:
        """Stop the reply in the making, keeping what came; what is queued behind it in its chat is on hold."""
        return self._conversation.stop() or self.private.stop()

    def go_on(self, session: str) -> bool:
        """Answer the messages of a session that a stop put on hold; False if there are none."""
        return self.private.conversation_of(session).go_on(session)

    async def withdraw(self, session: str, turn: str) -> str:
        """Take back a message whose turn has not come, reversibly: it is hidden, and its words are returned.

        Raises AgentError where it is too late, and MemoryFailure.
        """
        return await self.private.conversation_of(session).withdraw(session, turn)

    async def opened(self, session: str) -> None:
        """Tell that the user looks at a session: its prompt is evaluated in the background while they read and type."""
        if session in self.private:
            return
        self._looked_at = session
        generator = self._host.current
        if generator is not None and self.answering is None:
            self._prompts.warm(session, generator, self._conversation.limits(generator))

    # -- the whole ------------------------------------------------------------------------------------------------

    async def status(self) -> Status:
        """Everything `/status` shows."""
        memory = self._memory
        counts = await asyncio.to_thread(memory.counts)
        model = self._host.current
        return Status(
            home=str(self._home.root),
            starts=memory.starts,
            uptime_s=time.monotonic() - self._started_at,
            counts=counts,
            log_head=await asyncio.to_thread(memory.head),
            graph_ready=memory.graph_ready,
            model=model.info.name if model else None,
            model_path=str(model.info.path) if model else None,
            context=model.info.context if model else None,
            rewrites=self.rewrites,
            to_learn_from=await self.reflection.waiting(),
        )

    @property
    def rewrites(self) -> dict[str, int]:
        """How often a prompt did not begin with the one before it, by cause."""
        return {str(cause): count for cause, count in self._prompts.rewrites.items()}

    async def use_settings(self, new: Settings) -> None:
        """Go on with other settings; where they say how models are loaded, those that are loaded are loaded anew.

        Which models these are stays: `models` changes that. Raises ModelError; then all is as it was.
        """
        before = self.settings
        self._apply(new.model_copy(update={"model": before.model, "embedder": before.embedder}))
        try:
            await self.models.reload(before, new)
        except ModelError:
            self._apply(before)
            raise
        self._states.limit = _kv_limit(new)
        if new.fallback_model != before.fallback_model:
            await self.models.forget_fallback()
        if new.reflect and not before.reflect:
            self._reflector.start()
        elif before.reflect and not new.reflect:
            await self._reflector.close()

    # -- putting it together --------------------------------------------------------------------------------------

    def _compose_conversation(self, memory: Memory) -> None:
        tell = self._notifications.tell
        self._states = KVStates(self._home.states, limit=_kv_limit(self.settings))
        self._trusts = Trusts(self._home.trusted)
        self._prompts = Prompts(
            memory,
            tell,
            default_system=self.settings.system_prompt,
            states=self._states,
            guide=self._guide,
            doubts=self._trusts.doubts,
        )
        self._host = ModelHost(self._loader, tell, leaving=self._prompts.give_up)
        self._embedding = Embedding(memory, self._embedder_loader, tell, name=self.settings.embedder)
        self._recaller = Recaller(memory, self._embedding.query)
        self._themes = ThemeMaker(memory, lambda: self._embedding.key)
        self._foreground = Foreground()
        self._conversation = Conversation(
            memory,
            self._host,
            self._prompts,
            self._recaller,
            Toolbox(memory, self._recaller, self._themes),
            self.settings,
            client=self._client,
            notify=tell,
            foreground=self._foreground,
            answered=lambda session, first, generator: self.reflection.after_reply(session, first, generator),
        )
        self.private = PrivateChats(memory, self._conversation, self._shared)

    def _compose_changes(self, memory: Memory) -> None:
        """What changes the memory at a person's wish."""
        tell = self._notifications.tell
        self._jobs = Jobs()
        self._nightly = Nightly(self._home, tell)
        self._graph_opening = GraphOpening(memory, self._background, tell=tell, opened=self._graph_opened)
        self.erasure = Erasure(
            memory,
            self._home,
            self._jobs,
            self._prompts,
            self._foreground,
            self._background,
            tell=tell,
            graph_opened=self._graph_opening.over,
        )
        self._marks = Marks(memory, self._background)
        recorder = Recorder(memory, self._conversation, self._prompts, self._marks, tell=tell, erase=self.erasure.begin)
        self.plans = Planner(memory, recorder, is_private=self.private.__contains__)
        self.history = History(memory, recorder, self.plans, self._marks)
        self.chats = Chats(
            memory, self._conversation, self.private, recorder, self.plans, client=self._client, tell=tell
        )
        self.branches = Branches(memory, self.private, recorder, self.plans, client=self._client, tell=tell)
        self.memories = Memories(memory, recorder, self.plans, self._prompts)
        self.proposals = Proposals(memory, self.memories, recorder)
        self.projects = Projects(memory, recorder)
        self.documents = Documents(memory, self._jobs, tell=tell, erase=self.erasure.begin)

    def _compose_models(self, memory: Memory) -> None:
        """The models, and what is learned with them."""
        tell = self._notifications.tell
        self.models = Models(
            self._home,
            self._host,
            self._loader,
            self._embedding,
            self._trusts,
            self._conversation.generation_lock,
            settings=self._current_settings,
            apply=self._apply,
            configure=lambda session, model: self.chats.configure(session, model=model),
            tell=tell,
        )
        learning = Learning(
            memory, self._trusts, self._embedding.vectors, self._foreground, fallback=self.models.fallback
        )
        self._reflector = Reflector(
            memory,
            learning,
            self._prompts,
            self._foreground,
            model=self.models.for_reflection,
            notify=tell,
            review=lambda: self.settings.review,
        )
        self.reflection = Reflection(
            memory,
            self._host,
            learning,
            self._reflector,
            self._marks,
            self._background,
            settings=self._current_settings,
            tell=tell,
            graph_opened=self._graph_opening.over,
        )

    def _compose_readings(self, memory: Memory) -> None:
        self.search = Search(
            memory,
            self._recaller,
            self._themes,
            chat_model=self.models.chat_model,
            doubts=self.models.doubts,
        )
        self.past = PastViewer(memory, self._embedding.query)
        self.graph = GraphReader(memory)
        self.queries = Queries(
            memory,
            self._home,
            self.graph,
            self._host,
            self._foreground,
            embedder=self._embedding,
            settings=self._current_settings,
            tell=self._notifications.tell,
        )

    def _shared(self) -> Shared:
        """What private chats share with all others."""
        return Shared(
            self._host,
            self._conversation.generation_lock,
            self._foreground,
            self.settings,
            self._prompts,
            self._notifications.tell,
        )

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _memory(self) -> Memory:
        if self._memory_or_none is None:
            raise AgentError(NOT_OPEN)
        return self._memory_or_none

    def _current_settings(self) -> Settings:
        return self.settings

    def _apply(self, settings: Settings) -> None:
        self.settings = settings
        self._conversation.use(settings)
        self.private.use(settings)

    def _guide(self, generator: Generator) -> str:
        return GUIDE if in_use(self.settings.tools, generator.info) else ""

    def _reflect_on_what_comes(self, memory: Memory) -> None:
        """Whatever is appended may be something to reflect on, once that is begun; appends are heard on any thread."""
        loop, others = asyncio.get_running_loop(), memory.appended

        def heard() -> None:
            others()
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._reflector.wake)

        memory.appended = heard

    async def _graph_opened(self) -> None:
        self._background.start(self._prompts.tidy())  # only the graph knows which memories may be kept
        self._reflector.wake()

    async def _load(self) -> None:
        try:
            await self._host.get(self.settings.model)
        except (ModelError, Abandoned):
            return  # told by a notice, or nobody waits any more
        if self._looked_at is not None:
            await self.opened(self._looked_at)


def _kv_limit(settings: Settings) -> int | None:
    """Bytes of disk for KV states; None: what one full context takes."""
    return None if settings.kv_mb < 0 else settings.kv_mb << 20
