"""The chats of the pages that are open: a process each, which ends with its page.

What a chat says on standard error when it ends, such as who holds the memory, is shown where its screen was.
"""

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from tui.text import shown

READY = b"__GANGLION__\n"  # what Textual's driver for browsers begins with
CLEAN = "\x1b[?1049l\x1b[?1000l\x1b[?1003l\x1b[2J\x1b[H\x1b[?25l"  # the ordinary screen, empty, no mouse
MOST_WORDS = 64_000
QUIT_S, END_S = 8.0, 3.0  # for a chat to close its memory, and to end when it is told again


class ChatProcess(AppService):
    """One chat and the process it is; a page is at the other end."""

    def __init__(
        self,
        home: Path,
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        super().__init__(
            "clew",
            write_bytes=write_bytes,
            write_str=write_str,
            close=close,  # type: ignore[arg-type]
            download_manager=DownloadManager(),
        )
        self._home = home

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Start the chat, without a shell: nothing in the home folder's name means anything."""
        environment = self._build_environment(width, height) | {"TEXTUAL_DRIVER": "tui.web.driver:Driver"}
        environment.pop("TEXTUAL", None)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tui.web.child", str(self._home)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            start_new_session=True,  # Ctrl+C is for us; we end the chat
        )
        self._stdin = self._process.stdin
        return self._process

    async def run(self) -> None:
        """Pass on what the chat shows, until it ends."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        words = asyncio.create_task(self._words(process))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            line = await process.stdout.readline()
            while line and line != READY:
                line = await process.stdout.readline()
            while True:
                kind, size = await process.stdout.readexactly(1), await process.stdout.readexactly(4)
                payload = await process.stdout.readexactly(int.from_bytes(size, "big"))
                await self._pass_on(kind, payload)
        await process.wait()
        said = "\r\n".join(shown(line) for line in (await words).splitlines())
        with contextlib.suppress(ConnectionError):
            await self.remote_write_bytes(f"{CLEAN}{said}\r\n".encode())
            await self.remote_close()

    async def stop(self) -> None:
        """End the chat, and wait until it has closed its memory; at last by force."""
        task, self._task = self._task, None
        if task is None:
            return
        process = self._process
        assert process is not None
        await self.send_meta({"type": "quit"})
        self.stdin.close()
        for patience, harder in ((QUIT_S, process.terminate), (END_S, process.kill)):
            await asyncio.wait({task}, timeout=patience)
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    harder()
        await task

    async def _pass_on(self, kind: bytes, payload: bytes) -> None:
        if kind == b"D":
            await self.on_data(payload)
        elif kind == b"M" and json.loads(payload).get("type") == "open_url":
            await self.on_meta(payload)  # the others are of files to send, which no chat does, and of its end

    async def _words(self, process: Process) -> str:
        """The last of what it says on standard error."""
        assert process.stderr is not None
        said = b""
        while more := await process.stderr.read(4096):
            said = (said + more)[-MOST_WORDS:]
        return said.decode("utf-8", "replace")
