"""Ends the process when the system asks for it or the terminal goes away, whatever the program is doing.

A thread of its own hears the signals (through a pipe that Python's C handler writes to, so that a main thread which is
busy in C, or waits, is no hindrance) and polls the terminal for its hang-up. It tells the program, which keeps what is
to be kept and ends; if it has not ended PATIENCE_S later, the thread ends the process and its children, as a kill
would, which the memory survives. Before there is a program to tell there is nothing to keep, and the process ends at
once.
"""

import errno
import os
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn, Self

from tui.exit_codes import ExitCode

PATIENCE_S = 4.0  # from the request until the end by force
TIDY_S = 0.5  # ... then for children and terminal, which are not waited for longer
CLOSED_S = 1.0  # ... once everything is kept: for the terminal to be given back
CODES = {
    signal.SIGTERM: ExitCode.TERMINATED,
    signal.SIGHUP: ExitCode.HANGUP,
    signal.SIGINT: ExitCode.INTERRUPTED,
}
GONE = select.POLLHUP | select.POLLERR
ORDINARY = b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"


class Termination:
    """The end of this process by a signal or by the loss of its terminal; `code` says of which, None: not asked yet."""

    def __init__(
        self,
        terminal: int | None = None,
        *,
        signals: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGHUP),
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._signals = signals
        self.code: ExitCode | None = None
        self._terminal = terminal
        self._attributes = _attributes(terminal)
        self._patience_s = patience_s
        self._tell: Callable[[ExitCode], object] | None = None
        self._deadline: float | None = None
        self._asked = threading.Event()
        self._told = False
        self._interrupted = False
        self._changed = threading.RLock()  # a handler may run in the midst of the others
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._before: dict[signal.Signals, Any] = {}
        self._heard_before = -1
        self._over = False
        self._thread = threading.Thread(target=self._watch, daemon=True, name="clew-termination")

    def __enter__(self) -> Self:
        self.watch()
        return self

    def __exit__(self, *_: object) -> None:
        """Signals go the way they went before, and nothing is ended any more."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._heard_before)
        self._over = True
        self._rouse()
        self._thread.join()
        os.close(self._woken)
        os.close(self._wake)

    def watch(self) -> None:
        """From now on signals come here, but for those that whoever started us has ignored (nohup).

        To be called again where something else took them. Main thread only.
        """
        for number in self._signals:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before.setdefault(number, signal.signal(number, self._heard))
        before = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        if not self._thread.is_alive():
            self._heard_before = before
            self._thread.start()

    def listen(self, tell: Callable[[ExitCode], object] | None) -> None:
        """Whom to tell, from the watching thread or this one; at once, if it was asked already. None: nobody."""
        with self._changed:
            self._tell = tell
        self._pass_on()

    def request(self, code: ExitCode) -> None:
        """Ask the program to end with this code; from any thread. The first request counts."""
        with self._changed:
            if self.code is not None:
                return
            self.code = code
            self._asked.set()
            self._deadline = time.monotonic() + self._patience_s
            nobody = self._tell is None
        if nobody:
            self.end()
        self._pass_on()
        self._rouse()

    def asked(self, within_s: float) -> bool:
        """Whether a request was made, or is made in that time."""
        return self._asked.wait(within_s)

    def kept(self) -> None:
        """Everything is kept: if the process was asked to end, it may now be gone in CLOSED_S."""
        if self.code is ExitCode.HANGUP:
            self.end()  # there is no terminal to give back
        if self.code is not None:
            self._deadline = min(self._deadline or 0.0, time.monotonic() + CLOSED_S)
            self._rouse()

    def end(self) -> NoReturn:
        """End the process now, and what it has started with it, with the code that was asked for."""
        with suppress(RuntimeError):  # the interpreter is ending by itself, and starts no more threads
            tidying = threading.Thread(target=self._tidy, daemon=True)
            tidying.start()
            tidying.join(TIDY_S)
        os._exit(self.code if self.code is not None else ExitCode.OK)

    def _tidy(self) -> None:
        """What was started must not outlive this process: a trial of a model, a fetch, an editor."""
        import psutil

        with suppress(psutil.Error):
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    child.kill()
        if self._attributes is not None and self.code is not ExitCode.HANGUP and in_foreground(self._terminal):
            with suppress(OSError, termios.error):  # as the program gives it back when it has the time
                termios.tcsetattr(self._terminal, termios.TCSANOW, self._attributes)  # type: ignore[arg-type]
                os.write(self._terminal, ORDINARY)  # type: ignore[arg-type]

    def _pass_on(self) -> None:
        """Tell whoever listens, once."""
        with self._changed:
            tell, code = self._tell, self.code
            if tell is None or code is None or self._told:
                return
            self._told = True
        tell(code)

    def _heard(self, number: int, frame: object) -> None:
        """Where the main thread runs Python it hears of a signal before the watching thread does."""
        self.request(CODES[signal.Signals(number)])

    def _rouse(self) -> None:
        with suppress(BlockingIOError):  # it is full of wake-ups
            os.write(self._wake, b"\0")

    def _watch(self) -> None:
        polled = select.poll()
        polled.register(self._woken, select.POLLIN)
        if self._terminal is not None:
            polled.register(self._terminal, 0)
        while not self._over:
            if self._deadline is not None and time.monotonic() >= self._deadline:
                self.end()
            left = None if self._deadline is None else max(1, 1000 * (self._deadline - time.monotonic()))
            for descriptor, event in polled.poll(left):
                if descriptor == self._woken:
                    self._read_signals()
                    continue
                polled.unregister(descriptor)
                if event & GONE:
                    self.request(ExitCode.HANGUP)

    def _read_signals(self) -> None:
        with suppress(BlockingIOError):
            for number in os.read(self._woken, 4096):
                if number not in self._signals or signal.getsignal(number) != self._heard:
                    continue  # of another kind, or another's for now, as an editor's Ctrl+C
                if number == signal.SIGINT and self._interrupted:
                    self.end()  # whoever presses Ctrl+C twice does not want to wait
                else:
                    self._interrupted |= number == signal.SIGINT
                    self.request(CODES[signal.Signals(number)])


def terminal_of_chat() -> int | None:
    """The descriptor whose hang-up ends the chat: standard input, where it is a terminal."""
    try:
        return sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
    except (OSError, ValueError):
        return None


def in_foreground(terminal: int | None) -> bool:
    """Whether the terminal is this process's to touch; from the background, touching it would stop the process."""
    try:
        return terminal is not None and os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError as error:
        return error.errno == errno.ENOTTY  # no terminal of this session, so nobody's foreground


def _attributes(terminal: int | None) -> list[Any] | None:
    try:
        return None if terminal is None else termios.tcgetattr(terminal)
    except termios.error:
        return None
