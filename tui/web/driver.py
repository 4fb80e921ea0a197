"""The terminal of a chat in a browser: Textual's driver for one, ended when whoever shows it is gone.

Textual's own leaves the chat running, unseen and holding its memory, when the other end of its input closes.
"""

import asyncio
from typing import Any

from textual import events, messages
from textual.drivers import web_driver

from tui.terminal import CaughtUp, TerminalWriter
from tui.terminal_input import InputParser, bytes_as_text

# One paste is one event here too, and no byte ends the reading.
web_driver.XTermParser = InputParser  # type: ignore[attr-defined]
web_driver.getincrementaldecoder = bytes_as_text  # type: ignore[attr-defined, assignment]


class Driver(web_driver.WebDriver):
    """What TEXTUAL_DRIVER names for a chat in a browser."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._loop = asyncio.get_running_loop()
        self._writer = TerminalWriter(self.fileno)
        self._writer.caught_up = self._paint_anew
        self._write = self._writer.write  # type: ignore[assignment]

    def behind(self) -> bool:
        """Whether the page does not keep up with what it is sent."""
        return self._writer.behind()

    def lose(self) -> None:
        """Read no more."""
        self.exit_event.set()

    def start_application_mode(self) -> None:
        """Begin with the focus, which the page takes before anybody listens."""
        self._writer.start()
        super().start_application_mode()
        self._app.call_later(self._app.post_message, events.AppFocus())

    def run_input_thread(self) -> None:
        """Read until the other end closes, which ends the chat."""
        super().run_input_thread()
        if not self.exit_event.is_set() and not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._app._post_message(messages.ExitApp()), loop=self._loop)

    def close(self) -> None:
        """Wait a little for what is still to be written."""
        self._writer.stop()

    def _paint_anew(self) -> None:
        self._loop.call_soon_threadsafe(self._app.post_message, CaughtUp())
