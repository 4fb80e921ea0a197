"""Textual's driver of a terminal, made to wait for nobody. What it reads is parsed by terminal_input.py.

Textual 8.2.8: its writer has a queue of 30 places, whose `put` blocks the event loop for ever once the terminal stops
reading or is gone; input from a terminal that is gone is read over and over; SIGCONT without a stop starts everything
twice. Here what is written waits in memory; while much of it waits, the app paints nothing (`behind`), and all anew
when the terminal has caught up. That the terminal is gone is heard by termination.py.
"""

import asyncio
import os
import signal
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, TextIO, runtime_checkable

from textual import events
from textual.drivers import linux_driver

from tui.terminal_input import InputParser, bytes_as_text
from tui.termination import in_foreground

BEHIND = 1 << 15  # bytes that wait; about a frame of a large terminal
ENDING_S = 1.5  # a shell sends SIGCONT behind the SIGTERM that ends a stopped job, and they are heard in any order
STOP_S = 2.0  # for the last of it, when the terminal is given back


class TerminalWriter:
    """Writes to a descriptor in a thread of its own; whoever writes never waits. What cannot be written is dropped."""

    def __init__(self, descriptor: int) -> None:
        self.caught_up: Callable[[], object] = lambda: None  # called in the thread, when all is written
        self._descriptor = descriptor
        self._changed = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._missed = False
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="clew-output")

    @property
    def closed(self) -> bool:
        """Whether it takes no more."""
        return self._closed

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def behind(self) -> bool:
        """Whether so much waits that a frame should not be written now; then `caught_up` is called for it later."""
        with self._changed:
            if self._size > BEHIND and not self._closed:
                self._missed = True
                return True
            return False

    def write(self, data: bytes) -> int:
        """Take it; it is written in order. Returns its length."""
        with self._changed:
            if not self._closed:
                self._waiting.append(data)
                self._size += len(data)
                self._changed.notify()
        return len(data)

    def stop(self) -> None:
        """Take nothing more, and wait STOP_S at most for what waits."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(STOP_S)

    def _run(self) -> None:
        while (data := self._next()) is not None:
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:  # nobody reads any more
                with self._changed:
                    self._closed = True
                    self._waiting.clear()
                return
            self._written(len(data))

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._waiting and not self._closed:
                self._changed.wait()
            return self._waiting.popleft() if self._waiting else None

    def _written(self, size: int) -> None:
        with self._changed:
            self._size -= size
            late = self._missed and not self._waiting
            if late:
                self._missed = False
        if late:
            self.caught_up()


class TextWriter(TerminalWriter):
    """The same for text, in the place of Textual's own writer."""

    def __init__(self, file: TextIO) -> None:
        super().__init__(file.fileno())
        self._encoding = file.encoding or "utf-8"

    def write(self, data: str) -> int:  # type: ignore[override]
        return super().write(data.encode(self._encoding, "replace"))


@runtime_checkable
class Unhurried(Protocol):
    """A driver that never makes the app wait."""

    def behind(self) -> bool:
        """Whether whoever shows it does not keep up: what is painted now would only wait, and is asked for later."""
        ...

    def lose(self) -> None:
        """Nobody shows it any more: read no more input. From any thread."""
        ...


@runtime_checkable
class Leaver(Protocol):
    """An app that tells when it was asked to end."""

    def asked_to_end(self, within_s: float) -> bool:
        """Whether it was, or is in that time."""
        ...


class CaughtUp(events.Event, bubble=False):
    """The terminal reads again, and has missed frames."""


# The names that its driver makes them by.
linux_driver.XTermParser = InputParser  # type: ignore[attr-defined]
linux_driver.getincrementaldecoder = bytes_as_text  # type: ignore[attr-defined, assignment]
linux_driver.WriterThread = TextWriter  # type: ignore[attr-defined, assignment]


class TerminalDriver(linux_driver.LinuxDriver):
    """The driver of the chat in a terminal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._loop = asyncio.get_running_loop()

    def behind(self) -> bool:
        """Whether the terminal does not keep up with what is written to it."""
        writer = self._writer
        return writer is not None and writer.behind()

    def lose(self) -> None:
        """The terminal is gone: read it no more. From any thread."""
        self.exit_event.set()

    def start_application_mode(self) -> None:
        """Take the terminal, unless this program has it already, or it is gone; from the background, wait for it.

        As shells expect of a job that wants the terminal, it stops until it is continued, unless that is to end it.
        """
        if self._has_terminal or not os.isatty(self.fileno):
            return
        while not in_foreground(self.fileno):
            app: object = self._app
            if isinstance(app, Leaver) and app.asked_to_end(ENDING_S):
                return
            os.kill(os.getpid(), signal.SIGSTOP)
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._writer is not None:
            self._writer.caught_up = self._paint_anew

    def stop_application_mode(self) -> None:
        """Give the terminal back; from the background, where touching it would stop this process, it is let be."""
        if self._has_terminal and in_foreground(self.fileno):
            super().stop_application_mode()

    def disable_input(self) -> None:
        """Read no more."""
        if in_foreground(self.fileno):
            super().disable_input()
        else:
            self.lose()

    def write(self, data: str) -> None:
        """Write it, if the terminal was taken: one that begins in the background has none yet."""
        if self._writer is not None:
            super().write(data)

    @property
    def _has_terminal(self) -> bool:
        return self._writer is not None and not self._writer.closed

    @property
    def _writer(self) -> TextWriter | None:
        writer: object = self._writer_thread
        return writer if isinstance(writer, TextWriter) else None

    def run_input_thread(self) -> None:
        """Read until the terminal is given back, or is gone. A bug in here ends the chat as one elsewhere does."""
        try:
            super().run_input_thread()
        except OSError:
            return  # EIO: termination.py hears of it too, and ends the chat
        except Exception as error:  # noqa: BLE001  # told to who asks for a report
            self._loop.call_soon_threadsafe(self._app._handle_exception, error)

    def _paint_anew(self) -> None:
        self._loop.call_soon_threadsafe(self._app.post_message, CaughtUp())
