"""The Agent: the one service under every face of clew. Async methods, plain values in, typed frozen events out."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.background import BackgroundTasks
from agent.composition import Context
from agent.composition.changes import compose_changes
from agent.composition.conversation import compose_conversation, kv_limit
from agent.composition.learning import compose_learning
from agent.errors import AgentError
from agent.events import AgentEvent, MemoryReady, Notice, OfPrivate
from agent.home import Home
from agent.model_host import Abandoned, EmbedderLoader, Loader, llama_embedder_loader, llama_loader
from agent.opening import open_memory
from agent.outlets import Notifications
from agent.served import ModelServer
from agent.settings import Settings, write_setting
from agent.steps import Approvals
from agent.story.play import Play
from graph.memory import Memory
from models.errors import ModelError
from models.protocols import Generator

PARTS = frozenset(
    (
        "chats", "branches", "memories", "entities", "projects", "proposals", "plans", "history", "past", "search",
        "documents", "graph", "queries", "models", "private", "reflection", "erasure", "syntheses", "stories",
        "references",
    )
)  # fmt: skip
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
    server: ModelServer | None = None  # that the model is on, by what is known without asking
    away: tuple[str, ...] = ()  # the other machines that words go to


class Agent:
    """One memory, one model, many chats. `start` before anything else, `close` at the end.

    What it can do lies in its parts, which are there once it has started.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        *,
        client: str,
        command: str | None = None,
        brief: bool = False,
        fetching: bool = False,
        loader: Loader | None = None,
        embedder_loader: EmbedderLoader | None = None,
    ) -> None:
        """With `fetching` the model that somebody said yes to is fetched: nothing else here asks the network for one.

        Whoever comes second is told that this `command` has the memory.
        """
        self.settings = settings
        self._home = home
        self._client = client
        self._command = command or f"clew ({client})"
        self._brief = brief  # it promises to close by itself, in a moment
        # Each time by the settings that are in force then.
        self._loader = loader or (
            lambda name, progress: llama_loader(home, self.settings, fetching=fetching)(name, progress)
        )
        self._embedder_loader = embedder_loader or (lambda name: llama_embedder_loader(home, self.settings)(name))
        self._started_at = time.monotonic()
        self._notifications = Notifications()
        self._background = BackgroundTasks(self._notifications.tell)
        self._memory_or_none: Memory | None = None
        self._looked_at: str | None = None
        self._closing = False

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """A part that is not there yet. Raises AgentError."""
            if name in PARTS:
                raise AgentError(NOT_OPEN)
            raise AttributeError(f"'Agent' object has no attribute {name!r}")

    # -- life -----------------------------------------------------------------------------------------------------

    async def start(self, *, load_model: bool = True, load_embedder: bool = True, open_graph: bool = True) -> None:
        """Open the log, then go on in the background with the graph, the model and then the embedder, telling notices.

        Raises MemoryHeld if another clew holds the memory, and the other MemoryFailures if the log cannot be used. One
        that holds it for a moment is waited for.
        """
        self._notifications.begin()
        tell = self._notifications.tell
        memory = await open_memory(self._home, command=self._command, brief=self._brief, tell=tell)
        self._memory_or_none = memory
        self._compose(memory)
        counts = await asyncio.to_thread(memory.readings.counts)
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

    def open_graph(self) -> None:
        """Open the graph in the background, for a start that left it closed."""
        self._graph_opening.begin()
        self._background.start(self.erasure.resume())  # without a graph it could only throw that away

    def embed(self, *, after: asyncio.Task[None] | None = None) -> None:
        """Load the embedder and embed what was said, in the background, for a start that left that out."""
        self._embedding.start(after=after)

    def end_soon(self) -> None:
        """Tell whoever wants the memory that it is closed in a moment: they wait for it."""
        if self._memory_or_none is not None:
            self._memory_or_none.end_soon()

    async def close(self) -> None:
        """Stop what runs, keep the partial reply, close everything. Safe to call twice, and without a start."""
        memory = self._memory_or_none
        if memory is None or self._closing:
            return
        self._closing = True
        self.end_soon()
        await self._nightly.close()
        await self._graph_opening.close()
        await self._jobs.close()
        await self.references.close()
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

    def on_notice(self, listener: Callable[[Notice | OfPrivate], None]) -> None:
        """Call it with all of these as well, before whoever asked for what is told gets an answer."""
        self._notifications.add(listener)

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
    def unanswered(self) -> int:
        """How many messages wait for an answer, or are being answered; none that are on hold."""
        return self._foreground.waiting

    async def all_answered(self) -> None:
        """Wait until no message waits for an answer."""
        await self._foreground.free()

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
        whisper: str | None = None,
        references: Sequence[str] = (),
    ) -> AsyncGenerator[AgentEvent, None]:
        """Take a message and answer it; None begins a session. The first event is TurnAccepted or Failed.

        `client` says it where that is not the one this agent was made for. `turn` is an id that the client has made: a
        message that is there already under it is not taken twice, and its TurnAccepted is all that is told. In a story,
        `whisper` is the member of the cast who alone hears it. `references` are addresses and whole paths of files that
        the chat refers to from then on; where one of them is not allowed to be read, nothing is sent.
        """
        return self.private.conversation_of(session).send(
            session, text, project=project, client=client, turn=turn, whisper=whisper, references=references
        )

    def speak(self, session: str, member: str) -> AsyncGenerator[AgentEvent, None]:
        """Let a member of a story's cast speak next, asked or not: the events are as of `send`."""
        return self.private.conversation_of(session).speak(session, member)

    def watch(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """The events of every message of a session, whoever said it, from the moment of the call until `close`."""
        return self.private.conversation_of(session).watch(session)

    def retry(self, session: str) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last message of a session if it has no reply."""
        return self.private.conversation_of(session).retry(session)

    def regenerate(
        self, session: str, turn: str | None = None, *, goes_on: bool = False
    ) -> AsyncGenerator[AgentEvent, None]:
        """Make the last reply anew, or the given one (or that to a message), beside it: the events are as of `send`.

        Where it is stopped or fails before a word came, the chat is as it was. A message that waits is answered. One
        that was cut off and `goes_on` begins with what it has.
        """
        return self.private.conversation_of(session).regenerate(session, turn, goes_on=goes_on)

    def edit(
        self, session: str, turn: str, text: str, *, references: Sequence[str] = ()
    ) -> AsyncGenerator[AgentEvent, None]:
        """Say something else in the place of an earlier message, and answer that: the events are as of `send`."""
        return self.private.conversation_of(session).edit(session, turn, text, references=references)

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
        counts = await asyncio.to_thread(memory.readings.counts)
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
            server=self.models.servers.known,
            away=self.models.away,
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
        self._states.limit = kv_limit(new)
        await self.models.renamed(before, new)
        if new.reflect and not before.reflect:
            self._reflector.start()
        elif before.reflect and not new.reflect:
            await self._reflector.close()

    # -- putting it together --------------------------------------------------------------------------------------

    def _compose(self, memory: Memory) -> None:
        context = Context(
            memory=memory,
            home=self._home,
            client=self._client,
            settings=lambda: self.settings,
            tell=self._notifications.tell,
            background=self._background,
            loader=self._loader,
            embedder_loader=self._embedder_loader,
            write_hosts=self._write_hosts,
        )
        talk = compose_conversation(context, answered=self._after_reply, speaks_up=self._who_speaks_up)
        self._states, self._prompts, self._host, self._embedding = talk.states, talk.prompts, talk.host, talk.embedding
        self._recaller, self._themes, self._conversation = talk.recaller, talk.themes, talk.conversation
        self._foreground, self.private = talk.foreground, talk.private
        changes = compose_changes(context, talk, graph_opened=self._graph_opened)
        self._jobs, self._nightly, self._graph_opening = changes.jobs, changes.nightly, changes.graph_opening
        self.erasure = changes.erasure
        self.plans, self.history, self.chats, self.branches = (
            changes.plans,
            changes.history,
            changes.chats,
            changes.branches,
        )
        self.memories, self.entities, self.proposals = changes.memories, changes.entities, changes.proposals
        self.projects, self.documents, self.stories = changes.projects, changes.documents, changes.stories
        self.references = changes.references
        learning = compose_learning(context, talk, changes, apply=self._apply)
        self.models, self._reflector, self.reflection = learning.models, learning.reflector, learning.reflection
        self._keeper = learning.keeper
        self._notifications.add(self.models.heard)
        self.syntheses = learning.syntheses
        self.search, self.past, self.graph, self.queries = (
            learning.search,
            learning.past,
            learning.graph,
            learning.queries,
        )

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _memory(self) -> Memory:
        if self._memory_or_none is None:
            raise AgentError(NOT_OPEN)
        return self._memory_or_none

    def _after_reply(self, session: str, first: str | None, generator: Generator) -> None:
        self.reflection.after_reply(session, first, generator)
        self._keeper.after_reply(session)

    async def _who_speaks_up(self, session: str, play: Play, spoke: str, reply: str) -> str | None:
        return await self._keeper.speaks_up(session, play, spoke, reply)

    def _apply(self, settings: Settings) -> None:
        self.settings = settings
        self._conversation.use(settings)
        self.private.use(settings)

    def _write_hosts(self, hosts: str) -> None:
        """Keep another value of the setting in the file, and put it in force."""
        write_setting(self._home.config, "hosts", hosts)
        self._apply(self.settings.model_copy(update={"hosts": hosts}))

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
