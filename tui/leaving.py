"""The ways out: Ctrl+C step by step, a signal, and the end that keeps everything."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.exit_codes import ExitCode
from tui.widgets.banner import Banner

if TYPE_CHECKING:
    from tui.app import ClewApp

QUIT_HINT = "Press Ctrl+C again to quit."
QUIT_S = 3.0
BACK_HINT = "Press Esc again to go back to one of your messages."
HINTS = {"ctrl+c": QUIT_HINT, "escape": BACK_HINT}


def answers_here(app: "ClewApp") -> bool:
    """Whether the reply being written is one in the chat on the screen."""
    chat = app.chat
    return chat is not None and chat.session is not None and chat.service.answering == chat.session


class Leaving:
    """How the app is left. `parting` is what to say on stderr once the terminal is free."""

    def __init__(self, app: "ClewApp") -> None:
        self.parting: str | None = None
        self._app = app
        self._begun = False

    def heed(self) -> None:
        """Leave as by the key when the system asks to end, or the terminal is gone."""
        termination = self._app.termination
        if termination is None:
            return
        loop = asyncio.get_running_loop()

        def asked(code: ExitCode) -> None:
            if self._app.backstage is None:
                termination.end()  # there is nothing to keep yet, and perhaps not even a screen
            if code is ExitCode.HANGUP:
                self._app.lose_terminal()
            with suppress(RuntimeError):  # the loop has ended: so does the process
                loop.call_soon_threadsafe(lambda: self._app.run_worker(self.leave(code)))

        termination.watch()
        termination.listen(asked)

    def interrupt(self) -> None:
        """Ctrl+C: the first that there is to do: copy what is selected, leave an edit, stop the reply, clear the text.

        Where there is nothing: quit on the second press.
        """
        app, composer = self._app, self._app.composer
        selected = composer.selected_text or app.screen.get_selected_text()
        if selected:
            from tui.message_keys import copy_text

            app.screen.clear_selection()
            composer.move_cursor(composer.cursor_location)
            app.run_worker(copy_text(app, selected, "The selection"))
        elif app.writing.editing.under_way:
            if composer.text:
                composer.remember(composer.text)
            app.writing.editing.leave()
        elif answers_here(app):
            app.perform("stop")
        elif composer.text:
            composer.remember(composer.text)
            composer.put("")
            app.say("Cleared. Press ↑ to bring it back.")
        elif (banner := app.screen_stack[0].query_one(Banner)).said == QUIT_HINT:
            app.perform("quit")
        else:
            banner.say(QUIT_HINT, for_s=QUIT_S)  # the second press counts as long as this is shown

    def forget_hints(self, key: str = "") -> None:
        """A key was pressed, or another chat opened: what a second press of any other key would do holds no more."""
        for banner in (found for screen in self._app.screen_stack[:1] for found in screen.query(Banner)):
            for each, hint in HINTS.items():
                if each != key:
                    banner.unsay_this(hint)
        if key != "escape":
            self._app.escaped_at = 0.0

    async def leave(self, code: int = 0, parting: str | None = None) -> None:
        """Keep the draft, stop what runs (its words are kept), close the memory, give the terminal back."""
        if self._begun:
            return
        self._begun = True
        self.parting = parting
        app = self._app
        if (saved := app.editor.end()) is not None:
            app.composer.put(saved)
        app.writing.keep()
        if app.backstage is not None:
            app.say("Closing …")
            await app.backstage.service.close()
        if app.chat is not None:
            await app.chat.close()
        if app.termination is not None:
            app.termination.kept()
        app.exit(code, return_code=code)
