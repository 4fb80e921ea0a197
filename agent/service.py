"""The Agent: the one service under every face of clew. Async methods, plain values in, typed frozen events out."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

from graph.errors import SURPRISES, EventsMissing, MemoryFailure, MemoryHeld
from graph.lock import is_brief
from graph.memory import Memory
from graph.values import Progress
from models.errors import ModelError
from models.protocols import Generator
from models.states import KVStates

from .asking.queries import Queries
from .backups import Nightly
from .branching import Branching
from .chats import UNCHANGED as UNCHANGED
from .chats import Chats
from .conversation import Conversation
from .documents import Documents
from .embedding import Embedding
from .errors import AgentError
from .events import (
    AgentEvent,
    GraphProgress,
    MemoryAwaited,
    MemoryReady,
    ModelFailed,
    Notice,
    SessionsChanged,
    Warned,
)
from .foreground import Foreground
from .home import Home
from .importer import ImportProgress, ImportReport, Imports
from .jobs import Jobs
from .models import Abandoned, EmbedderLoader, Loader, ModelHost, llama_embedder_loader, llama_loader
from .past import Looking
from .privately import Privately
from .prompts import Prompts
from .proposing import Proposing
from .purging import Purges
from .recall import Recaller
from .reflecting import Reflects
from .reflection.learning import Learning
from .reflection.reflector import Reflector
from .reflection.trust import Trusts
from .remembering import Remembering
from .settings import Settings
from .statistics import Counting
from .telling import Telling
from .themes import CAPABLE_BYTES, ThemeMaker
from .tools import GUIDE, Toolbox, in_use
from .undoing import Undoing

MOMENT_S = 8.0  # a brief holder of the memory is waited for
TURN_S = 60.0  # by one that is brief itself: several may be before it
TOLD_S = 2.0  # and that is told from here on
POLL_S = 0.05
LOADS = ("context", "threads", "gpu_layers")  # the settings that say how a model is loaded


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


class Agent(
    Telling,
    Purges,
    Privately,
    Branching,
    Chats,
    Undoing,
    Remembering,
    Proposing,
    Documents,
    Looking,
    Queries,
    Reflects,
    Counting,
):
    """One memory, one model, many chats. `start` before anything else, `close` at the end."""

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
        super().__init__()
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
        self._memory_or_none: Memory | None = None
        self._looked_at: str | None = None
        self._failed: str | None = None  # the model that could not be loaded for reflection
        self._unusable: str | None = None  # and the fallback
        self._closing = False
        self._opening = None  # the graph
        self._conversation: Conversation
        self._embedding: Embedding
        self._imports: Imports
        self._models: ModelHost
        self._fallback: ModelHost

    # -- life -----------------------------------------------------------------------------------------------------

    async def start(self, *, load_model: bool = True, load_embedder: bool = True, open_graph: bool = True) -> None:
        """Open the log, then go on in the background with the graph, the model and then the embedder, telling notices.

        Raises MemoryHeld if another clew holds the memory, and the other MemoryFailures if the log cannot be used. One
        that holds it for a moment is waited for.
        """
        self._begin()
        memory = self._memory_or_none = await self._open_memory()
        self._states = KVStates(self._home.states, limit=_kv_limit(self.settings))
        self._trusts = Trusts(self._home.trusted)
        self._prompts = Prompts(
            memory,
            self._tell,
            default_system=self.settings.system_prompt,
            states=self._states,
            guide=self._guide,
            doubts=self._trusts.doubts,
        )
        self._models = ModelHost(self._loader, self._tell, leaving=self._prompts.give_up)
        self._fallback = ModelHost(self._loader, self._tell_of_fallback)
        self._jobs = Jobs()
        self._imports = Imports(memory, self._jobs)
        self._nightly = Nightly(self._home, self._tell)
        self._embedding = Embedding(memory, self._embedder_loader, self._tell, name=self.settings.embedder)
        self._recaller = Recaller(memory, self._embedding.query)
        self._maker = ThemeMaker(memory, lambda: self._embedding.key)
        self._foreground = Foreground()
        self._reflector = self._make_reflector(memory)
        self._conversation = Conversation(
            memory,
            self._models,
            self._prompts,
            self._recaller,
            Toolbox(memory, self._recaller, self._maker),
            self.settings,
            client=self._client,
            notify=self._tell,
            foreground=self._foreground,
            answered=self._after_reply,
        )
        counts = await asyncio.to_thread(memory.counts)
        self._tell(MemoryReady(counts["turns"], memory.recovered))
        if open_graph:
            self.open_graph()
        self._spawn(self._sweep_private())
        loading = self._spawn(self._load(self.settings.model)) if load_model else None
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
                    self._tell(MemoryAwaited(f"waiting for {who}, which is using the memory"))
            await asyncio.sleep(POLL_S)

    def open_graph(self) -> None:
        """Open the graph in the background, for a start that left it closed."""
        self._opening = self._spawn(self._open_graph(self._memory))
        self._spawn(self._resume_purge())  # without a graph it could only throw that away

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
        if report.merged is not None and report.merged.deleted:
            self._purge_soon()
        return report

    async def close(self) -> None:
        """Stop what runs, keep the partial reply, close everything. Safe to call twice, and without a start."""
        memory = self._memory_or_none
        if memory is None or self._closing:
            return
        self._closing = True
        await self._nightly.close()
        await self._jobs.close()
        await self.end_private()
        await self._conversation.close()
        await self._reflector.close()
        await self._embedding.close()
        await self._prompts.pause()
        await self._models.close()
        await self._fallback.close()
        await self._end_tasks()
        await self._prompts.shelf.written()  # what is forgotten just now asks the memory
        self._memory_or_none = None
        await asyncio.to_thread(memory.close)
        self._end_notices()

    # -- the conversation -----------------------------------------------------------------------------------------

    @property
    def answering(self) -> str | None:
        """The session whose reply is in the making."""
        return self._conversation.answering or (self._private.conversation.answering if self._private else None)

    def send(self, session: str | None, text: str, *, project: str | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Take a message and answer it; None begins a session. The first event is TurnAccepted or Failed."""
        return self._conversation_of(session).send(session, text, project=project)

    def retry(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last message of a session if it has no reply."""
        return self._conversation_of(session).retry(session)

    def stop(self) -> bool:
        """Stop the reply in the making, keeping what came; what is queued behind it in its chat is on hold."""
        return self._conversation.stop() or (self._private is not None and self._private.conversation.stop())

    def go_on(self, session: str) -> bool:
        """Answer the messages of a session that a stop put on hold; False if there are none."""
        return self._conversation_of(session).go_on(session)

    async def withdraw(self, session: str, turn: str) -> str:
        """Take back a message whose turn has not come, reversibly: it is hidden, and its words are returned.

        Raises AgentError where it is too late, and MemoryFailure.
        """
        return await self._conversation_of(session).withdraw(session, turn)

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
            to_learn_from=await self._to_learn_from(),
        )

    async def use_model(self, name: str, *, session: str | None = None) -> None:
        """Load another model and use it for `session`, or for all that have none of their own.

        Raises ModelError; then the one that was loaded stays.
        """
        async with self._conversation.floor:  # a reply is written to its end by the model that began it
            await self._models.get(name)
        if session is None:
            self._use(self.settings.model_copy(update={"model": name}))
        else:
            await self.configure(session, model=name)

    async def use_embedder(self, name: str) -> None:
        """Load another embedder; everything said gets a vector of it in the background, and recall goes on meanwhile.

        Raises ModelError; then the one that was loaded stays.
        """
        await self._embedding.use(name)
        self.settings = self.settings.model_copy(update={"embedder": name})

    async def use_settings(self, new: Settings) -> None:
        """Go on with other settings; where they say how models are loaded, those that are loaded are loaded anew.

        Which models these are stays: `use_model` and `use_embedder` change that. Raises ModelError; then all is as it
        was.
        """
        before = self.settings
        self._use(new.model_copy(update={"model": before.model, "embedder": before.embedder}))
        try:
            if before.threads != new.threads or before.gpu_layers != new.gpu_layers:
                await self._embedding.reload()
            if any(getattr(before, name) != getattr(new, name) for name in LOADS):
                async with self._conversation.floor:
                    await self._models.reload()
        except ModelError:
            self._use(before)
            raise
        self._states.limit = _kv_limit(new)
        if new.fallback_model != before.fallback_model:
            self._unusable, left = None, self._fallback
            self._fallback = ModelHost(self._loader, self._tell_of_fallback)
            await left.close()
        if new.reflect and not before.reflect:
            self._reflector.start()
        elif before.reflect and not new.reflect:
            await self._reflector.close()

    def _use(self, settings: Settings) -> None:
        self.settings = settings
        self._conversation.use(settings)
        if self._private is not None:
            self._private.use(settings)

    async def embedder_ready(self) -> bool:
        """Wait until the embedder is loaded, or has failed to; whether recall goes by meaning too."""
        return await self._embedding.ready()

    @property
    def rewrites(self) -> dict[str, int]:
        """How often a prompt did not begin with the one before it, by cause."""
        return {str(cause): count for cause, count in self._prompts.rewrites.items()}

    async def idle(self) -> None:
        """Wait until nothing runs in the background any more: no compaction, loading, reflection, or embedding."""
        while self._background or self._prompts.busy or self._reflector.busy:
            await asyncio.gather(*self._background, return_exceptions=True)
            await self._prompts.settled()
            await self._reflector.idle()
        await self._embedding.idle()

    async def opened(self, session: str) -> None:
        """Tell that the user looks at a session: its prompt is evaluated in the background while they read and type."""
        if self.is_private(session):
            return
        self._looked_at = session
        generator = self._models.current
        if generator is not None and self.answering is None:
            self._prompts.warm(session, generator, self._conversation.limits(generator))

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _memory(self) -> Memory:
        if self._memory_or_none is None:
            raise AgentError("The memory is not open yet, or was closed. Nothing was changed. Try again in a moment.")
        return self._memory_or_none

    def _guide(self, generator: Generator) -> str:
        return GUIDE if in_use(self.settings.tools, generator.info) else ""

    def _doubts_named(self, name: str) -> bool:
        """Whether a model that gave a reply once is doubted; of one that is not loaded only its size is known."""
        model = self._models.current
        if model is not None and model.info.name == name:
            return self._trusts.doubts(model)
        from models.store import ModelStore

        return any(each.name == name and each.size < CAPABLE_BYTES for each in ModelStore(self._home.models).entries())

    def _make_reflector(self, memory: Memory) -> Reflector:
        self._learning = Learning(
            memory, self._trusts, self._embedding.vectors, self._foreground, fallback=self._fallback_model
        )
        return Reflector(
            memory,
            self._learning,
            self._prompts,
            self._foreground,
            model=self._reflecting_model,
            notify=self._tell,
            review=lambda: self.settings.review,
        )

    def _reflect_on_what_comes(self, memory: Memory) -> None:
        """Whatever is appended may be something to reflect on, once that is begun; appends are heard on any thread."""
        loop, others = asyncio.get_running_loop(), memory.appended

        def heard() -> None:
            others()
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._reflector.wake)

        memory.appended = heard

    async def _reflecting_model(self) -> Generator | None:
        """The model that is loaded, whichever it is: swapping it for the background's sake would cost a reply."""
        if self._models.current is None and self._failed != self.settings.model:
            found = await self._chat_model()
            self._failed = self.settings.model if found is None else None  # it is told once
        return self._models.current

    async def _fallback_model(self) -> Generator | None:
        """The model that is asked where the other refuses; loaded when it is needed first, and kept."""
        name = self.settings.fallback_model
        if name in ("", self._models.name, self._unusable):
            return None
        try:
            return await self._fallback.get(name)
        except (ModelError, Abandoned):  # told by a notice, once
            self._unusable = name
            return None

    def _tell_of_fallback(self, notice: Notice) -> None:
        """What is to be known of it: it is not the model that answers, whose state faces show."""
        match notice:
            case ModelFailed():
                self._tell(Warned(f"The fallback model cannot be used: {notice.message}"))
            case Warned():
                self._tell(notice)

    async def _chat_model(self) -> Generator | None:
        try:
            return await self._models.get(self.settings.model)
        except ModelError:  # told by a notice
            return None

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
        self._spawn(self._prompts.tidy())  # only the graph knows which memories may be kept
        self._reflector.wake()
        with contextlib.suppress(MemoryFailure, *SURPRISES):  # then the first recall says why
            await asyncio.to_thread(memory.warm_recall)

    async def _load(self, name: str) -> None:
        try:
            await self._models.get(name)
        except (ModelError, Abandoned):
            return  # told by a notice, or nobody waits any more
        if self._looked_at is not None:
            await self.opened(self._looked_at)


def _kv_limit(settings: Settings) -> int | None:
    """Bytes of disk for KV states; None: what one full context takes."""
    return None if settings.kv_mb < 0 else settings.kv_mb << 20
