"""The ways out: Ctrl+C step by step, a signal, the end that keeps everything, and what is printed after a bug."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.chat_view import QUIT_HINT
from tui.exit_codes import ExitCode
from tui.parts import Parts
from tui.termination import Termination

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.traceback import Stack, Trace, Traceback


LEFT_OUT = "(details left out, as a private chat was open)"


def report(*, private: bool) -> "Traceback":
    """The exception being handled, without what the variables held; if `private` without its own words, too."""
    from rich.traceback import Traceback

    kind, error, where = sys.exc_info()
    assert kind is not None
    assert error is not None
    trace = Traceback.extract(kind, error, where, show_locals=False)
    if private:
        for stack in _stacks(trace):
            stack.exc_value, stack.syntax_error, stack.notes = LEFT_OUT, None, []
    return Traceback(trace, width=None)


def _stacks(trace: "Trace") -> "Iterator[Stack]":
    for stack in trace.stacks:
        yield stack
        for inner in stack.exceptions:
            yield from _stacks(inner)


QUIT_S = 3.0


class Shutdown:
    """How the app is left. `parting` is what to say on stderr once the terminal is free."""

    def __init__(self, parts: Parts, termination: Termination | None, lose_terminal: Callable[[], None]) -> None:
        """`lose_terminal` is told, from any thread, that the terminal is gone."""
        self.parting: str | None = None
        self._parts = parts
        self._termination = termination
        self._lose_terminal = lose_terminal
        self._begun = False

    def heed(self) -> None:
        """Leave as by the key when the system asks to end, or the terminal is gone."""
        termination = self._termination
        if termination is None:
            return
        loop = asyncio.get_running_loop()

        def asked(code: ExitCode) -> None:
            if self._parts.view.backstage is None:
                termination.end()  # there is nothing to keep yet, and perhaps not even a screen
            if code is ExitCode.HANGUP:
                self._lose_terminal()
            with suppress(RuntimeError):  # the loop has ended: so does the process
                loop.call_soon_threadsafe(lambda: self._parts.ui.begin(self.leave(code)))

        termination.watch()
        termination.listen(asked)

    def interrupt(self) -> None:
        """Ctrl+C: the first that there is to do: copy what is selected, leave an edit, stop the reply, clear the text.

        Where there is nothing: quit on the second press.
        """
        parts, view, composer = self._parts, self._parts.view, self._parts.view.composer
        selected = composer.selected_text or view.app.screen.get_selected_text()
        if selected:
            from tui.clipboard import copy_text

            view.app.screen.clear_selection()
            composer.move_cursor(composer.cursor_location)
            view.ui.begin(copy_text(view, selected, "The selection"))
        elif parts.composer.editing.under_way:
            if composer.text:
                composer.remember(composer.text)
            parts.composer.editing.leave()
        elif view.answers:
            view.ui.perform("stop")
        elif composer.text:
            composer.remember(composer.text)
            composer.put("")
            view.ui.say("Cleared. Press ↑ to bring it back.")
        elif view.banner.said == QUIT_HINT:
            view.ui.perform("quit")
        else:
            view.banner.say(QUIT_HINT, for_s=QUIT_S)  # the second press counts as long as this is shown

    async def leave(self, code: int = 0, parting: str | None = None) -> None:
        """Keep the draft, stop what runs (its words are kept), close the memory, give the terminal back."""
        if self._begun:
            return
        self._begun = True
        self.parting = parting
        parts, view = self._parts, self._parts.view
        if (saved := parts.editor.end()) is not None:
            view.composer.put(saved)
        parts.composer.keep()
        if view.backstage is not None:
            view.ui.say("Closing …")
            await view.backstage.service.close()
        if view.chat is not None:
            await view.chat.close()
        if self._termination is not None:
            self._termination.kept()
        view.app.exit(code, return_code=code)
