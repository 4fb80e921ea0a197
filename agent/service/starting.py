"""Finding the service of a home, and starting it where there is none: one starter at a time, nobody waits for ever.

Invariants: whoever comes first takes the start lock, which ends with its process however that dies, and starts one
of its own session, which outlives the face; the others wait for that and connect. A socket that nobody answers at is
nobody's: it is started anew. A service of another protocol is asked to end, and the next one started.
"""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from agent.events import MemoryAwaited, MemoryPreparing, Notice
from agent.home import Cached, Home
from agent.service.address import ELSEWHERE, found, lock_of, process_of
from agent.service.process import COMMAND, READY, opening, spawn
from agent.service.protocol import (
    HANDSHAKE_S,
    PROTOCOL,
    Message,
    OtherProtocol,
    ServiceError,
    read,
    request,
)
from agent.service.wire import Streams, streams_to
from graph.errors import SERVE

START_S = 60.0  # in which somebody else may be starting it
RETIRE_S = 120.0  # in which a service ends a reply
POLL_S, LOOK_S = 0.02, 0.2


class Silent(ServiceError):
    """Somebody listens at the socket and does not answer."""


class Died(ServiceError):
    """The service ended before it could be asked, and said nothing."""


class Starter:
    """Connects to the service of a home."""

    def __init__(
        self,
        home: Home,
        *,
        command: Sequence[str] = COMMAND,
        model: str | None = None,
        elsewhere: Path | None = None,
    ) -> None:
        """`command` starts a service: it is given `--home` and the home, and says on stdout when it can be asked.

        One that is started here begins with that `model`, None: with that of the settings. One that is `elsewhere` is
        found at that socket, and neither started nor ended from here.
        """
        self._home, self._command, self._model, self._elsewhere = home, tuple(command), model, elsewhere
        self.tell: Callable[[Notice], None] = lambda notice: None  # how far a service is that is waited for

    async def connect(self) -> Streams:
        """A connection to the service that runs, or else to one that is started. Raises ServiceError, MemoryFailure."""
        streams = await self.running()
        if streams is None and self._elsewhere is not None:
            raise ServiceError(
                f"No service answers at {self._elsewhere}, which {ELSEWHERE} names. Nothing was changed. Is the "
                "connection to its machine (`ssh -L`) still there, and `clew serve` running on it?"
            )
        return streams if streams is not None else await self._start()

    async def running(self) -> Streams | None:
        """A connection to the service that runs and speaks this protocol; None where there is none.

        One of another protocol is asked to end, and waited for. Raises ServiceError.
        """
        streams = await _open(self._elsewhere or found(self._home))
        if streams is None:
            return None
        told: Message = {}
        try:
            told = await _ask(streams, "health")
        except Silent:
            raise
        except (ServiceError, ConnectionError):
            return None  # whatever it is, it is no service of ours
        finally:
            if not told:
                streams[1].close()
        if told.get("protocol") == PROTOCOL and not told.get("ending"):
            return streams
        if self._elsewhere is not None and told.get("protocol") != PROTOCOL:
            streams[1].close()
            raise OtherProtocol(
                f"The service at {self._elsewhere} is clew {told.get('version')}, which this one does not understand. "
                "Nothing was changed. Install the same version on both machines."
            )
        await self.retire(streams)
        return None

    async def health(self) -> Message | None:
        """How the service that runs is; None where there is none. Raises ServiceError."""
        streams = await _open(self._elsewhere or found(self._home))
        if streams is None:
            return None
        try:
            return await _ask(streams, "health")
        except ConnectionError:
            return None
        finally:
            streams[1].close()

    async def retire(self, streams: Streams | None = None) -> bool:
        """Have the service end once its reply is there, and wait for that; False where none runs.

        Raises ServiceError where it does not end.
        """
        streams = streams or await _open(found(self._home))
        if streams is None:
            return False
        try:
            with suppress(ConnectionError):
                await _ask(streams, "retire")
            async with asyncio.timeout(RETIRE_S):
                while await read(streams[0]) is not None:  # it closes when it has let go of the memory
                    pass
        except ConnectionError:
            pass
        except TimeoutError as late:
            raise ServiceError(
                "The service has not ended yet: a reply is still being written. Nothing else was changed. Stop that "
                "reply (Esc in its chat), or try again later."
            ) from late
        finally:
            streams[1].close()
        return True

    async def started(self) -> None:
        """Wait for whoever starts a service now, or opens the memory for one. Raises ServiceError."""
        (await self._turn()).release()

    async def _turn(self) -> FileLock:
        """The start lock, as soon as nobody starts a service: a minute, and as long as the memory is being opened."""
        lock = FileLock(lock_of(self._home), mode=0o600, thread_local=False)
        until = time.monotonic() + START_S
        while True:
            who = await asyncio.to_thread(opening, self._home)
            if who is not None:
                until = time.monotonic() + START_S
                waited = MemoryAwaited(f"waiting for `{SERVE}` (process {who.pid}), which is opening the memory")
                self.tell(MemoryPreparing(who.done, who.total) if who.total else waited)
            else:
                with suppress(Timeout):
                    lock.acquire(timeout=0)
                    return lock
                if time.monotonic() > until:
                    raise ServiceError("Another clew has been starting the service for a minute. Try again.")
            await asyncio.sleep(POLL_S if who is None else LOOK_S)

    async def _start(self) -> Streams:
        lock = await self._turn()
        try:
            streams = await self.running()  # somebody else may have been first
            if streams is not None:
                return streams
            with suppress(Died):
                await asyncio.to_thread(self._spawn)
            streams = await self.running()
            if streams is None:  # once more: it may have been killed, or have ended as nobody came
                await asyncio.to_thread(self._spawn)
                streams = await self.running()
            if streams is None:
                raise Died("The service ended as soon as it began. Nothing was changed. `clew doctor` says why.")
            return streams
        finally:
            lock.release()

    def _spawn(self) -> None:
        """Start a service and wait until it can be asked. Raises what kept it from starting, and Died."""
        process = spawn(self._home, self._command, model=self._model, stdout=subprocess.PIPE)
        assert process.stdout is not None
        with process.stdout:
            said = process.stdout.readline().decode("utf-8", "replace").strip()
        if said == READY:
            return
        from agent.events import ErrorValue

        with suppress(ValueError):
            told: Any = json.loads(said)
            raise ErrorValue(str(told["type"]), str(told["message"])).exception()
        log = self._home.cache / Cached.SERVICE
        raise Died(f"The service could not be started. Nothing was changed. {log} may say why.")


async def _open(path: Path) -> Streams | None:
    """A connection to whoever listens there, if anybody does. Raises ServiceError where that is another user."""
    try:
        async with asyncio.timeout(HANDSHAKE_S):
            return await streams_to(path)
    except (OSError, TimeoutError):
        return None


async def _ask(streams: Streams, method: str) -> Message:
    """What may be asked before `hello`. Raises ServiceError or ConnectionError."""
    reader, writer = streams
    writer.write(request(-1, method, {}))
    try:
        async with asyncio.timeout(HANDSHAKE_S):
            line = await read(reader)
    except TimeoutError as late:
        process = process_of(writer.get_extra_info("socket"))
        which = f" (process {process})" if process else ""
        raise Silent(
            f"The service that holds the memory{which} does not answer. Nothing was changed. Try again, or end that "
            "process; what was said is safe."
        ) from late
    if line is None:
        raise ConnectionResetError("the service went away")
    try:
        answer = json.loads(line)
    except ValueError as wrong:
        raise ServiceError("What answers at the socket is no clew.") from wrong
    if "error" in answer:
        raise ServiceError(str(answer["error"].get("message")))
    return dict(answer.get("result") or {})
