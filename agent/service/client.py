"""The Agent as a face has it that is not in its process: the same parts with the same methods, asked over the socket.

A method is bound and packed as the Agent's own would be, by its annotations (methods.py), so that a face cannot tell
the difference. Where the service goes away, what waits for an answer gets `ServiceLost`, the face is told in one
notice, and the next thing asked is asked of the service that is started then. A message keeps the id that was made for
it here, so that sent again it is said once.
"""

import asyncio
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.events import Failed, Notice, QueueHeld, TurnAccepted, Warned
from agent.outlets import Notifications, Outlet, Work, joined, told_by
from agent.private import draft_folder
from agent.service.address import elsewhere
from agent.service.failures import FAILURES
from agent.service.methods import PARTS, TOLD, Method, adapter, methods
from agent.service.protocol import Message, ServiceEnding, ServiceError, ServiceLost
from agent.service.wire import CUT, LOST, Streams, Wire
from agent.settings import Settings, as_given
from agent.steps import CHAT
from graph.errors import MemoryFailure
from graph.ids import new_id
from graph.log.lock import MemoryLock

Connect = Callable[[], Awaitable[Streams]]
TRIES = 3
PARTED = f"{LOST} It was ended from elsewhere; what you do next starts another one."
GONE_ON = f"{LOST} Another one has been started."


class AgentClient:
    """Has the Agent's methods and parts. `start` before anything else, `close` at the end."""

    shared = True  # others may be using the same memory

    def __init__(
        self, connect: Connect, settings: Settings, *, name: str, kind: str = CHAT, model: str | None = None
    ) -> None:
        """`connect` finds the service, or starts it. Raises ServiceError, and what a start of the Agent raises.

        With a `model` the service goes on with that for all chats that have none of their own.
        """
        self.settings = settings
        self._model = model
        self._connect, self._name, self._kind = connect, name, kind
        self._notifications = Notifications()
        self._wire: Wire | None = None
        self._door = asyncio.Lock()
        self._closed = False
        self._parted = False  # the service was ended by somebody, and is started again only for what is asked
        self._back = asyncio.Event()
        self._sessions: set[str] = set()  # in which something was said from here, or that are watched
        self._answering: str | None = None
        self._folder: str | None = None
        self._here: tuple[Path, MemoryLock] | None = None
        self._held: dict[str, tuple[str, ...]] = {}
        self._asked = {CHAT} if kind == CHAT else set()
        self._tasks: set[asyncio.Task[Any]] = set()
        for part in (each for each in PARTS if "." not in each):
            of = {"private": _Private, "past": _PastViewer, "approvals": _Approvals}.get(part, RemotePart)
            setattr(self, part, of(self, part))

    # -- life -----------------------------------------------------------------------------------------------------

    async def start(self, **_: Any) -> None:
        """Find the service, or start it, and listen to what it tells. Raises ServiceError, MemoryFailure."""
        self._notifications.begin()
        await self._at()
        if self._model not in (None, self.settings.model):
            self._later(self.call(methods()["models.use"], self._model))

    async def close(self) -> None:
        """Leave; the service goes on. Safe to call twice, and without a start."""
        self._closed = True
        self._back.set()
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._notifications.close()
        if self._here is not None:
            folder, lock = self._here
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            lock.release()

    def folder_here(self) -> Path:
        """A folder of this user's alone, in RAM where there is such a place, for what a private chat writes here."""
        if self._here is None:
            self._here = draft_folder()
        return self._here[0]

    def hear(self, notice: Notice) -> None:
        """Tell of something as if the service did."""
        self._notifications.tell(notice)

    def notices(self) -> AsyncIterator[Notice]:
        """What happens beside the conversation, from the moment of the call until `close`."""
        return self._notifications.listen()

    # -- what the Agent knows without being asked ------------------------------------------------------------------

    @property
    def answering(self) -> str | None:
        """The session whose reply is in the making."""
        return self._answering

    def stop(self) -> bool:
        """As the Agent's: stops the reply in the making, if it is in a chat of this face."""
        if self._answering not in self._sessions:
            return False
        self._later(self.call(methods()["stop"]))
        return True

    def go_on(self, session: str) -> bool:
        """As the Agent's: answers what a stop put on hold."""
        if not self._held.pop(session, ()):
            return False
        self._later(self.call(methods()["go_on"], session))
        return True

    # -- the conversation -----------------------------------------------------------------------------------------

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
    ) -> AsyncGenerator[Any, None]:
        """As the Agent's. The message has its id from here: where the service is lost, it is sent once more."""
        id = new_id() if turn is None else turn
        told: dict[str, Any] = {"project": project, "client": client or self._name, "turn": id, "whisper": whisper}
        if references:
            told["references"] = tuple(references)
        return self._sent(self._begin(methods()["send"], session, text, **told), session, text, **told)

    async def _sent(
        self, first: AsyncGenerator[Any, None], session: str | None, text: str, **told: Any
    ) -> AsyncGenerator[Any, None]:
        accepted = False
        try:
            async for event in first:
                accepted |= isinstance(event, TurnAccepted)
                yield event
            return
        except (ServiceError, MemoryFailure) as error:
            if self._closed:
                return
            if isinstance(error, ServiceEnding) and self._wire is not None:
                await asyncio.shield(self._wire.lost)
            if accepted or not isinstance(error, ServiceLost):
                yield _failed(error, told["turn"] if accepted else None)
                return
        # It is said once, whichever took it.
        async for event in self._told(self._begin(methods()["send"], session, text, **told)):
            yield event

    async def _told(self, events: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
        try:
            async for event in events:
                yield event
        except (ServiceError, MemoryFailure) as error:
            if not self._closed:
                yield _failed(error)

    def __getattr__(self, name: str) -> Any:
        """What else can be asked of the Agent itself."""
        if name in methods():
            return self._asker(methods()[name])
        raise AttributeError(f"'AgentClient' object has no attribute {name!r}")

    # -- asking ---------------------------------------------------------------------------------------------------

    async def call(self, method: Method, *args: Any, _past: int | None = None, **kwargs: Any) -> Any:
        """What a method answers. Raises what the Agent's raises, and ServiceLost."""
        params = method.packed(*args, **kwargs) | ({"past": _past} if _past is not None else {})
        tells = kwargs.get(method.tells) if method.tells is not None else None
        told = None if tells is None else (lambda params: tells(*params["v"]))
        try:
            value = await (await self._at()).ask(method.name, params, told)
        except ServiceLost:
            if not method.reads or self._closed:
                raise
            value = await (await self._at()).ask(method.name, params, told)
        return method.result.validate_python(value)

    def work(self, method: Method, *args: Any, _past: int | None = None, **kwargs: Any) -> "Work[Any, Any]":
        """Work that is done there, in steps."""
        params = method.packed(*args, **kwargs) | ({"past": _past} if _past is not None else {})

        async def begun(tell: Callable[[Any], None]) -> Any:
            wire = await self._at()
            value = await wire.ask(method.name, params, lambda params: tell(method.step.validate_python(params["v"])))
            return RemotePast(self, value) if method.name == "past.open" else method.result.validate_python(value)

        return Work(begun)

    def _begin(self, method: Method, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """Ask for a stream, at once and in the order of the calls; its events."""
        outlet: Outlet[Any] = Outlet(joined)
        params = method.packed(*args, **kwargs)

        if method.name == "watch":
            self._sessions.add(params["session"])

        def tell(told: Message) -> None:
            event = _event(told)
            if isinstance(event, TurnAccepted):
                self._sessions.add(event.session)
            outlet.put(event)

        async def connected() -> None:
            await (await self._at()).ask(method.name, params, tell)

        wire = self._wire
        there = wire is not None and not wire.lost.done()
        asked = wire.begin(method.name, params, tell) if wire is not None and there else connected()
        return told_by(asyncio.ensure_future(asked), outlet)

    def _asker(self, method: Method, past: int | None = None) -> Callable[..., Any]:
        match method.kind:
            case "steps":
                return lambda *args, **kwargs: self.work(method, *args, _past=past, **kwargs)
            case "stream":
                return lambda *args, **kwargs: self._told(self._begin(method, *args, **kwargs))
            case _:
                return lambda *args, **kwargs: self.call(method, *args, _past=past, **kwargs)

    def _later(self, asked: Coroutine[Any, Any, Any]) -> None:
        """Ask for something that nobody waits for, in the order of the calls; what fails is told."""

        async def waited() -> None:
            try:
                await asked
            except FAILURES as error:
                self._notifications.tell(Warned(str(error)))

        task = asyncio.ensure_future(waited())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _can_be_asked(self) -> None:
        await (await self._at()).ask("asked", {"asked": bool(self._asked)})

    async def _at(self) -> Wire:
        """The connection; made anew where it was lost. Raises ServiceError, and what a start of the Agent raises."""
        async with self._door:
            if self._closed:
                raise ServiceLost("This chat was closed. Nothing was changed.")
            if self._wire is None or self._wire.lost.done():
                again = self._wire is not None
                wire = Wire(await self._connect())
                wire.beside = self._beside
                try:
                    self._state(await wire.hello(name=self._name, kind=self._kind))
                except BaseException:
                    await wire.close()
                    raise
                wire.lost.add_done_callback(lambda _: self._lost(wire))
                await wire.ask("asked", {"asked": bool(self._asked)})
                self._wire = wire
                self._back.set()
                if again and not self._parted:
                    self._notifications.tell(Warned(GONE_ON))
                self._parted = False
            return self._wire

    async def back(self) -> bool:
        """Wait until there is a service again, without having one started; False where this face is closed."""
        await self._back.wait()
        return not self._closed

    def _lost(self, wire: Wire) -> None:
        if self._wire is wire and not self._closed:
            self._answering = None
            self._back.clear()
            if self._parted:
                self._notifications.tell(Warned(PARTED))
            else:
                self._later(self._again())

    async def _again(self) -> None:
        """Connect anew, and once more where a busy machine was too slow for that."""
        for _ in range(TRIES - 1):
            with suppress(ServiceLost):
                await self._at()
                return
        await self._at()

    def _state(self, told: Message) -> None:
        self._answering = told["answering"]
        self.settings = as_given(told["settings"])
        self._folder = told["private"]

    def _beside(self, method: str, params: Message) -> None:
        match method:
            case "state":
                self._state(params)
            case "notice":
                notice = _event(params)
                if isinstance(notice, QueueHeld):
                    self._held[notice.session] = notice.turns
                self._notifications.tell(notice)
            case "parting":
                self._parted = True
            case _:
                pass  # of a later version


def _failed(error: Exception, turn: str | None = None) -> Failed:
    """What ends a stream where the service was lost, or cannot be had."""
    return Failed.because(ServiceLost(CUT) if isinstance(error, ServiceLost) else error, turn=turn)


def _event(params: Message) -> Any:
    return adapter(TOLD[params["k"]]).validate_python(params["v"])


class RemotePart:
    """A part of the Agent, or of a past of it."""

    def __init__(self, client: AgentClient, name: str, past: int | None = None) -> None:
        self._client, self._name, self._past = client, name, past

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        whole = f"{self._name}.{name}"
        if (method := methods().get(whole)) is not None:
            return self._client._asker(method, self._past)
        if any(each.startswith(f"{whole}.") for each in methods()):
            return RemotePart(self._client, whole, self._past)
        raise AttributeError(f"{self._name} has no {name!r} that can be asked over the socket")


class _PastViewer(RemotePart):
    """Looks into the past: closed in the end."""

    @asynccontextmanager
    async def at(self, when: datetime | int) -> AsyncIterator["RemotePast"]:
        """As the Agent's."""
        view: RemotePast = await self.open(when)
        try:
            yield view
        finally:
            await view.close()


class _Approvals(RemotePart):
    """What a model asked to change: the service is told whether this face can be asked for leave."""

    @property
    def clients(self) -> set[str]:
        return self._client._asked

    @clients.setter
    def clients(self, names: set[str]) -> None:
        self._client._asked = names
        self._client._later(self._client._can_be_asked())


class _Private(RemotePart):
    """The private chats: where they lie is known without being asked."""

    @property
    def folder(self) -> Path | None:
        told = self._client._folder
        if told is None or elsewhere() is None:
            return Path(told) if told is not None else None
        return self._client.folder_here()  # what another machine names is a place there


class RemotePast:
    """The memory as it was, which the service keeps open until it is closed."""

    def __init__(self, client: AgentClient, told: Message) -> None:
        self._client, self._number = client, int(told["past"])
        self.at, self.seq = datetime.fromisoformat(told["at"]), int(told["seq"])
        for part in ("graph", "memories", "projects", "documents"):
            setattr(self, part, RemotePart(client, f"then.{part}", self._number))

    def __getattr__(self, name: str) -> Any:
        if (method := methods().get(f"then.{name}")) is None or name.startswith("_"):
            raise AttributeError(f"the past has no {name!r}")
        return self._client._asker(method, self._number)

    async def close(self) -> None:
        """Let go of it. Safe to call twice."""
        with suppress(ServiceError):
            await (await self._client._at()).ask("then.close", {"past": self._number})
