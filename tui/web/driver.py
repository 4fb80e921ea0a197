"""The terminal of a chat in a browser: Textual's driver for one, ended when whoever shows it is gone.

Textual's own leaves the chat running, unseen and holding its memory, when the other end of its input closes.
"""

import asyncio
import os
from typing import Any

from textual import events, messages
from textual.drivers import web_driver

from tui.pasting import PasteParser

web_driver.XTermParser = PasteParser  # type: ignore[attr-defined]  # one paste is one event here too


class Driver(web_driver.WebDriver):
    """What TEXTUAL_DRIVER names for a chat in a browser."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._loop = asyncio.get_running_loop()
        self._write = self._put  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        """Begin with the focus, which the page takes before anybody listens."""
        super().start_application_mode()
        self._app.call_later(self._app.post_message, events.AppFocus())

    def run_input_thread(self) -> None:
        """Read until the other end closes, which ends the chat."""
        super().run_input_thread()
        if not self.exit_event.is_set() and not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._app._post_message(messages.ExitApp()), loop=self._loop)

    def _put(self, data: bytes) -> int:
        """Write all of it; to nobody, if nobody reads any more."""
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self.fileno, left) :]
        except OSError:
            pass
        return len(data)
