"""The real Agent for the tests of the screens: its memory is written beforehand, and its model says what it is told to.

The log, the graph and all that reads them are real. What stands in for the outside world is the model, the embedder,
and the clock of what is written beforehand. A test that must hold an answer back, or see one fail, does that to one
public method of the agent by its name.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from agent.agent import Agent
from agent.events import AgentEvent, Failed, ModelProgress, Notice, Warned
from agent.home import Home
from agent.model_host import LoadedEmbedder
from agent.settings import Settings
from graph import events as happened
from graph.ids import as_ms
from graph.log.log import Log
from models.errors import ModelError
from models.protocols import Generator
from tests.fakes import FakeEmbedder, FakeGenerator, Reply

START = datetime(2025, 6, 3, 14, 2, tzinfo=UTC)
MODEL, CONTEXT = "smollm2-135m", 8192
FETCHING = ModelProgress("fetching", MODEL, 58_000_000, 135_000_000)
ERASED = "erased"
REFLECTION = "REFLECTION"  # what came of one is no change by hand
LONG = 500  # events of a chat: so many are stored in one moment
STEP_S = 0.1  # between two words of a fetch that does not end
Method = Callable[..., Any]


class ScriptedAgent(Agent):
    """The Agent on this test's home. Clear `go` to hold its model back before the next piece of a reply.

    What is filled in before it starts has short ids: sessions S000, S001 … with the latest first, turns T000001 …,
    observations OBS0000001 ….
    """

    def __init__(
        self,
        *,
        reply: str | Reply | Callable[[str], str | Reply] = "Hello there.",
        model: Generator | None = None,
        fetching: bool = False,
        failure: ModelError | None = None,
        **settings: Any,
    ) -> None:
        """With `fetching` the model is on its way for ever; with a `failure` it cannot be loaded."""
        self.reply = reply
        self.model = model or FakeGenerator(context=CONTEXT, name=MODEL)
        if isinstance(self.model, FakeGenerator) and model is None:
            self.model.replies = (self._say,)
        self.failure = failure
        self.fetching = threading.Event()
        if not fetching:
            self.fetching.set()
        self.turns: dict[str, list[str]] = {}  # that were filled in, by their sessions
        self.closed = False
        self._loads = 0
        self._held: list[asyncio.Event] = []
        self._started = False
        self._later: list[tuple[str, Callable[[Method], Method]]] = []
        self._embedder = HeldEmbedder()
        self._script = Script()
        super().__init__(
            Home.resolve(),
            Settings(**{"system_prompt": "You are clew.", "reflect": False, **settings}),
            client="chat",
            loader=self._load_model,
            embedder_loader=lambda name: LoadedEmbedder(self._embedder, "fake@0"),
        )

    @property
    def go(self) -> asyncio.Event:
        """Whether the model goes on."""
        assert isinstance(self.model, FakeGenerator)
        return self.model.gate

    # What there was before

    def add_session(
        self, name: str | None, *exchanges: tuple[str, str], project: str | None = None, source: str | None = None
    ) -> str:
        """A chat that was had before, a day before the one that was added last."""
        session = f"S{len(self.turns):03}"
        self._script.add(
            session, happened.SessionStarted(session=session, client="chat", project=project, source=source)
        )
        self.turns[session] = []
        if name is not None:
            self._script.add(session, happened.SessionTitled(session=session, sources=(), text=name))
        for question, answer in exchanges:
            self.add_turn(session, question)
            self.add_turn(session, answer, role=happened.Role.ASSISTANT)
        return session

    def add_turn(self, session: str, text: str, *, role: happened.Role = happened.Role.USER, **more: Any) -> str:
        """A message, a reply or what a tool said, at the end of a chat (or after `parent`); its id."""
        turns = self.turns[session]
        turn = f"T{sum(map(len, self.turns.values())) + 1:06}"
        fields: dict[str, Any] = {
            "turn": turn,
            "session": session,
            "parent": turns[-1] if turns else None,
            "role": role,
            "speaker": {happened.Role.USER: "you", happened.Role.ASSISTANT: "assistant"}.get(role, "tool"),
            "client": "chat",
            "text": text,
            **({"stop_reason": happened.StopReason.END, "model": MODEL} if role == happened.Role.ASSISTANT else {}),
            **more,
        }
        self._script.add(session, happened.TurnSaid.model_validate(fields))
        turns.append(turn)
        return turn

    def add_recalled(self, *turns: str) -> tuple[happened.Recalled, ...]:
        """What a reply says was put before the model, for `add_turn(…, recalled=…)`."""
        return tuple(happened.Recalled(id=turn, score=1.0, ranks={"lexical": 1}) for turn in turns)

    def learn(
        self,
        text: str | None,
        *sources: str,
        kind: happened.ObservationKind = happened.ObservationKind.FACT,
        supports: tuple[str, ...] = (),
        about: tuple[str, ...] = (),
        supersedes: str | None = None,
        pinned: bool = False,
        **more: Any,
    ) -> str:
        """An observation from turns that were filled in (without any: from the first there is), in use; its id.

        One without a text is one whose words were erased.
        """
        made = self._script.learned
        id = f"OBS{len(made) + 1:07}"
        proof = sources or (next(turn for turns in self.turns.values() for turn in turns),)
        made[id] = made[supersedes] if supersedes else id
        names = [self._script.name(each, proof[0]) for each in about]
        fields: dict[str, Any] = {
            "observation": id,
            "series": made[id],
            "supersedes": supersedes,
            "about": names,
            "category": kind,
            "status": "active",
            "confidence": 0.8,
            "grounded": True,
            "origin": "model",
            "sources": proof,
            "text": ERASED if text is None else text,
            **more,
        }
        self._script.then(
            happened.ObservationMade.model_validate(fields),
            *(happened.ObservationSupported(observation=id, source=each, reflection=REFLECTION) for each in supports),
            *([happened.PinSet(observation=id)] if pinned else []),
        )
        return id

    def learn_many(self, texts: Iterable[str]) -> None:
        """Observations from the first turn there is, all in one moment."""
        with self._script.moment():
            for text in texts:
                self.learn(text)

    def add_document(
        self,
        title: str,
        path: str,
        *passages: str,
        kind: Literal["markdown", "text", "code", "pdf"] = "markdown",
        size: int | None = None,
        project: str | None = None,
        tags: tuple[str, ...] = (),
        headings: tuple[str, ...] = (),
    ) -> str:
        """A document that was read, though there is no such file; its id. The headings lead to each of its passages."""
        document = f"D{self._script.documents + 1}"
        self._script.documents += 1
        chunks = tuple(f"{document}C{number + 1:03}" for number in range(len(passages)))
        read = happened.DocumentRead(
            document=document,
            category=kind,
            project=project,
            tags=tags,
            size=size if size is not None else sum(len(passage.encode()) for passage in passages),
            chunks=chunks,
            text=f"{title}\n{path}",
        )
        pieces = zip(chunks, passages, strict=True)
        with self._script.moment():
            for id, text in pieces:
                whole = "\n".join((*headings, text))
                self._script.then(happened.ChunkRead(chunk=id, document=document, headings=len(headings), text=whole))
            self._script.then(read)
        return document

    def add_project(self, name: str, description: str = "") -> None:
        """A project that chats and memories can belong to."""
        self._script.then(happened.ProjectMade(project=name, text=description))

    def add_events(self, *events: happened.Event) -> None:
        """Anything else that happened, behind all that was said."""
        self._script.then(*events)

    # What the tests do to it

    def hold(self, method: str) -> asyncio.Event:
        """Have calls of a public coroutine method ("search.words") wait until the event is set."""
        go = asyncio.Event()
        self._held.append(go)

        def holding(call: Method) -> Method:
            async def held(*arguments: Any, **more: Any) -> Any:
                await go.wait()
                return await call(*arguments, **more)

            return held

        self._put(method, holding)
        return go

    def let_go(self) -> None:
        """Hold nothing back any more."""
        for event in (self.go, *self._held):
            event.set()

    def hold_search(self, query: str) -> asyncio.Event:
        """Have every search of the memory for these very words wait until the event is set."""
        self._embedder.held = query
        self._held.append(self._embedder.go)
        return self._embedder.go

    def fail(self, method: str, error: Exception) -> Callable[[], None]:
        """Have calls of a public coroutine method raise; what is returned ends that."""
        errors = [error]

        def failing(call: Method) -> Method:
            async def failed(*arguments: Any, **more: Any) -> Any:
                if errors:
                    raise errors[0]
                return await call(*arguments, **more)

            return failed

        self._put(method, failing)
        return errors.clear

    def take_steps(self, *steps: dict[str, Any]) -> None:
        """Have the model take these steps before its next reply, each the call of a tool; `tools` must be on."""
        assert isinstance(self.model, FakeGenerator)
        self.model.structured_replies[:] = [*steps, {"tool": "answer"}]

    def turn_down(self, method: str, message: str) -> None:
        """Have a public method that answers with events answer with that failure alone."""

        async def failing(*arguments: Any, **more: Any) -> AsyncIterator[AgentEvent]:
            yield Failed(message)

        self._put(method, lambda call: failing)

    def watch_calls(self, method: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """What a public method is called with from now on."""
        calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

        def watching(call: Method) -> Method:
            def noted(*arguments: Any, **more: Any) -> Any:
                calls.append((arguments, more))
                return call(*arguments, **more)

            return noted

        self._put(method, watching)
        return calls

    def _put(self, method: str, made: Callable[[Method], Method]) -> None:
        """Put something in the place of a method, of a part as soon as that is there."""
        if "." in method and not self._started:
            self._later.append((method, made))
            return
        *parts, name = method.split(".")
        owner: Any = self
        for part in parts:
            owner = getattr(owner, part)
        setattr(owner, name, made(getattr(owner, name)))

    def tell(self, notice: Notice) -> None:
        """Have it tell that to whoever listens, as it does of what happens in the background."""
        self._notifications.tell(notice)

    # Its life

    async def start(self, **more: Any) -> None:
        await asyncio.to_thread(self._script.write, self._home)
        await super().start(**more)
        self._started = True
        for method, made in self._later:
            self._put(method, made)

    async def close(self) -> None:
        await super().close()
        self.closed = True

    def _say(self, prompt: str) -> str | Reply:
        """What `reply` is at the moment the model is asked."""
        return self.reply(prompt) if callable(self.reply) else self.reply

    def _load_model(self, name: str, progress: Callable[[ModelProgress | Warned], None]) -> Generator:
        progress(FETCHING if not self.fetching.is_set() else ModelProgress("loading", name))
        while not self.fetching.wait(STEP_S):
            progress(FETCHING)  # raises once nobody waits any more
        if self.failure is not None:
            raise self.failure
        self._loads += 1
        if self._loads > 1 and isinstance(self.model, FakeGenerator):  # the one before is closed once this one is there
            self.model = _another(self.model, Path(name).stem if name.endswith(".gguf") else name)
        return self.model


def _another(model: FakeGenerator, name: str) -> FakeGenerator:
    """A model that says the same, and waits at the same gate."""
    made = FakeGenerator(*model.replies, context=model.info.context, name=name)
    made.answers, made.structured_replies = model.answers, model.structured_replies
    made.gate, made.waiting = model.gate, model.waiting
    return made


class HeldEmbedder(FakeEmbedder):
    """One that lets a text wait until `go` is set, which is `held` by then."""

    def __init__(self) -> None:
        super().__init__()
        self.held: str | None = None
        self.go = asyncio.Event()

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        if self.held in texts:
            await self.go.wait()
        return await super().embed(texts, brief=brief, most=most)


class Script:
    """What is to be written before the agent starts, and when it happened: chats, and then the rest."""

    def __init__(self) -> None:
        self.learned: dict[str, str] = {}  # the series of each observation
        self.documents = 0
        self._sessions: dict[str, list[happened.Event]] = {}
        self._rest: list[tuple[happened.Event, ...]] = []
        self._names: dict[str, str] = {}

    def add(self, session: str, event: happened.Event) -> None:
        """What happened in a chat."""
        self._sessions.setdefault(session, []).append(event)

    def then(self, *events: happened.Event) -> None:
        """What happened after all chats, one after the other."""
        self._rest.extend((event,) for event in events)

    @contextmanager
    def moment(self) -> Iterator[None]:
        """What happens meanwhile after all chats happens in one moment."""
        begun = len(self._rest)
        yield
        self._rest[begun:] = [tuple(event for together in self._rest[begun:] for event in together)]

    def name(self, name: str, turn: str) -> str:
        """The id of who or what is named."""
        if name not in self._names:
            self._names[name] = f"E{len(self._names):03}"
            self.then(happened.EntityNoted(entity=self._names[name], category="person", by_turn=turn, text=name))
        return self._names[name]

    def write(self, home: Home) -> None:
        """Store it, each chat a day after the next, and one second between two events but those of a long one. Once."""
        if not self._sessions and not self._rest:
            return
        now = START - timedelta(days=len(self._sessions))

        def tick() -> int:
            return as_ms(now)

        log = Log.open(home.memory, clock=tick)
        for place, events in enumerate(reversed(self._sessions.values())):
            now = START - timedelta(days=len(self._sessions) - 1 - place)
            for said in [events] if len(events) > LONG else [[event] for event in events]:
                now += timedelta(seconds=1)
                log.append(said)
        erased: list[int] = []
        for together in self._rest:
            now += timedelta(minutes=1)
            stored = log.append(together)
            erased += [
                each.seq
                for each in stored
                if isinstance(each.event, happened.ObservationMade) and each.event.text == ERASED
            ]
        if erased:
            log.append([happened.TextErased(events=tuple(erased))])
        log.close()
        self._sessions, self._rest = {}, []
