"""The real Agent for the tests of the screens: its memory is written beforehand, and its model says what it is told to.

The log, the graph and all that reads them are real. What stands in for the outside world is the model, the embedder,
and the clock of what is written beforehand. A test that must hold an answer back, or see one fail, does that to one
public method of the agent by its name.
"""

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from agent.agent import Agent
from agent.events import ModelProgress, Notice, Warned
from agent.home import Home
from agent.model_host import LoadedEmbedder
from agent.settings import Settings
from graph.events import (
    EntityNoted,
    Event,
    ObservationKind,
    ObservationMade,
    ObservationSupported,
    PinSet,
    ProjectMade,
    Recalled,
    Role,
    SessionStarted,
    SessionTitled,
    StopReason,
    TurnRated,
    TurnSaid,
)
from graph.ids import as_ms
from graph.log import Log
from models.errors import ModelError
from models.protocols import Generator
from tests.fakes import FakeEmbedder, FakeGenerator, Reply

START = datetime(2025, 6, 3, 14, 2, tzinfo=UTC)
MODEL, CONTEXT = "smollm2-135m", 8192
FETCHING = ModelProgress("fetching", MODEL, 58_000_000, 135_000_000)
STEP_S = 0.01  # between two words of a fetch that does not end


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
            self.model.replies = (Saying(self),)
        self.failure = failure
        self.fetching = threading.Event()
        if not fetching:
            self.fetching.set()
        self.turns: dict[str, list[str]] = {}  # that were filled in, by their sessions
        self._held: list[asyncio.Event] = []
        self._script = Script()
        super().__init__(
            Home.resolve(),
            Settings(**{"system_prompt": "You are clew.", "reflect": False, **settings}),
            client="chat",
            loader=self._load_model,
            embedder_loader=lambda name: LoadedEmbedder(FakeEmbedder(), "fake@0"),
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
        began = SessionStarted(session=session, client="chat", project=project, source=source)
        self._script.begin(session, began)
        self.turns[session] = []
        if name is not None:
            self._script.add(session, SessionTitled(session=session, sources=(), text=name))
        for question, answer in exchanges:
            self.add_turn(session, question)
            self.add_turn(session, answer, role=Role.ASSISTANT)
        return session

    def add_turn(self, session: str, text: str, *, role: Role = Role.USER, **more: Any) -> str:
        """A message, a reply or what a tool said, at the end of a chat (or after `parent`); its id."""
        turns = self.turns[session]
        turn = f"T{sum(map(len, self.turns.values())) + 1:06}"
        fields: dict[str, Any] = {
            "turn": turn,
            "session": session,
            "parent": turns[-1] if turns else None,
            "role": role,
            "speaker": {Role.USER: "you", Role.ASSISTANT: "assistant"}.get(role, "tool"),
            "client": "chat",
            "text": text,
            **({"stop_reason": StopReason.END, "model": MODEL} if role == Role.ASSISTANT else {}),
            **more,
        }
        self._script.add(session, TurnSaid.model_validate(fields))
        turns.append(turn)
        return turn

    def add_recalled(self, *turns: str) -> tuple[Recalled, ...]:
        """What a reply says was put before the model, for `add_turn(…, recalled=…)`."""
        return tuple(Recalled(id=turn, score=1.0, ranks={"lexical": 1}) for turn in turns)

    def learn(
        self,
        text: str,
        *sources: str,
        kind: ObservationKind = ObservationKind.FACT,
        supports: tuple[str, ...] = (),
        about: tuple[str, ...] = (),
        supersedes: str | None = None,
        pinned: bool = False,
        **more: Any,
    ) -> str:
        """An observation from turns that were filled in (without any: from the first there is), in use; its id."""
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
            "text": text,
            **more,
        }
        self._script.then(
            ObservationMade.model_validate(fields),
            *(ObservationSupported(observation=id, source=each) for each in supports),
            *([PinSet(observation=id)] if pinned else []),
        )
        return id

    def add_project(self, name: str, description: str = "") -> None:
        """A project that chats and memories can belong to."""
        self._script.then(ProjectMade(project=name, text=description))

    def rate_turn(self, turn: str, significance: int) -> None:
        """A rating by the user."""
        self._script.then(TurnRated(turn=turn, significance=significance, by="user"))

    def add_events(self, *events: Event) -> None:
        """Anything else that happened, behind all that was said."""
        self._script.then(*events)

    # What the tests do to it

    def hold(self, method: str) -> asyncio.Event:
        """Have calls of a public coroutine method wait until the event is set."""
        go, call = asyncio.Event(), getattr(self, method)
        self._held.append(go)

        async def held(*arguments: Any, **more: Any) -> Any:
            await go.wait()
            return await call(*arguments, **more)

        setattr(self, method, held)
        return go

    def let_go(self) -> None:
        """Hold nothing back any more."""
        for event in (self.go, *self._held):
            event.set()

    def fail(self, method: str, error: Exception) -> Callable[[], None]:
        """Have calls of a public coroutine method raise; what is returned ends that."""

        async def failing(*arguments: Any, **more: Any) -> Any:
            raise error

        setattr(self, method, failing)
        return partial(delattr, self, method)

    def watch_calls(self, method: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """What a public method is called with from now on."""
        calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        call = getattr(self, method)

        def noted(*arguments: Any, **more: Any) -> Any:
            calls.append((arguments, more))
            return call(*arguments, **more)

        setattr(self, method, noted)
        return calls

    def tell(self, notice: Notice) -> None:
        """Have it tell that to whoever listens, as it does of what happens in the background."""
        self._notifications.tell(notice)

    # Its life

    async def start(self, **more: Any) -> None:
        await asyncio.to_thread(self._script.write, self._home)
        await super().start(**more)

    def _load_model(self, name: str, progress: Callable[[ModelProgress | Warned], None]) -> Generator:
        progress(FETCHING if not self.fetching.is_set() else ModelProgress("loading", name))
        while not self.fetching.wait(STEP_S):
            progress(FETCHING)  # raises once nobody waits any more
        if self.failure is not None:
            raise self.failure
        return self.model


class Saying:
    """What the agent's `reply` is at the moment the model is asked."""

    def __init__(self, agent: ScriptedAgent) -> None:
        self._agent = agent

    def __call__(self, prompt: str) -> str | Reply:
        reply = self._agent.reply
        return reply(prompt) if callable(reply) else reply


class Script:
    """What is to be written before the agent starts, and when it happened: chats, and then the rest."""

    def __init__(self) -> None:
        self.learned: dict[str, str] = {}  # the series of each observation
        self._sessions: dict[str, list[Event]] = {}
        self._rest: list[Event] = []
        self._names: dict[str, str] = {}

    def begin(self, session: str, event: Event) -> None:
        """A chat."""
        self._sessions[session] = [event]

    def add(self, session: str, event: Event) -> None:
        """What happened in a chat."""
        self._sessions[session].append(event)

    def then(self, *events: Event) -> None:
        """What happened after all chats."""
        self._rest.extend(events)

    def name(self, name: str, turn: str) -> str:
        """The id of who or what is named."""
        if name not in self._names:
            self._names[name] = f"E{len(self._names):03}"
            self.then(EntityNoted(entity=self._names[name], category="person", by_turn=turn, text=name))
        return self._names[name]

    def write(self, home: Home) -> None:
        """Store it, each chat a day after the next, and one second between two events. Once."""
        if not self._sessions and not self._rest:
            return
        now = START - timedelta(days=len(self._sessions))

        def tick() -> int:
            return as_ms(now)

        log = Log.open(home.memory, clock=tick)
        for place, events in enumerate(reversed(self._sessions.values())):
            now = START - timedelta(days=len(self._sessions) - 1 - place)
            for event in events:
                now += timedelta(seconds=1)
                log.append([event])
        for event in self._rest:
            now += timedelta(minutes=1)
            log.append([event])
        log.close()
        self._sessions, self._rest = {}, []
