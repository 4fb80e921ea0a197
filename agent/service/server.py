"""The service: one Agent in a process of its own, asked by every face of it over a Unix socket.

Invariants: it holds the memory's lock before it binds its socket, so that whoever can connect is answered by the one
that has the memory. A reply belongs to its chat: a face that goes away, is stopped or never reads costs nobody
anything. Nothing of a connection is kept in memory without a bound. It ends by itself when nobody has been there for
`linger` seconds, and writes what it has.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from agent.agent import Agent
from agent.background import Worker
from agent.home import Home
from agent.service.address import note, peer, socket_of
from agent.service.connection import MOST_CONNECTIONS, Connection, Hall
from agent.service.protocol import LONGEST_LINE, ServiceError
from agent.settings import Settings
from graph.sqlite import LOG

FIRST_S = 10.0  # in which whoever started it comes
LOOKED_S = 1.0  # between two looks at whether the home and the socket are still there


class Service:
    """Serves an Agent until nobody wants it any more; `run` it."""

    def __init__(
        self, home: Home, agent: Agent, *, version: str, linger_s: float, load: Callable[[], Settings] | None = None
    ) -> None:
        """`load` reads the settings anew for a chat that comes when there is no other one; blocking."""
        self._home, self._agent, self._linger_s = home, agent, linger_s
        self._ended = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._visited = False
        self._hall = Hall(agent, home, version=version, retire=self.retire, changed=self._clients_changed, load=load)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Take the memory, listen, and serve until the end; `ready` is called when faces can connect.

        Raises MemoryHeld and the other MemoryFailures of a start, and ServiceError where there is no socket to be had.
        """
        path = socket_of(self._home)
        self._agent.on_notice(self._hall.hear)
        listening, own = None, dict[Path, int]()
        try:
            await self._agent.start()
            self._agent.approvals.reaches = self._hall.can_ask
            listening = await asyncio.start_unix_server(self._welcome, sock=_bound(path), limit=LONGEST_LINE)
            own = {path: _inode(path)}
            note(self._home, path)
            own[self._home.memory / LOG] = _inode(self._home.memory / LOG)
            watching = Worker("The look at the socket", lambda: self._look(own), self._hall.hear)
            watching.start()
            ready()
            self._clients_changed()
            await self._ended.wait()
            await watching.close()
        finally:
            self._agent.end_soon()
            if listening is not None:
                listening.close()
                if path in own and _are_there({path: own[path]}):
                    path.unlink(missing_ok=True)  # else it is that of another
            self._hall.ending = True
            await self._agent.close()  # replies end as truncated, and are told; only then is the memory let go of
            await self._hall.close()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def end(self) -> None:
        """End now, with what there is."""
        self._ended.set()

    async def retire(self) -> None:
        """End once all messages are answered."""
        await self._agent.all_answered()
        self._ended.set()

    # -- inside ---------------------------------------------------------------------------------------------------

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        found = peer(writer.get_extra_info("socket"))
        crowd = len(self._tasks) > 2 * MOST_CONNECTIONS  # most of whom say nothing
        if crowd or (found is not None and found != os.getuid()):
            writer.close()
            return
        await Connection(self._hall, reader, writer).serve()

    def _clients_changed(self) -> None:
        """Somebody came or went: without anybody it ends after a while."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._visited = self._visited or bool(self._hall.connections)
        if not self._hall.connections:
            stays = self._linger_s if self._visited else max(self._linger_s, FIRST_S)
            self._timer = asyncio.get_running_loop().call_later(stays, self._alone)

    def _alone(self) -> None:
        if not self._hall.connections:
            self._ended.set()

    async def _look(self, own: Mapping[Path, int]) -> None:
        """End where the log was deleted, or another service has taken the socket's place: nobody finds this one."""
        while True:
            await asyncio.sleep(LOOKED_S)
            if not await asyncio.to_thread(_are_there, own):
                self._ended.set()
                return


def _inode(path: Path) -> int:
    return path.stat().st_ino


def _are_there(own: Mapping[Path, int]) -> bool:
    """Whether these are the files that they were, and no others of their names."""
    try:
        return all(_inode(path) == inode for path, inode in own.items())
    except FileNotFoundError:
        return False
    except OSError:  # nothing is known of them just now
        return True


def _bound(path: Path) -> socket.socket:
    """A socket that listens at a path, for this user alone; one that was left there is removed. Raises ServiceError."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        path.unlink(missing_ok=True)
        made.bind(str(path))
    except OSError as error:
        made.close()
        raise ServiceError(
            f"clew's socket {path} cannot be made ({error.strerror}). Nothing was changed. Set `service = false` in "
            "the settings to do without."
        ) from error
    finally:
        os.umask(before)
    made.setblocking(False)
    return made
