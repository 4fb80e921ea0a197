"""One face at the other end of the socket: what it asks is asked of the Agent, and what happens is told to it.

Whoever reads slowly costs nobody anything: tokens of a reply that are not read yet come together (agent/outlets.py),
what is told anew takes the place of what it was, and of all else the oldest goes.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from types import NoneType
from typing import Any

from pydantic import ValidationError

from agent.agent import Agent
from agent.events import (
    Compaction,
    EmbeddingProgress,
    GraphProgress,
    MemoriesChanged,
    MemoryReady,
    ModelFailed,
    ModelProgress,
    ModelReady,
    Notice,
    OfPrivate,
    QueueHeld,
    Reflecting,
    SessionsChanged,
    TurnAccepted,
    Warned,
    WordsLeave,
)
from agent.home import Home
from agent.past import PastView
from agent.service.failures import FAILURES, failure
from agent.service.limits import RateWindow
from agent.service.methods import Method, adapter_of, methods
from agent.service.protocol import (
    HANDSHAKE_S,
    PROTOCOL,
    Code,
    LineTooLong,
    Message,
    error,
    notification,
    read,
    result,
)
from agent.settings import Settings
from agent.steps import CHAT, Request
from graph.errors import NotFound

MOST_TOLD = 256  # notices that one connection has not read yet
MOST_AT_ONCE = 256  # requests of one connection
MOST_PASTS = 8  # looks into the past that it has open: the oldest is closed for another
MOST_NUMBER = 1 << 63
PRIVATE = "private"  # what others are told in the place of a private chat
# Of which only the last says anything, of each chat where they are of one.
REPEATED = (
    GraphProgress, ModelProgress, EmbeddingProgress, Reflecting, Compaction, QueueHeld,
    SessionsChanged, MemoriesChanged,
)  # fmt: skip
# What whoever comes later has to know as well, the last of each: of models one of three.
STANDING: dict[type, str] = {
    MemoryReady: "memory", GraphProgress: "graph", ModelProgress: "model", ModelReady: "model", ModelFailed: "model",
    EmbeddingProgress: "embedding", Reflecting: "reflecting", WordsLeave: "away",
}  # fmt: skip
FACE = "face"  # the parameter that says which face asks
SAYING = ("send", "retry", "regenerate", "edit")  # what a service that ends takes up no more
ENDING = "The service is ending. Connect again in a moment."
MOST_CONNECTIONS = 64
TOO_MANY = f"{MOST_CONNECTIONS} chats and programs of yours are open already. Nothing was changed. Close one first."
FOREIGN = "foreign"  # a program that is not clew's own, whose calls are counted
KINDS = ("chat", "command", "mcp", FOREIGN)


@dataclass(frozen=True, slots=True)
class Guest:
    """Who is at the other end: what it calls itself, and what it is."""

    name: str
    kind: str
    pid: int


class Hall:
    """All connections, and what they share."""

    def __init__(
        self,
        agent: Agent,
        home: Home,
        *,
        version: str,
        retire: Callable[[], Coroutine[Any, Any, None]],
        changed: Callable[[], None],
        load: Callable[[], Settings] | None,
    ) -> None:
        self.agent, self.home, self.version, self._retire = agent, home, version, retire
        self.window = RateWindow()
        self.began = time.monotonic()
        self.connections: set[Connection] = set()
        self.waiting: set[Connection] = set()  # that did not say hello, as they only wait for its end
        self.entered = 0  # faces so far
        self.ending = False
        self._changed = changed
        self._load, self._loaded = load, agent.settings
        self._standing: dict[str, Notice] = {}
        self._retiring: asyncio.Task[None] | None = None

    def hear(self, notice: Notice | OfPrivate) -> None:
        """Tell all faces what happens beside, of a private chat its own, and keep what others have to know later."""
        if isinstance(notice, OfPrivate):
            for each in self.connections:
                if each.owner == notice.owner:
                    each.tell(notice.notice)
            return
        if (of := STANDING.get(type(notice))) is not None:
            self._standing[of] = notice
        elif isinstance(notice, QueueHeld):
            self._standing[f"held {notice.session}"] = notice
            if not notice.turns:
                del self._standing[f"held {notice.session}"]
        for each in self.connections:
            each.tell(notice)

    def enter(self, connection: "Connection") -> None:
        """A face said hello."""
        alone = not any(each.is_chat for each in self.connections)
        self.connections.add(connection)
        if connection.is_chat and alone:
            connection.spawn(self._load_settings())
        for notice in self._standing.values():
            connection.tell(notice)
        self._changed()

    async def _load_settings(self) -> None:
        """Go on with what the file of settings says now, if that has changed: a chat that begins expects it."""
        if self._load is None:
            return
        try:
            new = await asyncio.to_thread(self._load)
            if new == self._loaded:
                return
            self._loaded, before = new, self.agent.settings
            await self.agent.use_settings(new)
            if new.model != before.model:
                await self.agent.models.use(new.model)
            if new.embedder != before.embedder:
                await self.agent.models.use_embedder(new.embedder)
        except FAILURES as error:
            self.hear(Warned(str(error)))
        self.tell_state()

    def can_ask(self, request: Request) -> bool:
        """Whether the face whose message it is is there, and lets itself be asked for leave."""
        return any(
            each.asked and any(request.turn == mine.turn for mine in each.turns.values()) for each in self.connections
        )

    def give_way(self) -> None:
        """Stop the reply in the making if nobody looks on any more, and somebody waits for another."""
        session = self.agent.answering
        waits = any(mine.session != session for each in self.connections for mine in each.turns.values())
        if session is not None and waits and not any(each.follows(session) for each in self.connections):
            self.agent.stop()

    def watched(self, session: str | None, *, but: "Connection") -> bool:
        """Whether a face but that one has a chat open."""
        return any(session in each.watched.values() for each in self.connections if each is not but)

    async def leave(self, connection: "Connection") -> None:
        """A face is gone: what was private to it is gone too."""
        self.connections.discard(connection)
        self.give_way()
        try:
            await self.agent.private.end(connection.owner)
        finally:
            self._changed()

    def seen(self, session: str | None, owner: str | None = None) -> str | None:
        """A chat as others are told of it: of a private one they know that it is one."""
        return session if self.agent.private.owner_of(session) in (None, owner) else PRIVATE

    def tell_state(self) -> None:
        """Tell all faces where the Agent is now, if it is elsewhere than it was."""
        for each in self.connections:
            each.tell_state()

    def begin_retiring(self) -> None:
        """End once all messages are answered."""
        self.ending = True
        if self._retiring is None:
            self._retiring = asyncio.ensure_future(self._retire())

    async def close(self) -> None:
        """Take leave of all: they do not have the next one started by themselves."""
        self.ending = True
        for each in list(self.connections):
            each.post("parting", "parting", {})
            await each.close()
        for each in list(self.waiting):
            await each.close()

    async def health(self) -> Message:
        """Whether all is well, from what is known; the model is asked nothing."""
        agent = self.agent
        status = await agent.status()
        return {
            "version": self.version,
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "home": str(self.home.root),
            "uptime_s": round(time.monotonic() - self.began, 3),
            "starts": status.starts,
            "clients": [
                {"name": each.guest.name, "kind": each.guest.kind, "pid": each.guest.pid}
                for each in self.connections
                if each.guest is not None
            ],
            "log_head": status.log_head,
            "graph": "ready" if status.graph_ready else "opening",
            "model": status.model,
            "server": asdict(status.server) if status.server is not None else None,
            "away": list(status.away),
            "answering": self.seen(agent.answering),
            "unanswered": agent.unanswered,
            "ending": self.ending,
        }


class Connection:
    """One face; `serve` it to its end."""

    def __init__(self, hall: Hall, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._hall, self._reader, self._writer = hall, reader, writer
        self.guest: Guest | None = None
        hall.entered += 1
        self.owner = str(hall.entered)  # of private chats
        self._state: tuple[object, ...] = (None, None, None)  # where it was told that the Agent is
        self.asked = False  # it can be asked for leave
        self.watched: dict[Any, str] = {}  # the chats it watches, by its requests
        self.turns: dict[Any, TurnAccepted] = {}  # the messages of it that are being answered, by their requests
        self._requests: dict[Any, asyncio.Task[None]] = {}
        self._pasts: dict[int, PastView] = {}
        self._past_number = 0
        self._untold: dict[object, tuple[str, Message]] = {}  # what happens beside, by what a newer one replaces
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Answer until the other side goes away, or breaks the rules."""
        try:
            async with asyncio.timeout(HANDSHAKE_S) as patience:
                greeted = await self._greet(patience)
            if not greeted:
                return
            self._hall.enter(self)
            self.spawn(self._write_notices())
            while (line := await read(self._reader)) is not None:
                await self._take(line)
        except LineTooLong as long:
            await self._send(error(None, Code.NO_REQUEST, str(long)))
        except (ConnectionError, TimeoutError):
            pass  # it is gone, or never was one of ours
        finally:
            for task in [*self._requests.values(), *self._tasks]:
                task.cancel()
            await asyncio.gather(*self._requests.values(), *self._tasks, return_exceptions=True)
            for past in self._pasts.values():
                with suppress(*FAILURES):
                    await past.close()
            self._hall.waiting.discard(self)
            if self.guest is not None:
                await self._hall.leave(self)
            await self.close()

    async def close(self) -> None:
        """Let go of it."""
        with suppress(ConnectionError):
            self._write_untold()
        self._writer.close()
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(1):
                await self._writer.wait_closed()
                return
        self._writer.transport.abort()

    def follows(self, session: str | None) -> bool:
        """Whether it is told what is said in a chat."""
        return session in self.watched.values() or any(session == mine.session for mine in self.turns.values())

    def tell_state(self) -> None:
        """Tell it where the Agent is now, if it is elsewhere than it was."""
        agent, before = self._hall.agent, self._state
        elsewhere = agent.answering != before[0] or agent.private.folder_of(self.owner) != before[2]
        if elsewhere or agent.settings is not before[1]:
            self.post("state", "state", self._where())

    def _where(self) -> Message:
        """What a face knows of the Agent without asking."""
        agent, folder = self._hall.agent, self._hall.agent.private.folder_of(self.owner)
        self._state = agent.answering, agent.settings, folder
        return {
            "answering": self._hall.seen(agent.answering, self.owner),
            "settings": agent.settings.model_dump(mode="json"),
            "private": str(folder) if folder is not None else None,
        }

    def tell(self, notice: Notice) -> None:
        """Tell it what happens beside."""
        repeated = isinstance(notice, REPEATED)
        of = (type(notice), getattr(notice, "session", None)) if repeated else object()
        told = {"k": type(notice).__name__, "v": adapter_of(notice).dump_python(notice, mode="json")}
        self.post(of, "notice", told)

    def post(self, of: object, method: str, params: Message) -> None:
        """Tell it something, in the place of what was told `of` the same and is not read yet."""
        self._untold.pop(of, None)
        self._untold[of] = method, params
        if len(self._untold) > MOST_TOLD:
            del self._untold[next(iter(self._untold))]
        self._wake.set()

    # -- hello ----------------------------------------------------------------------------------------------------

    async def _greet(self, patience: asyncio.Timeout) -> bool:
        """Take what may be asked before `hello`, and that; False where it does not come to it.

        Whoever has it retire waits here for its end.
        """
        while (line := await read(self._reader)) is not None:
            asked = await self._parsed(line)
            if asked is None:
                return False
            id, method, params = asked
            match method:
                case "health" | "retire":
                    await self._of_the_service(id, method)
                    if method == "retire":
                        patience.reschedule(None)
                        self._hall.waiting.add(self)
                case "hello":
                    return await self._hello(id, params)
                case _:
                    await self._send(error(id, Code.NOT_GREETED, "Say hello first."))
                    return False
        return False

    async def _of_the_service(self, id: Any, method: str) -> None:
        """How it is, or that it is to end: asked by anybody, at any time."""
        if method == "retire":
            self._hall.begin_retiring()
        await self._send(result(id, await self._hall.health()))

    async def _hello(self, id: Any, params: Message) -> bool:
        if params.get("protocol") != PROTOCOL:
            version = self._hall.version
            why = (
                f"This is clew {version}, which speaks protocol {PROTOCOL} and not {str(params.get('protocol'))[:20]}."
            )
            await self._send(error(id, Code.OTHER_PROTOCOL, why, protocol=PROTOCOL, version=version))
            return False
        if self._hall.ending:
            await self._send(error(id, Code.ENDING, ENDING))
            return False
        if len(self._hall.connections) >= MOST_CONNECTIONS:
            await self._send(error(id, Code.TOO_MANY, TOO_MANY, retry_after_s=1.0))
            return False
        kind = params.get("kind")
        name, pid = str(params.get("name", ""))[:80], params.get("pid")
        self.guest = Guest(name, kind if kind in KINDS else FOREIGN, pid if isinstance(pid, int) else 0)
        self.asked = kind == CHAT
        told = {
            "protocol": PROTOCOL,
            "version": self._hall.version,
            "home": str(self._hall.home.root),
            "pid": os.getpid(),
        }
        await self._send(result(id, told | self._where()))
        return True

    # -- requests -------------------------------------------------------------------------------------------------

    async def _parsed(self, line: bytes) -> tuple[Any, str, Message] | None:
        """A request's id, method and parameters; None for what is none, which was said."""
        try:
            asked = json.loads(line)
        except (ValueError, RecursionError):
            await self._send(error(None, Code.UNREADABLE, "That is no line of JSON."))
            return None
        id, method = (asked.get("id"), asked.get("method")) if isinstance(asked, dict) else (None, None)
        params = asked.get("params", {}) if isinstance(asked, dict) else None
        if not isinstance(method, str) or not isinstance(params, dict) or not isinstance(id, int | str | NoneType):
            await self._send(error(None, Code.NO_REQUEST, "That is no request: it needs a method, params and an id."))
            return None
        return id, method, params

    async def _take(self, line: bytes) -> None:
        parsed = await self._parsed(line)
        if parsed is None:
            return
        id, method, params = parsed
        match method:
            case "cancel":
                meant = params.get("id")
                if isinstance(meant, int | str) and (task := self._requests.get(meant)) is not None:
                    task.cancel()
            case "health" | "retire":
                await self._of_the_service(id, method)
            case "asked":
                self.asked = params.get("asked") is True
                await self._send(result(id, None))
            case "then.close":
                number = params.get("past")
                if isinstance(number, int) and (past := self._pasts.pop(number, None)) is not None:
                    await past.close()
                await self._send(result(id, None))
            case _:
                await self._begin(id, method, params)

    async def _begin(self, id: Any, name: str, params: Message) -> None:
        guest = self.guest
        assert guest is not None
        if guest.kind == FOREIGN and (wait := self._hall.window.take(guest.name)):
            why = f"{guest.name or 'This program'} asked 60 times in a minute. Ask again in {wait:.0f} s."
            await self._send(error(id, Code.TOO_MANY, why, retry_after_s=round(wait, 3)))
            return
        if self._hall.ending and name in SAYING:
            await self._send(error(id, Code.ENDING, ENDING))
            return
        method = methods().get(name)
        if method is None:
            await self._send(error(id, Code.UNKNOWN_METHOD, f"There is no method {name[:60]!r}."))
            return
        if id in self._requests or len(self._requests) >= MOST_AT_ONCE:
            await self._send(
                error(id, Code.NO_REQUEST, f"More than {MOST_AT_ONCE} requests at once, or the same id twice.")
            )
            return
        past = params.pop("past", None) if name.startswith("then.") else None
        try:
            args, kwargs = method.unpacked(params)
            if any(isinstance(each, int) and abs(each) >= MOST_NUMBER for each in (*args, *kwargs.values())):
                raise TypeError("a number is too large")
            called = self._found(method, past)
        except (ValidationError, TypeError, KeyError) as wrong:
            await self._send(error(id, Code.WRONG_PARAMETERS, f"{name}: {str(wrong)[:300]}"))
            return
        except NotFound as gone:
            await self._send(failure(id, gone))
            return
        if FACE in method.hints:
            kwargs[FACE] = self.owner  # nobody says for whom else
        if method.tells is not None:
            kwargs[method.tells] = self._progress(id)
        task = asyncio.create_task(self._answer(id, method, called, args, kwargs))
        self._requests[id] = task
        task.add_done_callback(lambda done: self._answered(id, done))

    def _found(self, method: Method, past: Any) -> Callable[..., Any]:
        """The very method of the Agent, or of a past that was opened. Raises NotFound, AgentError."""
        at: Any = self._hall.agent
        names = method.name.split(".")
        if names[0] == "then":
            at, names = self._pasts.get(past), names[1:]
            if at is None:
                raise NotFound("That look into the past was closed. Open it again.")
        for name in names:
            at = getattr(at, name)
        return at  # type: ignore[no-any-return]

    async def _answer(
        self, id: Any, method: Method, called: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> None:
        """Ask the Agent, and send what comes of it."""
        try:
            self._refuse_private(args, kwargs)
            match method.kind:
                case "stream":
                    if method.name == "watch":
                        self.watched[id] = kwargs["session"]
                    await self._stream(id, method, called(*args, **kwargs))
                    value: Any = None
                case "steps":
                    work = called(*args, **kwargs)
                    async for step in work:
                        told = method.step.dump_python(step, mode="json")
                        await self._send(notification("event", {"of": id, "v": told}))
                    value = self._given(method, await work)
                case _ if method.name == "stop" and not self.follows(self._hall.agent.answering):
                    value = False  # what is in the making is said elsewhere
                case _:
                    given = called(*args, **kwargs)
                    value = self._given(method, given if method.plain else await given)
            self._hall.tell_state()  # before the answer, as all that came of it
            await self._send(result(id, value))
        except asyncio.CancelledError:
            with suppress(ConnectionError):
                self._writer.write(error(id, Code.CANCELLED, "It was given up."))
            raise
        except ConnectionError:
            pass  # nobody is there to be told
        except FAILURES as raised:
            with suppress(ConnectionError):
                await self._send(failure(id, raised))
        finally:
            self._hall.tell_state()

    def _answered(self, id: Any, done: asyncio.Task[None]) -> None:
        """What went wrong in a way that nobody foresaw is told all the same: nobody waits for ever."""
        self._requests.pop(id, None)
        self.watched.pop(id, None)
        if (mine := self.turns.pop(id, None)) is not None:
            self._hall.agent.approvals.refuse_all(mine.turn)  # nobody is there to give leave
        if not done.cancelled() and (raised := done.exception()) is not None:
            self._write(error(id, Code.FAILED, f"{type(raised).__name__}: {raised}"[:300]))

    def _given(self, method: Method, value: Any) -> Any:
        if isinstance(value, PastView):
            self._past_number += 1
            self._pasts[self._past_number] = value
            if len(self._pasts) > MOST_PASTS:
                self.spawn(_closed(self._pasts.pop(min(self._pasts))))
            return {"past": self._past_number, "at": value.at.isoformat(), "seq": value.seq}
        if method.name == "chats.last" and self._hall.watched(value, but=self):
            value = None  # a chat that is open elsewhere is opened a second time only by choice
        return method.result.dump_python(value, mode="json")

    def _refuse_private(self, args: list[Any], kwargs: dict[str, Any]) -> None:
        """Raise NotFound for a private chat of somebody else."""
        for value in (*args, *kwargs.values()):
            if isinstance(value, str) and self._hall.agent.private.owner_of(value) not in (None, self.owner):
                raise NotFound(f"There is no chat {value}. Nothing was changed.")

    async def _stream(self, id: Any, method: Method, events: AsyncIterator[Any]) -> None:
        async with aclosing(events) as told:  # type: ignore[type-var]
            async for event in told:
                if isinstance(event, TurnAccepted) and method.name != "watch":
                    self.turns[id] = event
                    self._hall.give_way()
                await self._send(_event(id, event))
                self._hall.tell_state()

    def _progress(self, id: Any) -> Callable[..., None]:
        loop = asyncio.get_running_loop()

        def tell(*values: int) -> None:
            loop.call_soon_threadsafe(self.post, ("progress", id), "event", {"of": id, "v": list(values)})

        return tell

    # -- telling --------------------------------------------------------------------------------------------------

    async def _write_notices(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._send()

    def _write(self, line: bytes) -> None:
        with suppress(ConnectionError):
            self._writer.write(line)

    async def _send(self, line: bytes = b"") -> None:
        """Send a line after what was told before it, and wait while the other side reads slowly."""
        async with self._lock:
            self._write_untold()
            self._writer.write(line)
            await self._writer.drain()

    def _write_untold(self) -> None:
        untold, self._untold = self._untold, {}
        for method, params in untold.values():
            self._writer.write(notification(method, params))

    @property
    def is_chat(self) -> bool:
        return self.guest is not None and self.guest.kind == CHAT

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside, as long as it is there."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _event(id: Any, event: Any) -> bytes:
    """An event of a stream as a line: the one thing that is told so often that it is not made of Python's values."""
    kind, value = type(event).__name__.encode(), adapter_of(event).dump_json(event)
    return b'{"jsonrpc":"2.0","method":"event","params":{"of":%b,"k":"%b","v":%b}}\n' % (_id(id), kind, value)


def _id(id: Any) -> bytes:
    return b"%d" % id if type(id) is int else json.dumps(id).encode()


async def _closed(past: PastView) -> None:
    with suppress(*FAILURES):
        await past.close()
